#include "backend/cuda/limits.h"

namespace lay::cuda {
namespace {

constexpr std::int64_t KB = 1024;

constexpr Target rows[] = {
    {.name = "sm_80",
     .major = 8,
     .minor = 0,
     .multiprocessors = 108,
     .shared_per_block = 163 * KB,
     .shared_per_multiprocessor = 164 * KB,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 32},
    {.name = "sm_86",
     .major = 8,
     .minor = 6,
     .multiprocessors = 84,
     .shared_per_block = 99 * KB,
     .shared_per_multiprocessor = 100 * KB,
     .threads_per_multiprocessor = 1536,
     .blocks_per_multiprocessor = 16},
    {.name = "sm_89",
     .major = 8,
     .minor = 9,
     .multiprocessors = 142,
     .shared_per_block = 99 * KB,
     .shared_per_multiprocessor = 100 * KB,
     .threads_per_multiprocessor = 1536,
     .blocks_per_multiprocessor = 24},
    {.name = "sm_90a",
     .major = 9,
     .minor = 0,
     .exact = true,
     .multiprocessors = 132,
     .shared_per_block = 227 * KB,
     .shared_per_multiprocessor = 228 * KB,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 32,
     .cluster = 8},
};

}  // namespace

std::span<const Target> targets() {
  return rows;
}

const Target* find_target(std::string_view name) {
  for (const Target& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

// A cubin of X.y runs on every X.z with z >= y; of another major number nothing runs.
const Target* target_for(int major, int minor) {
  const Target* best = nullptr;
  for (const Target& row : rows) {
    const bool runs = row.exact ? row.major == major && row.minor == minor : row.major == major && row.minor <= minor;
    if (runs && (!best || row.minor >= best->minor)) best = &row;
  }
  return best;
}

}  // namespace lay::cuda
