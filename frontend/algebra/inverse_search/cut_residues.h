#pragma once

// Inside the algebra: what a rest says modulo a prime, which rules out most extents and costs
// little.

#include <cstdint>
#include <vector>

#include "frontend/algebra/inverse_search/cut_rest.h"

namespace lay {

// Of a value with several indices all may be one modulo a prime, as 4*x + 80*y is modulo 76 where x
// + y is known: then what is due of it is known modulo that prime as well as where it is chosen.
class Residues {
 public:
  Residues(const Rest& rest, int64_t prime, int64_t& steps);

  // Whether what is due of a mode of extent n > 0 above the cut has no solution modulo the prime.
  bool rule_out(int64_t n, int64_t& steps) const;

  // Primes worth a look, for what the indices of each value have in common.
  static std::vector<int64_t> primes_for(const Rest& rest);

 private:
  bool rule_out_odd(int64_t n, int64_t& steps) const;
  bool rule_out_other(int64_t n, int64_t& steps) const;

  int64_t prime_;
  size_t width_;                // of a row: what is due, the unknowns, the part
  std::vector<int64_t> parts_;  // those that are known modulo the prime
  std::vector<uint64_t> bits_;  // the row of each modulo 2, a bit for each number
  std::vector<int32_t> rows_;   // the row of each modulo another prime
};

}  // namespace lay
