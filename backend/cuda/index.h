// Sizes and layouts as index arithmetic.
//
//   size_code(ceil_div(M, 8))                          "(M_ + 7) / 8"
//   offset_code((128,8):(1,132), {m, k})               "m_ + k_ * 132"
//   offset_code((4,(2,3)):(6,(24,1)), {i, j})          "i_ * 6 + j_ % 2 * 24 + j_ / 2"
//   offset_code(Sw<3,3,3> o 0 o (8,64):(64,1), {r, c}) "swizzle_3_3_3(r_ * 64 + c_)"
//
// Coordinates lie inside the shape, so every quotient and remainder here is of non-negative
// numbers. Sizes are ints that the launcher has checked; a product that may leave 32 bits is
// computed as long long.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/code.h"
#include "backend/cuda/types.h"
#include "frontend/algebra/integers/predicate.h"
#include "frontend/algebra/layouts/layout.h"

namespace lay::cuda {

// The emitted name of each dim, and the helpers used so far.
struct SizeNames {
  std::map<DimId, std::string> dims;
  Helpers* helpers = nullptr;
};

// The value of an integer over the sizes: an int where it certainly fits, else a long long.
Code size_code(const Int& value, const SizeNames& names);
Code condition_code(const Predicate& condition, const SizeNames& names);

// One extent and stride of a mode that is taken apart colexicographically.
struct Leaf {
  Int extent, stride;
};
// The leaves of a mode without extents of 1, neighbours joined where they are contiguous. Never
// empty.
std::vector<Leaf> leaves_of(const Layout& mode);

// Where modes are added that step by whole blocks of a swizzle, as stages do: inside the swizzle's
// argument, or behind the swizzle. Behind it the swizzled part is the same in every step of a loop
// over stages, and the compiler keeps it: a register for each access of the loop.
enum class WholeBlocks { inside, behind };

// The offset in elements of a coordinate, one code per top-level mode; `wide` computes it as long
// long. Without, the layout's size and its offsets fit an int: what lies in shared memory and
// registers, and orders of tiles, of which the launcher has checked that there are no more. Nothing
// for a composed layout that is not a swizzle after a layout.
std::optional<Code> offset_code(const AnyLayout& layout, const std::vector<Code>& coordinate,
                                bool wide, const SizeNames& names,
                                WholeBlocks blocks = WholeBlocks::inside);

// The elements that a buffer of that layout occupies, where the layout is known.
std::optional<std::int64_t> extent_in_elements(const AnyLayout& layout);

}  // namespace lay::cuda
