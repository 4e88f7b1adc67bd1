// What a GPU is like: the driver's word for it, and a few measurements of a second.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/gpu/gpu.h"

namespace lay::bench {

// A number that the driver does not tell, or that could not be measured, is 0.
struct MachineNumbers {
  int sms = 0;
  double hertz = 0;  // the highest clock of the SMs
  std::int64_t l2_bytes = 0;
  // Clusters of one to eight blocks that run at once where a block takes an SM
  // (cuOccupancyMaxActiveClusters).
  std::array<int, 8> clusters{};
  double launch = 0;       // seconds of a launch that does nothing, one behind the other
  double memory_rate = 0;  // bytes a second that a copy beyond L2 reads and writes
  double cache_rate = 0;   // bytes a second that a copy within L2 reads and writes
};

// Measures; each number is the median of rounds behind one that does not count. Throws DriverError.
MachineNumbers measure_machine(runtime::Gpu& gpu);

}  // namespace lay::bench
