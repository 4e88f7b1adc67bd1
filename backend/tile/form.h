// The first pass: a checked kernel as a tile program that says what is computed in which order.
//
// It takes kernels whose reductions all run over the same columns for each row:
//
//   Y[b,m,n] = exp(X[b,m,n] - max[k](X[b,m,k])) / sum[k](exp(...))     rows (b,m), columns (n) =
//   (k) s[m]     = sum[k](A[m,k] * x[k])                                   rows (m), columns (k)
//   t[n]     = sum[m](X[m,n])                                          rows (n), columns (m)
//
// A kernel without a reduction is one where it gathers rows: Y[m,n] = E[token[m],n]. Others are
// permutations (plan/permute).
//
// Laws: indices that run over equal extents may be renamed to one, since a reduction binds its own;
// a reduction may join its values in any order, up to rounding.
#pragma once

#include <string>
#include <variant>

#include "backend/tile/program.h"
#include "frontend/algebra/integers/facts.h"

namespace lay::tile {

struct NotTiled {
  std::string reason;  // a clause: "its reductions run over different extents"
};

// kept: a tile holds whole rows, so that each element is read once. streamed: columns go by in
// tiles, once for each reduction that needs another one first.
enum class Columns { kept, streamed };

// Returns an unbound program. `part` is an index of the outputs that says which part of the columns
// a block has, or -1.
std::variant<Program, NotTiled> form(const sema::Kernel& kernel, const Facts& facts,
                                     Columns columns, sema::IndexId part = -1);

// Returns how many times a streamed program walks the columns: reductions that depend on no other
// share the first walk, outputs along the columns take one more.
int walks_of_columns(const Program& program);

// Returns the axis along which the elements of most bytes lie side by side in memory.
AxisId contiguous_axis(const Program& program, Facts& facts);

}  // namespace lay::tile
