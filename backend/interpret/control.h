// Which lanes go on and where: branches, loops, barriers. Masks nest: what an instruction saves,
// its partner at the end of the construct takes back.
#pragma once

#include "backend/interpret/program.h"

namespace lay::interpret::control {

// slot dst <- slot a in the lanes at work.
Handler move(LaneType type);

// Lanes where slot a holds (value 0) or does not (value 1) go on; if there is none, jump to target.
// Two masks are saved: the one before, and the lanes left for the other branch.
extern const Handler branch;
// The other branch; if no lane takes it, jump to target.
extern const Handler otherwise;
// The end of both.
extern const Handler join;
// One lane goes on; `join` ends it.
extern const Handler elect;

// slot dst <- slot a; saves the mask.
extern const Handler begin_loop;
// Lanes where slot dst < slot b go on; if there is none, take the mask back and jump to target.
extern const Handler test_loop;
// slot dst += value and jump to target, the test. The mask is the one saved, less what has left the
// loop.
extern const Handler next_loop;
// slot dst += slot a, and the same.
extern const Handler next_tile;

// slot dst <- the value at index slot a of placements[detail].
extern const Handler at_layout;

// slot dst <- ring `detail`'s slot, of `value` stages; its phase, which starts at slot a.
extern const Handler ring_slot;
extern const Handler ring_phase;
extern const Handler advance;
extern const Handler advance_by;

// The lanes of the warp meet: what they did before is ordered before what they do after.
extern const Handler meet;
// To the code of the warp's role.
extern const Handler enter_role;
extern const Handler jump;
extern const Handler finish;
// A statement that is not executed on the host.
extern const Handler unsupported;

}  // namespace lay::interpret::control
