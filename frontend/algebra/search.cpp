// Step (4) of the decision procedure: the smallest sizes that the facts allow and that break a claim. Sizes that
// are far from the smallest allowed ones are found by doubling, and are then the smallest along that way only.

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>

#include "frontend/algebra/knowledge.h"
#include "frontend/algebra/polynomial.h"
#include "frontend/algebra/refusal.h"

namespace lay {
namespace {

// Steps of the near search: fewer where there are more sizes, since each step then takes longer.
int steps_for(size_t sizes) {
  return sizes <= 1 ? 3000 : std::max(200, static_cast<int>(6000 / (sizes * sizes)));
}

// The values that a dim can take, ascending: first, first + step, ... up to `last`.
struct Candidates {
  DimId id;
  std::string name;
  int64_t first;
  int64_t step;
  std::optional<int64_t> last;
};

Candidates candidates_of(const Knowledge& known, DimId id, const std::string& name) {
  const auto found = known.replaced.find(id);
  if (found == known.replaced.end()) {
    const Knowledge::Bounds range = known.bounds_of(id);
    return {id, name, range.lower, 1, range.upper};
  }
  const Int& by = found->second;
  if (by.is_literal()) return {id, name, by.value(), 1, by.value()};
  const Polynomial& p = by.polynomial();
  const bool progression = p.denominator == 1 && p.terms[0].factors.size() == 1 &&
                           p.terms[0].factors[0].exponent == 1 && p.terms[0].factors[0].atom->kind == AtomKind::dim &&
                           p.terms[0].coefficient > 0 &&
                           (p.terms.size() == 1 || (p.terms.size() == 2 && p.terms[1].factors.empty()));
  if (!progression) return {id, name, 1, 1, std::nullopt};
  const int64_t step = p.terms[0].coefficient;
  const Knowledge::Bounds range = known.bounds_of(p.terms[0].factors[0].atom->id);
  const int64_t rest = p.terms.size() == 2 ? p.terms[1].coefficient : 0;
  Candidates c{id, name, checked_add(checked_mul(step, range.lower), rest), step, std::nullopt};
  if (range.upper) c.last = checked_add(checked_mul(step, *range.upper), rest);
  return c;
}

// The dims and, again and again, those of the facts that share one with them.
std::map<DimId, std::string> connected_dims(const Knowledge& known, std::map<DimId, std::string> dims) {
  for (bool grew = true; grew;) {
    grew = false;
    for (const Predicate& fact : known.stated) {
      std::map<DimId, std::string> of_fact;
      fact.collect_dims(of_fact);
      const bool shares =
          std::any_of(of_fact.begin(), of_fact.end(), [&](const auto& d) { return dims.count(d.first); });
      const size_t before = dims.size();
      if (shares) dims.insert(of_fact.begin(), of_fact.end());
      grew |= dims.size() != before;
    }
  }
  return dims;
}

struct Point {
  int64_t sum;
  std::vector<int64_t> values;
  bool operator>(const Point& other) const { return std::tie(sum, values) > std::tie(other.sum, other.values); }
};

// The facts that speak about one of the dims.
std::vector<Predicate> facts_about(const Knowledge& known, const std::map<DimId, std::string>& dims) {
  std::vector<Predicate> about;
  for (const Predicate& fact : known.stated) {
    std::map<DimId, std::string> of_fact;
    fact.collect_dims(of_fact);
    if (std::any_of(of_fact.begin(), of_fact.end(), [&](const auto& d) { return dims.count(d.first) > 0; })) {
      about.push_back(fact);
    }
  }
  return about;
}

// The axes of a search, and whether a point on them is allowed and breaks the claim.
class Space {
 public:
  Space(const Knowledge& known, const std::map<DimId, std::string>& asked, const SizeTest& claim) : claim_(claim) {
    const std::map<DimId, std::string> dims = connected_dims(known, asked);
    for (const auto& [id, name] : dims) axes.push_back(candidates_of(known, id, name));
    facts_ = facts_about(known, dims);
  }

  Binding binding(const std::vector<int64_t>& values) const {
    Binding at;
    for (size_t i = 0; i < axes.size(); ++i) at[axes[i].id] = values[i];
    return at;
  }

  // Nothing where the facts do not allow the point, or the claim is not decided there.
  std::optional<bool> holds(const std::vector<int64_t>& values) {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (values[i] < axes[i].first || (axes[i].last && values[i] > *axes[i].last)) return std::nullopt;
    }
    const Binding at = binding(values);
    for (const Predicate& fact : facts_) {
      if (fact.evaluate(at) != true) return std::nullopt;
    }
    const auto value = claim_(at);
    decided_all &= value.has_value();
    return value;
  }
  bool breaks(const std::vector<int64_t>& values) { return holds(values) == false; }

  Sizes sizes(const std::vector<int64_t>& values) const {
    Sizes named;
    for (size_t i = 0; i < axes.size(); ++i) named.emplace_back(axes[i].name, values[i]);
    return named;
  }

  std::vector<Candidates> axes;
  bool decided_all = true;

 private:
  const SizeTest& claim_;
  std::vector<Predicate> facts_;
};

// Sizes in the order of their sum, then lexicographically, as far as the budget goes.
Search search_near(Space& space) {
  Point start{0, {}};
  for (const Candidates& axis : space.axes) {
    if (axis.last && *axis.last < axis.first) return {std::nullopt, true, false, {}};
    start.values.push_back(axis.first);
    start.sum = checked_add(start.sum, axis.first);
  }
  std::priority_queue<Point, std::vector<Point>, std::greater<>> open;
  std::set<std::vector<int64_t>> seen{start.values};
  open.push(start);
  const int steps = steps_for(space.axes.size());
  for (int step = 0; step < steps && !open.empty(); ++step) {
    const Point point = open.top();
    open.pop();
    if (space.breaks(point.values)) return {space.sizes(point.values), false, false, space.binding(point.values)};
    for (size_t i = 0; i < space.axes.size(); ++i) {
      Point next = point;
      const Candidates& axis = space.axes[i];
      if (__builtin_add_overflow(next.values[i], axis.step, &next.values[i])) continue;
      if (__builtin_add_overflow(next.sum, axis.step, &next.sum)) continue;
      if (axis.last && next.values[i] > *axis.last) continue;
      if (seen.insert(next.values).second) open.push(std::move(next));
    }
  }
  return {std::nullopt, open.empty() && space.decided_all, false, {}};
}

// first + steps*step on every axis where `moving` says so.
std::vector<int64_t> point_at(const Space& space, int64_t steps, size_t moving) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < space.axes.size(); ++i) {
    const Candidates& axis = space.axes[i];
    const bool moves = moving == space.axes.size() || moving == i;
    values.push_back(moves ? checked_add(axis.first, checked_mul(steps, axis.step)) : axis.first);
  }
  return values;
}

// The least k in (low, high] for which it breaks, given that it breaks at high; exact where breaking is monotone.
template <typename Breaks>
int64_t least(int64_t low, int64_t high, const Breaks& breaks) {
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (breaks(middle) ? high : low) = middle;
  }
  return high;
}

// Beyond the near sizes: doubles all sizes together, then one at a time, until the claim breaks, and comes back by
// halves. For bounds such as M*N < 2147483648, whose smallest counterexample is far.
Search search_far(Space& space) {
  const size_t all = space.axes.size();
  for (size_t tried = 0; tried <= all; ++tried) {
    const size_t moving = tried == 0 ? all : tried - 1;
    for (int64_t steps = 1; steps < (int64_t{1} << 40); steps *= 2) {
      std::vector<int64_t> values = point_at(space, steps, moving);
      if (!space.breaks(values)) continue;
      const int64_t fewest = least(0, steps, [&](int64_t k) { return space.breaks(point_at(space, k, moving)); });
      values = point_at(space, fewest, moving);
      for (size_t i = 0; i < all; ++i) {
        const Candidates axis = space.axes[i];
        const int64_t own = (values[i] - axis.first) / axis.step;
        const auto with = [&](int64_t k) {
          std::vector<int64_t> changed = values;
          changed[i] = axis.first + k * axis.step;
          return changed;
        };
        values = with(least(-1, own, [&](int64_t k) { return space.breaks(with(k)); }));
      }
      if (space.breaks(values)) return {space.sizes(values), false, false, space.binding(values)};
    }
  }
  return {};
}

Search search(const Knowledge& known, const std::map<DimId, std::string>& dims, const SizeTest& claim) {
  Space space(known, dims, claim);
  Search result = search_near(space);
  if (!result.witness && !result.exhausted) result = search_far(space);
  result.finite =
      std::all_of(space.axes.begin(), space.axes.end(), [](const Candidates& a) { return a.last.has_value(); });
  return result;
}

}  // namespace

Search search_counterexample(const Knowledge& known, const std::map<DimId, std::string>& dims, const SizeTest& claim) {
  try {
    return search(known, dims, claim);
  } catch (const Refusal&) {
    return {};  // the smallest sizes do not fit 64 bits: nothing was tried
  }
}

Search search_counterexample(const Knowledge& known, const Predicate& predicate) {
  std::map<DimId, std::string> dims;
  predicate.collect_dims(dims);
  return search_counterexample(known, dims, [&](const Binding& at) { return predicate.evaluate(at); });
}

}  // namespace lay
