// How outputs leave through shared memory, and how inputs of their shape come: the threads that
// hold the accumulators write or read them there, and TMA takes or brings them, or threads whose
// elements are neighbours in memory.
#pragma once

#include <functional>
#include <optional>

#include "backend/plan/copies.h"
#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::plan {

// Calls f(copy, value, count) for the copies of a warp that hold `values` values of a thread, those
// of most values first: from which value on, and how many.
void each_copy(const StagedTensor& staged, int values,
               const std::function<void(const sema::CopyInstruction&, int, int)>& f);

// Columns that a consumer stores at a time, of 64 rows: as many as can be up to `most`, but where
// blocks share K few enough that each has as much to add up as the others. 0: not `least`.
int pass_width(const Sm90Gemm& gemm, int least, int most);

// The loads outside the sum that have an element for each of the output's: bare coordinates, m's
// and n's among them, into a tensor of just those extents. An output is among them only where the
// element that is assigned is read.
std::vector<sema::NodeId> full_loads(const sema::Kernel& kernel, const Sm90Gemm& gemm);

// For outputs and loads that consumers hold in atoms of that thread-value layout; rows of shared
// memory of at most `widest` bytes. By TMA where it takes the tensor and `width` allows conditions,
// which `conditions` gains. Nothing where neighbours of an output in memory are neighbours along
// neither m nor n, for elements of other than 8, 16 or 32 bits, or where no row of them fits a
// swizzle span; loads of that kind are left out.
std::optional<StagedStore> staged_store(const sema::Kernel& kernel, const Sm90Gemm& gemm,
                                        const Layout& atom, const std::vector<sema::NodeId>& loads,
                                        Width width, Facts& facts, Conditions& conditions,
                                        int widest);

// Chooses which thread has which values of a tensor, whose rows in shared memory are known, for
// consumers that hold atoms of that layout; `stored`: from registers to there. Elements of 16 bits
// go by those of `copies` that can, or else by the library's. Returns false where these are no
// matrices, or no passes.
bool choose_values(StagedTensor& staged, const StagedStore& store, const Layout& atom,
                   int element_bytes, bool stored,
                   const std::vector<sema::CopyInstruction>& copies);

// Bytes that a consumer's outputs and inputs take on their way, in all buffers.
int shared_bytes(const StagedStore& store, const sema::Kernel& kernel);

// The worst access of a warp by the values that it holds and, where threads store or load the
// tensor, by those.
std::vector<BankConflicts> conflicts(const StagedStore& store, const sema::Kernel& kernel);

}  // namespace lay::plan
