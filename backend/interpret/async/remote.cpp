#include "backend/interpret/async/remote.h"

#include <array>
#include <cstring>
#include <utility>

#include "backend/interpret/access.h"
#include "backend/interpret/async/barriers.h"
#include "backend/interpret/shadow.h"

namespace lay::interpret::remote {
namespace {

constexpr int most_elements = 4;

void store_to_block(Warp& warp, const Instruction& at) {
  Cluster& cluster = *warp.cluster;
  const CopyPlan& plan = warp.program->copies[static_cast<size_t>(at.detail)];
  const Run to{plan.dst_mode, plan.count}, from{plan.src_mode, plan.count};
  std::int64_t offset[kLanes];
  offsets(warp, at, plan.dst, to, offset);
  check_alignment(warp, at, plan.dst, offset, plan.count);
  std::array<const std::byte*, most_elements> rows{};
  for (int e = 0; e < plan.count; ++e) {
    rows[static_cast<size_t>(e)] = register_row(warp, at, plan.src, from, e);
  }
  const std::int64_t* slots = as<std::int64_t>(warp.slots[at.a]);
  const std::int64_t* ranks = as<std::int64_t>(warp.slots[at.b]);
  const int bytes = warp.program->buffers[static_cast<size_t>(plan.dst.buffer)].cell;
  // Lanes that store to one block and one barrier go together.
  for (Mask left = warp.mask; left != 0;) {
    const int first = first_lane(left);
    Transfer made{
        &at, warp.actor, cluster.clock[static_cast<size_t>(warp.actor)], plan.dst.buffer, {}, -1,
        {},  {}};
    const int rank = static_cast<int>(ranks[first]);
    made.slot = barriers::mbarrier_slot(warp, at, plan.barrier, slots[first], rank, first);
    made.ranks = {rank};
    for_each_lane(left, [&](int lane) {
      if (ranks[lane] != ranks[first] || slots[lane] != slots[first]) return;
      left &= ~(Mask{1} << lane);
      for (int e = 0; e < plan.count; ++e) {
        made.offsets.push_back(offset[lane] + e);
        const std::byte* value = rows[static_cast<size_t>(e)] + lane * bytes;
        made.data.insert(made.data.end(), value, value + bytes);
        note_async_write(warp, at, plan.dst, cluster.blocks[static_cast<size_t>(rank)],
                         offset[lane] + e, lane, false);
      }
    });
    ++cluster.clock[static_cast<size_t>(warp.actor)];
    cluster.transfers.push_back(std::move(made));
  }
}

}  // namespace

const Handler store = store_to_block;

}  // namespace lay::interpret::remote
