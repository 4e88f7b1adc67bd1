#include "frontend/algebra/cut_chains.h"

#include <algorithm>
#include <optional>

#include "frontend/algebra/cut_obstacle.h"
#include "frontend/algebra/int.h"
#include "frontend/algebra/interruption.h"
#include "frontend/algebra/polynomial.h"
#include "frontend/algebra/refusal.h"

namespace lay {
namespace {

constexpr int64_t kFirstPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
constexpr size_t kMostCuts = 63;
constexpr int64_t kFirstSteps = 1 << 18, kMostSteps = int64_t{1} << 40;
constexpr int64_t kGrowth = 4;
constexpr size_t kMostFailed = 1 << 18;
constexpr size_t kMostLikely = 24;
constexpr int64_t kSieved = int64_t{1} << 20;

// The primes up to 2^20, and the least prime factor of each number there.
struct Sieve {
  std::vector<int32_t> least = std::vector<int32_t>(kSieved + 1);
  std::vector<int64_t> primes;
  Sieve() {
    for (int64_t n = 2; n <= kSieved; ++n) {
      if (least[static_cast<size_t>(n)] != 0) continue;
      primes.push_back(n);
      for (int64_t k = n; k <= kSieved; k += n) {
        if (least[static_cast<size_t>(k)] == 0) least[static_cast<size_t>(k)] = static_cast<int32_t>(n);
      }
    }
  }
};

const Sieve& sieve() {
  static const auto* all = new Sieve;
  return *all;
}

// Calls `take` with the prime factors of n. False: what is left may be a prime or not, for the steps are used up.
template <typename Take>
bool each_prime_factor(int64_t n, int64_t& steps, const Take& take) {
  for (const int64_t prime : sieve().primes) {
    if (n <= kSieved || prime > n / prime) break;
    if (--steps < 0) return false;
    if (n % prime == 0) take(prime);
    while (n % prime == 0) n /= prime;
  }
  if (n > kSieved) {
    for (int64_t d = kSieved + 1; d <= n / d; d += 2) {
      if (--steps < 0) return false;
      if (n % d == 0) take(d);
      while (n % d == 0) n /= d;
    }
    if (n > 1) take(n);
    return true;
  }
  while (n > 1) {
    const int64_t prime = sieve().least[static_cast<size_t>(n)];
    take(prime);
    while (n % prime == 0) n /= prime;
    --steps;
  }
  return true;
}

// All extents that leave the parts of a rest as one of them does.
struct Alike {
  int64_t first = 2, last = INT64_MAX;
};

Alike alike(const Rest& rest, int64_t n, int64_t& steps) {
  Alike all;
  for (const int64_t part : rest.at) {
    if (all.first == n && all.last == n) return all;
    --steps;
    const int64_t above = part / n;
    all.first = std::max(all.first, part / (above + 1) + 1);
    if (above > 0) all.last = std::min(all.last, part / above);
  }
  return all;
}

// Whether a multiple of n lies between two of the neighbours.
bool parts(const Rest& rest, const std::vector<std::pair<size_t, size_t>>& apart, int64_t n) {
  return std::any_of(apart.begin(), apart.end(),
                     [&](const auto& pair) { return rest.at[pair.first] / n != rest.at[pair.second] / n; });
}

// A number for all that the cuts above depend on.
std::pair<uint64_t, uint64_t> digest_of(const Rest& rest, int64_t last) {
  uint64_t a = 0x9E3779B97F4A7C15u, b = 0xC2B2AE3D27D4EB4Fu;
  const auto mix = [&](int64_t number) {
    a = (a ^ static_cast<uint64_t>(number)) * 0xFF51AFD7ED558CCDu;
    a ^= a >> 32;
    b = (b + static_cast<uint64_t>(number)) * 0xC4CEB9FE1A85EC53u;
    b ^= b >> 29;
  };
  mix(last);
  mix(static_cast<int64_t>(rest.width));
  for (size_t i = 0; i < rest.at.size(); ++i) {
    mix(rest.at[i]);
    mix(rest.choices[i] ? std::ssize(*rest.choices[i]) : 0);
    if (rest.choices[i]) {
      for (const int64_t index : *rest.choices[i]) mix(index);
    }
  }
  for (const int64_t number : rest.numbers) mix(number);
  return {a, b};
}

}  // namespace

CutChains::CutChains(Rest whole, int64_t common, std::vector<int64_t> likely)
    : whole_(std::move(whole)), common_(common), likely_(std::move(likely)), primes_(Residues::primes_for(whole_)) {}

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

// Where there is much to decide no one way is best: each in turn with few steps, and then with more.
CutChains::End CutChains::run_in_turn(int64_t& steps, Start& start) {
  std::vector<Way> ways;
  for (const size_t cuts : {1, 2, 3, 5}) ways.push_back({Extents::likely, 0, cuts, 8});
  for (const int64_t prime : kFirstPrimes) ways.push_back({Extents::one_prime, prime, kMostCuts, 8});
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
  for (int64_t given = std::min(kFirstSteps, steps / 32 + 1); given <= kMostSteps; given *= kGrowth) {
    for (size_t which = 0; which < ways.size(); ++which) {
      if (ways[which].is_done) continue;
      if (const auto end = try_one(which, ways[which].extents == Extents::primes ? 4 * given : given)) return *end;
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
    next = next_primes(rest, apart);
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
  for (size_t i = 1; i < rest.at.size() && extents.size() < kMostLikely; ++i) extents.push_back(rest.at[i]);
  std::erase_if(extents, [&](int64_t extent) { return extent < 2 || extent > rest.at.back(); });
  std::sort(extents.begin(), extents.end());
  extents.erase(std::unique(extents.begin(), extents.end()), extents.end());
  return extents;
}

bool CutChains::go_on(const Rest& rest, const std::vector<Residues>& residues, int64_t extent, int64_t product) {
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

// Whether a chain that goes on by another extent, or others in another order, does what one by `extent` would.
bool CutChains::is_dominated(const Rest& rest, int64_t extent, int64_t product) {
  if (!extents_.empty() && extent < extents_.back() && common_ % product == 0 && common_ / product % extent == 0) {
    return true;
  }
  if (extent <= 3) return false;
  const Alike all = alike(rest, extent, steps_);
  return all.first < extent || all.last > extent;
}

// The primes that bring a cut between two of the neighbours, as far as the steps go.
std::vector<int64_t> CutChains::next_primes(const Rest& rest, const std::vector<std::pair<size_t, size_t>>& apart) {
  const int64_t most = rest.at.back();
  std::vector<int64_t> primes;
  int64_t between = 0;
  for (const auto& [first, second] : apart) {
    if (__builtin_add_overflow(between, rest.at[second] - rest.at[first], &between)) between = INT64_MAX;
  }
  if (between < most / 16) {
    for (const auto& [first, second] : apart) {
      for (int64_t n = rest.at[first]; n++ < rest.at[second];) {
        if (!each_prime_factor(n, steps_, [&](int64_t prime) { primes.push_back(prime); })) return primes;
      }
    }
    std::sort(primes.begin(), primes.end());
    primes.erase(std::unique(primes.begin(), primes.end()), primes.end());
    return primes;
  }
  for (const int64_t prime : sieve().primes) {
    if (prime > most) break;
    if (parts(rest, apart, prime)) primes.push_back(prime);
  }
  for (int64_t n = kSieved + 1; n <= most;) {
    const Alike all = alike(rest, n, steps_);
    bool is_prime = all.first == n && all.last == n && parts(rest, apart, n);
    if (is_prime) is_prime = each_prime_factor(n, steps_, [&](int64_t prime) { is_prime &= prime == n; }) && is_prime;
    if (is_prime) primes.push_back(n);
    if (steps_ < 0 || all.last == INT64_MAX) break;
    n = all.last + 1;
  }
  return primes;
}

}  // namespace lay
