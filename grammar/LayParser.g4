// The grammar of Lay, one rule per construct in the order of the language tour. A script is a
// sequence of lines.
parser grammar LayParser;

options { tokenVocab = LayLexer; superClass = ParserBase; }

@header {
#include "frontend/syntax/parser_base.h"
}

// A newline stands here only where it ends a statement; one stands before every `}` and before the
// end of the text.
line : statement? (NEWLINE | SEMICOLON) ;

statement
    : let_
    | def
    | dim
    | assume
    | assertion
    | print
    | show
    | explain
    | prove
    | use
    | record
    | kernel
    | schedule
    | expression
    ;

// let a = (4,2):(1,4)      in a kernel: let s[m] = max[n](X[m,n])
let_        : LET NAME index_names? ASSIGN expression ;
index_names : LEFT_BRACKET NAME (COMMA NAME)* RIGHT_BRACKET ;

// def tile(l: Layout, t) = zipped_divide(l, t)      def mean[n](x) = sum[n](x) / extent(n)
def        : DEF NAME index_names? LEFT_PAREN parameters? RIGHT_PAREN (ARROW NAME)?
             ASSIGN expression ;
parameters : parameter (COMMA parameter)* COMMA? ;
parameter  : NAME (COLON NAME)? ;

// dim M, N, K      assume M % 128 == 0 and K % 64 == 0
dim    : DIM NAME (COMMA NAME)* ;
assume : ASSUME expression ;

// assert a(7) == 7, "the last one"
assertion : ASSERT expression (COMMA expression)? ;

// print a      show a, view = line      explain a o 2:2      prove injective(a)
print   : PRINT expression (COMMA expression)* ;
show    : SHOW arguments ;
explain : EXPLAIN expression ;
prove   : PROVE expression ;

// use atoms.sm90      use "mine.lay"
use : USE (NAME (DOT NAME)* | STRING) ;

// record wgmma(n, ab, acc) { shape = (64, n, 16), C = ((4,8,4),(2,2,n/8)):((128,1,16),(64,8,512)) }
record      : RECORD NAME (LEFT_PAREN parameters? RIGHT_PAREN)? record_body ;
record_body : LEFT_BRACE field_line* RIGHT_BRACE ;
field_line  : field? (COMMA | NEWLINE | SEMICOLON) ;
field       : NAME ASSIGN expression ;

// kernel scale<M, N, lda>(A: f32 (M,N):(lda,1), alpha: f32) -> C: f32 (M,N):(N,1)
//   where lda >= N { C[m,n] = alpha * A[m,n] }
kernel            : KERNEL NAME (LESS parameters GREATER)?
                    LEFT_PAREN kernel_parameters? RIGHT_PAREN (ARROW outputs)?
                    (WHERE expression)? kernel_body ;
kernel_parameters : kernel_parameter (COMMA kernel_parameter)* COMMA? ;
kernel_parameter  : NAME COLON INOUT? NAME expression? ;
outputs           : kernel_parameter | LEFT_PAREN kernel_parameters RIGHT_PAREN ;
kernel_body       : LEFT_BRACE body_line* RIGHT_BRACE ;
body_line         : (let_ | assignment)? (NEWLINE | SEMICOLON) ;
assignment        : NAME LEFT_BRACKET expression (COMMA expression)* RIGHT_BRACKET
                    ASSIGN expression ;

// schedule scale for simt when M >= 256 { tile = (128, 128, 8), smem A = (128,8):(1,128) }
// schedule scale for M = 4096, N = 14336
schedule      : SCHEDULE NAME FOR (NAME (WHEN expression)? schedule_body | sizes) ;
sizes         : field (COMMA field)* COMMA? ;
schedule_body : LEFT_BRACE entry_line* RIGHT_BRACE ;
entry_line    : entry? (COMMA | NEWLINE | SEMICOLON) ;
entry         : NAME NAME? ASSIGN expression ;

// Expressions, the operators that bind tightest first: a layout (4,2):(1,4) or plain arithmetic,
// a o b, a == b ...
expression
    : arithmetic (COLON arithmetic)?                           # layout
    | expression COMPOSE expression                            # compose
    | expression comparison expression                         # compare
    | NOT expression                                           # negation
    | expression AND expression                                # conjunction
    | expression OR expression                                 # disjunction
    | IF expression THEN expression ELSE expression            # conditional
    ;

comparison : EQUAL | UNEQUAL | LESS | LESS_EQUAL | GREATER ASSIGN? ;

// `sum[k](...)` is a call of an index; `sum[k : f64](...)` has a layout in its brackets.
arithmetic
    : arithmetic AT (INTEGER | CUTE | NAME)                                             # path
    | arithmetic LEFT_PAREN arguments? RIGHT_PAREN                                      # call
    | arithmetic LEFT_BRACKET subscript (COMMA subscript)* RIGHT_BRACKET                # index
    | arithmetic DOT NAME                                                               # member
    | MINUS arithmetic                                                                  # minus
    | arithmetic (TIMES | DIVIDE | FLOOR_DIVIDE | MODULO) arithmetic                    # product
    | arithmetic (PLUS | MINUS) arithmetic                                              # sum
    | (INTEGER | CUTE | FLOAT | STRING | TRUE | FALSE | NAME | UNDERSCORE)              # atom
    | LEFT_PAREN (expression (COMMA expression)* COMMA?)? RIGHT_PAREN                   # tuple
    | LEFT_BRACKET expression FOR NAME IN arithmetic RANGE arithmetic RIGHT_BRACKET # comprehension
    | SWIZZLE arithmetic COMMA arithmetic COMMA arithmetic GREATER                      # swizzle
    | FIND NAME LEFT_PAREN arguments? RIGHT_PAREN                                       # find
    ;

// Y[0..10, 3]
subscript : expression (RANGE expression)? ;

arguments : argument (COMMA argument)* COMMA? ;
argument  : (NAME ASSIGN)? expression ;
