#include "frontend/algebra/inverse_search/inverse_modular.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "frontend/algebra/integers/congruences.h"
#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/inverse_search/cut_chains.h"
#include "frontend/algebra/inverse_search/cut_modular.h"
#include "frontend/algebra/inverse_search/cut_primes.h"

namespace lay {
namespace {

constexpr std::ptrdiff_t kFewEntries = 512;
constexpr std::ptrdiff_t kRuns = 16;
constexpr int32_t kLargePrime = 32749;
constexpr size_t kMostPrimes = 4;
constexpr size_t kMostOrders = 6, kMostSelections = 48;
constexpr int64_t kMostServed = 32;
constexpr int kFractions = 8;
constexpr int64_t kMostToVary = 1 << 14;

// What the indices of an entry are one modulo; 0 for one index.
int64_t known_modulo(const ValueTable::Entry& entry) {
  int64_t modulus = 0;
  for (const int64_t index : entry.choices) modulus = gcd(modulus, index - entry.choices[0]);
  return modulus;
}

// Primes modulo which most entries are known, those first of which more are.
std::vector<int32_t> primes_for(const std::vector<int64_t>& moduli, int64_t& steps) {
  std::map<int64_t, size_t> known;  // by modulus
  size_t unique = 0;
  for (const int64_t modulus : moduli) ++(modulus == 0 ? unique : known[modulus]);
  std::map<int64_t, size_t> by_prime{{kLargePrime, 0}};
  for (const auto& [modulus, count] : known) {
    std::vector<int64_t> factors;
    if (!prime_factors(modulus, factors, steps)) break;
    for (const int64_t prime : factors) {
      if (prime <= kLargePrime) by_prime[prime] += count;
    }
  }
  std::vector<std::pair<size_t, int32_t>> order;
  for (const auto& [prime, count] : by_prime)
    order.emplace_back(count, static_cast<int32_t>(prime));
  std::sort(order.rbegin(), order.rend());
  std::vector<int32_t> primes;
  for (const auto& [count, prime] : order) {
    if (primes.size() < kMostPrimes) primes.push_back(prime);
  }
  return primes;
}

}  // namespace

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

bool is_ruled_out_modulo_primes(const ValueTable& table, int64_t& steps) {
  std::vector<int64_t> moduli;
  for (size_t i = 0; i < table.count(); ++i) moduli.push_back(known_modulo(table[i]));
  const std::vector<int32_t> primes = primes_for(moduli, steps);
  for (const int32_t prime : primes) {
    std::vector<size_t> known;
    for (size_t i = 0; i < table.count(); ++i) {
      if (moduli[i] % prime == 0) known.push_back(i);
    }
    std::vector<int64_t> at{0};
    std::vector<int32_t> due{0};
    for (const size_t i : few_of(known)) {
      at.push_back(table[i].at);
      due.push_back(residue(table[i].choices[0], prime));
    }
    int64_t given = steps / static_cast<int64_t>(2 * kMostPrimes);
    const int64_t before = given;
    const auto end = ModularChains(prime, std::move(at), std::move(due))
                         .run([](const auto&) { return true; }, given);
    steps -= before - given;
    if (end == ModularChains::End::exhausted) return true;
  }
  return false;
}

namespace {

struct Fraction {
  int64_t above, below;
};

// The one of least numbers from `least` on and below (least.above + 1)/least.below, but for as many
// as are skipped; both lie between 0 and 1.
Fraction simple(Fraction least, int skipped) {
  for (int64_t below = 1;; ++below) {
    const int64_t above = (least.above * below + least.below - 1) / least.below;
    if (above * least.below >= (least.above + 1) * below || gcd(above, below) != 1) continue;
    if (skipped-- == 0) return {above, below};
  }
}

// A mode as it counts in an index: what is selected of the sum of its group.
struct Share {
  int64_t extent, place;  // its digit in an index is index/place % extent
};

struct Group {
  int64_t stride;
  std::vector<Share> shares;
};

// How a group's sum is divided among its modes, in this order: each up to its bound takes what the
// bounds let it, less what those before it have.
struct Division {
  std::vector<size_t> order;
  std::vector<Fraction> bounds;
};

class Selections {
 public:
  explicit Selections(const ValueTable& table) : table_(table) {
    for (const auto& [extent, stride, place] : table.modes()) {
      const auto same = [step = stride](const Group& group) { return group.stride == step; };
      auto group = std::find_if(groups_.begin(), groups_.end(), same);
      if (group == groups_.end()) group = groups_.insert(groups_.end(), {stride, {}});
      group->shares.push_back({extent, place});
    }
  }

  // One division for each group.
  std::vector<std::vector<Division>> all() const {
    std::vector<std::vector<Division>> all{{}};
    for (const Group& group : groups_) {
      std::vector<std::vector<Division>> longer;
      for (const Division& division : divisions(group)) {
        for (const auto& divided : all) {
          if (longer.size() == kMostSelections) break;
          longer.push_back(divided);
          longer.back().push_back(division);
        }
      }
      all = std::move(longer);
    }
    return all;
  }

  // One of the entry's indices.
  int64_t of(size_t entry, const std::vector<Division>& divisions) const {
    const auto choices = table_[entry].choices;
    const int64_t first = std::abs(choices[0]);
    int64_t index = 0;
    for (size_t g = 0; g < groups_.size(); ++g) index += of(groups_[g], divisions[g], first);
    if (choices[0] < 0) index = -index;
    return std::binary_search(choices.begin(), choices.end(), index) ? index : choices[0];
  }

 private:
  static std::vector<Division> divisions(const Group& group) {
    const size_t count = group.shares.size();
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    int64_t all = 0;
    for (const Share& share : group.shares) all += share.extent - 1;
    const int fractions = all > kMostToVary ? 1 : kFractions;
    std::vector<Division> divisions;
    for (size_t orders = 0; orders < kMostOrders; ++orders) {
      for (int skipped = 0; skipped < fractions; ++skipped) {
        Division division{order, {}};
        int64_t part = 0;
        for (const size_t k : order) {
          part += group.shares[k].extent - 1;
          const bool last = part == all;
          division.bounds.push_back(last ? Fraction{1, 1} : simple({part, all}, skipped));
        }
        divisions.push_back(std::move(division));
        if (count == 1) return divisions;
      }
      if (!std::next_permutation(order.begin(), order.end())) break;
    }
    return divisions;
  }

  // What the group's modes are in the index selected, where they have the same sum in `index`.
  static int64_t of(const Group& group, const Division& division, int64_t index) {
    int64_t sum = 0, taken = 0, selected = 0;
    for (const Share& share : group.shares) sum += index / share.place % share.extent;
    for (size_t k = 0; k < group.shares.size(); ++k) {
      const auto [above, below] = division.bounds[k];
      const int64_t bound = sum * above / below;
      selected += (bound - taken) * group.shares[division.order[k]].place;
      taken = bound;
    }
    return selected;
  }

  const ValueTable& table_;
  std::vector<Group> groups_;
};

}  // namespace

bool each_by_selection(const ValueTable& table, int64_t& steps,
                       const std::function<bool(const std::vector<int64_t>& extents)>& serves) {
  std::vector<size_t> entries(table.count());
  std::iota(entries.begin(), entries.end(), size_t{0});
  entries = few_of(entries);
  const Selections selections(table);
  const auto all = selections.all();
  for (size_t k = 0; k < all.size(); ++k) {
    Rest selected;
    int64_t common = 0;
    for (const size_t i : entries) {
      selected.add(table[i].at, {selections.of(i, all[k])});
      common = gcd(common, table[i].at);
    }
    int64_t given = steps / static_cast<int64_t>(all.size() - k), served = 0;
    const int64_t before = given;
    bool found = false;
    const auto serve = [&](const std::vector<int64_t>& extents,
                           const std::vector<Difference>& /*decided*/) {
      found = serves(extents);
      return found || ++served == kMostServed;
    };
    CutChains::Start start;
    CutChains(std::move(selected), common, {}).run(serve, given, start);
    steps -= before - given;
    if (found) return true;
  }
  return false;
}

}  // namespace lay
