#include "frontend/algebra/inverse_search/radix_chains.h"

#include <algorithm>
#include <optional>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/inverse_search/boundary_primes.h"
#include "frontend/algebra/inverse_search/obstruction.h"
#include "frontend/algebra/support/digest.h"
#include "frontend/algebra/support/interruption.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

// Chains of one small prime are tried first: tiles are powers of two, and most else is a multiple
// of a small prime.
constexpr int64_t kFirstPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
constexpr size_t kMostBoundaries = 63;
constexpr int64_t kFirstSteps = 1 << 18, kMostSteps = int64_t{1} << 40;
constexpr int64_t kGrowth = 4;
constexpr size_t kMostFailed = 1 << 18;
constexpr size_t kMostLikely = 24;

// A number for all that the boundaries above depend on.
// Chains in different orders come to the same table above; what failed there once fails again.
Digest digest_of(const UpperTable& rest, int64_t last) {
  Digest digest;
  digest.mix(last);
  digest.mix(static_cast<int64_t>(rest.width));
  for (size_t i = 0; i < rest.at.size(); ++i) {
    digest.mix(rest.at[i]);
    digest.mix(rest.choices[i] ? std::ssize(*rest.choices[i]) : 0);
    if (rest.choices[i]) {
      for (const int64_t index : *rest.choices[i]) digest.mix(index);
    }
  }
  for (const int64_t number : rest.numbers) digest.mix(number);
  return digest;
}

}  // namespace

RadixChains::RadixChains(UpperTable whole, int64_t common, std::vector<int64_t> likely)
    : whole_(std::move(whole)), common_(common), likely_(std::move(likely)) {}

RadixChains::End RadixChains::run(const Serves& serves, int64_t& steps, Start& start) {
  serves_ = &serves;
  return likely_.empty() ? run_plain(steps) : run_in_turn(steps, start);
}

// Each value has one index: nothing is to be decided, and one order of plans is enough.
RadixChains::End RadixChains::run_plain(int64_t& steps) {
  // One prime: at most 63 boundaries, each forced. A sixty-fourth of the steps each.
  for (const int64_t prime : kFirstPrimes) {
    if (attempt({Extents::one_prime, prime, kMostBoundaries, 1}, steps / 64)) return End::served;
  }
  const bool served = attempt({Extents::primes, 0, kMostBoundaries, 1}, steps);
  steps = steps_;
  if (served) return End::served;
  return ended_ ? End::ended : End::exhausted;
}

// Where there is much to decide no one plan is best: each in turn with few steps, and then with
// more.
RadixChains::End RadixChains::run_in_turn(int64_t& steps, Start& start) {
  // Few likely boundaries, chains of one prime, and chains of all primes with 8, 2 or 1 ways to
  // decide open differences at a time.
  std::vector<SearchPlan> plans;
  for (const size_t boundaries : {1, 2, 3, 5}) plans.push_back({Extents::likely, 0, boundaries, 8});
  for (const int64_t prime : kFirstPrimes)
    plans.push_back({Extents::one_prime, prime, kMostBoundaries, 8});
  for (const size_t few : {8, 2, 1}) plans.push_back({Extents::primes, 0, kMostBoundaries, few});
  const auto try_plan = [&](const SearchPlan& plan, int64_t given) {
    given = std::min(given, steps);
    const bool served = attempt(plan, given);
    steps -= given - steps_;
    return served;
  };
  const auto try_one = [&](size_t which, int64_t given) -> std::optional<End> {
    if (steps <= 0) return End::ended;
    if (try_plan(plans[which], given)) {
      start = {which, given};
      return End::served;
    }
    if (!ended_) return End::exhausted;
    plans[which].is_done = steps_ >= 0;
    return std::nullopt;
  };
  // A search that was restarted begins with the plan that served before.
  if (start.steps > 0) {
    if (const auto end = try_one(start.plan, 4 * start.steps)) return *end;
  }
  for (int64_t given = std::min(kFirstSteps, steps / 32 + 1); given <= kMostSteps;
       given *= kGrowth) {
    for (size_t which = 0; which < plans.size(); ++which) {
      if (plans[which].is_done) continue;
      if (const auto end =
              try_one(which, plans[which].extents == Extents::primes ? 4 * given : given))
        return *end;
    }
  }
  return End::ended;
}

bool RadixChains::attempt(const SearchPlan& plan, int64_t steps) {
  plan_ = plan;
  steps_ = steps;
  ended_ = plan.extents != Extents::primes;
  extents_.clear();
  try {
    return descend(whole_, 1);
  } catch (const Refusal&) {  // numbers beyond 64 bits
    ended_ = true;
  }
  return false;
}

// The chains that go on from the boundaries chosen so far.
bool RadixChains::descend(UpperTable rest, int64_t product) {
  ask();
  auto [apart, decided] = obstruction(rest, steps_);
  if (steps_ < 0) {
    ended_ = true;
    return false;
  }
  // A last mode gives all that is expected here: the chain is complete.
  if (apart.empty()) {
    decided.insert(decided.end(), rest.decided.begin(), rest.decided.end());
    if ((*serves_)(extents_, decided)) return true;
    ended_ = true;
    return false;
  }
  if (extents_.size() == plan_.most_boundaries) {
    ended_ = true;
    return false;
  }
  std::optional<Digest> digest;
  if (!likely_.empty() && plan_.extents == Extents::primes) {
    digest = digest_of(rest, common_ % product == 0 && !extents_.empty() ? extents_.back() : 0);
    if (failed_.count(*digest) != 0) return false;
  }
  const bool ended = std::exchange(ended_, false);
  std::vector<int64_t> next;
  if (plan_.extents == Extents::primes) {
    next = primes_between(rest.at, apart, steps_);
  } else if (plan_.extents == Extents::one_prime) {
    if (rest.at.back() >= plan_.prime) next = {plan_.prime};
  } else {
    next = next_likely(rest, product);
  }
  for (const int64_t extent : next) {
    if (steps_ < 0) break;
    if (go_on(rest, extent, product)) return true;
  }
  ended_ |= steps_ < 0;
  // Only what was searched whole may be remembered as failed.
  if (digest && !ended_ && failed_.size() < kMostFailed) failed_.insert(*digest);
  ended_ |= ended;
  return false;
}

// Those that bring a likely boundary, or the least parts.
std::vector<int64_t> RadixChains::next_likely(const UpperTable& rest, int64_t product) const {
  std::vector<int64_t> extents;
  for (const int64_t boundary : likely_) extents.push_back(boundary / gcd(boundary, product));
  for (size_t i = 1; i < rest.at.size() && extents.size() < kMostLikely; ++i)
    extents.push_back(rest.at[i]);
  std::erase_if(extents, [&](int64_t extent) { return extent < 2 || extent > rest.at.back(); });
  std::sort(extents.begin(), extents.end());
  extents.erase(std::unique(extents.begin(), extents.end()), extents.end());
  return extents;
}

bool RadixChains::go_on(const UpperTable& rest, int64_t extent, int64_t product) {
  // Cheap tests first: one pass over the table.
  if (is_ruled_out(rest, extent, steps_)) return false;
  if (plan_.extents == Extents::primes && is_dominated(rest, extent, product)) return false;
  const size_t depth = extents_.size();
  bool served = false;
  try {
    // One mode more, and the table that is left above it.
    const auto go = [&](UpperTable next) {
      extents_.push_back(extent);
      const bool serves = descend(without_idle(std::move(next)), product * extent);
      extents_.resize(depth);
      return serves;
    };
    served = each_above(rest, extent, steps_, plan_.few, go);
  } catch (const Refusal&) {  // numbers beyond 64 bits
    ended_ = true;
  }
  extents_.resize(depth);
  return served;
}

// Returns true if a chain that goes on by another extent, or others in another order, does what one
// by `extent` would.
// Below a common divisor of all values the order of primes does not matter: only ascending ones are
// tried.
bool RadixChains::is_dominated(const UpperTable& rest, int64_t extent, int64_t product) {
  if (!extents_.empty() && extent < extents_.back() && common_ % product == 0 &&
      common_ / product % extent == 0) {
    return true;
  }
  return has_alike(rest.at, extent, steps_);
}

}  // namespace lay
