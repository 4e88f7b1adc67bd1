// Whether a checked kernel has the form of a GEMM:
//
//   for every assignment:  T[m, n, batch...] = epilogue(sum[k](A[m,k,batch...] * B[n,k,batch...]),
//   m, n, batch..., ...)
//
// with one contraction over one index in all of them, indices bare and in any order, and factors
// that are loads or casts of loads. A is the factor that has, alone, the first such index of the
// first target. m is the index of A alone, n that of B alone, which steps least in the factor's
// memory; all further indices of the target are batches, whether A and B depend on them or not:
//
//   C[l,m,n] = sum[k](A[l,m,k] * B[n,k]) with A (L,M,K):(M*K,K,1)     l is a batch, for K is less
//   than M*K
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "frontend/sema/kernel/kernel.h"
#include "frontend/sema/kernel/reduce_function.h"

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

// The same product with its factors in the other order: the output transposed.
GemmForm swapped(GemmForm form);

std::variant<GemmForm, NotGemm> recognise(const sema::Kernel& kernel, const Facts& facts);

// The nodes that these depend on, themselves included, by node id; and those that the assignments
// depend on.
std::vector<char> reachable(const sema::Kernel& kernel, const std::vector<sema::NodeId>& from);
std::vector<char> reachable(const sema::Kernel& kernel);
// Every index that a value depends on.
std::set<sema::IndexId> indices_of(const sema::Kernel& kernel, sema::NodeId value);
// The operands of a node: coordinates of a load, the body of a contraction, arguments of a
// function.
std::vector<sema::NodeId> operands(const sema::Node& node);
// Steps of arithmetic of one element outside the sum, each step counted once: an elementary
// function is as much code as eight others.
int arithmetic_outside(const sema::Kernel& kernel, sema::NodeId value, sema::NodeId contraction);
// The loads of the assigned values outside the sum, by node id; not those in the coordinates of
// others.
std::vector<sema::NodeId> loads_outside(const sema::Kernel& kernel, sema::NodeId contraction);
// Whether a node's value is read from a tensor, or computed from one.
bool reads_memory(const sema::Kernel& kernel, sema::NodeId node);
// The index that a bare coordinate is, or -1.
sema::IndexId bare_index(const sema::Kernel& kernel, sema::NodeId node);

}  // namespace lay::plan
