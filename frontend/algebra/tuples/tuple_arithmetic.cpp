#include <algorithm>

#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {
namespace {

const Int& integer(const Tuple& t) {
  if (!t.is_int()) throw refusal("not-integer", "expected an integer, got " + t.to_string());
  return t.value();
}

using Divide = std::function<Int(const Int&, const Int&)>;

// The common recursion of ceil_div and shape_div.
Tuple divide(Facts& facts, const char* name, const Tuple& a, const Tuple& b, const Divide& leaf) {
  if (a.is_leaf()) return leaf(integer(a), size(b));
  std::vector<Tuple> result;
  if (b.is_leaf()) {
    Int rest = integer(b);
    for (const Tuple& mode : a.modes()) {
      result.push_back(divide(facts, name, mode, rest, leaf));
      rest = leaf(rest, size(mode));
    }
    return Tuple(std::move(result));
  }
  if (b.rank() > a.rank()) {
    throw refusal(
        "rank", std::string(name) + ": " + b.to_string() + " has more modes than " + a.to_string());
  }
  for (int i = 0; i < a.rank(); ++i) {
    result.push_back(i < b.rank() ? divide(facts, name, a[i], b[i], leaf) : a[i]);
  }
  return Tuple(std::move(result));
}

Int either_divides(Facts& facts, const Int& a, const Int& b) {
  if (!facts.proves(divides(a, b)) && !facts.proves(divides(b, a))) {
    // One order for both, so that it is guarded once.
    const bool reversed =
        a.is_literal() != b.is_literal() ? a.is_literal() : b.to_string() < a.to_string();
    const Predicate condition =
        reversed ? either(divides(b, a), divides(a, b)) : either(divides(a, b), divides(b, a));
    if (!facts.try_require(condition, "shape_div")) {
      throw refusal(
          "shape-div",
          "shape_div of " + a.to_string() + " by " + b.to_string() + ": neither divides the other",
          "ceil_div rounds up");
    }
  }
  return facts.ceil_div(a, b);
}

}  // namespace

Tuple product_each(const Tuple& t) {
  std::vector<Tuple> sizes;
  for (int i = 0; i < t.rank(); ++i) sizes.push_back(size(t[i]));
  return Tuple(std::move(sizes));
}

Tuple product_like(const Tuple& t, const Tuple& guide) {
  if (guide.is_leaf()) return size(t);
  if (t.is_leaf() || t.rank() != guide.rank()) {
    throw refusal("rank", t.to_string() + " does not refine the profile of " + guide.to_string());
  }
  std::vector<Tuple> sizes;
  for (int i = 0; i < t.rank(); ++i) sizes.push_back(product_like(t[i], guide[i]));
  return Tuple(std::move(sizes));
}

Int inner_product(const Tuple& a, const Tuple& b) {
  if (!congruent(a, b)) {
    throw refusal("rank", "the inner product of " + a.to_string() + " and " + b.to_string() +
                              " needs equal profiles");
  }
  if (a.is_leaf()) return integer(a) * integer(b);
  Int total = 0;
  for (int i = 0; i < a.rank(); ++i) total += inner_product(a[i], b[i]);
  return total;
}

Int sum(const Tuple& t) {
  if (t.is_leaf()) return integer(t);
  Int total = 0;
  for (const Tuple& mode : t.modes()) total += sum(mode);
  return total;
}

Int maximum(Facts& facts, const Tuple& t) {
  const std::vector<Tuple> all = leaves(t);
  if (all.empty()) throw refusal("rank", "() has no maximum");
  Int best = integer(all[0]);
  for (const Tuple& leaf : all) best = facts.max(best, integer(leaf));
  return best;
}

Int minimum(Facts& facts, const Tuple& t) {
  const std::vector<Tuple> all = leaves(t);
  if (all.empty()) throw refusal("rank", "() has no minimum");
  Int best = integer(all[0]);
  for (const Tuple& leaf : all) best = facts.min(best, integer(leaf));
  return best;
}

Tuple ceil_div(Facts& facts, const Tuple& a, const Tuple& b) {
  return divide(facts, "ceil_div", a, b,
                [&](const Int& x, const Int& y) { return facts.ceil_div(x, y); });
}

Tuple shape_div(Facts& facts, const Tuple& a, const Tuple& b) {
  return divide(facts, "shape_div", a, b,
                [&](const Int& x, const Int& y) { return either_divides(facts, x, y); });
}

Tuple round_up(Facts& facts, const Tuple& a, const Tuple& b) {
  if (a.is_leaf() && b.is_leaf()) {
    const Int& unit = integer(b);
    if (unit.is_literal() && unit.value() < 0)
      return round_up(facts, a, -unit);  // the same multiples
    return facts.ceil_div(integer(a), unit) * unit;
  }
  if (a.is_leaf() || b.is_leaf() || b.rank() > a.rank()) {
    throw refusal("rank", "round_up needs two integers or two tuples: " + a.to_string() + " and " +
                              b.to_string());
  }
  std::vector<Tuple> result;
  for (int i = 0; i < a.rank(); ++i)
    result.push_back(i < b.rank() ? round_up(facts, a[i], b[i]) : a[i]);
  return Tuple(std::move(result));
}

Predicate compatible(const Tuple& a, const Tuple& b) {
  if (a.is_leaf()) return equal(integer(a), size(b));
  if (b.is_leaf() || a.rank() != b.rank()) return Predicate(false);
  Predicate all;
  for (int i = 0; i < a.rank(); ++i) all = both(all, compatible(a[i], b[i]));
  return all;
}

Predicate evenly_divides(Facts& facts, const Tuple& shape, const Tuple& tiler) {
  if (tiler.is_tuple()) {
    if (tiler.rank() > shape.rank()) return Predicate(false);
    Predicate all;
    for (int i = 0; i < tiler.rank(); ++i)
      all = both(all, evenly_divides(facts, shape[i], tiler[i]));
    return all;
  }
  if (shape.is_leaf() && !size(tiler).is(0)) return divides(integer(shape), size(tiler));
  return equal(size(shape), size(tiler) * size(ceil_div(facts, shape, tiler)));
}

Predicate equal(const Tuple& a, const Tuple& b) {
  if (!congruent(a, b)) return Predicate(false);
  if (a.is_leaf()) {
    if (a.is_underscore() || b.is_underscore())
      return Predicate(a.is_underscore() && b.is_underscore());
    // 0 has no direction, so basis elements with different paths are equal where both values are 0.
    if (a.path() == b.path()) return equal(a.value(), b.value());
    return both(equal(a.value(), Int(0)), equal(b.value(), Int(0)));
  }
  Predicate all;
  for (int i = 0; i < a.rank(); ++i) all = both(all, equal(a[i], b[i]));
  return all;
}

}  // namespace lay
