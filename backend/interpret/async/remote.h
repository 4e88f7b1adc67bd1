// Stores to the shared memory of another block of the cluster (PTX ISA, st.async). What is stored
// is on its way until no warp can go on without it, and its bytes are counted at an mbarrier of the
// block that gets it.
#pragma once

#include "backend/interpret/warp.h"

namespace lay::interpret::remote {

// copies[detail], from registers, by every lane at work. Slot a holds the mbarrier's slot, slot b
// the rank of the block.
extern const Handler store;

}  // namespace lay::interpret::remote
