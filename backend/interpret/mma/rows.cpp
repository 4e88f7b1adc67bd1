#include "backend/interpret/mma/rows.h"

#include <cstring>

#include "backend/interpret/access.h"
#include "backend/interpret/shadow.h"

namespace lay::interpret::rows {
namespace {

// kCell: bytes of an element on the host.
template <int kCell, bool kLoad>
void move(Warp& warp, const Instruction& at) {
  if (warp.mask != ~Mask{0}) {
    stop(warp, at, ~warp.mask, FaultCode::barrier_divergence,
         "expected all lanes of the warp at this copy");
  }
  const CopyPlan& plan = warp.program->copies[at.detail];
  const Access& memory = kLoad ? plan.src : plan.dst;
  const Access& held = kLoad ? plan.dst : plan.src;
  const int memory_mode = kLoad ? plan.src_mode : plan.dst_mode,
            held_mode = kLoad ? plan.dst_mode : plan.src_mode;
  // The lanes whose addresses count name a row each.
  const CopyRows& rows = plan.rows;
  const Mask naming = rows.rows == kLanes ? ~Mask{0} : (Mask{1} << rows.rows) - 1;
  std::int64_t offset[kLanes];
  warp.mask = naming;
  std::byte* base = vector_address(warp, at, memory, {memory_mode, rows.length}, !kLoad, offset);
  warp.mask = ~Mask{0};
  const BufferPlan& registers = warp.program->buffers[held.buffer];
  std::byte* in_registers = warp.registers + registers.place * kLanes;
  for (int e = 0; e < plan.count; ++e) {
    const std::int64_t element = register_offset(warp, at, held, {held_mode, plan.count}, e);
    if (kLoad) {
      note_register_write(warp, at, held.buffer, registers.shadow + element);
    } else if (warp.program->checks) {
      note_register_read(warp, at, held, registers.shadow + element);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      const RowPlace& place = rows.place(lane, e);
      std::byte* there = base + (offset[place.row] + place.element) * kCell;
      std::byte* here = in_registers + (element * kLanes + lane) * kCell;
      if (kLoad) {
        std::memcpy(here, there, kCell);
      } else {
        std::memcpy(there, here, kCell);
      }
    }
  }
}

template <int kCell>
Handler copy_of(bool load) {
  return load ? move<kCell, true> : move<kCell, false>;
}

}  // namespace

Handler copy(int bytes, int cell, bool load) {
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return nullptr;
  switch (cell) {
    case 1:
      return copy_of<1>(load);
    case 2:
      return copy_of<2>(load);
    case 4:
      return copy_of<4>(load);
    case 8:
      return copy_of<8>(load);
    default:
      return nullptr;
  }
}

}  // namespace lay::interpret::rows
