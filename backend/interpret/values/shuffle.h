// Values that the lanes of a warp exchange (PTX ISA, shfl.sync.bfly). Memory is not ordered by it.
#pragma once

#include "backend/interpret/program.h"

namespace lay::interpret {

// Slot dst of a lane <- slot a of the lane whose number is this lane's xor `value`. Stops the run
// unless all 32 lanes are at work.
Handler shuffle(LaneType type);

}  // namespace lay::interpret
