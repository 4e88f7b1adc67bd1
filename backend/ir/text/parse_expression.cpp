#include "backend/ir/text/parse_expression.h"

#include <charconv>
#include <limits>

#include "backend/ir/text/text.h"
#include "backend/ir/types.h"

namespace lay::ir {
namespace {

using F = ElementFunction;

struct Sign {
  std::string_view text;
  F function;
};
constexpr std::array<Sign, 6> kComparisons{
    {{"<", F::lt}, {"<=", F::le}, {">", F::gt}, {">=", F::ge}, {"==", F::eq}, {"!=", F::ne}}};
constexpr std::array<Sign, 2> kSums{{{"+", F::add}, {"-", F::sub}}};
constexpr std::array<Sign, 3> kProducts{{{"*", F::mul}, {"/", F::div}, {"%", F::rem}}};

template <size_t N>
const Sign* sign_at(const Cursor& cursor, const std::array<Sign, N>& signs) {
  for (const Sign& sign : signs) {
    if (cursor.at(sign.text)) return &sign;
  }
  return nullptr;
}

}  // namespace

Term ExpressionParser::apply(const Token& at, F function, std::vector<Term> operands,
                             ElementType asked) {
  std::vector<ElementType> types;
  for (const Term& operand : operands) types.push_back(operand.type());
  const ResultType result = result_type(function, types, asked);
  if (!result.misfit.empty()) {
    cursor_.fail("`" + std::string(function_row(function).name) + "` " + result.misfit, at);
  }
  return builder_.node({Apply{function, {operands.begin(), operands.end()}}, result.type});
}

// ---- loosest first

Term ExpressionParser::expression() {
  const Cursor::Nested nested(cursor_);
  Term left = conjunction();
  while (cursor_.at("or")) {
    const Token at = cursor_.take();
    left = apply(at, F::or_, {left, conjunction()});
  }
  return left;
}

Term ExpressionParser::conjunction() {
  Term left = negation();
  while (cursor_.at("and")) {
    const Token at = cursor_.take();
    left = apply(at, F::and_, {left, negation()});
  }
  return left;
}

Term ExpressionParser::negation() {
  if (!cursor_.at("not")) return comparison();
  const Cursor::Nested nested(cursor_);
  const Token at = cursor_.take();
  return apply(at, F::not_, {negation()});
}

Term ExpressionParser::comparison() {
  const Term left = sum();
  const Sign* sign = sign_at(cursor_, kComparisons);
  if (sign == nullptr) return left;
  const Token at = cursor_.take();
  return apply(at, sign->function, {left, sum()});
}

Term ExpressionParser::sum() {
  Term left = product();
  while (const Sign* sign = sign_at(cursor_, kSums)) {
    const Token at = cursor_.take();
    left = apply(at, sign->function, {left, product()});
  }
  return left;
}

Term ExpressionParser::product() {
  Term left = unary();
  while (const Sign* sign = sign_at(cursor_, kProducts)) {
    const Token at = cursor_.take();
    left = apply(at, sign->function, {left, unary()});
  }
  return left;
}

Term ExpressionParser::unary() {
  if (!cursor_.at("-")) return primary();
  const TokenKind next = cursor_.peek(1).kind;
  if (next == TokenKind::integer) return literal(ElementType::s32);
  if (next == TokenKind::real) return literal(ElementType::f32);
  const Cursor::Nested nested(cursor_);
  const Token at = cursor_.take();
  return apply(at, F::neg, {unary()});
}

// ---- primaries

Term ExpressionParser::primary() {
  const Token token = cursor_.peek();
  if (token.kind == TokenKind::integer) return literal(ElementType::s32);
  if (token.kind == TokenKind::real) return literal(ElementType::f32);
  if (cursor_.accept("(")) {
    const Term inner = expression();
    cursor_.expect(")");
    return inner;
  }
  if (cursor_.accept("[")) {
    const Int size = layouts.integer();
    cursor_.expect("]");
    return builder_.node({Size{size}, ElementType::s32});
  }
  if (token.kind == TokenKind::word && text::reserved(token.text)) return call();
  return named();
}

// A literal of the type: 7, -1.5, inf, nan.
Term ExpressionParser::literal(ElementType type) {
  const Token first = cursor_.peek();
  const bool word =
      cursor_.at("inf") || cursor_.at("nan") || (cursor_.at("-") && cursor_.at("inf", 1));
  const TokenKind digits = cursor_.at("-") ? cursor_.peek(1).kind : first.kind;
  if (!is_float(type)) {
    if (digits != TokenKind::integer) cursor_.fail("expected an integer literal");
    return builder_.node({Constant{cursor_.integer()}, type});
  }
  const double sign = cursor_.accept("-") ? -1.0 : 1.0;
  const std::string text = cursor_.take().text;
  double value = 0;
  if (word) {
    value = text == "inf" ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) {
    cursor_.fail(text + " is outside the range of f64", first);
  }
  if (type == ElementType::f32) value = static_cast<double>(static_cast<float>(value));
  return builder_.node({Constant{sign * value}, type});
}

// f32(7), f32(x), s64[M*N]
Term ExpressionParser::typed(ElementType type) {
  const Token first = cursor_.peek();
  if (cursor_.accept("[")) {
    const Int size = layouts.integer();
    cursor_.expect("]");
    return builder_.node({Size{size}, type});
  }
  cursor_.expect("(");
  const size_t sign = cursor_.at("-") ? 1 : 0;
  const TokenKind kind = cursor_.peek(sign).kind;
  const bool number = kind == TokenKind::integer || kind == TokenKind::real ||
                      cursor_.at("inf", sign) || cursor_.at("nan", sign);
  const Term value = number && cursor_.at(")", sign + 1)
                         ? literal(type)
                         : apply(first, F::cast, {expression()}, type);
  cursor_.expect(")");
  return value;
}

Term ExpressionParser::ring_value() {
  const bool slot = cursor_.take().text == "slot";
  cursor_.expect("(");
  const Token token = cursor_.peek();
  const auto ring = rings.find(cursor_.name());
  if (ring == rings.end()) cursor_.fail("`" + token.text + "` is no ring", token);
  cursor_.expect(")");
  return slot ? builder_.slot(ring->second) : builder_.phase(ring->second);
}

// Parses an expression that starts with a word of the language.
Term ExpressionParser::call() {
  const Token token = cursor_.peek();
  if (cursor_.at("slot") || cursor_.at("phase")) return ring_value();
  cursor_.take();
  if (token.text == "true" || token.text == "false") {
    return builder_.node({Constant{std::int64_t{token.text == "true"}}, ElementType::pred});
  }
  if (const auto builtin = text::kBuiltins.find(token.text)) return builder_.special(*builtin);
  if (const auto type = parse_element(token.text)) return typed(*type);
  if (token.text == "at") {
    cursor_.expect("(");
    const Layout layout = layouts.plain_layout();
    cursor_.expect(",");
    const Term index = expression();
    cursor_.expect(")");
    return builder_.at(layout, index);
  }
  const auto function = parse_function(token.text);
  if (!function) cursor_.fail("`" + token.text + "` starts no expression", token);
  cursor_.expect("(");
  std::vector<Term> operands{expression()};
  while (cursor_.accept(",")) operands.push_back(expression());
  cursor_.expect(")");
  if (*function == F::cast) cursor_.fail("a cast is written as the type: f32(x)", token);
  return apply(token, *function, std::move(operands));
}

Term ExpressionParser::named() {
  const Token token = cursor_.peek();
  if (cursor_.at("[", 1)) return builder_.read(ref());
  const std::string name = cursor_.name();
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (const auto var = scope->find(name); var != scope->end()) return builder_.get(var->second);
  }
  if (const auto scalar = scalars.find(name); scalar != scalars.end()) return scalar->second;
  if (const auto size = layouts.sizes.find(name); size != layouts.sizes.end()) {
    return builder_.node({Size{size->second}, ElementType::s32});
  }
  cursor_.fail("`" + name + "` is no variable, scalar or size in scope", token);
}

BufferId ExpressionParser::buffer() {
  const Token token = cursor_.peek();
  const auto found = buffers.find(cursor_.name());
  if (found == buffers.end()) cursor_.fail("`" + token.text + "` is no buffer", token);
  return found->second;
}

Ref ExpressionParser::ref() {
  Ref made;
  made.buffer = buffer();
  cursor_.expect("[");
  if (cursor_.accept("]")) return made;
  do {
    made.coordinate.push_back(expression());
  } while (cursor_.accept(","));
  cursor_.expect("]");
  return made;
}

}  // namespace lay::ir
