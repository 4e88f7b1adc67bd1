#pragma once

// Inside the algebra: linear equations modulo a prime, one after another.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lay {

int32_t residue(int64_t number, int64_t prime);  // from 0 on

// An equation is a row of `width` residues: what is due, then the factor of each unknown. The prime
// is below 2^15.
class Congruences {
 public:
  Congruences(int32_t prime, size_t width) : prime_(prime), width_(width) {}

  // What an equation costs, in looks at a row.
  int64_t cost() const { return 1 + static_cast<int64_t>(pivots_.size()) / 2; }
  // As many equations as say something new.
  size_t rank() const { return pivots_.size(); }

  // False if no numbers solve it together with those before it; then this object is spent. Spends
  // the equation.
  bool require(std::vector<int32_t>& equation);

  // The unknowns that solve all of it: particular + every combination of `free`.
  struct Solutions {
    std::vector<int32_t> particular;
    std::vector<std::vector<int32_t>> free;
  };
  Solutions solutions() const;

 private:
  std::vector<int32_t> solve(std::vector<int32_t> unknowns, bool due) const;

  int32_t prime_;
  size_t width_;
  std::vector<size_t> pivots_;
  std::vector<int32_t> rows_;  // each 1 at its pivot, and 0 at the pivots before it
};

// 1/number modulo the prime.
int32_t inverse_modulo(int32_t number, int32_t prime);

}  // namespace lay
