#pragma once

// Inside the algebra: linear equations in integers, one after another, exactly.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lay {

// The integer vectors x that solve the equations required so far: particular + every integer
// combination of `free`.
//
//     IntegerEquations e(2);        x0, x1 anything: free (1,0), (0,1)
//     e.require({2, 3}, 1);         2*x0 + 3*x1 == 1: particular (-1,1), free (3,-2) or its mirror
//     e.require({2, 3}, 2);         false: there is none
//
// Numbers beyond 64 bits throw Refusal "overflow".
class IntegerEquations {
 public:
  explicit IntegerEquations(size_t unknowns);

  // sum of factors[k]*x[k] == expected. False if no integers solve it together with those before
  // it; then this object is spent.
  bool require(std::span<const int64_t> factors, int64_t expected);
  // The same up to a multiple of `modulus`, which is above 0.
  bool require_modulo(std::span<const int64_t> factors, int64_t expected, int64_t modulus);
  // sum of factors[k]*x[k], if the equations leave one value for it.
  bool determines(std::span<const int64_t> factors, int64_t& value) const;

  // The values that the equations leave: value + any integer combination of `steps`, one for each
  // of `free`.
  struct Left {
    int64_t value;
    std::vector<int64_t> steps;
    bool is_one() const;  // steps are 0
  };
  Left left_of(std::span<const int64_t> factors) const;

  const std::vector<int64_t>& particular() const { return particular_; }
  const std::vector<std::vector<int64_t>>& free() const { return free_; }

 private:
  size_t gather(std::vector<int64_t>& steps);
  void shorten();

  std::vector<int64_t> particular_;
  std::vector<std::vector<int64_t>> free_;
};

}  // namespace lay
