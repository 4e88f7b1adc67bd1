#include <charconv>
#include <cmath>
#include <limits>

#include "frontend/syntax/build.h"
#include "frontend/syntax/strings.h"

namespace lay::syntax {

using P = generated::LayParser;

ExpressionId Builder::path_index(const antlr4::Token* token) {
  const Span where = span(token);
  switch (token->getType()) {
    case P::NAME:
      return add(where, Name{std::string(spelling(where))});
    case P::CUTE:
      return add(where, Integer{integer(where, spelling(where).substr(1), false), true});
    default:
      return add(where, Integer{integer(where, spelling(where), false), false});
  }
}

// Arithmetic that does not lean left.
ExpressionId Builder::primary(P::ArithmeticContext* context) {
  if (auto* c = as<P::AtomContext>(context)) return atom(c);
  if (auto* c = as<P::TupleContext>(context)) return tuple(c);
  if (auto* c = as<P::MinusContext>(context)) return minus(c);
  if (auto* c = as<P::ComprehensionContext>(context)) {
    const ExpressionId element = expression(c->expression());
    const ExpressionId first = arithmetic(c->arithmetic(0)), last = arithmetic(c->arithmetic(1));
    return add(span(c), Comprehension{element, identifier(c->NAME()), first, last});
  }
  if (auto* c = as<P::SwizzleContext>(context)) {
    const ExpressionId bits = arithmetic(c->arithmetic(0)), base = arithmetic(c->arithmetic(1));
    return add(span(c), Swizzle{bits, base, arithmetic(c->arithmetic(2))});
  }
  auto* c = static_cast<P::FindContext*>(context);
  return add(span(c), Find{identifier(c->NAME()), arguments(c->arguments())});
}

ExpressionId Builder::atom(P::AtomContext* context) {
  const Span where = span(context);
  const std::string_view word = spelling(where);
  switch (context->start->getType()) {
    case P::INTEGER:
      return add(where, Integer{integer(where, word, false), false});
    case P::CUTE: {
      const bool negative = word[1] == '-';
      return add(where, Integer{integer(where, word.substr(negative ? 2 : 1), negative), true});
    }
    case P::FLOAT: {
      double value = 0;
      const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (failure != std::errc() || !std::isfinite(value)) {
        error(where, "overflow", "this number does not fit a 64-bit float");
        value = 0;
      }
      return add(where, Float{value, std::string(word)});
    }
    case P::STRING:
      return add(where, String{string_value(word)});
    case P::TRUE:
      return add(where, Boolean{true});
    case P::FALSE:
      return add(where, Boolean{false});
    case P::UNDERSCORE:
      return add(where, Underscore{});
    default:
      return add(where, Name{std::string(word)});
  }
}

std::int64_t Builder::integer(const Span& where, std::string_view digits, bool negative) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const std::uint64_t largest =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (failure != std::errc() || value > largest + (negative ? 1 : 0)) {
    const std::string shown =
        digits.size() <= 40 ? std::string(digits) : std::string(digits.substr(0, 30)) + "...";
    error(where, "overflow", (negative ? "-" : "") + shown + " does not fit a 64-bit integer",
          negative ? "the smallest is -9223372036854775808" : "the largest is 9223372036854775807");
    return 0;
  }
  return negative ? static_cast<std::int64_t>(~value + 1) : static_cast<std::int64_t>(value);
}

// -9223372036854775808 alone has no positive literal: its sign is part of it.
ExpressionId Builder::minus(P::MinusContext* context) {
  P::ArithmeticContext* operand = context->arithmetic();
  if (as<P::AtomContext>(operand) && operand->start->getType() == P::INTEGER &&
      spelling(span(operand)) == "9223372036854775808") {
    return add(span(context), Integer{std::numeric_limits<std::int64_t>::min(), false});
  }
  return add(span(context), Unary{UnaryOperator::minus, arithmetic(operand)});
}

bool Builder::is_cute_text(antlr4::ParserRuleContext* context) const {
  const std::size_t begin = context->start->getTokenIndex(),
                    end = context->stop->getTokenIndex() + 1;
  return cute_before_[end] > cute_before_[begin] && other_before_[end] == other_before_[begin];
}

// Parentheses: (a) groups, (a,) and (a, b) and () are tuples; in CuTe's text (_4) is a tuple too.
ExpressionId Builder::tuple(P::TupleContext* context) {
  const bool outermost_cute = !inside_cute_ && is_cute_text(context);
  if (outermost_cute) inside_cute_ = true;
  std::vector<ExpressionId> elements = expressions(context->expression());
  const bool trailing_comma = context->children.size() >= 3 && context->children.size() % 2 == 0;
  const bool groups = elements.size() == 1 && !trailing_comma && !inside_cute_;
  if (outermost_cute) inside_cute_ = false;
  if (groups) return elements.front();
  return add(span(context), Tuple{std::move(elements)});
}

std::vector<Argument> Builder::arguments(P::ArgumentsContext* context) {
  std::vector<Argument> result;
  if (context == nullptr) return result;
  for (auto* c : context->argument()) {
    Argument argument{std::nullopt, expression(c->expression())};
    if (c->NAME() != nullptr) argument.name = identifier(c->NAME());
    if (!argument.name && !result.empty() && result.back().name) {
      error(span(c), "argument-order",
            "a positional argument follows `" + result.back().name->text + " = ...`",
            "put named arguments last");
    }
    result.push_back(std::move(argument));
  }
  return result;
}

ExpressionId Builder::call(P::CallContext* context, ExpressionId callee) {
  check_callee(context, callee);
  return add(span(context), Call{callee, arguments(context->arguments())});
}

// A literal is never a function: (4,2):(1,4)(7) calls the tuple (1,4), where the layout is meant.
void Builder::check_callee(P::CallContext* context, ExpressionId callee) {
  const auto& node = tree_[callee].node;
  const bool is_tuple = std::holds_alternative<Tuple>(node),
             is_integer = std::holds_alternative<Integer>(node);
  if (!is_tuple && !is_integer) return;
  const Span where = span(callee);
  std::string help = "call a layout: write ((4,2):(1,4))(7)";
  auto* layout = dynamic_cast<P::LayoutContext*>(context->parent);
  if (layout != nullptr && layout->children.size() == 3 && layout->children[2] == context) {
    const Span shape = span(static_cast<antlr4::ParserRuleContext*>(layout->children[0]));
    const Span given{file_, where.end, span(context).end};
    if (given.end - shape.begin < 80) {
      help = "write (" + std::string(spelling(join(shape, where))) + ")" +
             std::string(spelling(given));
    }
  }
  error(where, "call-of-literal",
        std::string(is_tuple ? "a tuple" : "a number") + " cannot be called", help);
}

}  // namespace lay::syntax
