// Scales of a product by wgmma: in which intervals of K it is added up, and which numbers a thread
// reads.
#pragma once

#include <optional>

#include "backend/plan/sm90/sm90_gemm.h"
#include "backend/plan/tensor_shape.h"

namespace lay::plan {

// The most numbers of one scale that a thread keeps: one for each accumulator of 64 x 128.
inline constexpr int most_scale_numbers = 64;

// Sets the promotion interval of a product with scales to one that lies in one group of each: that
// of the schedule, or the longest that the tile allows, for 8-bit floats at most 128 of K or a
// tile. Adds to the conditions that the interval divides groups whose size is no number. Problem
// "schedule-cover".
bool choose_scaled_interval(const TensorShaping& at, Sm90Gemm& gemm);

// Sets the scales, once the accumulators are known. Problem "schedule-registers".
bool choose_scales(const TensorShaping& at, Sm90Gemm& gemm);

}  // namespace lay::plan
