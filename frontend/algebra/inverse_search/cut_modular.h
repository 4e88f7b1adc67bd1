#pragma once

// Inside the algebra: which cuts a layout may have that takes given values to given indices modulo
// a prime.

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "frontend/algebra/integers/congruences.h"
#include "frontend/algebra/inverse_search/cut_primes.h"
#include "frontend/algebra/support/digest.h"

namespace lay {

// The chains of CutChains (cut_chains.h says which there are and why others need no look), where
// all is known modulo a prime below 2^15: then nothing is to be chosen, numbers stay small, and
// what is unknown above a cut has one shortest form. Where no chain serves modulo the prime none
// serves at all.
class ModularChains {
 public:
  // Parts ascend from 0, where 0 is due.
  ModularChains(int32_t prime, std::vector<int64_t> parts, std::vector<int32_t> due);

  // Calls `serves` with the extents of each chain whose equations hold, until it says true. Counts
  // the steps down. exhausted: no chain was left, and none was one for `serves`. ended: that is
  // open.
  enum class End : uint8_t { served, exhausted, ended };
  using Serves = std::function<bool(const std::vector<int64_t>& extents)>;
  End run(const Serves& serves, int64_t& steps);

 private:
  // The parts above a cut; of each the residue that is due, and the factor of each unknown in it:
  // `width` numbers.
  struct Parts {
    std::vector<int64_t> at;
    size_t width = 1;
    std::vector<int32_t> numbers;
    const int32_t* of(size_t i) const { return numbers.data() + i * width; }
  };

  bool descend(const Parts& parts, int64_t product);
  bool go_on(const Parts& parts, int64_t extent, int64_t product);
  Neighbours obstacle(const Parts& parts);
  bool require_between(Congruences& equations, const Parts& parts, size_t first, size_t second);
  Parts above(const Parts& parts, int64_t extent, const Congruences::Solutions& solutions);
  void reduce(Parts& parts);

  int32_t prime_;
  Parts whole_;
  int64_t common_ = 0;  // divides all
  std::set<Digest> failed_;
  std::vector<int64_t> extents_;
  std::vector<int32_t> equation_;
  const Serves* serves_ = nullptr;
  int64_t steps_ = 0;
  bool ended_ = false;
};

}  // namespace lay
