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

struct ExpressionId {
  std::uint32_t index = 0;
  friend bool operator==(ExpressionId, ExpressionId) = default;
};

struct Identifier {
  std::string text;
  Span span;
};

// ---- Expressions ----

struct Integer {  // 8, and CuTe's _8; in range: only -9223372036854775808 is written with its sign
  std::int64_t value = 0;
  bool cute = false;
};
struct Float {  // 0.5, 1e-3: finite
  double value = 0;
  std::string text;
};
struct String {  // "..." with its escapes resolved
  std::string value;
};
struct Boolean {
  bool value = false;
};
struct Name {
  std::string text;
};
struct Underscore {};  // _

struct Tuple {  // (), (a,), (a, b); inside CuTe text (_4) too
  std::vector<ExpressionId> elements;
};

enum class UnaryOperator { minus, logical_not };
struct Unary {
  UnaryOperator op{};
  ExpressionId operand;
};

enum class BinaryOperator { equal, not_equal, less, less_equal, greater, greater_equal, colon };
struct Binary {  // comparisons, and shape : stride; these do not chain
  BinaryOperator op{};
  ExpressionId left, right;
};

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
struct Link {
  ChainOperator op{};
  Span op_span;
  ExpressionId operand;
};
struct Chain {  // a - b + c: operators of one precedence, folded from the left. `rest` is never
                // empty.
  ExpressionId first;
  std::vector<Link> rest;
};

struct Path {  // base@i@j, the last index outermost; each index is an Integer or a Name
  ExpressionId base;
  std::vector<ExpressionId> indices;
};

struct Argument {
  std::optional<Identifier> name;  // name = value
  ExpressionId value;
};
struct Call {  // f(x); sum[k](x) and sum[k : f64](x) call an Index
  ExpressionId callee;
  std::vector<Argument> arguments;
};
struct Index {  // x[0,1]; in a kernel A[m,k]; of an array also X[0..10], whose index is a Range
  ExpressionId object;
  std::vector<ExpressionId> indices;
};
struct Range {  // first..last, last excluded
  ExpressionId first, last;
};
struct Member {
  ExpressionId object;
  Identifier name;
};
struct If {
  ExpressionId condition, then, otherwise;
};
struct Comprehension {  // [element for variable in first..last], last excluded
  ExpressionId element;
  Identifier variable;
  ExpressionId first, last;
};
struct Swizzle {  // Sw<bits,base,shift>
  ExpressionId bits, base, shift;
};
struct Find {  // find swizzle(write = W), find layout(...)
  Identifier what;
  std::vector<Argument> arguments;
};
struct Expression {
  Span span;
  std::variant<Integer, Float, String, Boolean, Name, Underscore, Tuple, Unary, Binary, Chain, Path,
               Call, Index, Range, Member, If, Comprehension, Swizzle, Find>
      node;
};

// ---- Statements ----

struct Let {
  Identifier name;
  std::vector<Identifier> indices;  // in a kernel: let s[m] = ...
  ExpressionId value;
};

struct Parameter {  // of a def or record: NAME or NAME: TYPE
  Identifier name;
  std::optional<Identifier> type;
};
struct Def {
  Identifier name;
  std::vector<Identifier> indices;  // def mean[n](x) = ...
  std::vector<Parameter> parameters;
  std::optional<Identifier> result;
  ExpressionId body;
};

struct Dim {
  std::vector<Identifier> names;
};
struct Assume {
  ExpressionId condition;
};
struct Assert {
  ExpressionId condition;
  std::optional<ExpressionId> message;
};
struct Print {
  std::vector<ExpressionId> values;
};
struct Show {  // show a, view = line: values, then options by name
  std::vector<Argument> arguments;
};
struct Explain {
  ExpressionId value;
};
struct Prove {
  ExpressionId claim;
};
struct Use {  // use atoms.sm90 (path), use "mine.lay" (file)
  std::vector<Identifier> path;
  std::optional<std::string> file;
};

struct Field {
  Identifier name;
  ExpressionId value;
};
struct Record {
  Identifier name;
  std::vector<Parameter> parameters;
  std::vector<Field> fields;
};

struct Assign {  // C[m,n] = value
  Identifier target;
  std::vector<ExpressionId> indices;
  ExpressionId value;
};
struct BodyStatement {
  Span span;
  std::variant<Let, Assign> node;
};
struct KernelParameter {  // A: inout f32 (M,K):(lda,1); a scalar has no layout
  Identifier name;
  bool inout = false;
  Identifier type;
  std::optional<ExpressionId> layout;
  Span span;
};
struct Kernel {
  Identifier name;
  std::vector<Parameter> generics;  // <T: type, M, N, K>
  std::vector<KernelParameter> parameters;
  std::vector<KernelParameter> outputs;
  std::optional<ExpressionId> where;
  std::vector<BodyStatement> body;
};

struct Entry {  // tile = ..., smem A = ...
  Identifier name;
  std::optional<Identifier> operand;
  ExpressionId value;
};
struct Schedule {  // schedule KERNEL for TARGET when CONDITION { ... }
  Identifier kernel;
  Identifier target;
  std::optional<ExpressionId> when;
  std::vector<Entry> entries;
};

struct Evaluate {  // an expression that stands alone
  ExpressionId value;
};

struct Statement {
  Span span;
  std::variant<Let, Def, Dim, Assume, Assert, Print, Show, Explain, Prove, Use, Record, Kernel,
               Schedule, Evaluate>
      node;
};

struct Tree {
  int file = -1;
  std::vector<Statement> statements;    // those without a syntax error
  std::vector<Identifier> broken;       // names that statements with an error would have defined
  std::vector<Expression> expressions;  // the arena; children stand before their parents

  const Expression& operator[](ExpressionId id) const { return expressions.at(id.index); }
};

}  // namespace lay::syntax
