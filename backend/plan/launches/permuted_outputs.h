// Outputs of a product whose neighbours in memory are no neighbours in its tiles, in two launches.
// The product writes them to workspace, in an order that TMA stores, and an elementwise launch
// behind it permutes them:
//
//   C[m,n,l] = relu(sum[k](A[l,m,k] * B[n,k]))      C (M,N,L):(N*L,L,1)
//
//   C_rows[l,m,n] = relu(sum[k](A[l,m,k] * B[n,k]))     C_rows (L,M,N), each row on a whole line
//   C[m,n,l]      = C_rows[l,m,n]
//
// Laws: C_rows has C's type, so that a permuted element is the element that the product assigns.
// Whatever the product reads, an inout tensor too, is read before the permutation writes.
//
// In one launch each element is stored on its own. A warp holds accumulators two columns apart, and
// a sector counts as a whole wherever one of its bytes is written:
//
//   bytes that memory moves for an element of e bytes, s elements from its neighbour along n
//     in one launch   min(32, 2 * s * e)
//     in two          3 * e: C_rows is written and read, C is written
//
// Two launches are worth it where they save more bytes than memory moves in the time of a launch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/plan/launches/split_products.h"
#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/target/target.h"

namespace lay::plan {

struct PermutedOutputs {
  SplitProducts launches;  // the product, and what permutes its outputs
  Predicate worth;         // two launches move less than one
};

// The launches of a product that `gemm` describes, a form of the kernel; nothing where each output
// runs along a tile's rows or columns, along nothing, or is no permutation of a compact tensor.
std::optional<PermutedOutputs> permuted_outputs(const sema::KernelPtr& kernel, const Gemm& gemm,
                                                Facts& facts, const Target& target);

// Returns true if a schedule is for the product of such launches, `outputs = "permuted"`, on this
// GPU.
bool permutes_outputs(const sema::Schedule& schedule, const Target& target);

// Adds the variants of the launches: of each schedule that is for their product, under its
// conditions, with the library's tiles where it says nothing else; where no schedule is, those that
// hold where two launches are worth it. Problems: those of the schedules.
void add_permuted_outputs(Plan& plan, const PermutedOutputs& permuted, const Facts& facts,
                          const Target& target);

// Returns the schedule that makes the variants which begin with the same launch as this one, of
// add_permuted_outputs(): where the library chose their product's tiles; else nothing.
std::vector<std::string> permuted_lines(const Plan& plan, const Variant& variant);

}  // namespace lay::plan
