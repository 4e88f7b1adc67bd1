// Step (4) of the decision procedure: the smallest sizes that the facts allow and that break a
// claim. Boxes of sizes are taken in the order of their smallest corner; a box in which interval
// arithmetic shows that nothing breaks is left out whole, any other is split. So the first corner
// that breaks is the smallest point of all that does. Where the budget ends before, sizes are found
// by doubling, and are then the smallest along that way only.

#include <algorithm>
#include <queue>
#include <tuple>

#include "frontend/algebra/integers/knowledge.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/integers/size_predicate.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

// A budget in atoms evaluated, so that a search takes about as long whatever the claim is made of.
constexpr double kAtoms = 400000;  // looked at in one search

// Boxes looked at: fewer where there are more sizes, or more to work out, since each then takes
// longer.
int steps_for(size_t sizes, size_t atoms, double share) {
  const double most = sizes <= 2 ? 6000 : std::max(1500.0, 12000.0 / static_cast<double>(sizes));
  return static_cast<int>(std::min(most, share * kAtoms / static_cast<double>(atoms + 1)));
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
  // The dim was replaced by step*q + rest with one other symbol: its values are first, first +
  // step, ...
  const bool progression =
      p.denominator == 1 && p.terms[0].factors.size() == 1 && p.terms[0].factors[0].exponent == 1 &&
      p.terms[0].factors[0].atom->kind == AtomKind::dim && p.terms[0].coefficient > 0 &&
      (p.terms.size() == 1 || (p.terms.size() == 2 && p.terms[1].factors.empty()));
  // Any value is tried, and those that the facts do not allow are passed over by `holds`.
  if (!progression) return {id, name, 1, 1, std::nullopt};
  const int64_t step = p.terms[0].coefficient;
  const Knowledge::Bounds range = known.bounds_of(p.terms[0].factors[0].atom->id);
  const int64_t rest = p.terms.size() == 2 ? p.terms[1].coefficient : 0;
  Candidates c{id, name, checked_add(checked_mul(step, range.lower), rest), step, std::nullopt};
  if (range.upper) c.last = checked_add(checked_mul(step, *range.upper), rest);
  return c;
}

// The dims and, again and again, those of the facts that share one with them.
// A claim about M with the fact M <= N needs N as well, and what N is compared with.
std::map<DimId, std::string> connected_dims(const Knowledge& known,
                                            std::map<DimId, std::string> dims) {
  for (bool grew = true; grew;) {
    grew = false;
    for (const Predicate& fact : known.stated) {
      std::map<DimId, std::string> of_fact;
      fact.collect_dims(of_fact);
      const bool shares = std::any_of(of_fact.begin(), of_fact.end(),
                                      [&](const auto& d) { return dims.count(d.first); });
      const size_t before = dims.size();
      if (shares) dims.insert(of_fact.begin(), of_fact.end());
      grew |= dims.size() != before;
    }
  }
  return dims;
}

// The facts that speak about one of the dims.
// Facts about other dims hold or fail whatever is chosen here.
std::vector<Predicate> facts_about(const Knowledge& known,
                                   const std::map<DimId, std::string>& dims) {
  std::vector<Predicate> about;
  for (const Predicate& fact : known.stated) {
    std::map<DimId, std::string> of_fact;
    fact.collect_dims(of_fact);
    if (std::any_of(of_fact.begin(), of_fact.end(),
                    [&](const auto& d) { return dims.count(d.first) > 0; })) {
      about.push_back(fact);
    }
  }
  return about;
}

// The axes of a search, and whether a point on them is allowed and breaks the claim.
class Space {
 public:
  // `predicate`: the same claim as a condition, where it is one.
  Space(const Knowledge& known, const std::map<DimId, std::string>& asked, const SizeTest& claim,
        const Predicate* predicate)
      : claim_(claim) {
    const std::map<DimId, std::string> dims = connected_dims(known, asked);
    for (const auto& [id, name] : dims) axes.push_back(candidates_of(known, id, name));
    if (predicate) predicate_.emplace(*predicate);
    for (const Predicate& fact : facts_about(known, dims)) facts_.emplace_back(fact);
  }

  // Returns the cost of one look, in atoms.
  size_t atoms() const {
    size_t n = predicate_ ? predicate_->atoms() : 0;
    for (const SizePredicate& fact : facts_) n += fact.atoms();
    return n;
  }

  // Interval arithmetic shows that no point of the box is allowed and breaks the claim.
  bool certainly_holds(const Box& box) const {
    // The claim holds everywhere in the box, or one fact nowhere.
    if (predicate_ && predicate_->over(box) == Tri::yes) return true;
    return std::any_of(facts_.begin(), facts_.end(),
                       [&](const SizePredicate& fact) { return fact.over(box) == Tri::no; });
  }

  Binding binding(const std::vector<int64_t>& values) const {
    Binding at;
    for (size_t i = 0; i < axes.size(); ++i) at[axes[i].id] = values[i];
    return at;
  }

  // Nothing where the facts do not allow the point, or the claim is not decided there.
  std::optional<bool> holds(const std::vector<int64_t>& values) {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (values[i] < axes[i].first || (axes[i].last && values[i] > *axes[i].last))
        return std::nullopt;
    }
    const Binding at = binding(values);
    for (const SizePredicate& fact : facts_) {
      if (fact.at(at) != true) return std::nullopt;
    }
    const auto value = predicate_ ? predicate_->at(at) : claim_(at);
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
  std::optional<SizePredicate> predicate_;
  std::vector<SizePredicate> facts_;
};

// Values first + k*step with k from `from` to `to` on every axis.
struct Region {
  std::vector<int64_t> corner;  // the values at `from`
  std::vector<int64_t> from, to;
  int64_t sum = 0;      // of the corner
  bool tested = false;  // the corner does not break

  // The order of the search: by the sum of the corner, then by the corner.
  friend bool operator>(const Region& a, const Region& b) {
    return std::tie(a.sum, a.corner) > std::tie(b.sum, b.corner);
  }
};

class BestFirst {
 public:
  BestFirst(Space& space, double share) : space_(space), share_(share) {
    for (const Candidates& axis : space_.axes) box_.dims.push_back(axis.id);
    box_.ranges.resize(space_.axes.size());
  }

  Search run() {
    Region all;
    for (const Candidates& axis : space_.axes) {
      const int64_t last = axis.last ? *axis.last : INT64_MAX;
      // No values at all: the claim holds, as there are no sizes.
      if (last < axis.first) return {std::nullopt, true, false, {}};
      all.corner.push_back(axis.first);
      all.sum = checked_add(all.sum, axis.first);
      all.from.push_back(0);
      all.to.push_back((axis.first < 0 ? INT64_MAX : last - axis.first) / axis.step);
    }
    open_.push(std::move(all));
    // A corner is tested when its region comes to the front of the queue, so corners are tested in
    // the order of their sums: the first that breaks is the smallest.
    for (int step = steps_for(space_.axes.size(), space_.atoms(), share_);
         step > 0 && !open_.empty(); --step) {
      Region region = open_.top();
      open_.pop();
      if (!region.tested && space_.breaks(region.corner)) {
        return {space_.sizes(region.corner), false, false, space_.binding(region.corner)};
      }
      region.tested = true;
      if (!is_settled(region)) split(region);
    }
    // Nothing left open: a proof, if no point was left undecided.
    return {std::nullopt, open_.empty() && space_.decided_all, false, {}};
  }

 private:
  bool is_settled(const Region& region) {
    if (region.from == region.to) return true;
    for (size_t i = 0; i < space_.axes.size(); ++i) {
      const Candidates& axis = space_.axes[i];
      // `to` of an axis without an end is as far as 64 bits go, which the box takes as no end.
      const bool endless = !axis.last && region.to[i] == (INT64_MAX - axis.first) / axis.step;
      box_.ranges[i] = {region.corner[i],
                        endless ? INT64_MAX : axis.first + region.to[i] * axis.step};
    }
    return space_.certainly_holds(box_);
  }

  // In two along the axis that is longest for its size; what has no end is cut at twice its
  // beginning.
  void split(Region& region) {
    size_t longest = 0;
    double most = -1;
    for (size_t i = 0; i < region.from.size(); ++i) {
      // Relative to where it begins: 1..64 is split before 1000..1100.
      const double length = static_cast<double>(region.to[i] - region.from[i]) /
                            static_cast<double>(region.from[i] + 1);
      if (region.to[i] > region.from[i] && length > most) most = length, longest = i;
    }
    const int64_t from = region.from[longest], to = region.to[longest];
    const int64_t middle =
        // Intervals 0, 1, 2..3, 4..7, ...: interval arithmetic is as sharp on large sizes as on
        // small ones.
        std::min(from + (to - from) / 2, from > INT64_MAX / 4 ? to - 1 : 2 * from + 1);
    Region above = region;
    above.tested = false;
    above.from[longest] = middle + 1;
    int64_t step;
    const bool fits =
        !__builtin_mul_overflow(middle + 1 - from, space_.axes[longest].step, &step) &&
        !__builtin_add_overflow(above.corner[longest], step, &above.corner[longest]) &&
        !__builtin_add_overflow(above.sum, step, &above.sum);
    region.to[longest] = middle;
    open_.push(std::move(region));
    if (fits) open_.push(std::move(above));
  }

  Space& space_;
  double share_;
  Box box_;
  std::priority_queue<Region, std::vector<Region>, std::greater<>> open_;
};

// first + steps*step on every axis where `moving` says so.
// `moving` is one axis, or as many as there are for all of them.
std::vector<int64_t> point_at(const Space& space, int64_t steps, size_t moving) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < space.axes.size(); ++i) {
    const Candidates& axis = space.axes[i];
    const bool moves = moving == space.axes.size() || moving == i;
    values.push_back(moves ? checked_add(axis.first, checked_mul(steps, axis.step)) : axis.first);
  }
  return values;
}

// The least k in (low, high] for which it breaks, given that it breaks at high; exact where
// breaking is monotone.
template <typename Breaks>
// M*N >= 2^31 breaks from some k on for ever; a claim about remainders breaks here and there, and
// then any k is as good.
int64_t least(int64_t low, int64_t high, const Breaks& breaks) {
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (breaks(middle) ? high : low) = middle;
  }
  return high;
}

// Beyond the near sizes: doubles all sizes together, then one at a time, until the claim breaks,
// and comes back by halves. For bounds such as M*N < 2147483648, whose smallest counterexample is
// far.
Search search_far(Space& space) {
  const size_t all = space.axes.size();
  // All sizes together, then each alone: the products of index arithmetic grow either way.
  for (size_t tried = 0; tried <= all; ++tried) {
    const size_t moving = tried == 0 ? all : tried - 1;
    for (int64_t steps = 1; steps < (int64_t{1} << 40); steps *= 2) {
      std::vector<int64_t> values = point_at(space, steps, moving);
      if (!space.breaks(values)) continue;
      const int64_t fewest =
          least(0, steps, [&](int64_t k) { return space.breaks(point_at(space, k, moving)); });
      values = point_at(space, fewest, moving);
      for (size_t i = 0; i < all; ++i) {
        const Candidates axis = space.axes[i];
        const int64_t own = (values[i] - axis.first) / axis.step;
        const auto with = [&](int64_t k) {
          std::vector<int64_t> changed = values;
          changed[i] = axis.first + k * axis.step;
          return changed;
        };
        // From the point found, each size comes back by itself as far as the claim stays broken.
        values = with(least(-1, own, [&](int64_t k) { return space.breaks(with(k)); }));
      }
      if (space.breaks(values)) return {space.sizes(values), false, false, space.binding(values)};
    }
  }
  return {};
}

Search search(const Knowledge& known, const std::map<DimId, std::string>& dims,
              const SizeTest& claim, const Predicate* predicate, double share) {
  Space space(known, dims, claim, predicate);
  Search result = BestFirst(space, share).run();
  if (!result.witness && !result.exhausted) result = search_far(space);
  result.finite = std::all_of(space.axes.begin(), space.axes.end(),
                              [](const Candidates& a) { return a.last.has_value(); });
  return result;
}

// The smallest sizes that do not fit 64 bits are none: nothing is tried.
Search search_or_nothing(const Knowledge& known, const std::map<DimId, std::string>& dims,
                         const SizeTest& claim, const Predicate* predicate, double share) {
  try {
    return search(known, dims, claim, predicate, share);
  } catch (const Refusal&) {
    return {};
  }
}

}  // namespace

Search search_counterexample(const Knowledge& known, const std::map<DimId, std::string>& dims,
                             const SizeTest& claim) {
  return search_or_nothing(known, dims, claim, nullptr, 1);
}

Search search_counterexample(const Knowledge& known, const Predicate& predicate, double share) {
  std::map<DimId, std::string> dims;
  predicate.collect_dims(dims);
  return search_or_nothing(known, dims, {}, &predicate, share);
}

}  // namespace lay
