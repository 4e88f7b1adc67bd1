#include <algorithm>
#include <cstdlib>
#include <set>

#include "frontend/algebra/cut_chains.h"
#include "frontend/algebra/integer_equations.h"
#include "frontend/algebra/inverse.h"
#include "frontend/algebra/mode.h"
#include "frontend/algebra/polynomial.h"
#include "frontend/algebra/tuple_operations.h"

namespace lay {
namespace {

constexpr size_t kFewEntries = 512;  // the search looks at no more than these and those that it turns out to need
constexpr std::ptrdiff_t kFirstEntries = 128;
constexpr std::ptrdiff_t kRuns = 16;
constexpr int kMostRestarts = 64;
constexpr int64_t kStepsToSolve = 64;  // what a set of equations costs, in looks at an entry
constexpr size_t kMostCandidates = 24;
constexpr size_t kMoreEntries = 8;  // of those that turn out to be needed
constexpr size_t kFewOpen = 16;     // and of those with several indices

// Which extents are tried at a cut.
enum class Extents : uint8_t { likely, all };

struct Pass {
  Extents extents;
  size_t cuts;
  int64_t steps;
  bool all_entries = false;  // those of several indices too
};

constexpr Pass kPasses[] = {
    {Extents::likely, 1, 1 << 16}, {Extents::likely, 2, 1 << 18}, {Extents::all, 1, 1 << 22},
    {Extents::likely, 4, 1 << 20}, {Extents::all, 2, 1 << 22},
};
constexpr int64_t kStepsForChains = int64_t{1} << 31;
constexpr int64_t kStepsOfTrial = 1 << 18;

// A literal layout with integer strides at an index.
int64_t at(const std::vector<Mode>& modes, int64_t index) {
  int64_t value = 0;
  for (size_t k = 0; k < modes.size(); ++k) {
    const int64_t extent = modes[k].extent.value(), digit = k + 1 == modes.size() ? index : index % extent;
    value = checked_add(value, checked_mul(digit, modes[k].stride.value().value()));
    index /= extent;
  }
  return value;
}

bool gives_back(const ValueTable::Entry& entry, const std::vector<Mode>& inverse) {
  const int64_t index = at(inverse, entry.at);
  return std::find(entry.choices.begin(), entry.choices.end(), index) != entry.choices.end();
}

class Searcher {
 public:
  Searcher(const ValueTable& table, Effort effort) : table_(table), effort_(effort) {
    std::vector<size_t> unique;
    for (size_t i = 0; i < table.count(); ++i) {
      if (table[i].is_unique()) {
        unique.push_back(i);
      } else if (looked_at_.size() < kFewOpen) {
        looked_at_.insert(i);
      }
      common_ = gcd(common_, table[i].at);
    }
    if (unique.size() <= kFewEntries) {
      looked_at_.insert(unique.begin(), unique.end());
      return;
    }
    looked_at_.insert(unique.begin(), unique.begin() + kFirstEntries);
    for (std::ptrdiff_t run = 1; run <= kRuns; ++run) {
      const auto end = unique.begin() + std::ssize(unique) * run / kRuns;
      looked_at_.insert(end - kRuns, end);
    }
  }

  InverseSearch run() {
    for (const Pass& pass : kPasses) {
      const auto found = with_restarts(pass, [&] { return descend(whole_of_unique(), 1); });
      if (found) return {found, false};
      if (!cut_short_ && pass.extents != Extents::likely) return {std::nullopt, true};
    }
    const auto found = with_restarts({Extents::all, 64, kStepsForChains, true}, [&] { return by_chains(); });
    return {found, !found && !cut_short_};
  }

 private:
  // Again with the entries that turn out to be needed.
  template <typename Attempt>
  std::optional<Layout> with_restarts(const Pass& pass, const Attempt& attempt) {
    pass_ = pass;
    if (effort_ == Effort::trial) pass_.steps = std::min(pass_.steps, kStepsOfTrial);
    for (int restart = 0; restart <= kMostRestarts; ++restart) {
      cut_short_ = restart_ = false;
      may_restart_ = restart < kMostRestarts;
      extents_.clear();
      if (auto found = attempt()) return found;
      if (!restart_) break;
    }
    return std::nullopt;
  }

  std::optional<Layout> by_chains() {
    std::optional<Layout> found;
    const auto serves = [&](const std::vector<int64_t>& extents) {
      extents_ = extents;
      found = solve();
      return found || restart_;
    };
    CutChains chains(table_, whole(), common_);
    int64_t steps = pass_.steps;
    cut_short_ |= chains.run(serves, steps) == CutChains::End::ended;
    pass_.steps = std::min(pass_.steps, steps);
    return found;
  }

  // Without entries that have several indices.
  Rest whole_of_unique() const {
    Rest rest;
    for (const size_t i : looked_at_) {
      if (table_[i].is_unique()) rest.add(table_[i].at, Rest::kChosen, table_[i].choices[0]);
    }
    return rest;
  }

  Rest whole() const {
    Rest rest;
    for (const size_t i : looked_at_) {
      const bool unique = table_[i].is_unique();
      rest.add(table_[i].at, unique ? Rest::kChosen : i, unique ? table_[i].choices[0] : 0);
    }
    return rest;
  }

  // The left inverse that goes on from the extents chosen so far.
  std::optional<Layout> descend(const Rest& rest, int64_t product) {
    if (const auto found = end_here(rest)) return found;
    const int64_t reach = table_.largest() / product;
    if (reach < 2 || restart_) return std::nullopt;
    if (extents_.size() == pass_.cuts) {
      cut_short_ = true;
      return std::nullopt;
    }
    if (pass_.extents == Extents::likely) {
      for (const int64_t extent : likely(rest, product)) {
        if (auto found = go_on(rest, extent, product)) return found;
      }
      return std::nullopt;
    }
    for (int64_t extent = 2; extent <= reach && !restart_; ++extent) {
      if (pass_.steps < 0) {
        cut_short_ = true;
        return std::nullopt;
      }
      if (auto found = go_on(rest, extent, product)) return found;
    }
    return std::nullopt;
  }

  // Extents that bring a step of a, a value, or what all have in common, onto a cut.
  std::vector<int64_t> likely(const Rest& rest, int64_t product) const {
    int64_t common = 0;
    for (const int64_t at : rest.at) common = gcd(common, at);
    std::vector<int64_t> extents{common};
    for (const int64_t step : table_.steps()) extents.push_back(step / gcd(step, product));
    for (size_t i = 0; i < rest.at.size() && extents.size() < kMostCandidates; ++i) extents.push_back(rest.at[i]);
    const int64_t reach = table_.largest() / product;
    std::erase_if(extents, [&](int64_t extent) { return extent < 2 || extent > reach; });
    return extents;
  }

  std::optional<Layout> go_on(const Rest& rest, int64_t extent, int64_t product) {
    if (pass_.steps < 0 || restart_) {
      cut_short_ = true;
      return std::nullopt;
    }
    try {
      const auto next = above(rest, table_, extent, pass_.steps);
      if (!next || is_repeated(rest, *next, extent, product)) return std::nullopt;
      extents_.push_back(extent);
      auto found = descend(without_idle(*next), product * extent);
      extents_.pop_back();
      return found;
    } catch (const Refusal&) {  // numbers beyond 64 bits
      cut_short_ = true;
      return std::nullopt;
    }
  }

  // A mode that continues the one below it makes one mode with it, whose extent is tried by itself. Below a divisor of
  // all values the digits are 0, and any strides continue.
  bool is_repeated(const Rest& rest, const Rest& next, int64_t extent, int64_t product) const {
    if (extents_.empty()) return false;
    if (common_ % product == 0 && common_ / product % extent == 0) return true;
    int64_t continued;
    return rest.stride && next.stride && !__builtin_mul_overflow(*rest.stride, extents_.back(), &continued) &&
           continued == *next.stride;
  }

  // A last mode above the extents chosen so far.
  std::optional<Layout> end_here(const Rest& rest) {
    try {
      if (above(rest, table_, 0, pass_.steps)) return solve();
    } catch (const Refusal&) {  // numbers beyond 64 bits
      cut_short_ = true;
    }
    return std::nullopt;
  }

  // The layout with the extents chosen so far.
  std::optional<Layout> solve() {
    try {
      IntegerEquations equations(extents_.size() + 1);
      pass_.steps -= kStepsToSolve;
      const auto add = [&](size_t i) {
        pass_.steps -= std::ssize(extents_);
        return !table_[i].is_unique() || equations.require(digits(table_[i].at), table_[i].choices[0]);
      };
      for (const size_t i : looked_at_) {
        if (!add(i)) return std::nullopt;
      }
      const Layout likely = layout_of(equations.particular());
      bool all = true;
      for (size_t i = 0; i < table_.count() && all; ++i) all = add(i);
      const auto strides = all ? choose(equations, 0) : std::nullopt;
      if (strides) return layout_of(*strides);
      if (may_restart_) restart_ = look_at_more(likely);
    } catch (const Refusal&) {  // numbers beyond 64 bits
      cut_short_ = true;
    }
    return std::nullopt;
  }

  // Some entries that r does not give, or that are left: more each time. False if each of them is looked at.
  bool look_at_more(const Layout& r) {
    const std::vector<Mode> inverse = flat_modes(r);
    pass_.steps -= std::ssize(inverse) * static_cast<int64_t>(table_.count());
    std::vector<size_t> missed, others;
    for (size_t i = 0; i < table_.count(); ++i) {
      if (looked_at_.count(i) != 0 || (!pass_.all_entries && !table_[i].is_unique())) continue;
      (gives_back(table_[i], inverse) ? others : missed).push_back(i);
    }
    const std::vector<size_t>& more = missed.empty() ? others : missed;
    const size_t step = 1 + more.size() / (pass_.all_entries ? looked_at_.size() / 8 + kMoreEntries : kMoreEntries);
    for (size_t k = 0; k < more.size(); k += step) looked_at_.insert(more[k]);
    return !more.empty();
  }

  // One index for each value that is taken more than once, from entry `i` on.
  std::optional<std::vector<int64_t>> choose(const IntegerEquations& equations, size_t i) {
    for (; i < table_.count(); ++i) {
      const ValueTable::Entry entry = table_[i];
      if (entry.is_unique()) continue;
      if (--pass_.steps < 0) {
        cut_short_ = true;
        return std::nullopt;
      }
      const std::vector<int64_t> factors = digits(entry.at);
      int64_t value;
      if (equations.determines(factors, value)) {
        if (std::find(entry.choices.begin(), entry.choices.end(), value) == entry.choices.end()) return std::nullopt;
        continue;
      }
      for (const int64_t choice : entry.choices) {
        pass_.steps -= kStepsToSolve;
        IntegerEquations chosen = equations;
        if (!chosen.require(factors, choice)) continue;
        if (auto strides = choose(chosen, i + 1)) return strides;
      }
      return std::nullopt;
    }
    return equations.particular();
  }

  std::vector<int64_t> digits(int64_t value) const {
    std::vector<int64_t> digits;
    for (const int64_t extent : extents_) {
      digits.push_back(value % extent);
      value /= extent;
    }
    digits.push_back(value);
    return digits;
  }

  Layout layout_of(const std::vector<int64_t>& strides) const {
    std::vector<Mode> modes;
    int64_t product = 1;
    for (size_t k = 0; k < extents_.size(); ++k) modes.push_back({extents_[k], strides[k]}), product *= extents_[k];
    modes.push_back({table_.largest() / product + 1, strides.back()});
    return from_modes(modes, {});
  }

  const ValueTable& table_;
  Effort effort_;
  std::set<size_t> looked_at_;  // entries of the table
  int64_t common_ = 0;          // what divides all values
  std::vector<int64_t> extents_;
  Pass pass_{};
  bool cut_short_ = false;  // not everything was tried
  bool restart_ = false;    // an entry was added to those looked at
  bool may_restart_ = false;
};

}  // namespace

bool is_left_inverse(const ValueTable& table, const Layout& r) {
  if (table.has_mirrored() || !r.is_known() || r.has_basis()) return false;
  const std::vector<Mode> inverse = flat_modes(r);
  for (size_t i = 0; i < table.count(); ++i) {
    if (!gives_back(table[i], inverse)) return false;
  }
  return true;
}

std::optional<Counterexample> first_lost(const Layout& a, const ValueTable& table, const Layout& r) {
  if (!r.is_known() || r.has_basis()) return std::nullopt;
  const std::vector<Mode> inverse = flat_modes(r);
  std::optional<int64_t> first;
  for (size_t i = 0; i < table.count(); ++i) {
    const auto entry = table[i];
    for (const int64_t choice : entry.choices) {
      const bool lost = choice < 0 ? at(inverse, entry.at) >= 0 || !gives_back(entry, inverse)
                                   : at(inverse, entry.at) < 0 || !gives_back(entry, inverse);
      if (lost && (!first || std::abs(choice) < *first)) first = std::abs(choice);
    }
  }
  if (!first) return std::nullopt;
  Facts facts;
  const int64_t value = at(flat_modes(a), *first);
  Counterexample w;
  w.index = *first;
  if (!a.shape.is_leaf()) w.coordinate = idx2crd(facts, *first, a.shape).to_string();
  w.due = std::to_string(*first);
  w.actual = std::to_string(value < 0 ? -at(inverse, -value) : at(inverse, value));
  w.claimed = r.to_string();
  return w;
}

InverseSearch search_left_inverse(const ValueTable& table, Effort effort) {
  if (table.has_mirrored()) return {std::nullopt, true};
  InverseSearch search = Searcher(table, effort).run();
  if (search.found && !is_left_inverse(table, *search.found)) search.found.reset();
  return search;
}

}  // namespace lay
