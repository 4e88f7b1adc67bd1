#include "frontend/algebra/inverse_search/cut_residues.h"

#include <algorithm>
#include <bit>

#include "frontend/algebra/integers/congruences.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/inverse_search/cut_choices.h"

namespace lay {
namespace {

constexpr int64_t kPrimes[] = {3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37, 41,
                               43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97};
constexpr size_t kMostPrimes = 3;
constexpr size_t kMostBits = 62;

// Linear equations modulo 2, a bit for each number, the lowest for what is due.
class Parities {
 public:
  // False if no numbers solve them.
  bool require(uint64_t equation) {
    for (const auto& [row, pivot] : rows_) {
      if ((equation & pivot) != 0) equation ^= row;
    }
    if (equation > 1) rows_.emplace_back(equation, std::bit_floor(equation));
    return equation != 1;
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> rows_;
};

// All indices are one modulo the prime.
bool is_known(const Indices& choices, int64_t prime) {
  if (!choices) return true;
  const int64_t first = residue(choices->front(), prime);
  return std::all_of(choices->begin(), choices->end(),
                     [&](int64_t index) { return residue(index, prime) == first; });
}

}  // namespace

Residues::Residues(const Rest& rest, int64_t prime, int64_t& steps)
    : prime_(prime), width_(rest.width + 1) {
  if (width_ > kMostBits) return;
  steps -= static_cast<int64_t>(rest.at.size() * width_);
  for (size_t i = 0; i < rest.at.size(); ++i) {
    if (!is_known(rest.choices[i], prime)) continue;
    parts_.push_back(rest.at[i]);
    const int64_t* numbers = rest.of(i);
    const int64_t index = rest.choices[i] ? rest.choices[i]->front() : 0;
    if (prime == 2) {
      uint64_t bits = static_cast<uint64_t>((numbers[0] ^ index) & 1) |
                      static_cast<uint64_t>(rest.at[i] & 1) << rest.width;
      for (size_t k = 1; k < rest.width; ++k) bits |= static_cast<uint64_t>(numbers[k] & 1) << k;
      bits_.push_back(bits);
      continue;
    }
    rows_.push_back((residue(numbers[0], prime) + residue(index, prime)) %
                    static_cast<int32_t>(prime));
    for (size_t k = 1; k < rest.width; ++k) rows_.push_back(residue(numbers[k], prime));
    rows_.push_back(residue(rest.at[i], prime));
  }
}

bool Residues::rule_out(int64_t n, int64_t& steps) const {
  return prime_ == 2 ? rule_out_odd(n, steps) : rule_out_other(n, steps);
}

bool Residues::rule_out_odd(int64_t n, int64_t& steps) const {
  Parities equations;
  size_t first = 0;
  int64_t end = n;  // of the parts that are one above the mode
  for (size_t i = 1; i < parts_.size(); ++i) {
    if (parts_[i] >= end) {
      first = i;
      end = parts_[i] - parts_[i] % n;
      if (__builtin_add_overflow(end, n, &end)) return false;
    } else if (--steps; !equations.require(bits_[first] ^ bits_[i])) {
      return true;
    }
  }
  steps -= std::ssize(parts_) / 2;
  return false;
}

bool Residues::rule_out_other(int64_t n, int64_t& steps) const {
  const auto prime = static_cast<int32_t>(prime_);
  Congruences equations(prime, width_);
  std::vector<int32_t> equation(width_);
  size_t first = 0;
  int64_t end = n;
  for (size_t i = 1; i < parts_.size(); ++i) {
    if (parts_[i] >= end) {
      first = i;
      end = parts_[i] - parts_[i] % n;
      if (__builtin_add_overflow(end, n, &end)) return false;
      continue;
    }
    steps -= static_cast<int64_t>(width_) * equations.cost();
    const int32_t *from = rows_.data() + first * width_, *to = rows_.data() + i * width_;
    for (size_t k = 0; k < width_; ++k) equation[k] = (to[k] + prime - from[k]) % prime;
    if (!equations.require(equation)) return true;
  }
  steps -= std::ssize(parts_) / 2;
  return false;
}

std::vector<int64_t> Residues::primes_for(const Rest& rest) {
  std::vector<std::pair<size_t, int64_t>> by_use;
  for (const int64_t prime : kPrimes) {
    size_t known = 0;
    for (size_t i = 0; i < rest.at.size(); ++i)
      known += !rest.is_chosen(i) && is_known(rest.choices[i], prime);
    if (known > 0) by_use.emplace_back(known, -prime);
  }
  std::sort(by_use.rbegin(), by_use.rend());
  std::vector<int64_t> primes{2};
  for (const auto& [known, prime] : by_use) {
    if (primes.size() < kMostPrimes) primes.push_back(-prime);
  }
  return primes;
}

}  // namespace lay
