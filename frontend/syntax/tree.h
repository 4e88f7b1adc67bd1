#pragma once
// The syntax tree: the whole schema. One tree per file; expressions live in one arena and refer to
// each other by id, so that copying, destroying and walking a tree of a million terms never
// recurses deeper than the limits of parse.h.
//
//   let r = (4,2):(1,n) o 2:1 + 1
//   Let r  Chain[ o ]( Binary : (Tuple(4,2), Tuple(1,n)),  Binary : (2, Chain[ + ](1, 1)) )
//
// Every node has the span of its text; parentheses that only group leave no node.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/source/span.h"

namespace lay::syntax {

// The place of an expression in the arena of its tree.
struct ExpressionId {
  std::uint32_t index = 0;
  friend bool operator==(ExpressionId, ExpressionId) = default;
};

// A name where it is defined or used, with its place for messages.
struct Identifier {
  std::string text;
  Span span;
};

// ---- Expressions ----

// 8, and CuTe's _8; in range: only -9223372036854775808 is written with its sign.
struct Integer {
  std::int64_t value = 0;
  bool cute = false;
};
// 0.5, 1e-3: finite.
struct Float {
  double value = 0;
  std::string text;
};
// "..." with its escapes resolved.
struct String {
  std::string value;
};
// true, false.
struct Boolean {
  bool value = false;
};
// A name that stands alone as an expression.
struct Name {
  std::string text;
};
struct Underscore {};  // _

// (), (a,), (a, b); inside CuTe text (_4) too.
struct Tuple {
  std::vector<ExpressionId> elements;
};

// -a, not a.
enum class UnaryOperator { minus, logical_not };
struct Unary {
  UnaryOperator op{};
  ExpressionId operand;
};

enum class BinaryOperator { equal, not_equal, less, less_equal, greater, greater_equal, colon };
// Comparisons, and shape : stride; these do not chain.
struct Binary {
  BinaryOperator op{};
  ExpressionId left, right;
};

// Operators that are folded from the left; `compose` is `o`.
enum class ChainOperator {
  logical_or,
  logical_and,
  compose,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo
};
// One operator of a chain and the operand on its right.
struct Link {
  ChainOperator op{};
  Span op_span;
  ExpressionId operand;
};
// A - b + c: operators of one precedence, folded from the left. `rest` is never empty.
struct Chain {
  ExpressionId first;
  std::vector<Link> rest;
};

// base@i@j, the last index outermost; each index is an Integer or a Name.
struct Path {
  ExpressionId base;
  std::vector<ExpressionId> indices;
};

// An argument of a call, by place or by name.
struct Argument {
  std::optional<Identifier> name;  // name = value
  ExpressionId value;
};
// f(x, name = y); layouts are called too: L(2, 3). sum[k](x) and sum[k : f64](x) call an Index.
struct Call {
  ExpressionId callee;
  std::vector<Argument> arguments;
};
// x[0,1]; in a kernel A[m,k]; of an array also X[0..10], whose index is a Range.
struct Index {
  ExpressionId object;
  std::vector<ExpressionId> indices;
};
// first..last, last excluded.
struct Range {
  ExpressionId first, last;
};
// record.field
struct Member {
  ExpressionId object;
  Identifier name;
};
// if condition then a else b
struct If {
  ExpressionId condition, then, otherwise;
};
// [element for variable in first..last], last excluded.
struct Comprehension {
  ExpressionId element;
  Identifier variable;
  ExpressionId first, last;
};
// Sw<bits,base,shift>
struct Swizzle {
  ExpressionId bits, base, shift;
};
// Find swizzle(write = W), find layout(...)
struct Find {
  Identifier what;
  std::vector<Argument> arguments;
};
// One node of the arena.
struct Expression {
  Span span;
  std::variant<Integer, Float, String, Boolean, Name, Underscore, Tuple, Unary, Binary, Chain, Path,
               Call, Index, Range, Member, If, Comprehension, Swizzle, Find>
      node;
};

// ---- Statements ----

// let name = value
struct Let {
  Identifier name;
  std::vector<Identifier> indices;  // in a kernel: let s[m] = ...
  ExpressionId value;
};

// A parameter of a def or record: NAME or NAME: TYPE.
struct Parameter {
  Identifier name;
  std::optional<Identifier> type;
};
// def name(parameters) -> result = body
struct Def {
  Identifier name;
  std::vector<Identifier> indices;  // def mean[n](x) = ...
  std::vector<Parameter> parameters;
  std::optional<Identifier> result;
  ExpressionId body;
};

// dim M, N: sizes that are not known yet.
struct Dim {
  std::vector<Identifier> names;
};
// assume condition: a fact from here on.
struct Assume {
  ExpressionId condition;
};
// assert condition, message
struct Assert {
  ExpressionId condition;
  std::optional<ExpressionId> message;
};
// print a, b
struct Print {
  std::vector<ExpressionId> values;
};
// Show a, view = line: values, then options by name.
struct Show {
  std::vector<Argument> arguments;
};
// explain value: how it comes about.
struct Explain {
  ExpressionId value;
};
// prove claim: its verdict, and a counterexample where it is refuted.
struct Prove {
  ExpressionId claim;
};
// Use atoms.sm90 (path), use "mine.lay" (file)
struct Use {
  std::vector<Identifier> path;
  std::optional<std::string> file;
};

// name = value, of a record.
struct Field {
  Identifier name;
  ExpressionId value;
};
// record name(parameters) { fields }
struct Record {
  Identifier name;
  std::vector<Parameter> parameters;
  std::vector<Field> fields;
};

// C[m,n] = value.
struct Assign {
  Identifier target;
  std::vector<ExpressionId> indices;
  ExpressionId value;
};
// A line of a kernel's body.
struct BodyStatement {
  Span span;
  std::variant<Let, Assign> node;
};
// A: inout f32 (M,K):(lda,1); a scalar has no layout.
struct KernelParameter {
  Identifier name;
  bool inout = false;
  Identifier type;
  std::optional<ExpressionId> layout;
  Span span;
};
// kernel name<generics>(parameters) -> outputs where condition { body }
struct Kernel {
  Identifier name;
  std::vector<Parameter> generics;  // <T: type, M, N, K>
  std::vector<KernelParameter> parameters;
  std::vector<KernelParameter> outputs;
  std::optional<ExpressionId> where;
  std::vector<BodyStatement> body;
};

// Tile = ..., smem A = ...
struct Entry {
  Identifier name;
  std::optional<Identifier> operand;
  ExpressionId value;
};
// Schedule KERNEL for TARGET when CONDITION { ... }
struct Schedule {
  Identifier kernel;
  Identifier target;
  std::optional<ExpressionId> when;
  std::vector<Entry> entries;
};

// schedule KERNEL for M = 4096, N = 14336
struct Sizes {
  Identifier kernel;
  std::vector<Field> sizes;
};

// An expression that stands alone.
struct Evaluate {
  ExpressionId value;
};

// A statement with the place of its text.
struct Statement {
  Span span;
  std::variant<Let, Def, Dim, Assume, Assert, Print, Show, Explain, Prove, Use, Record, Kernel,
               Schedule, Sizes, Evaluate>
      node;
};

// A parsed file.
struct Tree {
  int file = -1;
  // Those without a syntax error.
  std::vector<Statement> statements;
  // Names that statements with an error would have defined.
  std::vector<Identifier> broken;
  // The arena; children stand before their parents.
  std::vector<Expression> expressions;

  const Expression& operator[](ExpressionId id) const { return expressions.at(id.index); }
};

}  // namespace lay::syntax
