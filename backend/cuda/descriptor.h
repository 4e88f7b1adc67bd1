// The matrix descriptor by which wgmma reads a tile in shared memory, from the tile's layout (PTX
// ISA, "Matrix-descriptor format" and "Canonical layouts").
//
//   Sw<3,3,3> o 0 o (128,64,4):(64,1,8192)                  K-major, 1024 bytes between groups of 8
//   rows Sw<3,3,3> o 0 o ((64,2),64,4):((1,4096),64,8192)        MN-major, 8192 bytes between
//   blocks of 64 columns
#pragma once

#include <optional>

#include "frontend/algebra/layouts/layout.h"

namespace lay::cuda {

struct Descriptor {
  bool along_k = true;  // K-major
  // Bytes of a row, which the swizzle permutes: 128, 64 or 32.
  int span = 128;
  // Bytes from one span to the next along the outer index, where it is MN-major.
  std::int64_t leading = 16;
  // Bytes from one group of 8 rows to the next.
  std::int64_t stride = 1024;
  int swizzle_field() const { return span == 128 ? 1 : span == 64 ? 2 : 3; }
};

// Returns the descriptor of a layout (outer, k, further modes...) -> offset in elements; nothing
// where none expresses it.
std::optional<Descriptor> descriptor_of(const AnyLayout& layout, int element_bits);

}  // namespace lay::cuda
