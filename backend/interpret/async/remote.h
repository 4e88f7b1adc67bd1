// Stores to the shared memory of another block of the cluster (PTX ISA, st.async). The data is on
// its way until no warp can go on without it, and its bytes are counted at an mbarrier of the
// receiving block.
#pragma once

#include "backend/interpret/warp.h"

namespace lay::interpret::remote {

// copies[detail], from registers, by every lane at work. Slot a holds the mbarrier's slot, slot b
// the rank of the block.
extern const Handler store;

}  // namespace lay::interpret::remote
