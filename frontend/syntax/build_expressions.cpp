#include <algorithm>
#include <typeinfo>

#include "frontend/syntax/build.h"
#include "frontend/syntax/walk.h"

namespace lay::syntax {
namespace {

using P = generated::LayParser;

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

// Contexts in which the operator's left side is what was read so far: they lean to the left without
// bound, so they are walked in a loop.
bool leans_left(P::ArithmeticContext* c) {
  return as<P::SumContext>(c) || as<P::ProductContext>(c) || as<P::CallContext>(c) ||
         as<P::IndexContext>(c) || as<P::MemberContext>(c) || as<P::PathContext>(c);
}
bool leans_left(P::ExpressionContext* c) {
  return as<P::ComposeContext>(c) || as<P::CompareContext>(c) || as<P::ConjunctionContext>(c) ||
         as<P::DisjunctionContext>(c);
}

// The contexts from the innermost to the outermost; the first does not lean left.
template <class Context>
std::vector<Context*> spine(Context* context) {
  std::vector<Context*> result{context};
  while (leans_left(result.back()))
    result.push_back(static_cast<Context*>(result.back()->children.front()));
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace

// A chain in the making: a - b + c becomes one node.
class Builder::ChainMaker {
 public:
  ChainMaker(Builder& builder, ExpressionId first) : builder_(builder), current_(first) {}

  void link(const std::type_info& level, ChainOperator op, const Span& op_span,
            ExpressionId operand) {
    if (level_ != &level) {
      finish();
      chain_ = {current_, {}};
      level_ = &level;
    }
    chain_.rest.push_back({op, op_span, operand});
  }

  // Returns what was read so far as one node; the next link begins a chain of its own.
  ExpressionId finish() {
    if (level_ != nullptr) {
      const Span where =
          join(builder_.span(chain_.first), builder_.span(chain_.rest.back().operand));
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
  for_each_child(expression,
                 [&](ExpressionId child) { height = std::max(height, heights_[child.index] + 1); });
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

ExpressionId Builder::subscript(P::SubscriptContext* context) {
  const ExpressionId first = expression(context->expression(0));
  if (!context->RANGE()) return first;
  const ExpressionId last = expression(context->expression(1));
  return add(span(context), Range{first, last});
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
        error(span(comparison->comparison()), "comparison-chain", "comparisons do not chain",
              "write a < b and b < c");
      }
      chain.replace(
          add(span(c), Binary{comparison_operator(comparison->comparison()), left, right}));
      compared = true;
    } else {
      auto* op = static_cast<antlr4::tree::TerminalNode*>(c->children[1]);
      chain.link(typeid(*c), chain_operator(type_of(op)), span(op->getSymbol()),
                 expression(right_context));
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
  const ExpressionId left =
      arithmetic(static_cast<P::ArithmeticContext*>(context->children.front()));
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
      Index result{object, {}};
      for (auto* s : index->subscript()) result.indices.push_back(subscript(s));
      chain.replace(add(span(c), std::move(result)));
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

}  // namespace lay::syntax
