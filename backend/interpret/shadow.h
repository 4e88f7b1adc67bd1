// The state of memory beside its bytes: which elements were written, and which thread touched an
// element when.
//
// Shared memory: two accesses of one element by different threads, one of them a write, are a race
// unless a barrier lies between them. Time is the warp's clock of barriers; Knowledge::known says
// up to which time of another warp everything happened before. The last writer and two readers of
// an element are remembered. Under barriers of the whole block that finds every race; under named
// barriers it may miss one whose reader was displaced by a later, ordered one.
//
// Workspace that a launch writes and reads: the last write of the launch is remembered, and who
// reads or writes the element next, in any cluster, must come after it: by a barrier, or by a
// number that both have counted up.
#pragma once

#include "backend/interpret/warp.h"

namespace lay::interpret {

// The elements offset .. offset+count-1 of each lane of the mask are read or written. Does nothing
// unless the program asks for checks.
void note_read(Warp& warp, const Instruction& at, const Access& access, const std::int64_t* offset,
               int count);
void note_write(Warp& warp, const Instruction& at, const Access& access, const std::int64_t* offset,
                int count);

// The same for elements of global memory that each lane counts up in one step: an element that
// nothing has written is at fault. Additions are ordered by themselves.
void note_counted(Warp& warp, const Instruction& at, const Access& access,
                  const std::int64_t* offset);

// The elements that note_write has just noted arrive later: whoever touches them before that is at
// fault.
void note_in_flight(Warp& warp, const Access& access, const std::int64_t* offset, int count,
                    bool in_flight);

// The async proxy: TMA and wgmma. A write (here also a store to another block of the cluster, which
// is asynchronous but no access of that proxy) is issued, arrives later, and is a write of the
// thread that issued it, in its own block or another of the cluster. A read begins, and until it
// ends no thread may write there; then it is a read of the thread that has waited for it, or of its
// warpgroup. If an ordinary store wrote an element, it must have been made known to the async proxy
// (PTX ISA, proxies) before such a read.
void note_async_write(Warp& warp, const Instruction& at, const Access& access, Block& where,
                      std::int64_t element, int lane, bool by_async_proxy);
void note_arrival(Block& where, const BufferPlan& plan, std::int64_t element);
void begin_async_read(Warp& warp, const Instruction& at, const Access& access, std::int64_t element,
                      int lane, Reading& reading);
void end_async_read(Warp& warp, const Reading& reading);
void end_async_read(Warp& warp, const Reading& reading, std::uint16_t reader, std::uint32_t time);
// Returns true if a multiplication in flight writes this register element.
bool is_being_multiplied(const Warp& warp, std::int64_t element);

// The same for an element of the warp's registers (counted over all buffers), in the lanes at work.
void note_register_read(Warp& warp, const Instruction& at, const Access& access,
                        std::int64_t element);
// Notes a write to registers that wgmma reads: they must keep their values until it has been waited
// for, and a fence must make them known to it.
void note_fragment_write(Warp& warp, const Instruction& at, int buffer, std::int64_t element);
inline void note_register_write(Warp& warp, const Instruction& at, int buffer,
                                std::int64_t element) {
  if (warp.program->buffers[static_cast<std::size_t>(buffer)].fragments) {
    note_fragment_write(warp, at, buffer, element);
  }
  warp.initialised[element] |= warp.mask;
}

}  // namespace lay::interpret
