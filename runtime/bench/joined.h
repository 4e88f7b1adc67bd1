// Joins the terms of a reduction that is no sum, in f64, with a bound on the error that roundings
// of the terms make in it.
#pragma once

#include <vector>

#include "frontend/sema/kernel/reduce_function.h"
#include "runtime/bench/problem/element_value.h"

namespace lay::bench {

class Joined {
 public:
  // `type` is that of the terms.
  Joined(sema::ReduceFunction function, ElementType type);

  void add(const Bounded& term);
  Bounded value() const;

 private:
  Bounded position() const;

  sema::ReduceFunction function_;
  ElementType type_;
  double value_ = 0;    // of the terms so far
  double error_ = 0;    // the largest of a term
  double largest_ = 1;  // the product of the largest magnitudes that the terms may have
  double count_ = 0;
  std::vector<double> terms_;  // of argmax and argmin
};

}  // namespace lay::bench
