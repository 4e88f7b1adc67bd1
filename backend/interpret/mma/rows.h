// Copies of a warp between shared memory and registers, in which lanes name rows of memory: the
// atom's layouts say which element of which row each lane has (algebra/memory/copy_rows.h).
#pragma once

#include "backend/interpret/program.h"

namespace lay::interpret::rows {

// copies[detail], by its `rows`: elements of `bytes` bytes; on the host an element takes `cell`
// bytes, as many or 8. `value` is the entry in the statistics of banks. Null for elements of other
// sizes than 1, 2, 4 and 8 bytes.
Handler copy(int bytes, int cell, bool load);

}  // namespace lay::interpret::rows
