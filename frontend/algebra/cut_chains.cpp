#include "frontend/algebra/cut_chains.h"

#include <algorithm>

#include "frontend/algebra/interruption.h"
#include "frontend/algebra/refusal.h"

namespace lay {
namespace {

constexpr int64_t kFirstPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
constexpr size_t kMostCuts = 63;
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

}  // namespace

CutChains::CutChains(const ValueTable& table, Rest whole, int64_t common)
    : table_(table), whole_(std::move(whole)), common_(common) {}

CutChains::End CutChains::run(const Serves& serves, int64_t& steps) {
  serves_ = &serves;
  extents_.clear();
  for (const int64_t prime : kFirstPrimes) {
    steps_ = steps / 64;
    if (try_one_prime(prime)) return End::served;
  }
  steps_ = steps;
  ended_ = false;
  bool served = false;
  try {
    served = descend(whole_, 1);
  } catch (const Refusal&) {  // numbers beyond 64 bits
    ended_ = true;
  }
  steps = steps_;
  if (served) return End::served;
  return ended_ ? End::ended : End::exhausted;
}

// The chain 1, p, p*p, ... as far as it goes.
bool CutChains::try_one_prime(int64_t prime) {
  bool served = false;
  try {
    Rest rest = whole_;
    while (extents_.size() < kMostCuts && rest.at.back() >= prime) {
      auto next = above(rest, table_, prime, steps_);
      if (!next) break;
      rest = without_idle(std::move(*next));
      extents_.push_back(prime);
    }
    served = obstacle(rest, table_, steps_).apart.empty() && (*serves_)(extents_);
  } catch (const Refusal&) {  // numbers beyond 64 bits: this chain is but tried
  }
  extents_.clear();
  return served;
}

// The chains that go on from the cuts made so far.
bool CutChains::descend(Rest rest, int64_t product) {
  if (steps_ < 0) {
    ended_ = true;
    return false;
  }
  ask();
  const auto [apart, open] = obstacle(rest, table_, steps_);
  if (apart.empty()) {
    if (open) return choose(rest, *open, product);
    if ((*serves_)(extents_)) return true;
    ended_ = true;
    return false;
  }
  rest.note_parities();
  for (const int64_t prime : next_primes(rest, apart)) {
    if (go_on(rest, prime, product)) return true;
    if (steps_ < 0) break;
  }
  ended_ |= steps_ < 0;
  return false;
}

bool CutChains::choose(const Rest& rest, size_t i, int64_t product) {
  for (const int64_t index : table_[rest.entries[i]].choices) {
    auto next = chosen(rest, i, index);
    if (next && descend(*std::move(next), product)) return true;
    steps_ -= std::ssize(rest.numbers);
    if (steps_ < 0) {
      ended_ = true;
      return false;
    }
  }
  return false;
}

bool CutChains::go_on(const Rest& rest, int64_t extent, int64_t product) {
  const size_t depth = extents_.size();
  bool served = false;
  try {
    auto next = above(rest, table_, extent, steps_);
    if (!next || is_dominated(rest, extent, product)) return false;
    extents_.push_back(extent);
    served = descend(without_idle(std::move(*next)), product * extent);
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
