// Shared memory has 32 banks of 4 bytes. A warp's access is served in wavefronts; in each, a bank gives one word, to
// any number of lanes. Accesses of 8 bytes a lane are served a half warp at a time, of 16 bytes a quarter (CUDA C++
// Programming Guide, shared memory; NVIDIA's profiler counts the same way).
#pragma once

#include <cstdint>

#include "backend/interpret/lanes.h"

namespace lay::interpret {

struct Wavefronts {
  int taken, least;
};

// Of one access: `bytes` from byte address[lane] of each lane of the mask.
Wavefronts wavefronts(const std::int64_t* address, int bytes, Mask mask);

}  // namespace lay::interpret
