// How an operand of the SM80 family travels, from layouts alone: who copies what, the swizzle under which copies and
// fragments meet no bank conflicts, and the matrices that ldmatrix reads.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "backend/plan/sm80_gemm.h"
#include "frontend/algebra/banks.h"

namespace lay::plan {

// (thread, (element, access)) -> (outer, k) for accesses of `vector` elements along k or along the outer index.
// Nothing if the threads do not share the tile evenly.
std::optional<Layout> shared_copy(std::array<int, 2> tile, bool along_k, int vector, int threads);

// Sets `matrices`, `transposed` and `rows` where the fragment is one of matrices of 8 rows of 16 bytes, as ldmatrix
// gives it.
void take_matrices(Sm80Operand& operand, int element_bits);

// Sets `shared`: rows along k or along the outer index, swizzled so that copies and fragments take the fewest
// wavefronts.
void take_swizzle(Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits);

// Wavefronts of the worst access of a warp, and the least that an access of that width takes: of copies to shared
// memory, and of fragments.
struct Wavefront {
  int taken = 0, least = 0;
};
Wavefront worst_write(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits);
Wavefront worst_read(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits);

}  // namespace lay::plan
