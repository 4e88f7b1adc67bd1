#include "frontend/algebra/integers/size_predicate.h"

#include <algorithm>

#include "frontend/algebra/integers/polynomial.h"

namespace lay {
namespace {

// Numbers: no value where one does not fit 64 bits, a quotient is inexact or a divisor is 0.
// The two domains in which a predicate is evaluated: numbers at one point, and intervals over a
// box. One walk over the steps serves both.
struct Points {
  using Value = std::optional<int64_t>;
  const Binding& binding;

  Value literal(int64_t n) const { return n; }
  Value dim(DimId id) const {
    const auto found = binding.find(id);
    return found == binding.end() ? std::nullopt : std::optional(found->second);
  }
  Value add(const Value& a, const Value& b) const {
    int64_t r;
    return a && b && !__builtin_add_overflow(*a, *b, &r) ? Value(r) : std::nullopt;
  }
  Value multiply(const Value& a, const Value& b) const {
    int64_t r;
    return a && b && !__builtin_mul_overflow(*a, *b, &r) ? Value(r) : std::nullopt;
  }
  Value divide_exactly(const Value& a, int64_t by) const {
    return a && *a % by == 0 ? Value(*a / by) : std::nullopt;
  }
  Value floor_divide(const Value& a, const Value& b) const {
    return a && b ? evaluate(AtomKind::floor_div, *a, *b) : std::nullopt;
  }
  Value min(const Value& a, const Value& b) const { return a && b ? std::min(a, b) : std::nullopt; }
  Value max(const Value& a, const Value& b) const { return a && b ? std::max(a, b) : std::nullopt; }
  Value select(const std::optional<bool>& condition, const Value& a, const Value& b) const {
    return condition ? (*condition ? a : b) : std::nullopt;
  }
};

// Intervals: sound, not sharp. A part that occurs twice varies independently (M - M is not 0),
// which is why comparisons are made on the difference in normal form.
struct Boxes {
  using Value = Interval;
  const Box& box;

  Value literal(int64_t n) const { return {n, n}; }
  Value dim(DimId id) const {
    const auto found = std::find(box.dims.begin(), box.dims.end(), id);
    return found == box.dims.end() ? Interval{}
                                   : box.ranges[static_cast<size_t>(found - box.dims.begin())];
  }
  Value add(const Value& a, const Value& b) const { return lay::add(a, b); }
  Value multiply(const Value& a, const Value& b) const { return lay::multiply(a, b); }
  Value divide_exactly(const Value& a, int64_t by) const {
    return by == 1 ? a : lay::divide_exactly(a, by);
  }
  Value floor_divide(const Value& a, const Value& b) const { return lay::floor_divide(a, b); }
  Value min(const Value& a, const Value& b) const {
    return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
  }
  Value max(const Value& a, const Value& b) const {
    return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
  }
  Value select(Tri condition, const Value& a, const Value& b) const {
    return condition == Tri::unknown ? hull(a, b) : condition == Tri::yes ? a : b;
  }
};

bool is_comparison(PredicateKind kind) {
  return kind == PredicateKind::equal || kind == PredicateKind::not_equal ||
         kind == PredicateKind::less || kind == PredicateKind::less_equal;
}

}  // namespace

SizePredicate::SizePredicate(const Predicate& predicate) {
  whole_ = ready(predicate.node());
  known_.clear();
}

// Atoms come before those that use them, each once: a predicate is evaluated at thousands of
// points.
size_t SizePredicate::ready(const Atom& atom) {
  if (const auto found = known_.find(&atom); found != known_.end()) return found->second;
  Step step{atom.kind, atom.id, {}, {}};
  if (atom.kind != AtomKind::dim) {
    step.a = ready(atom.a);
    step.b = ready(atom.b);
    if (atom.condition) step.condition = ready(*atom.condition);
  }
  atoms_.push_back(std::move(step));
  return known_[&atom] = atoms_.size() - 1;
}

SizePredicate::Sum SizePredicate::ready(const Int& a) {
  const Polynomial p = as_polynomial(a);
  Sum sum;
  sum.denominator = p.denominator;
  for (const Term& term : p.terms) {
    Product product{term.coefficient, {}};
    for (const Factor& factor : term.factors)
      product.powers.push_back({ready(*factor.atom), factor.exponent});
    sum.products.push_back(std::move(product));
  }
  return sum;
}

size_t SizePredicate::ready(const PredicateNode& node) {
  if (const auto found = known_.find(&node); found != known_.end()) return found->second;
  Condition condition{node.kind, {}, {}, {}};
  if (node.left) {
    condition.left = ready(*node.left);
    condition.right = ready(*node.right);
  } else {
    condition.a = ready(node.a);
    condition.b = ready(node.b);
    // Interval arithmetic on b - a, in which equal terms have cancelled, is sharper than on a and
    // b.
    if (is_comparison(node.kind)) condition.difference = ready(node.b - node.a);
  }
  conditions_.push_back(std::move(condition));
  return known_[&node] = conditions_.size() - 1;
}

template <typename Domain>
auto SizePredicate::sum_of(const Domain& domain, const Sum& sum,
                           const std::vector<typename Domain::Value>& values) const {
  auto result = domain.literal(0);
  for (const Product& p : sum.products) {
    auto product = domain.literal(p.coefficient);
    for (const Power& power : p.powers) {
      for (int i = 0; i < power.exponent; ++i)
        product = domain.multiply(product, values[power.atom]);
    }
    result = domain.add(result, product);
  }
  return domain.divide_exactly(result, sum.denominator);
}

template <typename Domain>
auto SizePredicate::values_of(const Domain& domain) const {
  std::vector<typename Domain::Value> values;
  values.reserve(atoms_.size());
  for (const Step& step : atoms_) {
    if (step.kind == AtomKind::dim) {
      values.push_back(domain.dim(step.id));
      continue;
    }
    const auto a = sum_of(domain, step.a, values), b = sum_of(domain, step.b, values);
    switch (step.kind) {
      case AtomKind::dim:
        break;
      case AtomKind::floor_div:
        values.push_back(domain.floor_divide(a, b));
        break;
      case AtomKind::min:
        values.push_back(domain.min(a, b));
        break;
      case AtomKind::max:
        values.push_back(domain.max(a, b));
        break;
      case AtomKind::select:
        values.push_back(domain.select(holds(step.condition, values), a, b));
        break;
    }
  }
  return values;
}

std::optional<bool> SizePredicate::at(const Binding& binding) const {
  return holds(whole_, values_of(Points{binding}));
}

Tri SizePredicate::over(const Box& box) const {
  return holds(whole_, values_of(Boxes{box}));
}

std::optional<bool> SizePredicate::holds(size_t condition,
                                         const std::vector<std::optional<int64_t>>& values) const {
  const Condition& c = conditions_[condition];
  const bool both = c.kind == PredicateKind::both;
  if (c.kind == PredicateKind::always || c.kind == PredicateKind::never)
    return c.kind == PredicateKind::always;
  if (both || c.kind == PredicateKind::either) {
    const auto left = holds(c.left, values);
    // `and` is settled by false, `or` by true, on either side.
    if (left == !both) return left;
    const auto right = holds(c.right, values);
    return left || right == !both ? right : std::nullopt;
  }
  const Binding none;
  const auto a = sum_of(Points{none}, c.a, values), b = sum_of(Points{none}, c.b, values);
  return a && b ? evaluate(c.kind, *a, *b) : std::nullopt;
}

Tri SizePredicate::holds(size_t condition, const std::vector<Interval>& values) const {
  const Condition& c = conditions_[condition];
  const Box none;
  const auto value = [&](const Sum& sum) { return sum_of(Boxes{none}, sum, values); };
  switch (c.kind) {
    case PredicateKind::always:
      return Tri::yes;
    case PredicateKind::never:
      return Tri::no;
    case PredicateKind::equal:
      return is_zero(value(c.difference));
    case PredicateKind::not_equal:
      return opposite(is_zero(value(c.difference)));
    case PredicateKind::less:
      return at_least(value(c.difference), 1);
    case PredicateKind::less_equal:
      return at_least(value(c.difference), 0);
    case PredicateKind::divides:
      return is_multiple(value(c.a), value(c.b));
    case PredicateKind::not_divides:
      return opposite(is_multiple(value(c.a), value(c.b)));
    case PredicateKind::both:
    case PredicateKind::either: {
      // The answer of one side that is that of the whole.
      const Tri settles = c.kind == PredicateKind::both ? Tri::no : Tri::yes;
      const Tri left = holds(c.left, values);
      if (left == settles) return settles;
      const Tri right = holds(c.right, values);
      return right == settles ? settles : left == right ? left : Tri::unknown;
    }
  }
  return Tri::unknown;
}

}  // namespace lay
