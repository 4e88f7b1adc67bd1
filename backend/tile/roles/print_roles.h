// The third and the fourth pass as text, for readers; nothing reads it back, since both follow from
// the program.
//
//   pipelines of gemm
//     pipeline k: tiles of k in 4 stages, 2 ahead, given back a round late
//       tile_A by TMA, a part from each of 2 blocks
//       tile_B by TMA
//     pipeline outputs: parts of the sums in 2 stages, 1 ahead, 8 apart
//       staged_Y to global memory by TMA
//
//   roles of gemm
//     role producer: threads 0 to 127, 40 registers
//       for m in grid step 128 {
//         ...
//     role consumer: threads 128 to 383, 232 registers, 2 groups of 128 take tiles in turn
//       ...
//     barrier drained: producer waits until a stage of k has been read
//       mbarrier over the cluster, 4 slots, 2 arrivals: 1 warpgroup of consumer in each of 2 blocks
//     ring load of producer: the stage of k to write, 4 stages from phase 1
//
// `8 apart`: 8 warps or warpgroups have such stages each.
#pragma once

#include <string>

#include "backend/tile/roles/specialise.h"

namespace lay::tile {

std::string print_pipelines(const Program& program, const std::vector<Pipeline>& pipelines);
// Roles, barriers and rings, without the pipelines.
std::string print_roles(const Program& program, const Specialised& specialised);

}  // namespace lay::tile
