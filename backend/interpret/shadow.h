// What is known about memory beside its bytes: whether it was written, and which thread touched it when.
//
// Shared memory: two accesses of one element by different threads, one of them a write, are a race unless a barrier
// lies between them. Time is the warp's clock of barriers; Block::seen says up to which time of another warp everything
// has happened before. The last writer and two readers are remembered an element. Under barriers of the whole block
// that finds every race; under named barriers it may miss one whose reader was displaced by a later, ordered one.
#pragma once

#include "backend/interpret/warp.h"

namespace lay::interpret {

// The elements offset .. offset+count-1 of each lane of the mask are read or written. Does nothing unless the program
// asks for checks.
void note_read(Warp& warp, const Instruction& at, const Access& access, const std::int64_t* offset, int count);
void note_write(Warp& warp, const Instruction& at, const Access& access, const std::int64_t* offset, int count);

// The elements that note_write has just noted arrive later: whoever touches them before that is at fault.
void note_in_flight(Warp& warp, const Access& access, const std::int64_t* offset, int count, bool in_flight);

// The same for an element of the warp's registers (counted over all buffers), in the lanes at work.
void note_register_read(Warp& warp, const Instruction& at, const Access& access, std::int64_t element);
inline void note_register_write(Warp& warp, std::int64_t element) {
  warp.initialised[element] |= warp.mask;
}

}  // namespace lay::interpret
