#include "frontend/sema/values/operators.h"

#include <algorithm>
#include <cmath>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/builtins/array_operations.h"
#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/kernel/kernel_builder.h"

namespace lay::sema {
namespace {

using syntax::BinaryOperator;
using syntax::ChainOperator;

std::string_view sign_of(ChainOperator op) {
  switch (op) {
    case ChainOperator::add:
      return "+";
    case ChainOperator::subtract:
      return "-";
    case ChainOperator::multiply:
      return "*";
    case ChainOperator::divide:
      return "/";
    case ChainOperator::floor_divide:
      return "//";
    case ChainOperator::modulo:
      return "%";
    case ChainOperator::compose:
      return "o";
    case ChainOperator::logical_and:
      return "and";
    case ChainOperator::logical_or:
      return "or";
  }
  throw std::logic_error("internal: operator");
}

[[noreturn]] void mismatch(std::string_view op, const Operand& a, const Operand& b, Span whole) {
  std::vector<Note> notes;
  if (a.value.as<TensorName>() || b.value.as<TensorName>()) {
    notes.push_back(
        {"help", "a kernel computes with elements: A[m,k], and sum[k](A[m,k] * B[k]) of products"});
  }
  fail("operand-kind",
       std::string(op) + " does not take " + kind_name(a.value) + " and " + kind_name(b.value),
       whole, {{a.span, kind_name(a.value)}, {b.span, kind_name(b.value)}}, std::move(notes));
}

// The side of a `:` that is no tuple of integers: what stands in it that is none.
[[noreturn]] void not_of_integers(const std::string& side, const Operand& given) {
  const Value* wrong = &given.value;
  while (const auto* list = wrong->as<ListPtr>()) {
    const auto& elements = (*list)->elements;
    const auto at = std::find_if(elements.begin(), elements.end(),
                                 [](const Value& v) { return !v.as<Tuple>(); });
    if (at == elements.end()) break;
    wrong = &*at;
  }
  fail(
      "operand-kind",
      "a " + side + " is made of integers, and this has " + kind_name(*wrong) + ": " + text(*wrong),
      given.span);
}

Int integers(Session& session, ChainOperator op, const Int& a, const Int& b, Span whole) {
  Facts& facts = session.facts;
  switch (op) {
    case ChainOperator::add:
      return a + b;
    case ChainOperator::subtract:
      return a - b;
    case ChainOperator::multiply:
      return a * b;
    case ChainOperator::divide:
      return facts.exact_div(a, b, "/");
    case ChainOperator::floor_divide:
      return facts.floor_div(a, b);
    case ChainOperator::modulo:
      return facts.mod(a, b);
    case ChainOperator::compose:
    case ChainOperator::logical_and:
    case ChainOperator::logical_or:
      break;
  }
  fail("operand-kind", "no arithmetic", whole);
}

Tuple scaled(const Tuple& t, const Int& factor) {
  return transform(t, [&](const Tuple& leaf) {
    if (leaf.is_underscore()) throw refusal("not-integer", "`_` is not a number");
    return leaf.is_basis() ? Tuple::basis(leaf.value() * factor, leaf.path())
                           : Tuple(leaf.value() * factor);
  });
}

// Coordinates add and subtract leaf by leaf, and an integer scales one.
std::optional<Tuple> tuples(ChainOperator op, const Tuple& a, const Tuple& b) {
  if (op == ChainOperator::add) return add(a, b);
  if (op == ChainOperator::subtract) return add(a, scaled(b, Int(-1)));
  if (op == ChainOperator::multiply && a.is_int()) return scaled(b, a.value());
  if (op == ChainOperator::multiply && b.is_int()) return scaled(a, b.value());
  return std::nullopt;
}

std::optional<ElementFunction> element_function(ChainOperator op) {
  switch (op) {
    case ChainOperator::add:
      return ElementFunction::add;
    case ChainOperator::subtract:
      return ElementFunction::sub;
    case ChainOperator::multiply:
      return ElementFunction::mul;
    case ChainOperator::divide:
      return ElementFunction::div;
    case ChainOperator::modulo:
    case ChainOperator::floor_divide:
    case ChainOperator::compose:
    case ChainOperator::logical_and:
    case ChainOperator::logical_or:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view sign_of(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::equal:
      return "==";
    case BinaryOperator::not_equal:
      return "!=";
    case BinaryOperator::less:
      return "<";
    case BinaryOperator::less_equal:
      return "<=";
    case BinaryOperator::greater:
      return ">";
    case BinaryOperator::greater_equal:
      return ">=";
    case BinaryOperator::colon:
      return ":";
  }
  throw std::logic_error("internal: comparison");
}

ElementFunction comparison(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::equal:
      return ElementFunction::eq;
    case BinaryOperator::not_equal:
      return ElementFunction::ne;
    case BinaryOperator::less:
      return ElementFunction::lt;
    case BinaryOperator::less_equal:
      return ElementFunction::le;
    case BinaryOperator::greater:
      return ElementFunction::gt;
    case BinaryOperator::greater_equal:
      return ElementFunction::ge;
    case BinaryOperator::colon:
      break;
  }
  throw std::logic_error("internal: comparison");
}

bool is_element(const Operand& a) {
  return a.value.as<Element>() != nullptr;
}
bool is_number(const Operand& a) {
  return is_element(a) || a.value.as<double>() || a.value.is_int();
}

std::optional<Predicate> list_equality(const List& a, const std::vector<Value>& b) {
  if (a.elements.size() != b.size()) return Predicate(false);
  Predicate result(true);
  for (std::size_t i = 0; i < b.size(); ++i) {
    auto p = equality(a.elements[i], b[i]);
    if (!p) return std::nullopt;
    result = both(result, *p);
  }
  return result;
}

Predicate layouts_equal(const Layout& a, const Layout& b) {
  return both(equal(a.shape, b.shape), equal(a.stride, b.stride));
}

Predicate composed_equal(const Composed& a, const Composed& b) {
  if (a == b) return Predicate(true);
  const auto* swizzle_a = std::get_if<Swizzle>(&a.outer);
  const auto* swizzle_b = std::get_if<Swizzle>(&b.outer);
  const auto* inner_a = std::get_if<Layout>(&a.inner);
  const auto* inner_b = std::get_if<Layout>(&b.inner);
  if (!swizzle_a || !swizzle_b || !inner_a || !inner_b || !(*swizzle_a == *swizzle_b))
    return Predicate(false);
  return both(equal(a.offset, b.offset), layouts_equal(*inner_a, *inner_b));
}

}  // namespace

std::optional<double> real_of(const Value& v) {
  if (const double* x = v.as<double>()) return *x;
  const Tuple* t = v.as<Tuple>();
  if (t && t->is_int() && t->value().is_literal()) return static_cast<double>(t->value().value());
  return std::nullopt;
}

double on_reals(ChainOperator op, double a, double b) {
  switch (op) {
    case ChainOperator::add:
      return a + b;
    case ChainOperator::subtract:
      return a - b;
    case ChainOperator::multiply:
      return a * b;
    case ChainOperator::divide:
      return a / b;
    case ChainOperator::floor_divide:
      return std::floor(a / b);
    case ChainOperator::modulo:
      return a - b * std::floor(a / b);
    case ChainOperator::compose:
    case ChainOperator::logical_and:
    case ChainOperator::logical_or:
      break;
  }
  throw std::logic_error("internal: operator on reals");
}

Value arithmetic(Session& session, ChainOperator op, const Operand& a, const Operand& b,
                 Span whole) {
  if (a.value.is_unknown() || b.value.is_unknown()) return Value(Unknown{});
  if (is_element(a) || is_element(b)) {
    if (!is_number(a) || !is_number(b)) mismatch(sign_of(op), a, b, whole);
    if (op == ChainOperator::floor_divide || op == ChainOperator::modulo)
      return session.kernel->floor_divided(op == ChainOperator::modulo, a, b, whole);
    auto function = element_function(op);
    if (!function) mismatch(sign_of(op), a, b, whole);
    return session.kernel->apply(*function, {a, b}, whole);
  }
  if (a.value.as<Array>() || b.value.as<Array>()) {
    charge_array_pair(session, a.value, b.value, whole);
    auto result = array_arithmetic(op, a.value, b.value);
    if (!result) mismatch(sign_of(op), a, b, whole);
    return Value(*result);
  }
  const Tuple* s = a.value.as<Tuple>();
  const Tuple* t = b.value.as<Tuple>();
  if (s && t) {
    if (s->is_int() && t->is_int()) {
      if (op == ChainOperator::divide && t->value().is_literal() && s->value().is_literal() &&
          t->value().value() != 0 && s->value().value() % t->value().value() != 0) {
        fail("not-exact", text(a.value) + " / " + text(b.value) + " is not an integer", whole, {},
             {{"help", "// rounds down, ceil_div rounds up, and " + text(a.value) + ".0 / " +
                           text(b.value) + " is a real number"}});
      }
      return Value(integers(session, op, s->value(), t->value(), whole));
    }
    if (auto result = tuples(op, *s, *t)) return Value(*result);
    mismatch(sign_of(op), a, b, whole);
  }
  auto x = real_of(a.value), y = real_of(b.value);
  if (!x || !y) {
    if (const auto function = element_function(op);
        session.kernel && function && is_number(a) && is_number(b))
      return session.kernel->apply(*function, {a, b}, whole);
    if ((x && t) || (y && s)) {
      fail("symbolic", "a real number and a size that is not known yet do not mix on the host",
           whole);
    }
    mismatch(sign_of(op), a, b, whole);
  }
  return Value(on_reals(op, *x, *y));
}

Value negated(Session& session, const Operand& a, Span whole) {
  if (a.value.is_unknown()) return a.value;
  if (is_element(a)) return session.kernel->apply(ElementFunction::neg, {a}, whole);
  if (const double* x = a.value.as<double>()) return Value(-*x);
  if (const Tuple* t = a.value.as<Tuple>()) return Value(scaled(*t, Int(-1)));
  if (a.value.as<Array>())
    return Value(*array_arithmetic(ChainOperator::subtract, Value(Int(0)), a.value));
  fail("operand-kind", "- does not take " + kind_name(a.value), whole);
}

std::optional<Predicate> equality(const Value& a, const Value& b) {
  const auto* list_a = a.as<ListPtr>();
  const auto* list_b = b.as<ListPtr>();
  if (list_a && list_b) return list_equality(**list_a, (*list_b)->elements);
  if ((list_a && b.as<Tuple>()) || (list_b && a.as<Tuple>())) return Predicate(false);
  if (a.as<Tuple>() && b.as<Tuple>()) return equal(*a.as<Tuple>(), *b.as<Tuple>());
  if (auto x = real_of(a), y = real_of(b); x && y) return Predicate(*x == *y);
  if (a.data.index() != b.data.index()) return std::nullopt;
  if (a.as<Layout>()) return layouts_equal(*a.as<Layout>(), *b.as<Layout>());
  if (a.as<Composed>()) return composed_equal(*a.as<Composed>(), *b.as<Composed>());
  if (a.as<Swizzle>()) return Predicate(*a.as<Swizzle>() == *b.as<Swizzle>());
  if (a.as<std::string>()) return Predicate(*a.as<std::string>() == *b.as<std::string>());
  if (a.as<ElementType>()) return Predicate(*a.as<ElementType>() == *b.as<ElementType>());
  if (a.as<RecordPtr>()) return Predicate((*a.as<RecordPtr>())->head == (*b.as<RecordPtr>())->head);
  if (const auto* p = a.as<Predicate>()) {
    const Predicate& q = *b.as<Predicate>();
    return either(both(*p, q), both(negate(*p), negate(q)));
  }
  return std::nullopt;
}

Value compare(Session& session, BinaryOperator op, const Operand& a, const Operand& b, Span whole) {
  if (a.value.is_unknown() || b.value.is_unknown()) return Value(Unknown{});
  if ((is_element(a) || is_element(b)) && is_number(a) && is_number(b)) {
    return session.kernel->apply(comparison(op), {a, b}, whole);
  }
  if (a.value.as<Array>() || b.value.as<Array>()) {
    charge_array_pair(session, a.value, b.value, whole);
    auto result = array_comparison(op, a.value, b.value);
    if (!result) mismatch(sign_of(op), a, b, whole);
    return Value(*result);
  }
  if (op == BinaryOperator::equal || op == BinaryOperator::not_equal) {
    auto same = equality(a.value, b.value);
    if (!same) mismatch(sign_of(op), a, b, whole);
    return Value(op == BinaryOperator::equal ? *same : negate(*same));
  }
  bool swap = op == BinaryOperator::greater || op == BinaryOperator::greater_equal;
  bool strict = op == BinaryOperator::less || op == BinaryOperator::greater;
  const Operand& low = swap ? b : a;
  const Operand& high = swap ? a : b;
  if (low.value.is_int() && high.value.is_int()) {
    const Int& x = low.value.as<Tuple>()->value();
    const Int& y = high.value.as<Tuple>()->value();
    return Value(strict ? less(x, y) : less_equal(x, y));
  }
  auto x = real_of(low.value), y = real_of(high.value);
  if (!x || !y) mismatch(sign_of(op), a, b, whole);
  return Value(Predicate(strict ? *x < *y : *x <= *y));
}

Value make_layout_value(const Operand& shape, const Operand& stride) {
  if (shape.value.is_unknown() || stride.value.is_unknown()) return Value(Unknown{});
  const Tuple* s = shape.value.as<Tuple>();
  const Tuple* d = stride.value.as<Tuple>();
  if (!s) not_of_integers("shape", shape);
  if (!d) not_of_integers("stride", stride);
  return Value(Layout(*s, *d));
}

}  // namespace lay::sema
