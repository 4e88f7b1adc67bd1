// TMA: boxes of a tensor between global and shared memory (PTX ISA, cp.async.bulk.tensor). A load
// is on its way until no warp can go on without it: a warp that does not wait for it finds nothing.
// Elements outside the tensor are zero in a load, and a store leaves them out; the bytes of a whole
// box are counted.
#pragma once

#include "backend/interpret/warp.h"

namespace lay::interpret::tma {

// boxes[detail], by every lane at work. load: slot a holds the mbarrier's slot, slot b the mask of
// the cluster's blocks that get it, if there is one.
extern const Handler load;
extern const Handler store;

// The bulk stores of a warp in groups: commit them, and wait until at most `value` groups are being
// read.
extern const Handler commit;
extern const Handler wait;

// The oldest load arrives. False if there is none.
bool deliver(Cluster& cluster);
// At the end: nothing is on its way.
void check_idle(Cluster& cluster);

}  // namespace lay::interpret::tma
