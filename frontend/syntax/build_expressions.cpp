#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <typeinfo>

#include "frontend/syntax/build.h"
#include "frontend/syntax/strings.h"
#include "frontend/syntax/walk.h"

namespace lay::syntax {
namespace {

using P = generated::LayParser;

template <class Context>
Context* as(antlr4::tree::ParseTree* tree) {
  return typeid(*tree) == typeid(Context) ? static_cast<Context*>(tree) : nullptr;
}

std::size_t type_of(antlr4::tree::ParseTree* terminal) {
  return static_cast<antlr4::tree::TerminalNode*>(terminal)->getSymbol()->getType();
}

ChainOperator chain_operator(std::size_t type) {
  switch (type) {
    case P::OR:
      return ChainOperator::logical_or;
    case P::AND:
      return ChainOperator::logical_and;
    case P::COMPOSE:
      return ChainOperator::compose;
    case P::PLUS:
      return ChainOperator::add;
    case P::MINUS:
      return ChainOperator::subtract;
    case P::TIMES:
      return ChainOperator::multiply;
    case P::DIVIDE:
      return ChainOperator::divide;
    case P::FLOOR_DIVIDE:
      return ChainOperator::floor_divide;
    default:
      return ChainOperator::modulo;
  }
}

// Contexts in which the operator's left side is what was read so far: they lean to the left without bound, so they are
// walked in a loop.
bool leans_left(P::ArithmeticContext* c) {
  return as<P::SumContext>(c) || as<P::ProductContext>(c) || as<P::CallContext>(c) || as<P::IndexContext>(c) ||
         as<P::MemberContext>(c) || as<P::PathContext>(c);
}
bool leans_left(P::ExpressionContext* c) {
  return as<P::ComposeContext>(c) || as<P::CompareContext>(c) || as<P::ConjunctionContext>(c) ||
         as<P::DisjunctionContext>(c);
}

// The contexts from the innermost to the outermost; the first does not lean left.
template <class Context>
std::vector<Context*> spine(Context* context) {
  std::vector<Context*> result{context};
  while (leans_left(result.back())) result.push_back(static_cast<Context*>(result.back()->children.front()));
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace

// A chain in the making: a - b + c becomes one node.
class Builder::ChainMaker {
 public:
  ChainMaker(Builder& builder, ExpressionId first) : builder_(builder), current_(first) {}

  void link(const std::type_info& level, ChainOperator op, const Span& op_span, ExpressionId operand) {
    if (level_ != &level) {
      finish();
      chain_ = {current_, {}};
      level_ = &level;
    }
    chain_.rest.push_back({op, op_span, operand});
  }

  // What was read so far as one node; the next link begins a chain of its own.
  ExpressionId finish() {
    if (level_ != nullptr) {
      const Span where = join(builder_.span(chain_.first), builder_.span(chain_.rest.back().operand));
      current_ = builder_.add(where, std::move(chain_));
      level_ = nullptr;
    }
    return current_;
  }

  void replace(ExpressionId id) { current_ = id; }

 private:
  Builder& builder_;
  ExpressionId current_;
  Chain chain_;
  const std::type_info* level_ = nullptr;  // the kind of context that the open chain is made of
};

ExpressionId Builder::add(const Span& where, decltype(Expression::node) node) {
  Expression expression{where, std::move(node)};
  int height = 1;
  for_each_child(expression, [&](ExpressionId child) { height = std::max(height, heights_[child.index] + 1); });
  if (height > limits_.height && !reported_height_) {
    reported_height_ = true;
    error(where, "nesting-too-deep",
          "this expression is nested deeper than " + std::to_string(limits_.height) + " levels",
          "name parts of it with let");
  }
  tree_.expressions.push_back(std::move(expression));
  heights_.push_back(height);
  return {static_cast<std::uint32_t>(tree_.expressions.size() - 1)};
}

std::vector<ExpressionId> Builder::expressions(const std::vector<P::ExpressionContext*>& contexts) {
  std::vector<ExpressionId> result;
  result.reserve(contexts.size());
  for (auto* context : contexts) result.push_back(expression(context));
  return result;
}

ExpressionId Builder::expression(P::ExpressionContext* context) {
  const std::vector<P::ExpressionContext*> contexts = spine(context);
  ChainMaker chain(*this, operand(contexts.front()));
  bool compared = false;
  for (std::size_t i = 1; i < contexts.size(); ++i) {
    P::ExpressionContext* c = contexts[i];
    auto* right_context = static_cast<P::ExpressionContext*>(c->children[2]);
    if (auto* comparison = as<P::CompareContext>(c)) {
      const ExpressionId left = chain.finish(), right = expression(right_context);
      if (compared) {
        error(span(comparison->comparison()), "comparison-chain", "comparisons do not chain", "write a < b and b < c");
      }
      chain.replace(add(span(c), Binary{comparison_operator(comparison->comparison()), left, right}));
      compared = true;
    } else {
      auto* op = static_cast<antlr4::tree::TerminalNode*>(c->children[1]);
      chain.link(typeid(*c), chain_operator(type_of(op)), span(op->getSymbol()), expression(right_context));
      compared = false;
    }
  }
  return chain.finish();
}

BinaryOperator Builder::comparison_operator(P::ComparisonContext* context) {
  switch (type_of(context->children.front())) {
    case P::EQUAL:
      return BinaryOperator::equal;
    case P::UNEQUAL:
      return BinaryOperator::not_equal;
    case P::LESS:
      return BinaryOperator::less;
    case P::LESS_EQUAL:
      return BinaryOperator::less_equal;
    default:
      break;
  }
  if (context->children.size() == 1) return BinaryOperator::greater;
  if (context->start->getStopIndex() + 1 != context->stop->getStartIndex()) {
    error(span(context), "syntax", "`>` and `=` stand apart", "write `>=`");
  }
  return BinaryOperator::greater_equal;
}

// An expression that does not lean left.
ExpressionId Builder::operand(P::ExpressionContext* context) {
  if (auto* c = as<P::LayoutContext>(context)) return layout(c);
  if (auto* c = as<P::NegationContext>(context)) {
    return add(span(c), Unary{UnaryOperator::logical_not, expression(c->expression())});
  }
  auto* c = static_cast<P::ConditionalContext*>(context);
  const ExpressionId condition = expression(c->expression(0)), then = expression(c->expression(1));
  return add(span(c), If{condition, then, expression(c->expression(2))});
}

ExpressionId Builder::layout(P::LayoutContext* context) {
  const ExpressionId left = arithmetic(static_cast<P::ArithmeticContext*>(context->children.front()));
  if (context->children.size() == 1) return left;
  const ExpressionId right = arithmetic(static_cast<P::ArithmeticContext*>(context->children[2]));
  return add(span(context), Binary{BinaryOperator::colon, left, right});
}

ExpressionId Builder::arithmetic(P::ArithmeticContext* context) {
  const std::vector<P::ArithmeticContext*> contexts = spine(context);
  ChainMaker chain(*this, primary(contexts.front()));
  for (std::size_t i = 1; i < contexts.size(); ++i) {
    P::ArithmeticContext* c = contexts[i];
    if (as<P::SumContext>(c) || as<P::ProductContext>(c)) {
      auto* op = static_cast<antlr4::tree::TerminalNode*>(c->children[1]);
      const ExpressionId right = arithmetic(static_cast<P::ArithmeticContext*>(c->children[2]));
      chain.link(typeid(*c), chain_operator(type_of(op)), span(op->getSymbol()), right);
      continue;
    }
    const ExpressionId object = chain.finish();
    if (auto* call_context = as<P::CallContext>(c)) {
      chain.replace(call(call_context, object));
    } else if (auto* index = as<P::IndexContext>(c)) {
      chain.replace(add(span(c), Index{object, expressions(index->expression())}));
    } else if (auto* member = as<P::MemberContext>(c)) {
      chain.replace(add(span(c), Member{object, identifier(member->NAME())}));
    } else {
      Path path{object, {}};
      for (--i; i + 1 < contexts.size() && as<P::PathContext>(contexts[i + 1]); ++i) {
        path.indices.push_back(path_index(contexts[i + 1]->stop));
      }
      chain.replace(add(span(contexts[i]), std::move(path)));
    }
  }
  return chain.finish();
}

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
  const std::uint64_t largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (failure != std::errc() || value > largest + (negative ? 1 : 0)) {
    const std::string shown = digits.size() <= 40 ? std::string(digits) : std::string(digits.substr(0, 30)) + "...";
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
  const std::size_t begin = context->start->getTokenIndex(), end = context->stop->getTokenIndex() + 1;
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
      error(span(c), "argument-order", "a positional argument stands behind `" + result.back().name->text + " = ...`",
            "put named arguments last");
    }
    result.push_back(std::move(argument));
  }
  return result;
}

ExpressionId Builder::call(P::CallContext* context, ExpressionId callee) {
  if (const auto* index = std::get_if<Index>(&tree_[callee].node)) {
    const auto* name = std::get_if<Name>(&tree_[index->object].node);
    if (name != nullptr && name->text == "sum") return sum(context, *index);
  }
  check_callee(context, callee);
  return add(span(context), Call{callee, arguments(context->arguments())});
}

// A literal is never a function: (4,2):(1,4)(7) calls the tuple (1,4), where the layout is meant.
void Builder::check_callee(P::CallContext* context, ExpressionId callee) {
  const auto& node = tree_[callee].node;
  const bool is_tuple = std::holds_alternative<Tuple>(node), is_integer = std::holds_alternative<Integer>(node);
  if (!is_tuple && !is_integer) return;
  const Span where = span(callee);
  std::string help = "call a layout: write ((4,2):(1,4))(7)";
  auto* layout = dynamic_cast<P::LayoutContext*>(context->parent);
  if (layout != nullptr && layout->children.size() == 3 && layout->children[2] == context) {
    const Span shape = span(static_cast<antlr4::ParserRuleContext*>(layout->children[0]));
    const Span given{file_, where.end, span(context).end};
    if (given.end - shape.begin < 80) {
      help = "write (" + std::string(spelling(join(shape, where))) + ")" + std::string(spelling(given));
    }
  }
  error(where, "call-of-literal", std::string(is_tuple ? "a tuple" : "a number") + " cannot be called", help);
}

// sum[k, l : f16](body)
ExpressionId Builder::sum(P::CallContext* context, const Index& header) {
  Sum result;
  const auto name = [&](ExpressionId id) -> Identifier {
    const auto* node = std::get_if<Name>(&tree_[id].node);
    if (node == nullptr) {
      error(span(id), "sum-form", "`sum` runs over an index name here", "write sum[k](...) or sum[k : f32](...)");
      return {"", span(id)};
    }
    return {node->text, span(id)};
  };
  for (std::size_t i = 0; i < header.indices.size(); ++i) {
    const ExpressionId id = header.indices[i];
    const auto* typed = std::get_if<Binary>(&tree_[id].node);
    if (typed != nullptr && typed->op == BinaryOperator::colon && i + 1 == header.indices.size()) {
      result.indices.push_back(name(typed->left));
      result.accumulator = name(typed->right);
    } else {
      result.indices.push_back(name(id));
    }
  }
  const std::vector<Argument> given = arguments(context->arguments());
  if (given.size() != 1 || given.front().name) {
    error(span(context), "sum-form", "`sum[k](...)` takes one expression, not " + std::to_string(given.size()),
          "write sum[k](A[m,k] * B[n,k])");
  }
  result.body = given.empty() ? add(span(context), Tuple{}) : given.front().value;
  return add(span(context), std::move(result));
}

}  // namespace lay::syntax
