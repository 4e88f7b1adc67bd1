// Promotion intervals of a product on tensor cores: how much of K goes into one sum of theirs, and
// the scales of such sums, of which each thread reads the numbers of its accumulators.
#pragma once

#include <optional>

#include "backend/plan/tensor_gemm.h"
#include "backend/plan/tensor_shape.h"

namespace lay::plan {

// The most numbers of one scale that a thread keeps: one for each accumulator of 64 x 128.
inline constexpr int most_scale_numbers = 64;

// The way that tiles take through K: every one from its begin, or every other one from its end.
enum class WayThroughK { ahead, alternates };

// Sets the type of totals and the promotion interval: that of the schedule or none, for a product
// with scales one that lies in one group of each, the longest that the tile allows, for 8-bit
// floats at most 128 of K or a tile. An interval is whole steps of the atom, and a part or a
// multiple of what a group of threads multiplies of a K tile. Adds to the conditions that the
// interval divides groups whose size is no number. Problems "schedule-cover", "schedule-entry".
bool choose_promotion(const TensorShaping& at, TensorGemm& gemm, WayThroughK way);

// Returns how the threads read a factor, once the tile and the accumulators are known.
ProductScale product_scale(const sema::Kernel& kernel, const TensorGemm& gemm,
                           const GroupScale& factor);

// Sets the scales, once the accumulators are known. Problem "schedule-registers".
bool choose_scales(const TensorShaping& at, TensorGemm& gemm);

}  // namespace lay::plan
