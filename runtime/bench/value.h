// One element of a kernel's output in f64, with what stands at the leaves given by the caller: how
// epilogues are recognised by what they compute, and how far a result may be from the exact one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "frontend/sema/kernel/kernel.h"
#include "runtime/bench/problem.h"

namespace lay::bench {

struct Leaves {
  std::function<double(const sema::Load&, const std::vector<std::int64_t>&)>
      load;  // at this coordinate
  std::function<double(sema::NodeId)> contraction;
};

class ElementValue {
 public:
  ElementValue(const Problem& problem, Leaves leaves);

  // At the value of every index, by IndexId (summed ones are not looked at).
  double of(sema::NodeId node, const std::vector<std::int64_t>& at);

  // Of the last `of`: how far from it the roundings of each step can have put what a GPU computes,
  // to first order in them; the leaves count as exact. A step in f32 is within 4 units of roundoff,
  // elementary functions too, but sigmoid and normcdf, which are made of approximate instructions
  // (PTX ISA, ex2.approx and rcp.approx).
  double rounding_error() const { return error_; }

 private:
  struct Bounded {
    double value = 0, error = 0;
  };
  Bounded value(sema::NodeId node);
  Bounded apply(const sema::Apply& apply, const sema::Node& node);

  const Problem& problem_;
  Leaves leaves_;
  const std::vector<std::int64_t>* at_ = nullptr;
  double error_ = 0;
};

// Half the distance from 1 to the next number of a floating-point type; 0 of an integer type.
double unit_roundoff(ElementType type);

}  // namespace lay::bench
