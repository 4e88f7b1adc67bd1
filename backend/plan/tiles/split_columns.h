// Columns that are split over the blocks of the grid: one launch reduces parts of them into
// workspace, the next joins the parts.
//
//   s[m] = sum[k](X[m,k])     parts  P[p,m] = the sum of part p of the columns
//                             join   s[m] = sum[p](P[p,m])
//
// For a reduction to a position the first launch stores the extreme too, and the second one takes
// the smallest position of those parts whose extreme is the extreme of all.
//
// Law: a reduction may join its values in any order, up to rounding. The order of parts is fixed,
// so that a launch gives the same bits every time.
#pragma once

#include <optional>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

struct SplitColumns {
  sema::KernelPtr parts;    // each reduction is assigned to a tensor in workspace
  sema::KernelPtr join;     // the kernel, its reductions over the parts
  sema::IndexId part = -1;  // in `parts`: which part a block has
  std::vector<WorkspaceTensor> tensors;
  Int workspace;  // bytes
};

// Returns nothing where a reduction depends on another one.
std::optional<SplitColumns> split_columns(const sema::Kernel& kernel, int parts);

}  // namespace lay::plan
