#include "backend/interpret/mma/matrix.h"

#include <cstring>

#include "backend/interpret/access.h"
#include "backend/interpret/shadow.h"

namespace lay::interpret::matrix {
namespace {

constexpr int kRows = 8, kRowBytes = 16, kRegisterBytes = 4;

// kBytes: of an element; kCell: on the host. A lane's register holds neighbours of one row or,
// transposed, of one column.
template <int kBytes, int kCell, bool kLoad, bool kTranspose>
void move(Warp& warp, const Instruction& at) {
  if (warp.mask != ~Mask{0}) {
    stop(warp, at, ~warp.mask, FaultCode::barrier_divergence,
         "expected all lanes of the warp at this copy of matrices");
  }
  const CopyPlan& plan = warp.program->copies[at.detail];
  const Access& memory = kLoad ? plan.src : plan.dst;
  const Access& held = kLoad ? plan.dst : plan.src;
  const int memory_mode = kLoad ? plan.src_mode : plan.dst_mode,
            held_mode = kLoad ? plan.dst_mode : plan.src_mode;
  constexpr int together = kRegisterBytes / kBytes;
  const int matrices = plan.count / together;
  // The lanes whose addresses count.
  const Mask addressing = matrices * kRows == kLanes ? ~Mask{0} : (Mask{1} << matrices * kRows) - 1;
  std::int64_t offset[kLanes];
  warp.mask = addressing;
  std::byte* base =
      vector_address(warp, at, memory, {memory_mode, kRowBytes / kBytes}, !kLoad, offset);
  warp.mask = ~Mask{0};
  const BufferPlan& registers = warp.program->buffers[held.buffer];
  std::byte* rows = warp.registers + registers.place * kLanes;
  for (int e = 0; e < plan.count; ++e) {
    const std::int64_t element = register_offset(warp, at, held, {held_mode, plan.count}, e);
    if (kLoad) {
      note_register_write(warp, at, held.buffer, registers.shadow + element);
    } else if (warp.program->checks) {
      note_register_read(warp, at, held, registers.shadow + element);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      const int major = lane / 4, minor = lane % 4 * together + e % together;
      const int row = kTranspose ? minor : major, column = kTranspose ? major : minor;
      std::byte* there = base + (offset[e / together * kRows + row] + column) * kCell;
      std::byte* here = rows + (element * kLanes + lane) * kCell;
      if (kLoad) {
        std::memcpy(here, there, kCell);
      } else {
        std::memcpy(there, here, kCell);
      }
    }
  }
}

template <int kBytes, int kCell>
Handler copy_of(bool load, bool transpose) {
  if constexpr (kBytes == 2)
    if (transpose) return load ? move<2, kCell, true, true> : move<2, kCell, false, true>;
  if (transpose) return nullptr;
  return load ? move<kBytes, kCell, true, false> : move<kBytes, kCell, false, false>;
}

}  // namespace

Handler copy(int bytes, int cell, bool load, bool transpose) {
  const bool as_on_device = bytes == cell;
  switch (bytes) {
    case 1:
      return as_on_device ? copy_of<1, 1>(load, transpose) : copy_of<1, 8>(load, transpose);
    case 2:
      return as_on_device ? copy_of<2, 2>(load, transpose) : copy_of<2, 8>(load, transpose);
    case 4:
      return as_on_device ? copy_of<4, 4>(load, transpose) : copy_of<4, 8>(load, transpose);
    default:
      return nullptr;
  }
}

}  // namespace lay::interpret::matrix
