// Scales of a product in the printed plan.
#pragma once

#include <string>
#include <vector>

#include "backend/plan/tensor_gemm.h"

namespace lay::plan {

// Returns the comments that say which factors the sums of an interval are multiplied by, and how
// many numbers of each a thread has; none where the product has no scales.
std::vector<std::string> scale_lines(const sema::KernelPtr& kernel, const TensorGemm& gemm);

}  // namespace lay::plan
