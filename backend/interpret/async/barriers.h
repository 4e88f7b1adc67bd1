// Barriers of every kind: which threads have arrived, which wait, and what those that pass know.
//
// block, named, cluster: a phase is complete when all that are expected have arrived; then it
// starts anew. mbarrier (PTX ISA, mbarrier): a phase is complete when `count` arrivals have been
// made and as many bytes have been copied as were expected. A wait names a parity and passes when
// the phase of that parity is the last completed one.
#pragma once

#include "backend/interpret/warp.h"

namespace lay::interpret::barriers {

// Arrives at barrier `detail`, at the slot that slot `a` holds if there is one, and waits;
// arrive_named does not wait.
extern const Handler sync;
extern const Handler arrive_named;
// sync, with the truth of slot b; then slot dst <- whether any thread had one that holds.
extern const Handler vote;
extern const Handler outcome;
// The same for the cluster's barrier: arrives, waits for the phase at which it arrived, or both.
extern const Handler cluster_arrive;
extern const Handler cluster_wait;
extern const Handler cluster_sync;

// mbarrier `detail` at slot a: each lane at work acts once.
extern const Handler init;
extern const Handler invalidate;
// At the block whose rank slot b holds, if there is one.
extern const Handler arrive;
// Slot b: the bytes.
extern const Handler arrive_expect_bytes;
// Slot b: the parity.
extern const Handler wait;

// fence mbarrier_init: what this warp has initialised may be used by others.
extern const Handler announce;
// fence proxy_async: what this thread knows is known to the async proxy.
extern const Handler fence_proxy;

// The mbarrier that a copy completes on, checked: initialised and announced. Its slot among those
// of a block.
int mbarrier_slot(Warp& warp, const Instruction& at, int barrier, std::int64_t slot, int rank,
                  int lane);
// Checks that the blocks of the cluster with these ranks have not ended, before something is sent
// to them: a block that has ended has no shared memory any more.
void check_targets(const Warp& warp, const Instruction& at, const std::vector<int>& ranks);
// Takes arrived bytes from the transaction count. Warps that wait for the phase that this completes
// go on.
void bytes_arrive(Cluster& cluster, Arrivals& at, std::int64_t bytes);

// Releases every barrier that all have reached. False if there was none.
bool release_complete(Cluster& cluster);
// Reports a deadlock: no warp runs and no copy is in flight. Names a warp that waits and what its
// barrier lacks.
[[noreturn]] void stuck(Cluster& cluster);
// At the end: no barrier expects bytes that never came.
void check_idle(Cluster& cluster);

}  // namespace lay::interpret::barriers
