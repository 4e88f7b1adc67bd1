#include "frontend/algebra/inverse_search/cut_chains.h"

#include <algorithm>
#include <optional>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/inverse_search/cut_obstacle.h"
#include "frontend/algebra/inverse_search/cut_primes.h"
#include "frontend/algebra/support/digest.h"
#include "frontend/algebra/support/interruption.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

constexpr int64_t kFirstPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
constexpr size_t kMostCuts = 63;
constexpr int64_t kFirstSteps = 1 << 18, kMostSteps = int64_t{1} << 40;
constexpr int64_t kGrowth = 4;
constexpr size_t kMostFailed = 1 << 18;
constexpr size_t kMostLikely = 24;

// A number for all that the cuts above depend on.
Digest digest_of(const Rest& rest, int64_t last) {
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

CutChains::CutChains(Rest whole, int64_t common, std::vector<int64_t> likely)
    : whole_(std::move(whole)),
      common_(common),
      likely_(std::move(likely)),
      primes_(Residues::primes_for(whole_)) {}

CutChains::End CutChains::run(const Serves& serves, int64_t& steps, Start& start) {
  serves_ = &serves;
  return likely_.empty() ? run_plain(steps) : run_in_turn(steps, start);
}

CutChains::End CutChains::run_plain(int64_t& steps) {
  for (const int64_t prime : kFirstPrimes) {
    if (attempt({Extents::one_prime, prime, kMostCuts, 1}, steps / 64)) return End::served;
  }
  const bool served = attempt({Extents::primes, 0, kMostCuts, 1}, steps);
  steps = steps_;
  if (served) return End::served;
  return ended_ ? End::ended : End::exhausted;
}

// Where there is much to decide no one way is best: each in turn with few steps, and then with
// more.
CutChains::End CutChains::run_in_turn(int64_t& steps, Start& start) {
  std::vector<Way> ways;
  for (const size_t cuts : {1, 2, 3, 5}) ways.push_back({Extents::likely, 0, cuts, 8});
  for (const int64_t prime : kFirstPrimes)
    ways.push_back({Extents::one_prime, prime, kMostCuts, 8});
  for (const size_t few : {8, 2, 1}) ways.push_back({Extents::primes, 0, kMostCuts, few});
  const auto try_way = [&](const Way& way, int64_t given) {
    given = std::min(given, steps);
    const bool served = attempt(way, given);
    steps -= given - steps_;
    return served;
  };
  const auto try_one = [&](size_t which, int64_t given) -> std::optional<End> {
    if (steps <= 0) return End::ended;
    if (try_way(ways[which], given)) {
      start = {which, given};
      return End::served;
    }
    if (!ended_) return End::exhausted;
    ways[which].is_done = steps_ >= 0;
    return std::nullopt;
  };
  if (start.steps > 0) {
    if (const auto end = try_one(start.way, 4 * start.steps)) return *end;
  }
  for (int64_t given = std::min(kFirstSteps, steps / 32 + 1); given <= kMostSteps;
       given *= kGrowth) {
    for (size_t which = 0; which < ways.size(); ++which) {
      if (ways[which].is_done) continue;
      if (const auto end =
              try_one(which, ways[which].extents == Extents::primes ? 4 * given : given))
        return *end;
    }
  }
  return End::ended;
}

bool CutChains::attempt(const Way& way, int64_t steps) {
  way_ = way;
  steps_ = steps;
  ended_ = way.extents != Extents::primes;
  extents_.clear();
  try {
    return descend(whole_, 1);
  } catch (const Refusal&) {  // numbers beyond 64 bits
    ended_ = true;
  }
  return false;
}

// The chains that go on from the cuts made so far.
bool CutChains::descend(Rest rest, int64_t product) {
  ask();
  auto [apart, decided] = obstacle(rest, steps_);
  if (steps_ < 0) {
    ended_ = true;
    return false;
  }
  if (apart.empty()) {
    decided.insert(decided.end(), rest.decided.begin(), rest.decided.end());
    if ((*serves_)(extents_, decided)) return true;
    ended_ = true;
    return false;
  }
  if (extents_.size() == way_.most_cuts) {
    ended_ = true;
    return false;
  }
  std::optional<Digest> digest;
  if (!likely_.empty() && way_.extents == Extents::primes) {
    digest = digest_of(rest, common_ % product == 0 && !extents_.empty() ? extents_.back() : 0);
    if (failed_.count(*digest) != 0) return false;
  }
  const bool ended = std::exchange(ended_, false);
  std::vector<int64_t> next;
  if (way_.extents == Extents::primes) {
    next = primes_between(rest.at, apart, steps_);
  } else if (way_.extents == Extents::one_prime) {
    if (rest.at.back() >= way_.prime) next = {way_.prime};
  } else {
    next = next_likely(rest, product);
  }
  std::vector<Residues> residues;
  if (!next.empty()) {
    for (const int64_t prime : primes_) residues.emplace_back(rest, prime, steps_);
  }
  for (const int64_t extent : next) {
    if (steps_ < 0) break;
    if (go_on(rest, residues, extent, product)) return true;
  }
  ended_ |= steps_ < 0;
  if (digest && !ended_ && failed_.size() < kMostFailed) failed_.insert(*digest);
  ended_ |= ended;
  return false;
}

// Those that bring a likely cut, or the least parts.
std::vector<int64_t> CutChains::next_likely(const Rest& rest, int64_t product) const {
  std::vector<int64_t> extents;
  for (const int64_t cut : likely_) extents.push_back(cut / gcd(cut, product));
  for (size_t i = 1; i < rest.at.size() && extents.size() < kMostLikely; ++i)
    extents.push_back(rest.at[i]);
  std::erase_if(extents, [&](int64_t extent) { return extent < 2 || extent > rest.at.back(); });
  std::sort(extents.begin(), extents.end());
  extents.erase(std::unique(extents.begin(), extents.end()), extents.end());
  return extents;
}

bool CutChains::go_on(const Rest& rest, const std::vector<Residues>& residues, int64_t extent,
                      int64_t product) {
  if (is_ruled_out(rest, extent, steps_)) return false;
  for (const Residues& residue : residues) {
    if (residue.rule_out(extent, steps_)) return false;
  }
  if (way_.extents == Extents::primes && is_dominated(rest, extent, product)) return false;
  const size_t depth = extents_.size();
  bool served = false;
  try {
    const auto go = [&](Rest next) {
      extents_.push_back(extent);
      const bool serves = descend(without_idle(std::move(next)), product * extent);
      extents_.resize(depth);
      return serves;
    };
    served = each_above(rest, extent, steps_, way_.few, go);
  } catch (const Refusal&) {  // numbers beyond 64 bits
    ended_ = true;
  }
  extents_.resize(depth);
  return served;
}

// Whether a chain that goes on by another extent, or others in another order, does what one by
// `extent` would.
bool CutChains::is_dominated(const Rest& rest, int64_t extent, int64_t product) {
  if (!extents_.empty() && extent < extents_.back() && common_ % product == 0 &&
      common_ / product % extent == 0) {
    return true;
  }
  return has_alike(rest.at, extent, steps_);
}

}  // namespace lay
