// A kernel with several products, or with factors that are computed, as kernels that have one
// product of plain factors each. They run one after the other; what one computes for the next lies
// in workspace:
//
//   Y[m,n] = silu(sum[k](X[m,k] * G[n,k])) * sum[k](X[m,k] * U[n,k])
//
//   product[m,n] = sum[k](X[m,k] * G[n,k])
//   Y[m,n]       = silu(product[m,n]) * sum[k](X[m,k] * U[n,k])
//
//   O[i,d] = sum[j](f16(softmax[j](sum[e](Q[i,e] * K[j,e]))) * V[j,d])
//
//   product[i,j] = sum[e](Q[i,e] * K[j,e])
//   factor[i,j]  = f16(softmax[j](product[i,j]))
//   O[i,d]       = sum[j](factor[i,j] * V[j,d])
//
// If several products have scales (tile/products/group_scale.h) each keeps them, in a launch
// of its own;
// the scales of a single product join its factors here, for families without scales.
//
// A product is a sum of two factors, each of which has an index of the result that the other lacks:
// its element of one factor is used again and again, so that storing it costs less than it saves.
//
// Laws: a value that is stored is the value that was computed, since its tensor has its type, or a
// narrower one that holds each of its values exactly. In a product of more than two factors the
// order of multiplications changes, up to rounding.
#pragma once

#include <optional>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::plan {

struct SplitProducts {
  std::vector<sema::KernelPtr> first;  // in the order in which they run
  sema::KernelPtr last;  // the kernel, with its tensors under their numbers and those of workspace
                         // behind them
  std::vector<WorkspaceTensor> tensors;
  Int workspace = 0;  // bytes, from the first tensor to the end of the last
  Int stored = 0;     // bytes of the tensors alone
};

// Returns nothing where there is nothing to split: no product, or one of plain factors alone.
std::optional<SplitProducts> split_products(const sema::KernelPtr& kernel, const Facts& facts);

}  // namespace lay::plan
