// A kernel as several ones, a launch each, where no tile program computes it in one.
//
//   loss[i] = sum[m](max[n](X[m,n]) - X[m,t[m]])     stage[m] = max[n](X[m,n]) - X[m,t[m]]
//                                                    loss[i] = sum[m](stage[m])
//   s[m] = sum[n](X[m,n]) + sum[k](Z[m,k])           stage[m] = sum[n](X[m,n])
//                                                    s[m] = stage[m] + sum[k](Z[m,k])
//   s[m] = sum[n](X[m,n]), t[n] = sum[m](X[m,n])     one kernel for each output
//
// Law: a value that depends on some indices only is the same wherever it is computed at them. It is
// computed at all of them, so that it must be computable everywhere.
#pragma once

#include <optional>
#include <vector>

#include "backend/plan/plan.h"
#include "frontend/algebra/integers/facts.h"

namespace lay::plan {

struct Stages {
  std::vector<sema::KernelPtr> kernels;  // in order; the last one has all tensors of the caller
  std::vector<WorkspaceTensor> tensors;  // that they leave to one another
  Int workspace;                         // bytes
};

// Returns nothing where a stage would be no tile program, or would read elements again and again as
// a product of matrices does.
std::optional<Stages> split_stages(const sema::Kernel& kernel, const Facts& facts);

}  // namespace lay::plan
