#pragma once

// An access: a thread-value layout laid over a tile, and what memory makes of it under a
// layout of the tile.
//
//     ((4,8),(8,2)) -> coordinates of a (64,16) tile: thread t's values 0 .. 15; mode 0 counts the
//     threads, every other mode values. Threads go in warps of `lanes`; a thread's values in
//     vectors of neighbours, the same number for all.
//
// An access is one vector of each lane of one warp.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/algebra/memory/banks.h"

namespace lay {

struct AccessPattern {
  int64_t threads = 1, values = 1;
  // The 1-D index in the tile of every (thread, value), threads fastest.
  std::vector<int64_t> elements;

  int64_t element(int64_t thread, int64_t value) const {
    return elements[static_cast<size_t>(thread + threads * value)];
  }
};

// Integer strides count the tile's elements by 1-D index, basis strides are its coordinates.
// Refusal "bounds" where a thread leaves the tile, "symbolic", "too-many" above 2^20.
AccessPattern access_pattern(const AnyLayout& access, const Tuple& tile);

// Where the tile's elements lie: by 1-D index, in elements of `bits` bits. Refusal "bounds" for a
// negative offset.
struct Placement {
  std::vector<int64_t> offsets;
  int bits = 32;
};
Placement placement_of(const AnyLayout& layout, int bits);
// The same of the elements that are touched alone, which the pattern counts anew: for tensors of
// any size.
Placement placement_of(const AnyLayout& layout, int bits, AccessPattern& touched);

// Bytes of one lane.
inline constexpr int kWidestAccess = 16;

// The widest vector that the number of values and the width of an access let be, under any layout.
int64_t widest_possible(const AccessPattern& pattern, int bits);
// The widest vector that all threads can move as one, in elements: a power of two of at most
// kWidestAccess bytes whose elements are neighbours, and which begins at a multiple of its size.
int64_t widest_vector(const AccessPattern& pattern, const Placement& where);
// Returns true if vectors of `vector` elements can move as one.
bool moves_as_one(const AccessPattern& pattern, const Placement& where, int64_t vector);

// Sums over all accesses. Shared memory: `taken` and `least` are wavefronts, `worst` words of one
// bank in one phase; global memory: sectors, `worst` those of one access.
struct Service {
  int64_t accesses = 0, vector = 1;
  int phases = 1;
  int64_t taken = 0, least = 0;
  int worst = 0;
  int64_t bytes = 0;  // distinct ones, access by access
  // The first of the worst accesses: its warp and the first value.
  int64_t worst_warp = 0, worst_value = 0;
  // Wavefronts of each of its phases; shared memory only.
  std::vector<int> worst_phases;

  int64_t conflicts() const { return taken - least; }
};

// Counting stops where `taken` exceeds `enough`. The vector is the widest where none is given;
// Refusal "vector" where the one given cannot move as one.
Service shared_service(const AccessPattern& pattern, const Placement& where,
                       std::optional<int64_t> vector, const SharedMemory& memory = {},
                       int64_t enough = INT64_MAX);
Service global_service(const AccessPattern& pattern, const Placement& where,
                       std::optional<int64_t> vector, const GlobalMemory& memory = {});

// Wavefronts that no layout of the tile can go below: every phase of the widest accesses takes one.
// `vector` as given or, if it is not, the widest that could be.
int64_t fewest_wavefronts(const AccessPattern& pattern, int bits, std::optional<int64_t> vector,
                          const SharedMemory& memory = {});

}  // namespace lay
