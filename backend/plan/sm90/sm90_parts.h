// What follows from the numbers of a product on Hopper's tensor cores: the schedule's checks ask
// for it, and who reads a product from its program.
#pragma once

#include <array>
#include <optional>

#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::plan {

// The elements along (outer, k) of whole 128 bytes of shared memory, at which a box begins: of an
// operand along k its rows that fill them, else a row.
int unit_of_slice(const TmaOperand& operand);

// The part of the tile, along (outer, k), that one block of the cluster loads for all that need it.
// Nothing where these blocks cannot load it in equal parts. `axis`: 0 of A, 1 of B.
std::optional<std::array<int, 2>> slice_of(const Sm90Gemm& gemm, const TmaOperand& operand,
                                           int axis);

// The extents of one copy along (outer, k): the slice, cut in rows of the operand's span, and in
// halves where TMA's boxes end.
std::array<int, 2> box_of(const TmaOperand& operand);

// Which block adds up which columns, where blocks share K; else nothing.
std::optional<Split> split_of(const Sm90Gemm& gemm);

// The mask of the only output of the only product, whose tiles need none where it is empty. Of rows
// in segments it is not looked for.
std::optional<Mask> mask_of_tiles(const sema::Kernel& kernel, const Sm90Gemm& gemm);

// How threads bring an operand's elements from shared memory to the atom, where that reads it from
// registers.
Fragment fragment_of_operand(const Sm90Gemm& gemm, const TmaOperand& operand);

}  // namespace lay::plan
