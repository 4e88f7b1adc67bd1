// Evaluates one element of a kernel's output in f64, with the values of loads and sums given by
// the caller. Epilogues are recognised with it, and the reference computes results and their error
// bounds with it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "frontend/sema/kernel/kernel.h"
#include "runtime/bench/problem/problem.h"

namespace lay::bench {

// A value in f64, and how far roundings can put what a GPU computes from it.
struct Bounded {
  double value = 0, error = 0;
};

// The values at the leaves of an expression.
struct Leaves {
  // The value of a load at a coordinate.
  std::function<double(const sema::Load&, const std::vector<std::int64_t>&)> load;
  // The value of a sum, with the values of all indices, by IndexId.
  std::function<Bounded(sema::NodeId, const std::vector<std::int64_t>&)> contraction;
};

class ElementValue {
 public:
  ElementValue(const Problem& problem, Leaves leaves);

  // Evaluates a node. `at` has the values of all indices, by IndexId; those of summed indices are
  // looked at only within their sum.
  //
  // The error is to first order in the roundings of the steps. A step in f32 is within 4 units of
  // roundoff, elementary functions too. sigmoid and normcdf are made of approximate instructions
  // and have larger bounds (PTX ISA, ex2.approx and rcp.approx).
  Bounded of(sema::NodeId node, const std::vector<std::int64_t>& at);

 private:
  Bounded value(sema::NodeId node);
  Bounded apply(const sema::Apply& apply, const sema::Node& node);

  const Problem& problem_;
  Leaves leaves_;
  const std::vector<std::int64_t>* at_ = nullptr;
};

// Returns half the distance from 1 to the next number of a floating-point type; 0 for an integer
// type.
double unit_roundoff(ElementType type);

}  // namespace lay::bench
