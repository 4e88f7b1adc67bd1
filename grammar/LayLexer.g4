// The words of Lay. The parser never sees spaces and comments; which newlines it sees is decided in
// frontend/syntax/newlines.h.
lexer grammar LayLexer;

options { superClass = LexerBase; }

// Passed by LexerBase, which knows where `//` divides.
tokens { COMMENT }

@header {
#include "frontend/syntax/lexer_base.h"
}

// Words that begin a statement.
LET      : 'let' ;
DEF      : 'def' ;
DIM      : 'dim' ;
ASSUME   : 'assume' ;
ASSERT   : 'assert' ;
PRINT    : 'print' ;
SHOW     : 'show' ;
EXPLAIN  : 'explain' ;
PROVE    : 'prove' ;
USE      : 'use' ;
RECORD   : 'record' ;
KERNEL   : 'kernel' ;
SCHEDULE : 'schedule' ;

// Words inside statements.
IF    : 'if' ;
THEN  : 'then' ;
ELSE  : 'else' ;
FOR   : 'for' ;
IN    : 'in' ;
FIND  : 'find' ;
INOUT : 'inout' ;
WHERE : 'where' ;
WHEN  : 'when' ;
OR    : 'or' ;
AND   : 'and' ;
NOT   : 'not' ;
TRUE  : 'true' ;
FALSE : 'false' ;

// Composition: `o` is a word of its own and no name.
COMPOSE : 'o' | '\u2218' ;

SWIZZLE : 'Sw<' ;

UNDERSCORE : '_' ;
CUTE       : '_' '-'? DIGIT+ ;   // CuTe prints a static 8 as _8
NAME       : LETTER (LETTER | DIGIT)* ;
INTEGER    : DIGIT+ ;
FLOAT      : DIGIT+ '.' DIGIT+ EXPONENT? | DIGIT+ EXPONENT ;
BAD_NUMBER : DIGIT+ ('.' DIGIT+)? EXPONENT? LETTER (LETTER | DIGIT)* ;

STRING     : '"' (~["\\\n] | '\\' ~[\n])* '"' ;
OPEN_TEXT  : '"' (~["\\\n] | '\\' ~[\n])* '\\'? ;   // no closing quote on the line

LEFT_PAREN    : '(' ;
RIGHT_PAREN   : ')' ;
LEFT_BRACKET  : '[' ;
RIGHT_BRACKET : ']' ;
LEFT_BRACE    : '{' ;
RIGHT_BRACE   : '}' ;

ARROW     : '->' ;
RANGE     : '..' ;
DOT       : '.' ;
COMMA     : ',' ;
SEMICOLON : ';' ;
COLON     : ':' ;
AT        : '@' ;

EQUAL     : '==' ;
UNEQUAL   : '!=' ;
ASSIGN    : '=' ;
LESS_EQUAL : '<=' ;
LESS      : '<' ;
GREATER   : '>' ;       // `>=` is `>` and `=` side by side, so that Sw<3,4,3>==x reads right

PLUS    : '+' ;
MINUS   : '-' ;
TIMES   : '*' ;

FLOOR_DIVIDE : '//' ;
DIVIDE       : '/' ;
MODULO       : '%' ;

NEWLINE : '\n' ;
SPACE   : [ \t]+ -> skip ;   // at the end of a text; LexerBase passes those before a word
UNKNOWN : . ;

fragment DIGIT    : [0-9] ;
fragment LETTER   : [A-Za-z_] ;
fragment EXPONENT : [eE] [+-]? DIGIT+ ;
