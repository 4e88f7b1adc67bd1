#include "frontend/algebra/inverse_search/inverse_search.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "frontend/algebra/integers/integer_equations.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/inverse_search/radix_chains.h"
#include "frontend/algebra/inverse_search/value_table.h"
#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {
namespace {

// Limits in numbers of entries and in steps, of which one is a look at an entry.
constexpr int kMostRestarts = 64;
constexpr int64_t kStepsToSolve = 64;  // what a set of equations costs, in looks at an entry
constexpr int64_t kStepsToChoose = 1 << 22, kStepsToTry = 1 << 18;
constexpr size_t kMostProbed = 3;
constexpr size_t kNumbersToChoose = 1 << 18;
constexpr size_t kMostCandidates = 24;
constexpr size_t kMoreEntries = 8;  // of those that turn out to be needed

// Which extents are tried at a radix boundary.
enum class Extents : uint8_t { likely, all };

// One stage: how many boundaries, of which extents, in how many steps.
struct Pass {
  Extents extents;
  size_t boundaries;
  int64_t steps;
  bool chains = false;
};

constexpr Pass kPasses[] = {
    {Extents::likely, 1, 1 << 16}, {Extents::likely, 2, 1 << 18}, {Extents::all, 1, 1 << 22},
    {Extents::likely, 4, 1 << 20}, {Extents::all, 2, 1 << 22},
};
// 2^23 looks at an entry take about 0.1 s. With 2^31 of them 2 in 1000 layouts more were decided.
constexpr int64_t kStepsForChains = int64_t{1} << 23;
constexpr int64_t kStepsOfTrial = 1 << 18;

// A literal layout with integer strides at an index.
// The last mode has no end: its digit is whatever is left of the index.
int64_t at(const std::vector<Mode>& modes, int64_t index) {
  int64_t value = 0;
  for (size_t k = 0; k < modes.size(); ++k) {
    const int64_t extent = modes[k].extent.value(),
                  digit = k + 1 == modes.size() ? index : index % extent;
    value = checked_add(value, checked_mul(digit, modes[k].stride.value().value()));
    index /= extent;
  }
  return value;
}

// Any index of the value will do: where a is not injective, there are several.
bool gives_back(const ValueTable::Entry& entry, const std::vector<Mode>& inverse) {
  const int64_t index = at(inverse, entry.at);
  return std::binary_search(entry.choices.begin(), entry.choices.end(), index);
}

constexpr std::ptrdiff_t kFewEntries = 512, kRuns = 16;

// Returns all of `entries` if they are few, else the first ones and some in runs all over them.
std::vector<size_t> few_of(const std::vector<size_t>& entries) {
  if (std::ssize(entries) <= kFewEntries) return entries;
  std::vector<size_t> few(entries.begin(), entries.begin() + kFewEntries / 4);
  for (std::ptrdiff_t run = 1; run <= kRuns; ++run) {
    const auto end = entries.begin() + std::ssize(entries) * run / kRuns;
    few.insert(few.end(), end - kFewEntries / (2 * kRuns), end);
  }
  std::sort(few.begin(), few.end());
  few.erase(std::unique(few.begin(), few.end()), few.end());
  return few;
}

class Searcher {
 public:
  // Entries with one index give equations at once; the others give choices. Some of each are looked
  // at first.
  Searcher(const ValueTable& table, Effort effort) : table_(table), effort_(effort) {
    std::vector<size_t> unique, others;
    for (size_t i = 0; i < table.count(); ++i) {
      (table[i].is_unique() ? unique : others).push_back(i);
      common_ = gcd(common_, table[i].at);
    }
    for (const auto& entries : {few_of(unique), few_of(others)})
      looked_at_.insert(entries.begin(), entries.end());
    repeats_ = !others.empty();
  }

  InverseSearch run() {
    // From cheap to dear. A pass over all extents that ended by itself is a proof, as every layout
    // with that number of boundaries was ruled out.
    for (const Pass& pass : kPasses) {
      if (repeats_) break;  // only the chains decide between indices
      const auto found = with_restarts(pass, [&] { return descend(whole(), 1); });
      if (found) return {found, false};
      if (!incomplete_ && pass.extents != Extents::likely) return {std::nullopt, true};
    }
    const auto found =
        with_restarts({Extents::all, 64, kStepsForChains, true}, [&] { return by_chains(); });
    return {found, !found && !incomplete_};
  }

 private:
  // Again with the entries that turn out to be needed.
  template <typename Attempt>
  std::optional<Layout> with_restarts(const Pass& pass, const Attempt& attempt) {
    pass_ = pass;
    if (effort_ == Effort::trial) pass_.steps = std::min(pass_.steps, kStepsOfTrial);
    for (int restart = 0; restart <= kMostRestarts; ++restart) {
      incomplete_ = restart_ = false;
      may_restart_ = restart < kMostRestarts;
      // Each attempt begins with the entries that the last one was found to lack.
      extents_.clear();
      if (auto found = attempt()) return found;
      if (!restart_) break;
    }
    return std::nullopt;
  }

  std::optional<Layout> by_chains() {
    std::optional<Layout> found;
    // Before the chains, which take long where values have several indices: an eighth of the steps.
    if (repeats_ && !std::exchange(probed_, true)) {
      int64_t steps = pass_.steps / 8;
      if ((found = probe(1, kMostProbed, steps))) return found;
      extents_.clear();
    }
    const auto serves = [&](const std::vector<int64_t>& extents,
                            const std::vector<Difference>& decided) {
      extents_ = extents;
      found = solve(decided);
      return found || restart_;
    };
    RadixChains chains(whole(), common_, repeats_ ? table_.steps() : std::vector<int64_t>());
    int64_t steps = pass_.steps;
    incomplete_ |= chains.run(serves, steps, start_) == RadixChains::End::ended;
    pass_.steps = std::min(pass_.steps, steps);
    return found;
  }

  // Tries few radix boundaries, each at a step of a, with whatever indices go with them: layouts of
  // few large modes often take no more.
  std::optional<Layout> probe(int64_t product, size_t boundaries, int64_t& steps) {
    std::vector<int64_t> likely{common_};
    likely.insert(likely.end(), table_.steps().begin(), table_.steps().end());
    // The part of a step of a that is left above the boundaries chosen so far.
    for (int64_t& boundary : likely) boundary /= gcd(boundary, product);
    std::sort(likely.begin(), likely.end());
    likely.erase(std::unique(likely.begin(), likely.end()), likely.end());
    for (const int64_t extent : likely) {
      if (extent < 2 || extent > table_.largest() / product) continue;
      extents_.push_back(extent);
      if (steps < 0) return std::nullopt;
      if (auto found = try_strides(steps)) return found;
      if (boundaries > 1) {
        if (auto found = probe(product * extent, boundaries - 1, steps)) return found;
      }
      extents_.pop_back();
    }
    return std::nullopt;
  }

  // A layout with the extents chosen so far, if the entries that are looked at have one.
  std::optional<Layout> try_strides(int64_t& steps) {
    try {
      int64_t given = kStepsToTry;
      const auto strides =
          strides_for(table_, std::vector(looked_at_.begin(), looked_at_.end()), extents_, given);
      steps -= kStepsToTry - given;
      if (strides) return choose_anew();
    } catch (const Refusal&) {  // numbers beyond 64 bits
    }
    return std::nullopt;
  }

  // The expected values of the entries that are looked at.
  UpperTable whole() const {
    UpperTable rest;
    for (const size_t i : looked_at_)
      rest.add(table_[i].at, {table_[i].choices.begin(), table_[i].choices.end()});
    return rest;
  }

  // The left inverse that goes on from the extents chosen so far.
  // Depth first: try to end with a last mode, else add one more boundary.
  std::optional<Layout> descend(const UpperTable& rest, int64_t product) {
    if (const auto found = end_here(rest)) return found;
    const int64_t reach = table_.largest() / product;
    if (reach < 2 || restart_) return std::nullopt;
    // The pass says nothing of layouts with more boundaries.
    if (extents_.size() == pass_.boundaries) {
      incomplete_ = true;
      return std::nullopt;
    }
    if (pass_.extents == Extents::likely) {
      for (const int64_t extent : likely(rest, product)) {
        if (auto found = go_on(rest, extent, product)) return found;
      }
      return std::nullopt;
    }
    // All extents: their number is that of the largest value over the product so far.
    for (int64_t extent = 2; extent <= reach && !restart_; ++extent) {
      if (pass_.steps < 0) {
        incomplete_ = true;
        return std::nullopt;
      }
      if (auto found = go_on(rest, extent, product)) return found;
    }
    return std::nullopt;
  }

  // Extents that bring a step of a, a value, or what all have in common, onto a boundary.
  std::vector<int64_t> likely(const UpperTable& rest, int64_t product) const {
    int64_t common = 0;
    for (const int64_t at : rest.at) common = gcd(common, at);
    std::vector<int64_t> extents{common};
    for (const int64_t step : table_.steps()) extents.push_back(step / gcd(step, product));
    for (size_t i = 0; i < rest.at.size() && extents.size() < kMostCandidates; ++i)
      extents.push_back(rest.at[i]);
    const int64_t reach = table_.largest() / product;
    std::erase_if(extents, [&](int64_t extent) { return extent < 2 || extent > reach; });
    return extents;
  }

  std::optional<Layout> go_on(const UpperTable& rest, int64_t extent, int64_t product) {
    if (pass_.steps < 0 || restart_) {
      incomplete_ = true;
      return std::nullopt;
    }
    try {
      // Nothing where the equations below the new boundary contradict one another: no stride of
      // this mode fits, whatever lies above.
      const auto next = above(rest, extent, pass_.steps);
      if (!next || is_repeated(rest, *next, extent, product)) return std::nullopt;
      extents_.push_back(extent);
      auto found = descend(without_idle(*next), product * extent);
      extents_.pop_back();
      return found;
    } catch (const Refusal&) {  // numbers beyond 64 bits
      incomplete_ = true;
      return std::nullopt;
    }
  }

  // A mode that continues the one below it makes one mode with it, whose extent is tried by itself.
  // Below a divisor of all values the digits are 0, and any strides continue.
  bool is_repeated(const UpperTable& rest, const UpperTable& next, int64_t extent,
                   int64_t product) const {
    if (extents_.empty()) return false;
    // All values are multiples of product*extent: digits below are 0, and any order of the divisors
    // serves.
    if (common_ % product == 0 && common_ / product % extent == 0) return true;
    int64_t continued;
    return rest.stride && next.stride &&
           !__builtin_mul_overflow(*rest.stride, extents_.back(), &continued) &&
           continued == *next.stride;
  }

  // A last mode above the extents chosen so far.
  std::optional<Layout> end_here(const UpperTable& rest) {
    try {
      if (above(rest, 0, pass_.steps)) return solve({});
    } catch (const Refusal&) {  // numbers beyond 64 bits
      incomplete_ = true;
    }
    return std::nullopt;
  }

  // The layout with the extents chosen so far, where values differ as decided.
  std::optional<Layout> solve(const std::vector<Difference>& decided) {
    try {
      // One unknown a mode, its stride.
      IntegerEquations equations(extents_.size() + 1);
      pass_.steps -= kStepsToSolve;
      const auto add = [&](size_t i) {
        pass_.steps -= std::ssize(extents_);
        return !table_[i].is_unique() ||
               equations.require(digits(table_[i].at), table_[i].choices[0]);
      };
      for (const Difference& d : decided) {
        std::vector<int64_t> factors = digits(d.second);
        const std::vector<int64_t> less = digits(d.first);
        for (size_t k = 0; k < factors.size(); ++k) factors[k] -= less[k];
        if (!equations.require(factors, d.difference)) return std::nullopt;
      }
      // The few entries first, which contradict most sets of extents; then all.
      for (const size_t i : looked_at_) {
        if (!add(i)) return std::nullopt;
      }
      const Layout likely = layout_of(equations.particular());
      bool all = true;
      for (size_t i = 0; i < table_.count() && all; ++i) all = add(i);
      if (all) {
        const Layout whole = layout_of(equations.particular());
        if (is_left_inverse(table_, whole)) return whole;
      }
      if (repeats_) {
        if (auto whole = choose_anew()) return whole;
      }
      // A layout that serves the few but not all: the entries that it misses are looked at from now
      // on.
      if (may_restart_) restart_ = look_at_more(likely);
    } catch (const Refusal&) {  // numbers beyond 64 bits
      incomplete_ = true;
    }
    return std::nullopt;
  }

  // The layout with the extents chosen so far, whatever was decided of values with several indices.
  std::optional<Layout> choose_anew() {
    // The entries are as many as the memory for their forms allows, evenly over the table.
    const size_t most = kNumbersToChoose / (extents_.size() + 2), step = 1 + table_.count() / most;
    std::set<size_t> entries = looked_at_;
    for (size_t i = 0; i < table_.count(); i += step) entries.insert(i);
    const int64_t given = std::min(pass_.steps, kStepsToChoose);
    int64_t steps = given;
    const auto strides =
        strides_for(table_, std::vector(entries.begin(), entries.end()), extents_, steps);
    pass_.steps -= given - steps;
    if (!strides) return std::nullopt;
    const Layout whole = layout_of(*strides);
    return is_left_inverse(table_, whole) ? std::optional(whole) : std::nullopt;
  }

  // Some entries that r does not give, or that are left: more each time. False if each of them is
  // looked at.
  bool look_at_more(const Layout& r) {
    const std::vector<Mode> inverse = flat_modes(r);
    pass_.steps -= std::ssize(inverse) * static_cast<int64_t>(table_.count());
    std::vector<size_t> missed, others;
    for (size_t i = 0; i < table_.count(); ++i) {
      if (looked_at_.count(i) != 0) continue;
      (gives_back(table_[i], inverse) ? others : missed).push_back(i);
    }
    const std::vector<size_t>& more = missed.empty() ? others : missed;
    // Some of the missed entries, evenly: one near the other often fails for the same reason.
    const size_t step =
        1 + more.size() / (pass_.chains ? looked_at_.size() / 8 + kMoreEntries : kMoreEntries);
    for (size_t k = 0; k < more.size(); k += step) looked_at_.insert(more[k]);
    return !more.empty();
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
    for (size_t k = 0; k < extents_.size(); ++k)
      modes.push_back({extents_[k], strides[k]}), product *= extents_[k];
    // The last extent only has to reach the largest value.
    modes.push_back({table_.largest() / product + 1, strides.back()});
    return from_modes(modes, {});
  }

  const ValueTable& table_;
  Effort effort_;
  std::set<size_t> looked_at_;  // entries of the table
  int64_t common_ = 0;          // what divides all values
  bool repeats_ = false;        // some have several indices
  RadixChains::Start start_;
  std::vector<int64_t> extents_;
  Pass pass_{};
  bool incomplete_ = false;  // not everything was tried
  bool restart_ = false;     // an entry was added to those looked at
  bool may_restart_ = false;
  bool probed_ = false;
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

std::optional<Counterexample> first_lost(const Layout& a, const ValueTable& table,
                                         const Layout& r) {
  if (!r.is_known() || r.has_basis()) return std::nullopt;
  const std::vector<Mode> inverse = flat_modes(r);
  std::optional<int64_t> first;
  for (size_t i = 0; i < table.count(); ++i) {
    const auto entry = table[i];
    const bool is_given = gives_back(entry, inverse), is_below = at(inverse, entry.at) < 0;
    for (const int64_t choice : entry.choices) {
      if (is_given && (choice < 0) == is_below) continue;
      // Negative choices are indices of negated values; the smallest index is reported.
      if (!first || std::abs(choice) < *first) first = std::abs(choice);
    }
  }
  if (!first) return std::nullopt;
  Facts facts;
  const int64_t value = at(flat_modes(a), *first);
  Counterexample w;
  w.index = *first;
  if (!a.shape.is_leaf()) w.coordinate = idx2crd(facts, *first, a.shape).to_string();
  w.expected = std::to_string(*first);
  w.got = std::to_string(value < 0 ? -at(inverse, -value) : at(inverse, value));
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
