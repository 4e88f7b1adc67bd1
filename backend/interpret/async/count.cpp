#include "backend/interpret/async/count.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backend/interpret/placement.h"
#include "backend/interpret/shadow.h"

namespace lay::interpret::count {
namespace {

// Learns what those knew that have counted before, and tells what this warp knows then: an acquire
// and a release in one (PTX ISA, atom.acq_rel).
void order(Warp& warp, ForeignTimes& told) {
  Cluster& cluster = *warp.cluster;
  const auto me = static_cast<std::size_t>(warp.actor);
  Knowledge& mine = cluster.knows[me];
  for (const auto& [number, times] : told) {
    if (number != cluster.number) continue;
    for (std::size_t v = 0; v < times.size(); ++v)
      mine.known[v] = std::max(mine.known[v], times[v]);
  }
  learn(mine.foreign, told);
  mine.foreign.erase(cluster.number);
  learn(told, mine.foreign);
  std::vector<std::uint32_t> known = mine.known;
  known[me] = std::max(known[me], cluster.clock[me]++);
  learn(told, {{cluster.number, std::move(known)}});
}

// On the host an integer has 4 bytes, or 8 in field mode.
std::int64_t add_one_to(std::byte* at, int bytes) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    const T more = value + 1;
    std::memcpy(at, &more, sizeof more);
    return static_cast<std::int64_t>(value);
  };
  return bytes == 8 ? as(std::int64_t{0}) : as(std::int32_t{0});
}

void add(Warp& warp, const Instruction& at) {
  const Access& access = warp.program->accesses[static_cast<std::size_t>(at.detail)];
  const BufferPlan& plan = warp.program->buffers[static_cast<std::size_t>(access.buffer)];
  std::int64_t offset[kLanes];
  offsets(warp, at, access, {}, offset);
  note_counted(warp, at, access, offset);
  const GlobalMemory& memory = (*warp.block->global)[static_cast<std::size_t>(plan.global)];
  auto* dst = slot<std::int64_t>(warp, at.dst);
  for_each_lane(warp.mask, [&](int lane) {
    const std::lock_guard lock(memory.counted->mutex);
    dst[lane] = add_one_to(memory.data + offset[lane] * plan.cell, plan.cell);
    if (dst[lane] == std::numeric_limits<std::int32_t>::max())
      stop(warp, at, Mask{1} << lane, FaultCode::overflow, "a count leaves s32");
    if (warp.program->checks) order(warp, memory.counted->known[{access.buffer, offset[lane]}]);
  });
}

}  // namespace

const Handler add_one = add;

}  // namespace lay::interpret::count
