// One element of a kernel's output in f64, with what stands at the leaves given by the caller: how epilogues are
// recognised by what they compute, and how far a result may be from the exact one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "frontend/sema/kernel.h"
#include "runtime/bench/problem.h"

namespace lay::bench {

struct Leaves {
  std::function<double(const sema::Load&, const std::vector<std::int64_t>&)> load;  // at this coordinate
  std::function<double(sema::NodeId)> contraction;
};

class ElementValue {
 public:
  ElementValue(const Problem& problem, Leaves leaves);

  // At the value of every index, by IndexId (summed ones are not looked at).
  double of(sema::NodeId node, const std::vector<std::int64_t>& at);

  // Of the last `of`: the sum over all steps of the magnitude that was rounded, in units of the roundoff of f32 (or of
  // the narrower type that a cast asked for); what rounding in f32 can have done, to first order.
  double roundings() const { return roundings_; }

 private:
  double value(sema::NodeId node);
  double apply(const sema::Apply& apply, const sema::Node& node);

  const Problem& problem_;
  Leaves leaves_;
  const std::vector<std::int64_t>* at_ = nullptr;
  double roundings_ = 0;
};

// Half the distance from 1 to the next number of a floating-point type; 0 of an integer type.
double unit_roundoff(ElementType type);

}  // namespace lay::bench
