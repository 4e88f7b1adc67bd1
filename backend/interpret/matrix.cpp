#include "backend/interpret/matrix.h"

#include <cstring>

#include "backend/interpret/access.h"
#include "backend/interpret/shadow.h"

namespace lay::interpret::matrix {
namespace {

constexpr int kRows = 8, kColumns = 8;

template <bool kLoad, bool kTranspose>
void move(Warp& warp, const Instruction& at) {
  if (warp.mask != ~Mask{0}) {
    stop(warp, at, ~warp.mask, FaultCode::barrier_divergence, "all lanes of a warp move matrices together");
  }
  const CopyPlan& plan = warp.program->copies[at.detail];
  const Access& memory = kLoad ? plan.src : plan.dst;
  const Access& held = kLoad ? plan.dst : plan.src;
  const int memory_mode = kLoad ? plan.src_mode : plan.dst_mode, held_mode = kLoad ? plan.dst_mode : plan.src_mode;
  const int matrices = plan.count / 2;
  // The lanes whose addresses count.
  const Mask addressing = matrices * kRows == kLanes ? ~Mask{0} : (Mask{1} << matrices * kRows) - 1;
  std::int64_t offset[kLanes];
  warp.mask = addressing;
  std::byte* base = vector_address(warp, at, memory, {memory_mode, kColumns}, !kLoad, offset);
  warp.mask = ~Mask{0};
  const BufferPlan& registers = warp.program->buffers[held.buffer];
  auto* rows = reinterpret_cast<std::uint16_t*>(warp.registers + registers.start * kLanes);
  for (int e = 0; e < plan.count; ++e) {
    const std::int64_t element = register_offset(warp, at, held, {held_mode, plan.count}, e);
    if (kLoad) {
      note_register_write(warp, registers.shadow + element);
    } else if (warp.program->checks) {
      note_register_read(warp, at, held, registers.shadow + element);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      const int major = lane / 4, minor = lane % 4 * 2 + e % 2;
      const int row = kTranspose ? minor : major, column = kTranspose ? major : minor;
      std::byte* there = base + (offset[e / 2 * kRows + row] + column) * 2;
      std::uint16_t* here = &rows[element * kLanes + lane];
      if (kLoad) {
        std::memcpy(here, there, 2);
      } else {
        std::memcpy(there, here, 2);
      }
    }
  }
}

}  // namespace

Handler copy(bool load, bool transpose) {
  if (load) return transpose ? move<true, true> : move<true, false>;
  return transpose ? move<false, true> : move<false, false>;
}

}  // namespace lay::interpret::matrix
