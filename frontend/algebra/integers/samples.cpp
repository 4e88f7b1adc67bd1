#include "frontend/algebra/integers/samples.h"

#include <algorithm>

#include "frontend/algebra/integers/knowledge.h"
#include "frontend/algebra/integers/polynomial.h"

namespace lay {
namespace {

using Bounds = Knowledge::Bounds;

// Points tried, and points kept: each claim is evaluated at up to eight of them.
constexpr int kTried = 96;
constexpr size_t kKept = 8;

// Numbers without a pattern, the same on every run: of the try and of the dim.
// A mix of shifts and odd multipliers, as in splitmix64: every bit of the input reaches every bit
// of the result.
uint64_t scattered(uint64_t which, DimId id) {
  uint64_t x =
      (which + 1) * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(id) * 0xD1B54A32D192ED03ull;
  x = (x ^ (x >> 31)) * 0xBF58476D1CE4E5B9ull;
  return x ^ (x >> 29);
}

// All at their least, then each somewhat above it: mostly a little, sometimes much.
int64_t value_for(const Bounds& range, uint64_t which, DimId id) {
  const uint64_t x = scattered(which, id);
  // Up to 1, 2, 4, ..., 64 above the least value: small sizes break claims about remainders, larger
  // ones claims about order.
  const int64_t most = int64_t{1} << (x % 7);
  const int64_t above =
      which == 0 ? 0 : static_cast<int64_t>((x >> 8) % static_cast<uint64_t>(most + 1));
  const int64_t value = range.lower > INT64_MAX - above ? range.lower : range.lower + above;
  return range.upper ? std::min(value, *range.upper) : value;
}

using Dims = std::map<DimId, std::string>;

Dims dims_of_facts(const Knowledge& known) {
  Dims dims;
  for (const Predicate& fact : known.stated) fact.collect_dims(dims);
  for (const Int& f : known.nonnegative) f.collect_dims(dims);
  for (const auto& [id, by] : known.replaced) {
    dims.try_emplace(id);
    by.collect_dims(dims);
  }
  return dims;
}

// False where a dim that others determine has no value here.
// Dims that are functions of others, which are never replaced themselves.
bool settle(const Knowledge& known, Binding& at) {
  for (const auto& [id, by] : known.replaced) {
    const auto value = by.evaluate(at);
    if (!value) return false;
    at[id] = *value;
  }
  return true;
}

// All facts at this point, as they were stated and as they were learnt.
bool allows(const Knowledge& known, const Binding& at) {
  return std::all_of(known.stated.begin(), known.stated.end(),
                     [&](const Predicate& fact) { return fact.evaluate(at) == true; }) &&
         std::all_of(known.nonnegative.begin(), known.nonnegative.end(), [&](const Int& f) {
           const auto value = f.evaluate(at);
           return value && *value >= 0;
         });
}

}  // namespace

Samples::Samples(const Knowledge& known) {
  if (known.contradiction) return;
  for (const auto& [id, range] : known.bounds) bounds_[id] = {range.lower, range.upper};
  const Dims dims = dims_of_facts(known);
  for (uint64_t which = 0; which < kTried && points_.size() < kKept; ++which) {
    Binding at;
    for (const auto& [id, name] : dims) {
      if (known.replaced.count(id) == 0) at[id] = value_for(known.bounds_of(id), which, id);
    }
    // Random values seldom meet an equation; dims that are replaced are computed from the others,
    // which makes equations and divisibilities hold by themselves.
    if (settle(known, at) && allows(known, at))
      points_.push_back({points_.size(), std::move(at), {}});
  }
}

// No new points are drawn: it is asked for at every case of a proof.
Samples::Samples(const Samples& samples, const Predicate& fact) : bounds_(samples.bounds_) {
  for (Point& point : samples.points_) {
    if (samples.value(fact, point) == true) points_.push_back(point);
  }
}

bool Samples::some_negative(const Int& a) const {
  return std::any_of(points_.begin(), points_.end(), [&](Point& at) {
    const auto n = value(a, at);
    return n && *n < 0;
  });
}

bool Samples::some_break(const Predicate& p) const {
  return std::any_of(points_.begin(), points_.end(),
                     [&](Point& at) { return value(p, at) == false; });
}

// Returns the value of a dim; one that no fact speaks of may have any within its bounds.
int64_t Samples::value(DimId id, Point& at) const {
  const auto [found, is_new] = at.dims.try_emplace(id);
  if (is_new) {
    const auto bound = bounds_.find(id);
    const Bounds range =
        bound == bounds_.end() ? Bounds{} : Bounds{bound->second.first, bound->second.second};
    found->second = value_for(range, at.number, id);
  }
  return found->second;
}

std::optional<int64_t> Samples::value(const Atom& atom, Point& at) const {
  if (atom.kind == AtomKind::dim) return value(atom.id, at);
  if (const auto known = at.atoms.find(&atom); known != at.atoms.end()) return known->second;
  const auto result = evaluate(atom, [&](const Int& a) { return value(a, at); });
  at.atoms.emplace(&atom, result);
  return result;
}

std::optional<int64_t> Samples::value(const Int& a, Point& at) const {
  return evaluate(a, [&](const Atom& atom) { return value(atom, at); });
}

std::optional<bool> Samples::value(const Predicate& p, Point& at) const {
  return evaluate(p, [&](const Int& a) { return value(a, at); });
}

}  // namespace lay
