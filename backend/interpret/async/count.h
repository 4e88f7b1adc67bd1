// Numbers in global memory that threads of all blocks count up.
#pragma once

#include "backend/interpret/warp.h"

namespace lay::interpret::count {

// slot dst <- accesses[detail], an s32 in global memory, to which 1 is added: lane by lane. What
// happened before an addition is known behind each later one of the same element.
extern const Handler add_one;

}  // namespace lay::interpret::count
