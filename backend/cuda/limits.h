// What each GPU generation admits: the numbers that plans, launches and the emitter are checked against.
//
// Source: CUDA C++ Programming Guide, "Compute Capabilities", technical specifications per compute capability.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lay::cuda {

struct Target {
  std::string_view name;  // as the compiler takes it: "sm_90a"
  int major = 0, minor = 0;
  bool exact = false;                          // runs on this compute capability only (the names that end in 'a')
  int multiprocessors = 0;                     // of the largest part, for predictions
  std::int64_t shared_per_block = 0;           // bytes, with the opt-in
  std::int64_t shared_per_multiprocessor = 0;  // bytes
  int registers_per_thread = 255;
  int registers_per_multiprocessor = 65536;
  int threads_per_block = 1024;
  int threads_per_multiprocessor = 0;
  int blocks_per_multiprocessor = 0;
  int cluster = 1;  // blocks of a portable cluster
};

// Bytes of shared memory that a block gets without asking for more.
inline constexpr std::int64_t static_shared_limit = 48 * 1024;

// Blocks along x, y, z of a grid.
inline constexpr std::int64_t grid_limit[3] = {2147483647, 65535, 65535};

std::span<const Target> targets();

// The row of that name, or nothing.
const Target* find_target(std::string_view name);

// The best row that runs on a device of this compute capability, or nothing for one older than all rows.
const Target* target_for(int major, int minor);

}  // namespace lay::cuda
