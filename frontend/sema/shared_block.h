// Blocks of shared memory that instructions read and TMA writes, as data: the records smem_k and
// smem_mn of stdlib/atoms/sm90.lay.
//
//   shared_block(true, 128, bf16)     (8,64):(64,1) under Sw<3,3,3>, over bytes Sw<3,4,3>
#pragma once

#include "frontend/algebra/layouts/layout.h"
#include "frontend/algebra/memory/element.h"

namespace lay::sema {

// 8 rows of some bytes, the width of the swizzle.
struct SharedBlock {
  Layout rows;                // (outer, k) -> offset in elements, before the swizzle
  Swizzle address, elements;  // over bytes, and over elements
};

// Returns the block whose rows of `width` bytes run along k, or else along the outer index.
SharedBlock shared_block(bool along_k, int width, ElementType element);

}  // namespace lay::sema
