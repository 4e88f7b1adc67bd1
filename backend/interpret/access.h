// Reads and writes of memory: loads and stores of one element, copies of vectors, fills.
#pragma once

#include <cstddef>

#include "backend/interpret/placement.h"
#include "backend/interpret/program.h"

namespace lay::interpret {

// dst slot <- accesses[detail]; accesses[detail] <- slot a.
Handler load(ir::Space space, ElementType element, Arithmetic arithmetic);
Handler store(ir::Space space, ElementType element, Arithmetic arithmetic);

// copies[detail]; elements of 1, 2, 4 or 8 bytes on the host.
Handler copy(ir::Space dst, ir::Space src, int bytes);
// Zeros to copies[detail].dst, wherever that is.
Handler copy_zeros(int bytes);

// One side of a vector copy in memory: the offsets of the lanes at work, checked against bounds and
// alignment and noted; the address of the buffer.
std::byte* vector_address(Warp& warp, const Instruction& at, const Access& access, Run run,
                          bool written, std::int64_t* offset);

// A vector access lies on a multiple of its size.
void check_alignment(Warp& warp, const Instruction& at, const Access& access,
                     const std::int64_t* offset, int count);

// One side of a vector copy that is in registers and read: element `e` of the run, checked and
// noted; the row of its 32 lanes.
const std::byte* register_row(Warp& warp, const Instruction& at, const Access& access, Run run,
                              int e);

// Every element of register buffer `detail` <- slot a.
Handler fill(ElementType element, Arithmetic arithmetic);

}  // namespace lay::interpret
