// The value of an expression: one case for each form of the syntax tree.

#include <algorithm>
#include <optional>
#include <utility>

#include "frontend/sema/apply.h"
#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/builtins/find.h"
#include "frontend/sema/indexed_call.h"
#include "frontend/sema/kernel/kernel_builder.h"
#include "frontend/sema/statement.h"
#include "frontend/sema/values/operators.h"

namespace lay::sema {
namespace {

using syntax::ChainOperator;
using syntax::ExpressionId;

class Evaluation {
 public:
  Evaluation(Session& session, Frame& frame, Span where)
      : session_(session),
        frame_(frame),
        where_(where),
        claim_(std::exchange(session.claiming, false)) {}

  Value operator()(const syntax::Integer& e) { return Value(Int(e.value)); }
  Value operator()(const syntax::Float& e) { return Value(e.value); }
  Value operator()(const syntax::String& e) { return Value(e.value); }
  Value operator()(const syntax::Boolean& e) { return Value(Predicate(e.value)); }
  // Where a script says what a size is, `assume M == 6`, its names are worth what they are for that
  // number. A kernel keeps its sizes: the launcher checks them.
  Value operator()(const syntax::Name& e) {
    Value value = look_up(session_, frame_, e.text, where_);
    const bool of_script = !session_.kernel && frame_.closure.module == session_.main;
    return of_script && session_.facts.knows_numbers() ? settle(session_, value) : value;
  }
  Value operator()(const syntax::Underscore&) { return Value(Tuple::underscore()); }

  Value operator()(const syntax::Tuple& e) {
    std::vector<Value> elements;
    elements.reserve(e.elements.size());
    for (ExpressionId element : e.elements) elements.push_back(evaluate(session_, frame_, element));
    return refusing([&] { return make_tuple(std::move(elements)); });
  }

  Value operator()(const syntax::Unary& e) {
    Operand operand = value_of(e.operand);
    if (e.op == syntax::UnaryOperator::minus)
      return refusing([&] { return negated(session_, operand, where_); });
    if (operand.value.is_unknown()) return operand.value;
    if (operand.value.as<Element>())
      return session_.kernel->apply(ElementFunction::not_, {operand}, where_);
    return Value(negate(as_condition(operand.value, operand.span)));
  }

  Value operator()(const syntax::Binary& e) {
    Operand left = value_of(e.left), right = value_of(e.right);
    return refusing({left.span, right.span}, [&] {
      if (e.op == syntax::BinaryOperator::colon) return make_layout_value(left, right);
      return compare(session_, e.op, left, right, where_);
    });
  }

  Value operator()(const syntax::Chain& e) {
    ChainOperator op = e.rest.front().op;
    if (op == ChainOperator::compose) return composition_chain(e);
    if (op == ChainOperator::logical_and || op == ChainOperator::logical_or)
      return logical_chain(e);
    Operand result = value_of(e.first);
    for (const syntax::Link& link : e.rest) {
      Operand right = value_of(link.operand);
      Span whole = join(result.span, right.span);
      session_.charge(1, whole);
      result = {refusing(whole, {result.span, right.span},
                         [&] { return arithmetic(session_, link.op, result, right, whole); }),
                whole};
    }
    return result.value;
  }

  Value operator()(const syntax::Path& e) {
    Operand base = value_of(e.base);
    if (!base.value.is_int())
      fail("operand-kind", "expected an integer before @, got " + kind_name(base.value), base.span);
    std::vector<int> path;
    for (auto id = e.indices.rbegin(); id != e.indices.rend(); ++id) {
      Operand index = value_of(*id);
      const Tuple* t = index.value.as<Tuple>();
      if (!t || !t->is_int() || !t->value().is_literal() || t->value().value() < 0 ||
          t->value().value() > 255) {
        fail("operand-kind", "the number of a mode, 0 to 255, follows @", index.span);
      }
      path.push_back(static_cast<int>(t->value().value()));
    }
    return refusing(
        [&] { return Value(Tuple::basis(base.value.as<Tuple>()->value(), std::move(path))); });
  }

  Value operator()(const syntax::Call& e) {
    if (const auto over = indexed_callee(session_, frame_, e))
      return call_over(session_, frame_, *over, e, where_);
    Operand callee = value_of(e.callee);
    std::vector<CallArgument> arguments = arguments_of(e.arguments);
    session_.claiming = claim_;
    return apply(session_, callee, std::move(arguments), where_);
  }

  Value operator()(const syntax::Index& e) {
    Operand object = value_of(e.object);
    if (session_.kernel && (object.value.as<const Builtin*>() || object.value.as<FunctionPtr>())) {
      fail("not-indexable", kind_name(object.value) + " has no modes", object.span, {},
           {{"help", "of what runs over an index there is sum: sum[k](A[m,k])"}});
    }
    std::vector<Operand> indices;
    for (ExpressionId id : e.indices) {
      const auto* range = std::get_if<syntax::Range>(&frame_.tree()[id].node);
      indices.push_back(range ? range_of(*range, frame_.tree()[id].span) : value_of(id));
    }
    return apply_index(session_, object, indices, where_);
  }

  Value operator()(const syntax::Range&) {
    fail("operand-kind", "a range is written in the brackets of an array or in a comprehension",
         where_);
  }

  Value operator()(const syntax::Member& e) {
    return member(session_, value_of(e.object), e.name.text, e.name.span);
  }

  Value operator()(const syntax::If& e) {
    Operand condition = value_of(e.condition);
    if (condition.value.is_unknown()) return condition.value;
    if (condition.value.as<Element>()) {
      Operand then = value_of(e.then), otherwise = value_of(e.otherwise);
      return session_.kernel->apply(ElementFunction::select, {condition, then, otherwise}, where_);
    }
    Predicate predicate = as_condition(condition.value, condition.span);
    if (auto known = decide(session_, predicate)) {
      return evaluate(session_, frame_, *known ? e.then : e.otherwise);
    }
    Operand then, otherwise;
    {
      Under under(session_.facts, predicate);
      then = value_of(e.then);
    }
    {
      Under under(session_.facts, negate(predicate));
      otherwise = value_of(e.otherwise);
    }
    return choose(session_, predicate, then, otherwise, where_);
  }

  Value operator()(const syntax::Comprehension& e) {
    Operand first = value_of(e.first), last = value_of(e.last);
    if (first.value.is_unknown() || last.value.is_unknown()) return Value(Unknown{});
    std::int64_t begin = bound(first), end = bound(last);
    if (end > begin && end - begin > kMaxElements) {
      fail("limit", "a comprehension over more than 2^20 numbers", where_);
    }
    std::vector<Value> elements;
    std::int64_t held = 0;
    frame_.locals.emplace_back(e.variable.text, Value());
    std::size_t slot = frame_.locals.size() - 1;
    try {
      for (std::int64_t i = begin; i < end; ++i) {
        session_.charge(1, where_);
        frame_.locals[slot].second = Value(Int(i));
        elements.push_back(evaluate(session_, frame_, e.element));
        held += weight(elements.back());
        if (held > kMaxElements)
          fail("limit", "a tuple that holds more than 2^20 integers", where_);
      }
    } catch (...) {
      frame_.locals.resize(slot);
      throw;
    }
    frame_.locals.resize(slot);
    if (std::any_of(elements.begin(), elements.end(),
                    [](const Value& v) { return v.is_unknown(); })) {
      return Value(Unknown{});
    }
    return refusing([&] { return make_tuple(std::move(elements)); });
  }

  Value operator()(const syntax::Swizzle& e) {
    std::int64_t numbers[3];
    ExpressionId parts[3] = {e.bits, e.base, e.shift};
    for (int i = 0; i < 3; ++i) {
      Operand part = value_of(parts[i]);
      const Tuple* t = part.value.as<Tuple>();
      if (!t || !t->is_int() || !t->value().is_literal()) {
        fail("operand-kind", "a swizzle is made of known integers", part.span);
      }
      numbers[i] = t->value().value();
    }
    return refusing([&] { return Value(Swizzle(numbers[0], numbers[1], numbers[2])); });
  }

  Value operator()(const syntax::Find& e) {
    return find_value(session_, e.what.text, e.what.span, arguments_of(e.arguments), where_);
  }

 private:
  Operand value_of(ExpressionId id) {
    return {evaluate(session_, frame_, id), frame_.tree()[id].span};
  }

  std::vector<CallArgument> arguments_of(const std::vector<syntax::Argument>& list) {
    std::vector<CallArgument> arguments;
    arguments.reserve(list.size());
    for (const syntax::Argument& a : list) {
      arguments.push_back({a.name ? a.name->text : "", evaluate(session_, frame_, a.value),
                           frame_.tree()[a.value].span});
    }
    return arguments;
  }

  // A range as an index is the pair of its ends (see apply_index).
  Operand range_of(const syntax::Range& range, Span where) {
    Operand first = value_of(range.first), last = value_of(range.last);
    if (first.value.is_unknown() || last.value.is_unknown()) return {Value(Unknown{}), where};
    return {Value(std::make_shared<const List>(
                List{{Value(Int(bound(first))), Value(Int(bound(last)))}, 8})),
            where};
  }

  std::int64_t bound(const Operand& operand) {
    const Tuple* t = operand.value.as<Tuple>();
    if (t && t->is_int() && t->value().is_literal()) return t->value().value();
    if (t && t->is_int()) {
      fail("symbolic",
           "a range needs known bounds, and " + text(operand.value) + " is not known yet",
           operand.span);
    }
    fail("operand-kind", "the bounds of a range are integers, not " + kind_name(operand.value),
         operand.span);
  }

  Value composition_chain(const syntax::Chain& e) {
    std::vector<Operand> chain{value_of(e.first)};
    for (const syntax::Link& link : e.rest) chain.push_back(value_of(link.operand));
    return compose(session_, chain, where_);
  }

  // The right side is evaluated under what the left side says, `b == 0 or a % b == 0`; not in a
  // kernel, where both sides are computed.
  Value logical_chain(const syntax::Chain& e) {
    bool conjunction = e.rest.front().op == ChainOperator::logical_and;
    session_.claiming = claim_ && conjunction;
    Operand first = value_of(e.first);
    if (first.value.is_unknown()) return first.value;
    if (first.value.as<Element>()) return element_chain(first, e, 0);
    Predicate result = as_condition(first.value, first.span);
    for (std::size_t i = 0; i < e.rest.size(); ++i) {
      auto known = decide(session_, result);
      if (known && *known != conjunction) return Value(Predicate(*known));
      std::optional<Under> under;
      if (!session_.kernel) under.emplace(session_.facts, conjunction ? result : negate(result));
      session_.claiming = claim_ && conjunction;
      Operand right = value_of(e.rest[i].operand);
      if (right.value.is_unknown()) return right.value;
      if (right.value.as<Element>()) {
        Operand left{Value(result), join(first.span, frame_.tree()[e.rest[i].operand].span)};
        return element_chain(session_.kernel->apply(function(conjunction), {left, right}, where_),
                             e, i + 1);
      }
      Predicate p = as_condition(right.value, right.span);
      result = conjunction ? both(result, p) : either(result, p);
    }
    return Value(result);
  }

  static ElementFunction function(bool conjunction) {
    return conjunction ? ElementFunction::and_ : ElementFunction::or_;
  }

  Value element_chain(Value value, const syntax::Chain& e, std::size_t from) {
    return element_chain(Operand{std::move(value), where_}, e, from);
  }
  Value element_chain(Operand result, const syntax::Chain& e, std::size_t from) {
    bool conjunction = e.rest.front().op == ChainOperator::logical_and;
    for (std::size_t i = from; i < e.rest.size(); ++i) {
      result.value = session_.kernel->apply(function(conjunction),
                                            {result, value_of(e.rest[i].operand)}, where_);
    }
    return result.value;
  }

  template <typename F>
  Value refusing(F&& f) {
    return refusing(where_, {}, std::forward<F>(f));
  }
  template <typename F>
  Value refusing(const std::vector<Span>& operands, F&& f) {
    return refusing(where_, operands, std::forward<F>(f));
  }
  template <typename F>
  Value refusing(Span whole, const std::vector<Span>& operands, F&& f) {
    try {
      return f();
    } catch (const Refusal& refusal) {
      throw DiagnosticError(to_diagnostic(refusal, whole, operands));
    }
  }

  Session& session_;
  Frame& frame_;
  Span where_;
  bool claim_;  // the value is what `prove` asks about; so are both sides of `and`, and the body of
                // a def
};

}  // namespace

Value evaluate(Session& session, Frame& frame, syntax::ExpressionId id) {
  const syntax::Expression& e = frame.tree()[id];
  session.charge(1, e.span);
  return std::visit(Evaluation(session, frame, e.span), e.node);
}

}  // namespace lay::sema
