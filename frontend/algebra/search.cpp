// Step (4) of the decision procedure: the smallest sizes that the facts allow and that break a predicate.

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>

#include "frontend/algebra/knowledge.h"
#include "frontend/algebra/polynomial.h"
#include "frontend/algebra/refusal.h"

namespace lay {
namespace {

constexpr int kMaxSteps = 3000;

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

// The dims of the predicate and, again and again, of the facts that share one with it.
std::map<DimId, std::string> connected_dims(const Knowledge& known, const Predicate& predicate) {
  std::map<DimId, std::string> dims;
  predicate.collect_dims(dims);
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

Search search(const Knowledge& known, const Predicate& predicate) {
  const std::map<DimId, std::string> dims = connected_dims(known, predicate);
  std::vector<Candidates> axes;
  Point start{0, {}};
  for (const auto& [id, name] : dims) {
    axes.push_back(candidates_of(known, id, name));
    if (axes.back().last && *axes.back().last < axes.back().first) return {std::nullopt, true};
    start.values.push_back(axes.back().first);
    start.sum = checked_add(start.sum, axes.back().first);
  }
  std::priority_queue<Point, std::vector<Point>, std::greater<>> open;
  std::set<std::vector<int64_t>> seen{start.values};
  open.push(start);
  const std::vector<Predicate> facts = facts_about(known, dims);
  const auto allowed = [&](const Binding& binding) {
    return std::all_of(facts.begin(), facts.end(), [&](const Predicate& f) { return f.evaluate(binding) == true; });
  };
  bool decided_all = true;
  for (int step = 0; step < kMaxSteps && !open.empty(); ++step) {
    const Point point = open.top();
    open.pop();
    Binding binding;
    for (size_t i = 0; i < axes.size(); ++i) binding[axes[i].id] = point.values[i];
    if (allowed(binding)) {
      const auto holds = predicate.evaluate(binding);
      decided_all &= holds.has_value();
      if (holds == false) {
        Sizes sizes;
        for (size_t i = 0; i < axes.size(); ++i) sizes.emplace_back(axes[i].name, point.values[i]);
        return {sizes, false};
      }
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      Point next = point;
      if (__builtin_add_overflow(next.values[i], axes[i].step, &next.values[i])) continue;
      if (__builtin_add_overflow(next.sum, axes[i].step, &next.sum)) continue;
      if (axes[i].last && next.values[i] > *axes[i].last) continue;
      if (seen.insert(next.values).second) open.push(std::move(next));
    }
  }
  return {std::nullopt, open.empty() && decided_all};
}

}  // namespace

Search search_counterexample(const Knowledge& known, const Predicate& predicate) {
  try {
    return search(known, predicate);
  } catch (const Refusal&) {
    return {};  // the smallest sizes do not fit 64 bits: nothing was tried
  }
}

}  // namespace lay
