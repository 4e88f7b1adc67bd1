#include "backend/interpret/access.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "backend/interpret/placement.h"
#include "backend/interpret/shadow.h"
#include "backend/interpret/values/codec.h"
#include "backend/interpret/warp.h"
#include "frontend/algebra/memory/banks.h"

namespace lay::interpret {
namespace {

using ir::Space;
constexpr int kLongest = 32;  // elements of a vector access

const BufferPlan& plan_of(const Warp& warp, const Access& access) {
  return warp.program->buffers[access.buffer];
}

std::byte* address(const Warp& warp, const BufferPlan& plan) {
  if (plan.space == Space::global) return (*warp.block->global)[plan.global].data;
  return warp.block->shared.data() + plan.place;
}

template <class Bits>
Bits* memory(const Warp& warp, const BufferPlan& plan) {
  return reinterpret_cast<Bits*>(address(warp, plan));
}

// The row of 32 lanes of an element of a register buffer.
template <class Bits>
Bits* row(const Warp& warp, const BufferPlan& plan, std::int64_t element) {
  return reinterpret_cast<Bits*>(warp.registers + plan.place * kLanes) + element * kLanes;
}

// Memory holds elements at any address that the host gave it, so they are moved by memcpy.
template <class Bits>
Bits take(const Bits* from) {
  Bits bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}
template <class Bits>
void put(Bits* to, Bits bits) {
  std::memcpy(to, &bits, sizeof bits);
}

// The wavefronts or sectors of an access, where they are counted.
void count_access(Warp& warp, const Instruction& at, const Access& access,
                  const std::int64_t* offset, int count) {
  if (!warp.program->bank_conflicts || at.value < 0) return;
  const auto& counted = warp.program->banks;
  auto entry = static_cast<std::size_t>(at.value);
  if (entry < counted.size() && counted[entry].buffer != access.buffer) ++entry;
  if (entry >= counted.size() || counted[entry].buffer != access.buffer) return;
  const BufferPlan& plan = plan_of(warp, access);
  // A tensor in global memory begins at a sector; a buffer in shared memory has its place there.
  const std::int64_t start = plan.space == Space::global ? 0 : plan.start;
  std::array<std::int64_t, kLanes> address;
  address.fill(-1);
  for_each_lane(warp.mask, [&](int i) {
    address[static_cast<std::size_t>(i)] = start + offset[i] * plan.bits / 8;
  });
  const int bytes = static_cast<int>(plan.bytes(count));
  BankConflicts& sum = warp.block->banks[entry];
  sum.accesses += 1;
  const auto add = [&](int taken, int least) {
    sum.wavefronts += taken;
    sum.least += least;
    sum.worst = std::max(sum.worst, taken);
  };
  if (plan.space == Space::global) {
    const lay::Sectors met = sectors(address, bytes);
    add(met.taken, met.least);
  } else {
    const Wavefronts met = wavefronts(address, bytes);
    add(met.taken, met.least);
  }
}

// ---- one element

template <class C>
void load_memory(Warp& warp, const Instruction& at) {
  const Access& access = warp.program->accesses[at.detail];
  std::int64_t offset[kLanes];
  offsets(warp, at, access, {}, offset);
  note_read(warp, at, access, offset, 1);
  const BufferPlan& plan = plan_of(warp, access);
  count_access(warp, at, access, offset, 1);
  const auto* from = memory<typename C::Bits>(warp, plan);
  auto* dst = as<typename C::Value>(warp.slots[at.dst]);
  for_each_lane(warp.mask, [&](int i) { dst[i] = C::decode(take(from + offset[i])); });
}

template <class C>
void store_memory(Warp& warp, const Instruction& at) {
  const Access& access = warp.program->accesses[at.detail];
  std::int64_t offset[kLanes];
  offsets(warp, at, access, {}, offset);
  note_write(warp, at, access, offset, 1);
  const BufferPlan& plan = plan_of(warp, access);
  count_access(warp, at, access, offset, 1);
  auto* to = memory<typename C::Bits>(warp, plan);
  const auto* value = as<typename C::Value>(warp.slots[at.a]);
  for_each_lane(warp.mask, [&](int i) { put(to + offset[i], C::encode(value[i])); });
}

template <class C>
void load_registers(Warp& warp, const Instruction& at) {
  const Access& access = warp.program->accesses[at.detail];
  const BufferPlan& plan = plan_of(warp, access);
  const std::int64_t element = register_offset(warp, at, access, {}, 0);
  if (warp.program->checks) note_register_read(warp, at, access, plan.shadow + element);
  const auto* from = row<typename C::Bits>(warp, plan, element);
  auto* dst = as<typename C::Value>(warp.slots[at.dst]);
  for (int i = 0; i < kLanes; ++i) dst[i] = C::decode(from[i]);
}

template <class C>
void store_registers(Warp& warp, const Instruction& at) {
  const Access& access = warp.program->accesses[at.detail];
  const BufferPlan& plan = plan_of(warp, access);
  const std::int64_t element = register_offset(warp, at, access, {}, 0);
  note_register_write(warp, at, access.buffer, plan.shadow + element);
  auto* to = row<typename C::Bits>(warp, plan, element);
  const auto* value = as<typename C::Value>(warp.slots[at.a]);
  for_each_lane(warp.mask, [&](int i) { to[i] = C::encode(value[i]); });
}

template <class C>
void fill_registers(Warp& warp, const Instruction& at) {
  const BufferPlan& plan = warp.program->buffers[at.detail];
  const auto* value = as<typename C::Value>(warp.slots[at.a]);
  typename C::Bits bits[kLanes];
  for (int i = 0; i < kLanes; ++i) bits[i] = C::encode(value[i]);
  for (std::int64_t e = 0; e < plan.placement.cosize; ++e) {
    note_register_write(warp, at, at.detail, plan.shadow + e);
    auto* to = row<typename C::Bits>(warp, plan, e);
    for (int i = 0; i < kLanes; ++i) to[i] = (warp.mask >> i & 1) != 0 ? bits[i] : to[i];
  }
}

// ---- vectors: the elements of a copy as rows of 32 lanes

template <class Bits>
using Rows = std::array<Bits*, kLongest>;

// Where the elements of a side in registers lie; reading checks that they are there.
template <class Bits>
Rows<Bits> register_rows(Warp& warp, const Instruction& at, const Access& access, Run run,
                         bool written) {
  const BufferPlan& plan = plan_of(warp, access);
  Rows<Bits> rows{};
  for (int e = 0; e < run.count; ++e) {
    const std::int64_t element = register_offset(warp, at, access, run, e);
    if (written) {
      note_register_write(warp, at, access.buffer, plan.shadow + element);
    } else if (warp.program->checks) {
      note_register_read(warp, at, access, plan.shadow + element);
    }
    rows[e] = row<Bits>(warp, plan, element);
  }
  return rows;
}

template <class Bits>
void gather(Warp& warp, const Bits* from, const std::int64_t* offset, const Rows<Bits>& rows,
            int count) {
  if (warp.mask == ~Mask{0}) {
    for (int i = 0; i < kLanes; ++i) {
      for (int e = 0; e < count; ++e) rows[e][i] = take(from + offset[i] + e);
    }
    return;
  }
  for_each_lane(warp.mask, [&](int i) {
    for (int e = 0; e < count; ++e) rows[e][i] = take(from + offset[i] + e);
  });
}

template <class Bits>
void scatter(Warp& warp, Bits* to, const std::int64_t* offset, const Rows<Bits>& rows, int count) {
  for_each_lane(warp.mask, [&](int i) {
    for (int e = 0; e < count; ++e) put(to + offset[i] + e, rows[e][i]);
  });
}

template <class Bits>
void write_rows(Warp& warp, const Instruction& at, const CopyPlan& plan, const Rows<Bits>& rows) {
  const Run run{plan.dst_mode, plan.count};
  if (plan_of(warp, plan.dst).space == Space::registers) {
    const Rows<Bits> to = register_rows<Bits>(warp, at, plan.dst, run, true);
    for (int e = 0; e < plan.count; ++e) {
      for_each_lane(warp.mask, [&](int i) { to[e][i] = rows[e][i]; });
    }
    return;
  }
  std::int64_t offset[kLanes];
  Bits* to = reinterpret_cast<Bits*>(vector_address(warp, at, plan.dst, run, true, offset));
  scatter(warp, to, offset, rows, plan.count);
}

// Rows of their own, for what passes through.
template <class Bits>
struct Passing {
  Bits storage[kLongest][kLanes] = {};
  Rows<Bits> rows{};
  Passing() {
    for (int e = 0; e < kLongest; ++e) rows[e] = storage[e];
  }
};

template <class Bits>
const Bits* source(Warp& warp, const Instruction& at, const CopyPlan& plan, std::int64_t* offset) {
  const Run run{plan.src_mode, plan.count};
  return reinterpret_cast<const Bits*>(vector_address(warp, at, plan.src, run, false, offset));
}

template <class Bits>
void memory_to_registers(Warp& warp, const Instruction& at) {
  const CopyPlan& plan = warp.program->copies[at.detail];
  std::int64_t offset[kLanes];
  const Bits* from = source<Bits>(warp, at, plan, offset);
  const Rows<Bits> to = register_rows<Bits>(warp, at, plan.dst, {plan.dst_mode, plan.count}, true);
  gather(warp, from, offset, to, plan.count);
}

template <class Bits>
void registers_to_any(Warp& warp, const Instruction& at) {
  const CopyPlan& plan = warp.program->copies[at.detail];
  write_rows(warp, at, plan,
             register_rows<Bits>(warp, at, plan.src, {plan.src_mode, plan.count}, false));
}

template <class Bits>
void memory_to_memory(Warp& warp, const Instruction& at) {
  const CopyPlan& plan = warp.program->copies[at.detail];
  std::int64_t offset[kLanes];
  const Bits* from = source<Bits>(warp, at, plan, offset);
  Passing<Bits> passing;
  gather(warp, from, offset, passing.rows, plan.count);
  write_rows(warp, at, plan, passing.rows);
}

template <class Bits>
void zeros_to_any(Warp& warp, const Instruction& at) {
  const Passing<Bits> zeros;
  write_rows(warp, at, warp.program->copies[at.detail], zeros.rows);
}

template <class Bits>
Handler copy_handler(Space dst, Space src) {
  if (src == Space::registers) return registers_to_any<Bits>;
  return dst == Space::registers ? memory_to_registers<Bits> : memory_to_memory<Bits>;
}

}  // namespace

void check_alignment(Warp& warp, const Instruction& at, const Access& access,
                     const std::int64_t* offset, int count) {
  for_each_lane(warp.mask, [&](int lane) {
    if (offset[lane] % count == 0) return;
    Fault details;
    details.buffer = warp.program->kernel->buffers[access.buffer].name;
    details.coordinate = coordinate_of(warp, access, lane);
    const BufferPlan& plan = plan_of(warp, access);
    const std::string bytes = std::to_string(plan.bytes(count));
    stop(warp, at, Mask{1} << lane, FaultCode::misaligned,
         "a vector of " + bytes + " bytes of `" + details.buffer + "` starts at byte " +
             std::to_string(offset[lane] * plan.bits / 8) + ", expected a multiple of " + bytes,
         details);
  });
}

std::byte* vector_address(Warp& warp, const Instruction& at, const Access& access, Run run,
                          bool written, std::int64_t* offset) {
  offsets(warp, at, access, run, offset);
  if (run.count > 1) check_alignment(warp, at, access, offset, run.count);
  if (written) {
    note_write(warp, at, access, offset, run.count);
  } else {
    note_read(warp, at, access, offset, run.count);
  }
  const BufferPlan& plan = plan_of(warp, access);
  count_access(warp, at, access, offset, run.count);
  return address(warp, plan);
}

const std::byte* register_row(Warp& warp, const Instruction& at, const Access& access, Run run,
                              int e) {
  const BufferPlan& plan = plan_of(warp, access);
  const std::int64_t element = register_offset(warp, at, access, run, e);
  if (warp.program->checks) note_register_read(warp, at, access, plan.shadow + element);
  return warp.registers + (plan.place + element * plan.cell) * kLanes;
}

Handler load(Space space, ElementType element, Arithmetic arithmetic) {
  return with_codec(element, arithmetic, [&](auto codec) -> Handler {
    return space == Space::registers ? load_registers<decltype(codec)>
                                     : load_memory<decltype(codec)>;
  });
}

Handler store(Space space, ElementType element, Arithmetic arithmetic) {
  return with_codec(element, arithmetic, [&](auto codec) -> Handler {
    return space == Space::registers ? store_registers<decltype(codec)>
                                     : store_memory<decltype(codec)>;
  });
}

Handler copy(Space dst, Space src, int bytes) {
  switch (bytes) {
    case 1:
      return copy_handler<std::uint8_t>(dst, src);
    case 2:
      return copy_handler<std::uint16_t>(dst, src);
    case 4:
      return copy_handler<std::uint32_t>(dst, src);
    default:
      return copy_handler<std::uint64_t>(dst, src);
  }
}

Handler copy_zeros(int bytes) {
  switch (bytes) {
    case 1:
      return zeros_to_any<std::uint8_t>;
    case 2:
      return zeros_to_any<std::uint16_t>;
    case 4:
      return zeros_to_any<std::uint32_t>;
    default:
      return zeros_to_any<std::uint64_t>;
  }
}

Handler fill(ElementType element, Arithmetic arithmetic) {
  return with_codec(element, arithmetic,
                    [](auto codec) -> Handler { return fill_registers<decltype(codec)>; });
}

}  // namespace lay::interpret
