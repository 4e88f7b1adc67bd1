#include "frontend/algebra/inverse_search/boundary_primes.h"

#include <algorithm>

namespace lay {
namespace {

constexpr int64_t kSieved = int64_t{1} << 20;

// The primes up to 2^20, and the least prime factor of each number there.
// Made at the first search that needs it: 2^20 numbers of four bytes, and 82,025 primes.
struct Sieve {
  std::vector<int32_t> least = std::vector<int32_t>(kSieved + 1);
  std::vector<int64_t> primes;
  Sieve() {
    for (int64_t n = 2; n <= kSieved; ++n) {
      if (least[static_cast<size_t>(n)] != 0) continue;
      primes.push_back(n);
      for (int64_t k = n; k <= kSieved; k += n) {
        if (least[static_cast<size_t>(k)] == 0)
          least[static_cast<size_t>(k)] = static_cast<int32_t>(n);
      }
    }
  }
};

const Sieve& sieve() {
  static const auto* all = new Sieve;
  return *all;
}

// Calls `take` with the prime factors of n. False: what is left may be a prime or not, for the
// steps are used up.
template <typename Take>
bool each_prime_factor(int64_t n, int64_t& steps, const Take& take) {
  for (const int64_t prime : sieve().primes) {
    if (n <= kSieved || prime > n / prime) break;
    if (--steps < 0) return false;
    if (n % prime == 0) take(prime);
    while (n % prime == 0) n /= prime;
  }
  // Beyond the sieve by odd divisors, each of which is a step.
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

// All extents that leave the parts as one of them does.
struct Alike {
  int64_t first = 2, last = INT64_MAX;
};

// floor(p/n) does not change for n in p/(q+1) + 1 .. p/q, where q = floor(p/n). The extents that
// leave every part as n does are the intersection of these intervals.
Alike alike(std::span<const int64_t> at, int64_t n, int64_t& steps) {
  Alike all;
  for (const int64_t part : at) {
    if (all.first == n && all.last == n) return all;
    --steps;
    const int64_t above = part / n;
    all.first = std::max(all.first, part / (above + 1) + 1);
    if (above > 0) all.last = std::min(all.last, part / above);
  }
  return all;
}

// Returns true if a multiple of n lies between two of the neighbours.
// A boundary at n tells two values apart if their parts above it, value/n, differ.
bool parts(std::span<const int64_t> at, const Neighbours& apart, int64_t n) {
  return std::any_of(apart.begin(), apart.end(),
                     [&](const auto& pair) { return at[pair.first] / n != at[pair.second] / n; });
}

}  // namespace

bool prime_factors(int64_t n, std::vector<int64_t>& primes, int64_t& steps) {
  return each_prime_factor(n, steps, [&](int64_t prime) { primes.push_back(prime); });
}

bool has_alike(std::span<const int64_t> at, int64_t n, int64_t& steps) {
  if (n <= 3) return false;
  const Alike all = alike(at, n, steps);
  return all.first < n || all.last > n;
}

std::vector<int64_t> primes_between(std::span<const int64_t> at, const Neighbours& apart,
                                    int64_t& steps) {
  const int64_t most = at.back();
  std::vector<int64_t> primes;
  int64_t between = 0;
  for (const auto& [first, second] : apart) {
    if (__builtin_add_overflow(between, at[second] - at[first], &between)) between = INT64_MAX;
  }
  // Few numbers lie between the neighbours: their factors are looked for, not all primes tried.
  if (between < most / 16) {
    for (const auto& [first, second] : apart) {
      for (int64_t n = at[first]; n++ < at[second];) {
        if (!prime_factors(n, primes, steps)) return primes;
      }
    }
    std::sort(primes.begin(), primes.end());
    primes.erase(std::unique(primes.begin(), primes.end()), primes.end());
    return primes;
  }
  for (const int64_t prime : sieve().primes) {
    if (prime > most) break;
    if (parts(at, apart, prime)) primes.push_back(prime);
  }
  // Above the sieve extents are alike in long runs: one of each run is enough, and only a run of
  // one number can need a prime.
  for (int64_t n = kSieved + 1; n <= most;) {
    const Alike all = alike(at, n, steps);
    bool is_prime = all.first == n && all.last == n && parts(at, apart, n);
    if (is_prime)
      is_prime =
          each_prime_factor(n, steps, [&](int64_t prime) { is_prime &= prime == n; }) && is_prime;
    if (is_prime) primes.push_back(n);
    if (steps < 0 || all.last == INT64_MAX) break;
    n = all.last + 1;
  }
  return primes;
}

}  // namespace lay
