#include "frontend/algebra/samples.h"

#include <algorithm>

#include "frontend/algebra/knowledge.h"

namespace lay {
namespace {

using Bounds = Knowledge::Bounds;

constexpr int kTried = 96;
constexpr size_t kKept = 8;

// Numbers without a pattern, the same on every run: of the try and of the dim.
uint64_t scattered(uint64_t which, DimId id) {
  uint64_t x = (which + 1) * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(id) * 0xD1B54A32D192ED03ull;
  x = (x ^ (x >> 31)) * 0xBF58476D1CE4E5B9ull;
  return x ^ (x >> 29);
}

// All at their least, then each somewhat above it: mostly a little, sometimes much.
int64_t value_for(const Bounds& range, uint64_t which, DimId id) {
  const uint64_t x = scattered(which, id);
  const int64_t most = int64_t{1} << (x % 7);
  const int64_t above = which == 0 ? 0 : static_cast<int64_t>((x >> 8) % static_cast<uint64_t>(most + 1));
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
bool settle(const Knowledge& known, Binding& at) {
  for (const auto& [id, by] : known.replaced) {
    const auto value = by.evaluate(at);
    if (!value) return false;
    at[id] = *value;
  }
  return true;
}

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
    if (settle(known, at) && allows(known, at)) points_.push_back(std::move(at));
  }
}

Samples::Samples(const Samples& samples, const Predicate& fact) : bounds_(samples.bounds_) {
  samples.any(fact, [&](const Binding& at) {
    if (fact.evaluate(at) == true) points_.push_back(at);
    return false;
  });
}

bool Samples::some_negative(const Int& a) const {
  return any(a, [&](const Binding& at) {
    const auto value = a.evaluate(at);
    return value && *value < 0;
  });
}

bool Samples::some_break(const Predicate& p) const {
  return any(p, [&](const Binding& at) { return p.evaluate(at) == false; });
}

template <typename Claim, typename Test>
bool Samples::any(const Claim& claim, const Test& test) const {
  std::map<DimId, std::string> dims;
  if (!points_.empty()) claim.collect_dims(dims);
  for (size_t i = 0; i < points_.size(); ++i) {
    cover(dims, i);
    if (test(points_[i])) return true;
  }
  return false;
}

// What no fact speaks of may have any value within its bounds.
void Samples::cover(const std::map<DimId, std::string>& dims, size_t point) const {
  for (const auto& [id, name] : dims) {
    if (points_[point].count(id) > 0) continue;
    const auto found = bounds_.find(id);
    const Bounds range = found == bounds_.end() ? Bounds{} : Bounds{found->second.first, found->second.second};
    points_[point][id] = value_for(range, point, id);
  }
}

}  // namespace lay
