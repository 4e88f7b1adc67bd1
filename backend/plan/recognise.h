// Whether a checked kernel has the form of a GEMM:
//
//   for every assignment:  T[m, n, batch...] = epilogue(sum[k](A[m,k,batch...] * B[n,k,batch...]), m, n, batch..., ...)
//
// with one contraction over one index in all of them, indices bare and in any order, and factors that are loads or
// casts of loads. m is the first index of the first target that only one factor has, and that factor is A; n the first
// that only the other one has. All further indices of the target are batches, whether A and B depend on them or not.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "frontend/sema/kernel.h"

namespace lay::plan {

struct GemmForm {
  sema::NodeId contraction = -1;
  sema::IndexId m = -1, n = -1, k = -1;
  std::vector<sema::IndexId> batch;
  sema::NodeId a_value = -1, b_value = -1;  // the factors
  sema::NodeId a = -1, b = -1;              // their loads
};

struct NotGemm {
  std::string reason;
};

std::variant<GemmForm, NotGemm> recognise(const sema::Kernel& kernel);

// The nodes that the assignments depend on, by node id.
std::vector<char> reachable(const sema::Kernel& kernel);
// The operands of a node: coordinates of a load, the body of a contraction, arguments of a function.
std::vector<sema::NodeId> operands(const sema::Node& node);
// The index that a bare coordinate is, or -1.
sema::IndexId bare_index(const sema::Kernel& kernel, sema::NodeId node);

}  // namespace lay::plan
