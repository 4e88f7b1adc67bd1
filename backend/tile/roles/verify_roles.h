// The rules of pipelines and roles (pipeline.h, specialise.h), held to the program.
//
// A tile in shared memory that a loop writes again and again is in one pipeline, which has as many
// stages as the tile, and as many blocks write a part of it as share it. Each thread of the block
// has one role, each statement but loops one role, and a loop the roles of what is in it. The
// registers of all threads fit those of an SM.
//
// A barrier has a slot for each stage, and for each warp or warpgroup that has stages apart. It
// expects bytes where copies complete some, and as many arrivals as threads, warps or warpgroups
// arrive: these are counted again, one by one over the threads of a role and the blocks of the
// cluster. Bytes of a slot are announced by one thread, and the arrival is that; nothing in the
// program says another number. Every block that a stage's copies reach gives the stage back. A ring
// goes round all stages and begins at phase 1 where its role waits for an empty stage. Each
// statement that reads by another way than threads write has one fence, and nothing else has any.
//
// Without roles, or with one of no groups, arrivals are not counted.
//
// A problem found here is our bug, never the user's.
#pragma once

#include <string_view>
#include <vector>

#include "backend/tile/roles/specialise.h"
#include "backend/tile/verify.h"

namespace lay::tile {

// In the order of pipelines, roles, barriers, rings and fences.
std::vector<Problem> verify(const Program& program, const Specialised& specialised);

// After a pass: std::logic_error that names it, if anything is wrong.
void verify_after(std::string_view pass, const Program& program, const Specialised& specialised);

}  // namespace lay::tile
