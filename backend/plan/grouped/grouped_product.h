// Recognises grouped products, whose rows have segments (row_segments.h).
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "backend/plan/recognise.h"

namespace lay::plan {

// A product of two factors of which one has a coordinate that is read from memory, or computed from
// what is read there, for each row of the output:
//
//   let expert[t] = segment_of[e](start[e], t)
//   Y[t,n] = sum[k](X[t,k] * W[expert[t],n,k])
struct GroupedProduct {
  sema::KernelPtr kernel;        // with factors that do not depend on k after the sum
  sema::NodeId coordinate = -1;  // expert[t], a node of the kernel
  sema::NodeId selected = -1;    // the load that has it, W[expert[t],n,k]
  sema::NodeId rows = -1;        // that of the other factor, X[t,k]
  sema::IndexId row = -1;        // t
  Int count;                     // the extent of the mode that the coordinate selects
  bool sorted = false;           // the coordinate never decreases along the rows
};

// Nothing where the kernel is none.
std::optional<GroupedProduct> recognise_grouped(const sema::KernelPtr& kernel);

// Returns true if the value of an integer node never decreases as the index grows, whatever the
// tensors hold: sums, products and quotients by literals of such values, and counts of comparisons
// with them. False where that is not seen.
bool never_decreases(const sema::Kernel& kernel, sema::NodeId node, sema::IndexId index);

}  // namespace lay::plan
