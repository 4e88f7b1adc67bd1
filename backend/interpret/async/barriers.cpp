#include "backend/interpret/async/barriers.h"

#include <algorithm>
#include <utility>

namespace lay::interpret::barriers {
namespace {

const ir::Barrier& declaration(const Cluster& cluster, const Arrivals& at) {
  return cluster.program->kernel->barriers[at.barrier];
}

std::string name_of(const Cluster& cluster, const Arrivals& at) {
  const ir::Barrier& declared = declaration(cluster, at);
  const auto& first = cluster.program->first_slot[at.barrier];
  const auto slot = (&at - cluster.arrivals.data()) % cluster.program->barrier_slots - first;
  return "`" + declared.name + (declared.slots > 1 ? "[" + std::to_string(slot) + "]" : "") + "`" +
         (cluster.blocks.size() > 1 ? " of block " + std::to_string(at.rank) + " of the cluster"
                                    : "");
}

bool is_mbarrier(const Cluster& cluster, const Arrivals& at) {
  return declaration(cluster, at).kind == ir::BarrierKind::mbarrier;
}

std::int64_t expected(const Cluster& cluster, const Arrivals& at) {
  const ir::Barrier& declared = declaration(cluster, at);
  const std::int64_t threads = cluster.program->kernel->launch.threads;
  switch (declared.kind) {
    case ir::BarrierKind::block:
      return threads;
    case ir::BarrierKind::cluster:
      return threads * static_cast<std::int64_t>(cluster.blocks.size());
    case ir::BarrierKind::named:
    case ir::BarrierKind::mbarrier:
      break;
  }
  return declared.count;
}

void all_arrive(Warp& warp, const Instruction& at) {
  if (warp.mask == warp.all) return;
  stop(warp, at, warp.all & ~warp.mask, FaultCode::barrier_divergence,
       "expected all lanes of the warp at this barrier, and this one is not");
}

std::int64_t slot_of(Warp& warp, const Instruction& at, int lane) {
  const std::int64_t slot = at.a < 0 ? 0 : as<std::int64_t>(warp.slots[at.a])[lane];
  if (slot < 0 || slot >= warp.program->kernel->barriers[at.detail].slots) {
    stop(warp, at, Mask{1} << lane, FaultCode::out_of_bounds,
         "expected a slot of the barrier, got " + std::to_string(slot));
  }
  return slot;
}

// An arrival releases what the warp has done: the barrier learns the clocks that the warp knows and
// its own, and hands them to the warps that it lets go on (release and acquire of PTX's barriers).
// The clock then moves on, so that later accesses are told apart from earlier ones.
void tell(Warp& warp, Arrivals& at) {
  Cluster& cluster = *warp.cluster;
  const auto me = static_cast<size_t>(warp.actor);
  at.knowledge.learn(cluster.knows[me]);
  at.knowledge.known[me] = std::max(at.knowledge.known[me], cluster.clock[me]);
  ++cluster.clock[me];
}

void wait_at(Warp& warp, const Instruction& at, Arrivals& arrivals, int parity) {
  warp.barrier = static_cast<int>(&arrivals - warp.cluster->arrivals.data());
  warp.parity = parity;
  warp.statement = at.statement;
  warp.state = Warp::State::waiting;
}

void go_on(Cluster& cluster, Warp& warp, const Arrivals& at) {
  cluster.knows[static_cast<size_t>(warp.actor)].learn(at.knowledge);
  warp.state = Warp::State::running;
  warp.barrier = warp.parity = -1;
}

template <class Wakes>
void release(Cluster& cluster, Arrivals& at, Wakes wakes) {
  const auto index = static_cast<int>(&at - cluster.arrivals.data());
  for (Block& block : cluster.blocks) {
    for (Warp& warp : block.warps) {
      if (warp.state == Warp::State::waiting && warp.barrier == index && wakes(warp))
        go_on(cluster, warp, at);
    }
  }
}

// ---- block, named, cluster

Arrivals& arrive_here(Warp& warp, const Instruction& at) {
  all_arrive(warp, at);
  Arrivals& arrivals =
      warp.cluster->at(warp.block->rank, at.detail, slot_of(warp, at, first_lane(warp.mask)));
  tell(warp, arrivals);
  arrivals.threads += threads_of(warp);
  return arrivals;
}

void reach(Warp& warp, const Instruction& at) {
  wait_at(warp, at, arrive_here(warp, at), -1);
}

void reach_with_vote(Warp& warp, const Instruction& at) {
  Arrivals& arrivals = arrive_here(warp, at);
  const std::int64_t* value = slot<std::int64_t>(warp, at.b);
  for_each_lane(warp.mask, [&](int lane) { arrivals.any = arrivals.any || value[lane] != 0; });
  wait_at(warp, at, arrivals, -1);
}

// No phase is complete between the one that the warp has waited for and this: it would have to
// arrive.
void read_outcome(Warp& warp, const Instruction& at) {
  const std::int64_t slot_at = slot_of(warp, at, first_lane(warp.mask));
  const Arrivals& arrivals = warp.cluster->at(warp.block->rank, at.detail, slot_at);
  std::fill_n(slot<std::int64_t>(warp, at.dst), kLanes, arrivals.was_any ? 1 : 0);
}

void arrive_only(Warp& warp, const Instruction& at) {
  arrive_here(warp, at);
}

void arrive_at_cluster(Warp& warp, const Instruction& at) {
  all_arrive(warp, at);
  Arrivals& arrivals = warp.cluster->at(0, at.detail, 0);
  if (warp.phase == arrivals.phase) {
    stop(warp, at, warp.mask, FaultCode::barrier_misuse,
         "expected a wait between two arrivals at the cluster's barrier, got a second arrival");
  }
  tell(warp, arrivals);
  arrivals.threads += threads_of(warp);
  warp.phase = arrivals.phase;
}

void wait_for_cluster(Warp& warp, const Instruction& at) {
  all_arrive(warp, at);
  Arrivals& arrivals = warp.cluster->at(0, at.detail, 0);
  if (warp.phase < 0) {
    stop(warp, at, warp.mask, FaultCode::barrier_misuse,
         "expected an arrival at the cluster's barrier before this wait");
  }
  if (warp.phase < arrivals.phase) {
    go_on(*warp.cluster, warp, arrivals);
  } else {
    wait_at(warp, at, arrivals, -1);
  }
}

void reach_cluster(Warp& warp, const Instruction& at) {
  arrive_at_cluster(warp, at);
  wait_for_cluster(warp, at);
}

// ---- mbarrier
//
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". A phase is complete
// when `count` arrivals have been made and the transaction count is 0: expect_tx adds bytes to it,
// a copy that completes takes its bytes away. `bytes` may be negative for a while, where a copy
// arrives before its bytes were expected. A wait names a parity p and passes when the phase in
// progress has the parity 1 - p, for then the last completed one had p. Before the first phase is
// complete a wait for parity 1 passes: a producer's ring begins with that parity.

void complete(Cluster& cluster, Arrivals& at) {
  if (at.threads < expected(cluster, at) || at.bytes != 0) return;
  at.threads = 0;
  const auto parity = static_cast<int>(at.phase++ % 2);
  release(cluster, at, [&](const Warp& warp) { return warp.parity == parity; });
}

// Returns the mbarrier that a lane names. It must be initialised, and by another warp only with a
// fence.mbarrier_init and a barrier in between.
Arrivals& mbarrier(Warp& warp, const Instruction& at, int barrier, std::int64_t slot, int rank,
                   int lane) {
  Cluster& cluster = *warp.cluster;
  const Mask me = Mask{1} << lane;
  if (rank < 0 || rank >= static_cast<int>(cluster.blocks.size())) {
    stop(warp, at, me, FaultCode::out_of_bounds,
         "expected the rank of a block of the cluster, got " + std::to_string(rank));
  }
  check_targets(warp, at, {rank});
  Arrivals& made = cluster.at(rank, barrier, slot);
  if (!made.initialised) {
    stop(warp, at, me, FaultCode::barrier_misuse,
         "expected an initialised mbarrier, and " + name_of(cluster, made) + " is not");
  }
  if (made.initialiser == warp.actor) return made;
  if (!made.announced) {
    stop(warp, at, me, FaultCode::missing_fence,
         "expected a fence mbarrier_init after the initialisation of " + name_of(cluster, made));
  }
  const auto& known = cluster.knows[static_cast<size_t>(warp.actor)].known;
  if (known[static_cast<size_t>(made.initialiser)] < made.initialised_at) {
    stop(warp, at, me, FaultCode::race,
         "expected a barrier between the initialisation of " + name_of(cluster, made) +
             " and this access");
  }
  return made;
}

void initialise(Warp& warp, const Instruction& at) {
  Cluster& cluster = *warp.cluster;
  for_each_lane(warp.mask, [&](int lane) {
    Arrivals& made = cluster.at(warp.block->rank, at.detail, slot_of(warp, at, lane));
    if (made.initialised) {
      stop(warp, at, Mask{1} << lane, FaultCode::barrier_misuse,
           "expected one initialisation of mbarrier " + name_of(cluster, made) + ", got a second");
    }
    made.initialised = true;
    made.announced = false;
    made.initialiser = warp.actor;
    made.initialised_at = cluster.clock[static_cast<size_t>(warp.actor)];
    made.threads = made.phase = made.bytes = 0;
  });
}

void end_mbarrier(Warp& warp, const Instruction& at) {
  for_each_lane(warp.mask, [&](int lane) {
    mbarrier(warp, at, at.detail, slot_of(warp, at, lane), warp.block->rank, lane).initialised =
        false;
  });
}

void arrive_once(Warp& warp, const Instruction& at, Arrivals& to, int lane, std::int64_t bytes) {
  Cluster& cluster = *warp.cluster;
  if (to.threads >= expected(cluster, to)) {
    stop(warp, at, Mask{1} << lane, FaultCode::barrier_misuse,
         "mbarrier " + name_of(cluster, to) + ": expected " +
             std::to_string(expected(cluster, to)) + " arrivals in a phase, got one more");
  }
  tell(warp, to);
  to.bytes += bytes;
  ++to.threads;
  complete(cluster, to);
}

void arrive_at_mbarrier(Warp& warp, const Instruction& at) {
  const std::int64_t* rank = slot<std::int64_t>(warp, at.b);
  for_each_lane(warp.mask, [&](int lane) {
    const int where = rank == nullptr ? warp.block->rank : static_cast<int>(rank[lane]);
    arrive_once(warp, at, mbarrier(warp, at, at.detail, slot_of(warp, at, lane), where, lane), lane,
                0);
  });
}

void expect_bytes(Warp& warp, const Instruction& at) {
  const std::int64_t* bytes = slot<std::int64_t>(warp, at.b);
  for_each_lane(warp.mask, [&](int lane) {
    if (bytes[lane] < 0 || bytes[lane] >= 1 << 20) {
      stop(warp, at, Mask{1} << lane, FaultCode::bytes,
           "expected 0 to 1048575 bytes, got " + std::to_string(bytes[lane]));
    }
    Arrivals& to = mbarrier(warp, at, at.detail, slot_of(warp, at, lane), warp.block->rank, lane);
    arrive_once(warp, at, to, lane, bytes[lane]);
  });
}

void wait_for_phase(Warp& warp, const Instruction& at) {
  const int lane = first_lane(warp.mask);
  const auto parity = static_cast<int>(as<std::int64_t>(warp.slots[at.b])[lane] & 1);
  Arrivals& on = mbarrier(warp, at, at.detail, slot_of(warp, at, lane), warp.block->rank, lane);
  if (on.phase % 2 !=
      parity) {  // the phase at work has the other parity, so the last completed one has this one
    go_on(*warp.cluster, warp, on);
  } else {
    wait_at(warp, at, on, parity);
  }
}

// ---- fences

// fence.mbarrier_init makes initialisations of this warp visible to the cluster and to the async
// proxy.
void announce_mbarriers(Warp& warp, const Instruction&) {
  for (Arrivals& each : warp.cluster->arrivals) {
    if (each.initialised && each.initialiser == warp.actor) each.announced = true;
  }
}

// fence.proxy.async: what this warp knows of, its own stores included, the async proxy sees from
// here on.
void fence_async_proxy(Warp& warp, const Instruction&) {
  Cluster& cluster = *warp.cluster;
  const auto me = static_cast<size_t>(warp.actor);
  Knowledge& knowledge = cluster.knows[me];
  for (size_t v = 0; v < knowledge.known.size(); ++v) {
    knowledge.visible[v] = std::max(knowledge.visible[v], knowledge.known[v]);
  }
  knowledge.visible[me] = cluster.clock[me]++;
}

// ---- messages

std::string state_of(const Cluster& cluster, const Arrivals& at) {
  std::string text = name_of(cluster, at) + " expected " + std::to_string(expected(cluster, at)) +
                     (is_mbarrier(cluster, at) ? " arrivals" : " threads") + ", got " +
                     std::to_string(at.threads);
  if (at.bytes > 0) text += ", and expects " + std::to_string(at.bytes) + " more bytes";
  if (at.bytes < 0) text += ", and got " + std::to_string(-at.bytes) + " more bytes than expected";
  return text;
}

}  // namespace

const Handler sync = reach;
const Handler arrive_named = arrive_only;
const Handler vote = reach_with_vote;
const Handler outcome = read_outcome;
const Handler cluster_arrive = arrive_at_cluster;
const Handler cluster_wait = wait_for_cluster;
const Handler cluster_sync = reach_cluster;
const Handler init = initialise;
const Handler invalidate = end_mbarrier;
const Handler arrive = arrive_at_mbarrier;
const Handler arrive_expect_bytes = expect_bytes;
const Handler wait = wait_for_phase;
const Handler announce = announce_mbarriers;
const Handler fence_proxy = fence_async_proxy;

int mbarrier_slot(Warp& warp, const Instruction& at, int barrier, std::int64_t slot, int rank,
                  int lane) {
  if (slot < 0 || slot >= warp.program->kernel->barriers[barrier].slots) {
    stop(warp, at, Mask{1} << lane, FaultCode::out_of_bounds,
         "expected a slot of the barrier, got " + std::to_string(slot));
  }
  mbarrier(warp, at, barrier, slot, rank, lane);
  return warp.program->first_slot[barrier] + static_cast<int>(slot);
}

void check_targets(const Warp& warp, const Instruction& at, const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    if (rank == warp.block->rank) continue;
    const std::vector<Warp>& warps = warp.cluster->blocks[static_cast<size_t>(rank)].warps;
    if (std::any_of(warps.begin(), warps.end(),
                    [](const Warp& each) { return each.state != Warp::State::done; })) {
      continue;
    }
    stop(warp, at, warp.all, FaultCode::block_ended,
         "expected block " + std::to_string(rank) +
             " of the cluster still running, and it has ended");
  }
}

void bytes_arrive(Cluster& cluster, Arrivals& at, std::int64_t bytes) {
  at.bytes -= bytes;
  complete(cluster, at);
}

bool release_complete(Cluster& cluster) {
  bool any = false;
  for (Arrivals& at : cluster.arrivals) {
    if (is_mbarrier(cluster, at) || at.threads == 0 || at.threads < expected(cluster, at)) continue;
    const auto index = static_cast<int>(&at - cluster.arrivals.data());
    const Warp* first = nullptr;
    for (const Warp& warp : cluster.blocks[static_cast<size_t>(at.rank)].warps) {
      if (declaration(cluster, at).kind != ir::BarrierKind::block) break;
      if (warp.state != Warp::State::waiting || warp.barrier != index) continue;
      if (first == nullptr) first = &warp;
      if (warp.statement == first->statement) continue;
      stop(warp, warp.statement, FaultCode::barrier_divergence,
           "this thread waits here while thread " + std::to_string(first->index * kLanes) +
               " waits at another statement of the same barrier");
    }
    at.threads = 0;
    ++at.phase;
    at.was_any = std::exchange(at.any, false);
    release(cluster, at, [](const Warp&) { return true; });
    any = true;
  }
  return any;
}

void stuck(Cluster& cluster) {
  const Warp* waiting = nullptr;
  const Warp* done = nullptr;
  for (int w = cluster.actors(); w-- > 0;) {
    const Warp& warp = cluster.warp(w);
    (warp.state == Warp::State::waiting ? waiting : done) = &warp;
  }
  for (int w = cluster.actors();
       w-- > 0;) {  // rather one whose barrier has all arrivals and not the bytes
    const Warp& warp = cluster.warp(w);
    if (warp.state != Warp::State::waiting || warp.barrier < 0) continue;
    const Arrivals& on = cluster.arrivals[static_cast<size_t>(warp.barrier)];
    if (is_mbarrier(cluster, on) && on.bytes != 0) waiting = &warp;
  }
  if (waiting->barrier < 0) {
    stop(*waiting, waiting->statement, FaultCode::deadlock,
         "expected all warps of the warpgroup to commit the multiplications that this warp waits "
         "for: "
         "it blocks forever");
  }
  const Arrivals& at = cluster.arrivals[static_cast<size_t>(waiting->barrier)];
  if (is_mbarrier(cluster, at)) {
    const auto code = at.bytes != 0 && at.threads == expected(cluster, at) ? FaultCode::bytes
                                                                           : FaultCode::deadlock;
    stop(*waiting, waiting->statement, code,
         "this wait for parity " + std::to_string(waiting->parity) + " blocks forever: in phase " +
             std::to_string(at.phase) + " mbarrier " + state_of(cluster, at) +
             ", and every other warp waits or has ended");
  }
  if (done != nullptr) {
    stop(*waiting, waiting->statement, FaultCode::barrier_divergence,
         "this wait blocks forever: barrier " + state_of(cluster, at) + ", and thread " +
             std::to_string(done->index * kLanes) + " has ended without arriving");
  }
  stop(*waiting, waiting->statement, FaultCode::deadlock,
       "this wait blocks forever: barrier " + state_of(cluster, at) + ", and every warp waits");
}

void check_idle(Cluster& cluster) {
  for (const Arrivals& at : cluster.arrivals) {
    if (at.bytes == 0 || !at.initialised) continue;
    stop(cluster.blocks[static_cast<size_t>(at.rank)].warps[0], -1, FaultCode::bytes,
         "the kernel ends while mbarrier " + state_of(cluster, at));
  }
}

}  // namespace lay::interpret::barriers
