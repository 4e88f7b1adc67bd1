#pragma once

// which extents are worth a look above a boundary, from the parts v/P of the values
// alone.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lay {

using Neighbours = std::vector<std::pair<size_t, size_t>>;  // parts, as their indices

// All functions count their steps down. `at`: the parts, ascending from 0.

// The primes n that bring a boundary between two of the neighbours, as far as the steps go.
std::vector<int64_t> primes_between(std::span<const int64_t> at, const Neighbours& apart,
                                    int64_t& steps);

// Returns true if another extent leaves the parts as n > 3 does, so that a prime among those, or
// the factors of another, serve in its place.
bool has_alike(std::span<const int64_t> at, int64_t n, int64_t& steps);

// The prime factors of n > 0, each once. False: the steps are used up, and some may be missing.
bool prime_factors(int64_t n, std::vector<int64_t>& primes, int64_t& steps);

}  // namespace lay
