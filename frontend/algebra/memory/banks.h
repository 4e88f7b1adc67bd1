#pragma once

// The cost of one access of a warp to a memory, by counting.
//
// Shared memory has `banks` banks of `bank_bytes` bytes; word w lies in bank w % banks. A warp's
// access runs in phases that would fill every bank once: with 32 banks of 4 bytes all 32 lanes
// together for 4 bytes a lane or fewer, half the warp for 8, a quarter for 16. In a phase lanes
// that want one word are served together, and each bank gives one word a wavefront: the phase takes
// as many wavefronts as the bank with the most different words.
//
//     addresses 0 4 8 ... 124, 4 bytes        1 wavefront
//     addresses 0 128 256 ... 3968, 4 bytes   32: all in bank 0
//
// Global memory is read and written in sectors of `sector_bytes`.
//
// The numbers of the language are those of stdlib/prelude.lay (shared_memory, global_memory); a
// test holds these defaults, which the planner and the interpreter use, against them.

#include <cstdint>
#include <span>
#include <vector>

namespace lay {

struct SharedMemory {
  int banks = 32;
  int bank_bytes = 4;
  int lanes = 32;

  // Phases of an access of `bytes` a lane.
  int phases(int bytes) const;
};

struct Wavefronts {
  int taken = 0;
  // One for each phase in which a lane takes part.
  int least = 0;
  int worst = 0;  // of one phase: an n-way conflict where n > 1
};

// `addresses` holds each lane's byte address, -1 for a lane that takes no part; at most `lanes` of
// them.
Wavefronts wavefronts(std::span<const int64_t> addresses, int bytes,
                      const SharedMemory& memory = {});

// The wavefronts of each phase.
std::vector<int> phase_wavefronts(std::span<const int64_t> addresses, int bytes,
                                  const SharedMemory& memory = {});

struct GlobalMemory {
  int sector_bytes = 32;
  int lanes = 32;
};

struct Sectors {
  int taken = 0;
  int least = 0;  // what the distinct bytes would fill
  int bytes = 0;  // distinct ones
};
Sectors sectors(std::span<const int64_t> addresses, int bytes, const GlobalMemory& memory = {});

}  // namespace lay
