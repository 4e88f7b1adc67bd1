// How an output leaves through shared memory: the threads that hold it write it there, TMA takes it away.
#pragma once

#include <optional>

#include "backend/plan/copies.h"
#include "backend/plan/sm90_gemm.h"

namespace lay::plan {

// Columns that a consumer stores at a time, of 64 rows: as many as can be up to `most`, but where blocks share K few
// enough that each has as much to add up as the others. 0: not `least`.
int pass_width(const Sm90Gemm& gemm, int least, int most);

// For an output of which one consumer holds so many columns, in atoms of that thread-value layout. Nothing where TMA
// does not store the tensor, or no row of its elements fits a swizzle span. `conditions` gains what TMA needs.
std::optional<TmaStore> tma_store(const sema::Kernel& kernel, const Sm90Gemm& gemm, const Layout& atom, Facts& facts,
                                  Conditions& conditions);

// Bytes that a consumer's output takes on its way, in all buffers.
int shared_bytes(const TmaStore& store, const sema::Kernel& kernel);

// The worst write of a warp.
BankConflicts worst_write(const TmaStore& store, const sema::Kernel& kernel);

}  // namespace lay::plan
