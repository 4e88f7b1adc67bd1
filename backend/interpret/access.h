// Reads and writes of memory: loads and stores of one element, copies of vectors, fills.
#pragma once

#include "backend/interpret/program.h"

namespace lay::interpret {

// dst slot <- accesses[detail]; accesses[detail] <- slot a.
Handler load(ir::Space space, ElementType element);
Handler store(ir::Space space, ElementType element);

// copies[detail]; elements of 1, 2, 4 or 8 bytes.
Handler copy(ir::Space dst, ir::Space src, int bytes);
// Zeros to copies[detail].dst, wherever that is.
Handler copy_zeros(int bytes);

// Every element of register buffer `detail` <- slot a.
Handler fill(ElementType element);

}  // namespace lay::interpret
