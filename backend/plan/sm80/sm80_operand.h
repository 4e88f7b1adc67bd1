// How an operand of the SM80 family travels, from layouts alone: which thread copies what, and the
// swizzle under which copies and fragments meet no bank conflicts.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "backend/plan/sm80/sm80_gemm.h"

namespace lay::plan {

// (thread, (element, access)) -> (outer, k) for accesses of `vector` elements along k or along the
// outer index. Nothing if the threads do not share the tile evenly.
std::optional<Layout> shared_copy(std::array<int, 2> tile, bool along_k, int vector, int threads);

// Sets `shared`: rows along k or along the outer index, swizzled so that copies and fragments take
// the fewest wavefronts.
void choose_swizzle(Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits);

// Wavefronts of the worst access of a warp, and the least that an access of that width takes: of
// copies to shared memory, and of fragments.
Wavefront worst_write(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits);
Wavefront worst_read(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits);

}  // namespace lay::plan
