// `o` and the choice between two values, on layouts and what goes with them.

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/kernel/kernel_builder.h"
#include "frontend/sema/values/operators.h"

namespace lay::sema {
namespace {

Value compose_two(Session& session, const Operand& a, const Operand& b, Span whole) {
  if (a.value.is_unknown() || b.value.is_unknown()) return Value(Unknown{});
  std::vector<CallArgument> list{{"", a.value, a.span}, {"", b.value, b.span}};
  Arguments arguments(session, "composition", whole, std::move(list));
  return call_builtin(*find_builtin("composition"), arguments);
}

bool is_offset(const Value& v) {
  const Tuple* t = v.as<Tuple>();
  return t && !t->has_underscore();
}

// outer o offset o inner, as CuTe prints it.
Value compose_offset(const Operand& outer, const Operand& offset, const Operand& inner,
                     Span whole) {
  Composed c;
  c.offset = *offset.value.as<Tuple>();
  if (const auto* s = outer.value.as<Swizzle>()) {
    if (const auto* l = inner.value.as<Layout>()) return to_value(composition(*s, c.offset, *l));
    c.outer = *s;
  } else if (const auto* l = outer.value.as<Layout>()) {
    c.outer = *l;
  } else {
    fail("operand-kind",
         "expected a swizzle or a layout before an offset, got " + kind_name(outer.value),
         outer.span);
  }
  if (const auto* s = inner.value.as<Swizzle>()) {
    c.inner = *s;
  } else if (const auto* l = inner.value.as<Layout>()) {
    c.inner = *l;
  } else {
    fail("operand-kind", "expected a layout after an offset, got " + kind_name(inner.value),
         inner.span);
  }
  (void)whole;
  return to_value(std::move(c));
}

}  // namespace

Value compose(Session& session, const std::vector<Operand>& chain, Span whole) {
  Operand result = chain.front();
  for (std::size_t i = 1; i < chain.size(); ++i) {
    Span so_far = join(result.span, chain[i].span);
    session.charge(1, so_far);
    if (i + 1 < chain.size() && is_offset(chain[i].value)) {
      so_far = join(result.span, chain[i + 1].span);
      result = {compose_offset(result, chain[i], chain[i + 1], whole), so_far};
      ++i;
    } else {
      result = {compose_two(session, result, chain[i], so_far), so_far};
    }
  }
  return result.value;
}

namespace {

bool is_number(const Value& v) {
  return v.as<Element>() || v.as<double>() || v.is_int();
}

std::optional<Tuple> choose_tuple(const Predicate& condition, const Tuple& a, const Tuple& b) {
  if (a == b) return a;
  if (!congruent(a, b)) return std::nullopt;
  bool fits = true;
  Tuple result = transform(a, b, [&](const Tuple& x, const Tuple& y) {
    if (x == y) return x;
    if (x.is_int() && y.is_int()) return Tuple(select(condition, x.value(), y.value()));
    if (x.is_basis() && y.is_basis() && x.path() == y.path()) {
      return Tuple::basis(select(condition, x.value(), y.value()), x.path());
    }
    fits = false;
    return x;
  });
  if (!fits) return std::nullopt;
  return result;
}

}  // namespace

Value choose(Session& session, const Predicate& condition, const Operand& then,
             const Operand& otherwise, Span where) {
  const Value& a = then.value;
  const Value& b = otherwise.value;
  if (a.is_unknown() || b.is_unknown()) return Value(Unknown{});
  if (session.kernel && is_number(a) && is_number(b) && (!a.is_int() || !b.is_int())) {
    return session.kernel->apply(ElementFunction::select,
                                 {{Value(condition), where}, then, otherwise}, where);
  }
  if (a.as<Tuple>() && b.as<Tuple>()) {
    if (auto t = choose_tuple(condition, *a.as<Tuple>(), *b.as<Tuple>())) return Value(*t);
  }
  if (a.as<Layout>() && b.as<Layout>()) {
    auto shape = choose_tuple(condition, a.as<Layout>()->shape, b.as<Layout>()->shape);
    auto stride = choose_tuple(condition, a.as<Layout>()->stride, b.as<Layout>()->stride);
    if (shape && stride) return Value(Layout(*shape, *stride, a.as<Layout>()->units));
  }
  if (a.as<Predicate>() && b.as<Predicate>()) {
    return Value(
        either(both(condition, *a.as<Predicate>()), both(negate(condition), *b.as<Predicate>())));
  }
  if (auto same = equality(a, b); same && same->is_always()) return a;
  fail("undecided",
       "which value this is depends on " + condition.to_string() + ", which the facts leave open",
       where, {{then.span, "this where it holds"}, {otherwise.span, "this elsewhere"}},
       {{"works", "assume " + condition.to_string()}});
}

}  // namespace lay::sema
