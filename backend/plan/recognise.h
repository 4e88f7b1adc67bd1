// Decides whether a checked kernel has the form of a GEMM:
//
//   for every assignment:
//     T[m, n, batch...] = epilogue(sum[k](A[m,k,batch...] * B[n,k,batch...]), m, n, batch..., ...)
//
// with one contraction over one index in all of them, indices bare and in any order, and factors
// that are loads or casts of loads. A is the factor that has, alone, the first such index of the
// first target. m is the index of A alone, n that of B alone, which steps least in the factor's
// memory; all further indices of the target are batches, whether A and B depend on them or not:
//
//   C[l,m,n] = sum[k](A[l,m,k] * B[n,k]) with A (L,M,K):(M*K,K,1)
//                                               l is a batch, for K is less than M*K
//
// Where it is asked for, the product may have further factors that are constant within groups of k
// (tile/products/group_scale.h), or B a coordinate that is read from memory for each m
// (GemmForm::by_row).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "backend/plan/grouped/row_segments.h"
#include "backend/tile/products/group_scale.h"
#include "backend/tile/products/operand_view.h"
#include "frontend/sema/kernel/kernel_walk.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::plan {

using sema::bare_index;
using sema::indices_of;
using sema::operands;
using sema::reachable;
using sema::reads_memory;
using tile::group_scale;
using tile::GroupScale;
using tile::OperandView;

// A product of the same A, indices and types with another B.
struct FurtherForm {
  sema::NodeId contraction = -1;
  sema::NodeId b_value = -1, b = -1;  // the factor and its load
};

struct GemmForm {
  sema::NodeId contraction = -1;
  sema::IndexId m = -1, n = -1, k = -1;
  std::vector<sema::IndexId> batch;
  sema::NodeId a_value = -1, b_value = -1;    // the factors
  sema::NodeId a = -1, b = -1;                // their loads
  std::vector<GroupScale> scales;             // further factors, in the order of the product
  sema::NodeId by_row = -1;                   // the load segment[m] that is a coordinate of B
  std::optional<RowSegments> segments;        // of the rows, where they have such a coordinate
  std::optional<OperandView> a_view, b_view;  // of operands that are no tensors at bare indices
  std::vector<FurtherForm> further;           // of several products (recognise_fused)
  bool has_views() const { return a_view || b_view; }
  std::vector<sema::NodeId> contractions() const;  // of all products
};

struct NotGemm {
  std::string reason;
};

// The kernel's only reduction, where it is a sum in a type that threads or tensor cores accumulate,
// over the same indices of all outputs.
std::variant<sema::NodeId, NotGemm> only_sum(const sema::Kernel& kernel);

// The same product with its factors in the other order: the output transposed.
GemmForm swapped(GemmForm form);

// What a product may have beside its two operands at bare indices.
enum class FurtherFactors { none, scales, segments };

std::variant<GemmForm, NotGemm> recognise(const sema::Kernel& kernel, const Facts& facts,
                                          FurtherFactors further = FurtherFactors::none);

// A GEMM and the kernel whose nodes and indices it names.
struct Gemm {
  sema::KernelPtr kernel;
  GemmForm form;
};

// As recognise(), of the kernel whose indices are one wherever memory walks them as one: batches
// that only A has become rows of A, sums over several indices sums over one.
//
//   Y[b,s,n] = sum[h,d](X[b,s,h,d] * W[n,h,d])      rows (b,s), columns n, k = (h,d)
//
// The kernel is the given one where there is nothing to join.
std::variant<Gemm, NotGemm> recognise_coalesced(const sema::KernelPtr& kernel, const Facts& facts);

// As recognise_coalesced(); where that finds nothing, factors that do not depend on k are
// multiplied after the sum (scales/multiplicands.h), and then the product may have scales.
std::variant<Gemm, NotGemm> recognise_scaled(const sema::KernelPtr& kernel, const Facts& facts);

// As recognise_coalesced(), of a kernel of two to four products that share a factor, which is A of
// all of them, and all indices; their sums then run over one index:
//
//   Y[m,n] = silu(sum[k](X[m,k] * G[n,k])) * sum[k'](X[m,k'] * U[n,k'])
//
// The kernel is another one than the given in any case. Where the last index of the outputs is that
// of the shared factor, that index is m.
std::variant<Gemm, NotGemm> recognise_fused(const sema::KernelPtr& kernel, const Facts& facts);

// Returns the load that the value is, perhaps under casts: f32(X[m,k]) is still an element,
// converted when it is loaded.
std::optional<sema::NodeId> load_under_casts(const sema::Kernel& kernel, sema::NodeId value);

// Steps of arithmetic of one element outside the sums, each step counted once: an elementary
// function is as much code as eight others.
int arithmetic_outside(const sema::Kernel& kernel, sema::NodeId value,
                       const std::vector<sema::NodeId>& contractions);
// The loads of the assigned values outside the sums, by node id; not those in the coordinates of
// others.
std::vector<sema::NodeId> loads_outside(const sema::Kernel& kernel,
                                        const std::vector<sema::NodeId>& contractions);

}  // namespace lay::plan
