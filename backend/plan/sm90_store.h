// How an output leaves through shared memory: the threads that hold it write it there, TMA takes it away, or threads
// whose elements are neighbours in memory.
#pragma once

#include <optional>

#include "backend/plan/copies.h"
#include "backend/plan/sm90_gemm.h"

namespace lay::plan {

// Columns that a consumer stores at a time, of 64 rows: as many as can be up to `most`, but where blocks share K few
// enough that each has as much to add up as the others. 0: not `least`.
int pass_width(const Sm90Gemm& gemm, int least, int most);

// For an output that consumers hold in atoms of that thread-value layout. By TMA where it stores the tensor and `width`
// allows conditions, which `conditions` gains. Nothing where there are several outputs, where neighbours in memory are
// neighbours along neither m nor n, for elements of other than 16 or 32 bits, or where no row of them fits a swizzle
// span.
std::optional<StagedStore> staged_store(const sema::Kernel& kernel, const Sm90Gemm& gemm, const Layout& atom,
                                        Width width, Facts& facts, Conditions& conditions, int widest = 128);

// Bytes that a consumer's output takes on its way, in all buffers.
int shared_bytes(const StagedStore& store, const sema::Kernel& kernel);

// The worst write of a warp and, where threads take the output away, the worst read.
std::vector<BankConflicts> conflicts(const StagedStore& store, const sema::Kernel& kernel);

}  // namespace lay::plan
