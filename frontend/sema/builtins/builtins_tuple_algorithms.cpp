// Comparisons of coordinates, the parts of basis elements, and common divisors and multiples.

#include <numeric>

#include "frontend/sema/apply.h"
#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {
namespace {

// Modes that a coordinate lacks are 0; one that the shape lacks has no place. 3@1 is the coordinate
// (0,3).
Predicate elem_less(const Tuple& left, const Tuple& b) {
  const Tuple a = add(left, 0);
  if (a.is_int() && b.is_int()) return less(a.value(), b.value());
  if (a.is_literal(0)) {  // the zero coordinate, written short
    Predicate all;
    for (int k = 0; k < b.rank(); ++k) all = both(all, elem_less(0, b[k]));
    return all;
  }
  if (a.is_leaf() || b.is_leaf()) {
    throw refusal("coordinate-rank",
                  "the coordinate " + a.to_string() + " does not fit the shape " + b.to_string());
  }
  Predicate all(a.rank() <= b.rank());
  for (int k = 0; k < std::min(a.rank(), b.rank()); ++k) all = both(all, elem_less(a[k], b[k]));
  return all;
}

Value elem_less_(Arguments& a) {
  return Value(elem_less(a.tuple(0), a.is_layout(1) ? a.layout(1).shape : a.tuple(1)));
}

// The first of two modes that differ decides: the left-most, or the right-most.
Predicate less_in_order(const Tuple& a, const Tuple& b, bool from_left) {
  const std::vector<Tuple> x = leaves(a), y = leaves(b);
  if (!congruent(a, b)) {
    throw refusal("rank", a.to_string() + " and " + b.to_string() + " nest differently");
  }
  Predicate result(false);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t k = from_left ? x.size() - 1 - i : i;  // the decisive one last
    result =
        either(less(x[k].value(), y[k].value()), both(equal(x[k].value(), y[k].value()), result));
  }
  return result;
}

Value lex_less_(Arguments& a) {
  return Value(less_in_order(a.tuple(0), a.tuple(1), true));
}
Value colex_less_(Arguments& a) {
  return Value(less_in_order(a.tuple(0), a.tuple(1), false));
}

Int common_divisor(Facts& facts, const Int& a, const Int& b) {
  if (a.is_literal() && b.is_literal()) {
    if (a.value() == INT64_MIN || b.value() == INT64_MIN)
      throw refusal("overflow", "the divisor leaves 64 bits");
    return std::gcd(a.value(), b.value());
  }
  if (facts.proves(divides(a, b))) return b;
  if (facts.proves(divides(b, a))) return a;
  throw refusal("undecided",
                "gcd(" + a.to_string() + ", " + b.to_string() + ") depends on their values");
}

template <typename F>
Value folded(Arguments& a, F&& f) {
  std::vector<Tuple> all;
  for (std::size_t i = 0; i < a.count(); ++i) {
    for (const Tuple& leaf : leaves(a.tuple(i))) {
      if (!leaf.is_int()) throw refusal("not-integer", leaf.to_string() + " is no integer");
      all.push_back(leaf);
    }
  }
  if (all.empty()) throw refusal("argument-kind", "the empty tuple holds no integer");
  Int result = all[0].value();
  for (std::size_t i = 1; i < all.size(); ++i) result = f(result, all[i].value());
  return Value(result);
}

Value gcd_(Arguments& a) {
  return folded(a, [&](const Int& x, const Int& y) { return common_divisor(a.facts(), x, y); });
}
Value lcm_(Arguments& a) {
  return folded(a, [&](const Int& x, const Int& y) {
    if (x.is(0) || y.is(0)) return Int(0);
    return a.facts().floor_div(x, common_divisor(a.facts(), x, y)) * y;
  });
}

Value repeat_like_(Arguments& a) {
  return Value(repeat_like(a.is_layout(0) ? a.layout(0).shape : a.tuple(0), a.tuple(1)));
}

std::vector<Value> elements_of(Arguments& a, std::size_t i) {
  if (const ListPtr* list = a.as<ListPtr>(i)) return (*list)->elements;
  const Tuple& t = a.tuple(i);
  if (t.is_leaf()) return {Value(t)};
  std::vector<Value> elements;
  for (int k = 0; k < t.rank(); ++k) elements.emplace_back(t[k]);
  return elements;
}

// v, f(v, t0), f(f(v, t0), t1), ...: without the last, or without the first.
Value scan(Arguments& a, bool inclusive) {
  Value running = a[1].value;
  std::vector<Value> seen;
  for (const Value& element : elements_of(a, 0)) {
    if (!inclusive) seen.push_back(running);
    running = apply(a.session, {a[2].value, a[2].span},
                    {{"", running, a[1].span}, {"", element, a[0].span}}, a.whole());
    if (inclusive) seen.push_back(running);
  }
  return make_tuple(std::move(seen));
}

Value iscan_(Arguments& a) {
  return scan(a, true);
}
Value escan_(Arguments& a) {
  return scan(a, false);
}

Value elem_scale_(Arguments& a) {
  return Value(transform(a.tuple(0), product_like(a.tuple(1), a.tuple(0)),
                         [](const Tuple& x, const Tuple& size) {
                           if (!x.is_int())
                             throw refusal("not-integer", x.to_string() + " is no integer");
                           return Tuple(x.value() * size.value());
                         }));
}

const Tuple& basis_element(Arguments& a) {
  const Tuple& e = a.tuple(0);
  if (!e.is_int() && !e.is_basis())
    throw refusal(
        "argument-kind",
        e.to_string() +
            " is no basis element: 2@0, 1@0@1, or an integer, of which the path is empty");
  return e;
}

Value basis_value_(Arguments& a) {
  return Value(Tuple(basis_element(a).value()));
}

// The path leads from the outermost mode inwards.
Value basis_get_(Arguments& a) {
  const Tuple& e = basis_element(a);
  Tuple at = a.is_layout(1) ? a.layout(1).shape : a.tuple(1);
  for (const int mode : e.path()) {
    if (!at.is_tuple() || mode >= at.rank()) {
      throw refusal("coordinate-rank", e.to_string() + " leads to no part of " +
                                           a.tuple(1).to_string() + ": " + at.to_string() +
                                           " has no mode " + std::to_string(mode));
    }
    const Tuple inner = at[mode];
    at = inner;
  }
  return Value(at);
}

constexpr Builtin kTupleAlgorithmsRows[] = {
    {"elem_less", "elem_less(c, S)", "every index of the coordinate c is below its extent in S", 2,
     2, elem_less_},
    {"lex_less", "lex_less(a, b)", "the left-most integers that differ say which is less", 2, 2,
     lex_less_},
    {"colex_less", "colex_less(a, b)", "the right-most integers that differ say which is less", 2,
     2, colex_less_},
    {"elem_scale", "elem_scale(a, b)", "each integer of a times the size of its partner in b", 2, 2,
     elem_scale_},
    {"basis_value", "basis_value(e)", "the number of a basis element: 2 of 2@0", 1, 1,
     basis_value_},
    {"basis_get", "basis_get(e, t)", "the part of t at the path of a basis element", 2, 2,
     basis_get_},
    {"gcd", "gcd(a, ...)", "the greatest common divisor of all integers", 1, kMany, gcd_},
    {"lcm", "lcm(a, ...)", "the least common multiple of all integers", 1, kMany, lcm_},
    {"iscan", "iscan(t, v, f)", "(f(v,t0), f(f(v,t0),t1), ...), as many as t has modes", 3, 3,
     iscan_},
    {"escan", "escan(t, v, f)", "(v, f(v,t0), ...), as many as t has modes", 3, 3, escan_},
    {"repeat_like", "repeat_like(t, x)", "x at every leaf of t", 2, 2, repeat_like_},
};

}  // namespace

std::span<const Builtin> tuple_algorithm_builtins() {
  return kTupleAlgorithmsRows;
}

}  // namespace lay::sema
