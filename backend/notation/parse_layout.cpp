#include "backend/notation/parse_layout.h"

#include <algorithm>

#include "frontend/algebra/support/refusal.h"

namespace lay::notation {

template <class F>
auto LayoutParser::at(const Token& token, F f) {
  try {
    return f();
  } catch (const Refusal& refusal) {
    cursor_.fail(refusal.message, token);
  }
}

// ---- integers and tuples: one grammar, since only what follows a parenthesis tells them apart

Int LayoutParser::known_integer(const Tuple& value, const Token& token) const {
  if (!value.is_int()) cursor_.fail("expected an integer", token);
  return value.value();
}

Int LayoutParser::integer() {
  const Token first = cursor_.peek();
  return known_integer(sum(), first);
}

Tuple LayoutParser::tuple() {
  return sum();
}

Tuple LayoutParser::sum() {
  const Cursor::Nested nested(cursor_);
  const Token first = cursor_.peek();
  Tuple left = product();
  while (cursor_.at("+") || cursor_.at("-")) {
    const bool plus = cursor_.take().text == "+";
    const Int a = known_integer(left, first);
    const Int b = known_integer(product(), first);
    left = at(first, [&] { return plus ? a + b : a - b; });
    remainder_.reset();
  }
  return left;
}

Tuple LayoutParser::product() {
  const Token first = cursor_.peek();
  Tuple left = negated();
  while (cursor_.at("*") || cursor_.at("/") || cursor_.at("//") || cursor_.at("%")) {
    const std::string sign = cursor_.take().text;
    const Int a = known_integer(left, first);
    const Int b = known_integer(negated(), first);
    left = at(first, [&] {
      if (sign == "*") return a * b;
      if (sign == "/") return divided(a, b);
      if (sign == "//") return floor_div(a, b);
      return mod(a, b);
    });
    remainder_.reset();
    if (sign == "%") remainder_ = Remainder{a, b};
  }
  return left;
}

Tuple LayoutParser::negated() {
  remainder_.reset();
  const Token first = cursor_.peek();
  if (cursor_.at("-") && cursor_.peek(1).kind != TokenKind::integer) {
    const Cursor::Nested nested(cursor_);
    cursor_.take();
    const Tuple operand = negated();
    if (operand.is_basis()) return Tuple::basis(-operand.value(), operand.path());
    const Int a = known_integer(operand, first);
    return at(first, [&] { return -a; });
  }
  return postfix();
}

Tuple LayoutParser::postfix() {
  const Token first = cursor_.peek();
  const Tuple base = primary();
  const auto at_path = [&] { return cursor_.at("@") && !cursor_.peek().spaced; };
  if (!at_path()) return base;
  std::vector<int> path;
  for (; at_path(); path.push_back(cursor_.small_integer())) cursor_.take();
  std::reverse(path.begin(), path.end());
  const Int value = known_integer(base, first);
  return at(first, [&] { return Tuple::basis(value, path); });
}

Tuple LayoutParser::primary() {
  const Token token = cursor_.peek();
  if (token.kind == TokenKind::integer || cursor_.at("-")) return Int(cursor_.integer());
  if (cursor_.at("(")) return parenthesised();
  const std::string name = cursor_.name();
  if (token.kind == TokenKind::word && cursor_.at("(")) return call(name);
  const auto size = sizes.find(name);
  if (size == sizes.end()) cursor_.fail("`" + name + "` is no declared size", token);
  return size->second;
}

Tuple LayoutParser::parenthesised() {
  const Cursor::Nested nested(cursor_);
  cursor_.expect("(");
  if (cursor_.accept(")")) return Tuple(std::vector<Tuple>{});
  if (cursor_.at("if")) return selection();
  std::vector<Tuple> modes{sum()};
  bool comma = false;
  while (cursor_.accept(",")) {
    comma = true;
    if (!cursor_.at(")")) modes.push_back(sum());
  }
  const Token close = cursor_.peek();
  cursor_.expect(")");
  remainder_.reset();
  if (!comma) return modes[0];
  return at(close, [&] { return Tuple(std::move(modes)); });
}

Int LayoutParser::call(const std::string& function) {
  const Token open = cursor_.take();
  const Int a = integer();
  cursor_.expect(",");
  const Int b = integer();
  cursor_.expect(")");
  return at(open, [&]() -> Int {
    if (function == "ceil_div") return ceil_div(a, b);
    if (function == "floor_div") return floor_div(a, b);
    if (function == "min") return min(a, b);
    if (function == "max") return max(a, b);
    cursor_.fail("`" + function + "` is no function of sizes", open);
  });
}

// if P then a else b), after the parenthesis.
Int LayoutParser::selection() {
  cursor_.expect("if");
  const Predicate condition = predicate();
  cursor_.expect("then");
  const Int a = integer();
  cursor_.expect("else");
  const Int b = integer();
  const Token close = cursor_.peek();
  cursor_.expect(")");
  remainder_.reset();
  return at(close, [&] { return select(condition, a, b); });
}

// ---- conditions

Predicate LayoutParser::predicate() {
  const Cursor::Nested nested(cursor_);
  Predicate left = conjunction();
  while (cursor_.accept("or")) left = either(left, conjunction());
  return left;
}

Predicate LayoutParser::conjunction() {
  Predicate left = condition();
  while (cursor_.accept("and")) left = both(left, condition());
  return left;
}

Predicate LayoutParser::condition() {
  const Cursor::Nested nested(cursor_);
  if (cursor_.accept("true")) return Predicate(true);
  if (cursor_.accept("false")) return Predicate(false);
  if (cursor_.accept("not")) return negate(condition());
  if (!cursor_.at("(")) return comparison();
  const size_t after = cursor_.after_parenthesis();
  const bool ends = cursor_.at(")", after) || cursor_.at("and", after) || cursor_.at("or", after) ||
                    cursor_.at("then", after) ||
                    cursor_.peek(after).line != cursor_.peek(after - 1).line;
  if (!ends) return comparison();
  cursor_.expect("(");
  const Predicate inner = predicate();
  cursor_.expect(")");
  return inner;
}

Predicate LayoutParser::comparison() {
  const Token first = cursor_.peek();
  const Int a = integer();
  const std::optional<Remainder> left = remainder_;
  const Token sign = cursor_.take();
  const Int b = integer();
  return at(first, [&]() -> Predicate {
    if (sign.text == "==") return left && b.is(0) ? divides(left->a, left->b) : equal(a, b);
    if (sign.text == "!=")
      return left && b.is(0) ? negate(divides(left->a, left->b)) : not_equal(a, b);
    if (sign.text == "<") return less(a, b);
    if (sign.text == "<=") return less_equal(a, b);
    if (sign.text == ">") return greater(a, b);
    if (sign.text == ">=") return greater_equal(a, b);
    cursor_.fail("expected a comparison, found `" + sign.text + "`", sign);
  });
}

// ---- layouts

Layout LayoutParser::plain_layout() {
  const Token first = cursor_.peek();
  const Tuple shape = tuple();
  cursor_.expect(":");
  const Tuple stride = tuple();
  return at(first, [&] { return Layout(shape, stride); });
}

Swizzle LayoutParser::swizzle() {
  const Token first = cursor_.peek();
  cursor_.expect("Sw");
  cursor_.expect("<");
  const std::int64_t b = cursor_.integer();
  cursor_.expect(",");
  const std::int64_t m = cursor_.integer();
  cursor_.expect(",");
  const std::int64_t s = cursor_.integer();
  cursor_.expect(">");
  return at(first, [&] { return Swizzle(b, m, s); });
}

AnyLayout LayoutParser::layout() {
  std::variant<Swizzle, Layout> outer;
  if (cursor_.at("Sw")) {
    outer = swizzle();
  } else {
    outer = plain_layout();
    if (!cursor_.at("o")) return std::get<Layout>(std::move(outer));
  }
  cursor_.expect("o");
  const Tuple offset = tuple();
  cursor_.expect("o");
  if (cursor_.at("Sw")) return Composed{std::move(outer), offset, swizzle()};
  return Composed{std::move(outer), offset, plain_layout()};
}

}  // namespace lay::notation
