// How an operand of the SM80 family travels, from layouts alone: which thread copies what, and the
// swizzle under which copies and fragments meet no bank conflicts.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "backend/plan/sm80/sm80_gemm.h"

namespace lay::plan {

// (thread, (element, access)) -> (outer, k) for accesses of `vector` elements along k or along the
// outer index. Nothing if the threads do not share the tile evenly.
std::optional<Layout> shared_copy(std::array<int, 2> tile, bool along_k, int vector, int threads);

// The fragment of the operand of that side, 0 or 1, which steps read in the order of k that the
// product has: by the first of the copies that gives lanes what they hold, or of neighbours
// together. Of what is its threads' own a lane has its values.
Fragment fragment_in_order(const Sm80Gemm& gemm, const Sm80Operand& operand, int side,
                           int element_bits, std::span<const sema::CopyInstruction> copies);

// Sets `shared`: rows along k or along the outer index, swizzled so that copies and fragments take
// the fewest wavefronts. Where steps take k in an order of its own, rows along k are those of a
// block of it, so that neighbouring rows and the lanes of one differ in what a swizzle moves.
void choose_swizzle(Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits);

// Wavefronts of the worst access of a warp, and the least that an access of that width takes: of
// copies to shared memory, and of fragments.
Wavefront worst_write(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits);
Wavefront worst_read(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits);

}  // namespace lay::plan
