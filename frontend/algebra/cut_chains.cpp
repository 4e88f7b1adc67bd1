#include "frontend/algebra/cut_chains.h"

#include <algorithm>

#include "frontend/algebra/polynomial.h"

namespace lay {
namespace {

constexpr int64_t kFirstPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};

bool is_prime(int64_t n, int64_t& steps) {
  for (int64_t d = 2; d <= n / d; ++d) {
    --steps;
    if (n % d == 0) return false;
  }
  return true;
}

constexpr int64_t kSmall = 1 << 15;

const std::vector<int64_t>& small_primes() {
  static const auto* primes = [] {
    auto* all = new std::vector<int64_t>;
    std::vector<bool> composite(kSmall + 1);
    for (int64_t n = 2; n <= kSmall; ++n) {
      if (composite[static_cast<size_t>(n)]) continue;
      all->push_back(n);
      for (int64_t k = n * n; k <= kSmall; k += n) composite[static_cast<size_t>(k)] = true;
    }
    return all;
  }();
  return *primes;
}

}  // namespace

int64_t CutChains::Level::largest() const {
  const auto most = std::max_element(open.begin(), open.end());
  return std::max(parts.back(), most == open.end() ? 0 : *most);
}

CutChains::CutChains(std::vector<int64_t> values, const std::vector<int64_t>& due, std::vector<int64_t> open)
    : values_(std::move(values)), open_(std::move(open)) {
  for (const auto* all : {&values_, &open_}) {
    for (const int64_t value : *all) common_ = gcd(common_, value);
  }
  values_.insert(values_.begin(), 0);
  due_.push_back(0);
  parity_of_due_.push_back(false);
  constexpr auto modulus = static_cast<int64_t>(kModulus);
  for (const int64_t number : due) {
    due_.push_back(static_cast<uint64_t>((number % modulus + modulus) % modulus));
    parity_of_due_.push_back(number % 2 != 0);
  }
}

CutChains::End CutChains::run(const Serves& serves, int64_t steps) {
  serves_ = &serves;
  extents_.clear();
  equations_.clear();
  Level whole;
  floors_.assign(1, std::vector<uint64_t>(values_.size()));
  bits_.assign(1, std::vector<uint64_t>(values_.size()));
  parities_.clear();
  for (size_t i = 0; i < values_.size(); ++i) {
    whole.firsts.push_back(i);
    whole.parts.push_back(values_[i]);
    floors_[0][i] = static_cast<uint64_t>(values_[i]) % kModulus;
    bits_[0][i] = (static_cast<uint64_t>(values_[i]) & 1) | (parity_of_due_[i] ? kDue : 0);
  }
  whole.open = open_;
  levels_.assign(1, std::move(whole));
  for (const int64_t prime : kFirstPrimes) {
    steps_ = steps / 64;
    if (try_one_prime(prime)) return End::served;
  }
  steps_ = steps;
  if (descend(1)) return End::served;
  return steps_ < 0 ? End::ended : End::exhausted;
}

// The chain 1, p, p*p, ... as far as it goes.
bool CutChains::try_one_prime(int64_t prime) {
  const size_t before = equations_.size(), parities = parities_.size(), depth = levels_.size();
  Level above;
  while (levels_.size() < kMostCuts && levels_.back().largest() >= prime && merge(prime, above)) {
    levels_.push_back(std::move(above));
    extents_.push_back(prime);
  }
  const bool served = ends_here();
  extents_.resize(extents_.size() - (levels_.size() - depth));
  levels_.resize(depth);
  equations_.resize(before);
  parities_.resize(parities);
  return served;
}

// The chains that go on from the cuts made so far.
bool CutChains::descend(int64_t product) {
  if (ends_here()) return true;
  const int64_t largest = levels_.back().largest();
  for (const int64_t prime : small_primes()) {
    if (prime > largest) return false;
    if (steps_ < 0) return false;
    if (go_on(prime, product)) return true;
  }
  for (int64_t n = kSmall + 1; n <= largest;) {
    if (steps_ < 0) return false;
    const Alike all = alike(n);
    if (all.first == n && all.last == n && is_prime(n, steps_) && go_on(n, product)) return true;
    n = all.last + 1;
  }
  return false;
}

// Whether a chain that goes on by another extent, or others in another order, does what one by `extent` would.
bool CutChains::is_dominated(int64_t extent, int64_t product) {
  // Below a divisor of all values the last cut does what all do.
  if (!extents_.empty() && extent < extents_.back() && common_ % product == 0 && common_ / product % extent == 0) {
    return true;
  }
  if (extent <= 3) return false;
  const Alike all = alike(extent);
  return all.first < extent || all.last > extent;
}

CutChains::Alike CutChains::alike(int64_t n) {
  Alike all;
  for (const auto* parts : {&levels_.back().parts, &levels_.back().open}) {
    for (const int64_t part : *parts) {
      if (all.first == n && all.last == n) return all;
      --steps_;
      const int64_t above = part / n;
      all.first = std::max(all.first, part / (above + 1) + 1);
      if (above > 0) all.last = std::min(all.last, part / above);
    }
  }
  return all;
}

bool CutChains::go_on(int64_t extent, int64_t product) {
  const size_t before = equations_.size(), parities = parities_.size();
  Level above;
  bool served = false;
  if (merge(extent, above) && !is_dominated(extent, product)) {
    levels_.push_back(std::move(above));
    extents_.push_back(extent);
    served = descend(product * extent);
    extents_.pop_back();
    levels_.pop_back();
  }
  equations_.resize(before);
  parities_.resize(parities);
  return served;
}

// Nothing is cut above: all parts there count by one number.
bool CutChains::ends_here() {
  const size_t before = equations_.size(), parities = parities_.size();
  const Level& level = levels_.back();
  bool holds = true;
  for (size_t k = 1; k < level.firsts.size() && holds; ++k) holds = require_parity(level.firsts[0], level.firsts[k]);
  for (size_t k = 1; k < level.firsts.size() && holds; ++k) holds = require(level.firsts[0], level.firsts[k]);
  equations_.resize(before);
  parities_.resize(parities);
  return holds && (*serves_)(extents_);
}

// The level above a cut more, with the equations of the values that it brings together. False if these contradict.
bool CutChains::merge(int64_t extent, Level& above) {
  const Level& level = levels_.back();
  above.firsts.clear();
  above.parts.clear();
  above.open.clear();
  merged_.clear();
  for (size_t k = 0; k < level.firsts.size(); ++k) {
    --steps_;
    const int64_t part = level.parts[k] / extent;
    if (!above.parts.empty() && above.parts.back() == part) {
      if (!require_parity(above.firsts.back(), level.firsts[k])) return false;
      merged_.emplace_back(above.firsts.back(), level.firsts[k]);
      continue;
    }
    above.firsts.push_back(level.firsts[k]);
    above.parts.push_back(part);
  }
  for (const auto& [first, second] : merged_) {
    if (!require(first, second)) return false;
  }
  for (const int64_t part : level.open) above.open.push_back(part / extent);
  const size_t cut = levels_.size();
  if (floors_.size() == cut) floors_.emplace_back(values_.size()), bits_.emplace_back(values_.size());
  for (size_t k = 0; k < above.firsts.size(); ++k) {
    const size_t i = above.firsts[k];
    const auto part = static_cast<uint64_t>(above.parts[k]);
    floors_[cut][i] = part % kModulus;
    bits_[cut][i] = bits_[cut - 1][i] | (part & 1) << cut;
  }
  return true;
}

// What two values differ by has to come from the cuts so far.
bool CutChains::require_parity(size_t first, size_t second) {
  const auto& bits = bits_[levels_.size() - 1];
  uint64_t e = bits[first] ^ bits[second];
  steps_ -= 1 + static_cast<int64_t>(parities_.size() / 4);
  for (const Parity& known : parities_) {
    if (e & known.pivot) e ^= known.bits;
  }
  if ((e & ~kDue) == 0) return e == 0;
  parities_.push_back({e, e & (~e + 1)});
  return true;
}

bool CutChains::require(size_t first, size_t second) {
  const size_t count = levels_.size();
  Equation e{std::vector<uint64_t>(count), (due_[second] + kModulus - due_[first]) % kModulus, 0};
  for (size_t k = 0; k < count; ++k) e.factors[k] = (floors_[k][second] + kModulus - floors_[k][first]) % kModulus;
  for (const Equation& known : equations_) {
    steps_ -= static_cast<int64_t>(known.factors.size());
    const uint64_t times = e.factors[known.pivot];
    if (times == 0) continue;
    for (size_t k = 0; k < known.factors.size(); ++k) {
      e.factors[k] = (e.factors[k] + (kModulus - times) * known.factors[k]) % kModulus;
    }
    e.due = (e.due + (kModulus - times) * known.due) % kModulus;
  }
  const auto pivot = std::find_if(e.factors.begin(), e.factors.end(), [](uint64_t factor) { return factor != 0; });
  if (pivot == e.factors.end()) return e.due == 0;
  e.pivot = static_cast<size_t>(pivot - e.factors.begin());
  uint64_t inverse = 1;  // by Fermat: *pivot to the power of the modulus less 2
  for (uint64_t power = kModulus - 2, square = *pivot; power != 0; power /= 2, square = square * square % kModulus) {
    if (power % 2 == 1) inverse = inverse * square % kModulus;
  }
  for (uint64_t& factor : e.factors) factor = factor * inverse % kModulus;
  e.due = e.due * inverse % kModulus;
  equations_.push_back(std::move(e));
  return true;
}

}  // namespace lay
