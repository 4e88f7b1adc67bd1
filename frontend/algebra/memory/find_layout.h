#pragma once

// The layout of a tile in shared memory under which given accesses meet the fewest bank conflicts:
// a search through all of a stated family, beside a bound for every layout there is.
//
//     write (32,8):(...)  read (32,8):(...)  of a (64,64) tile of 16 bits
//     Sw<3,3,3> o 0 o (64,64):(64,1)      both free of conflicts, no element of memory more than
//     the tile
//
// The families: each order of the tile's modes packed without gaps (or one layout that is given);
// each of these under every Sw<B,M,S> whose bits stay inside the tile and change the bank; each of
// these with 1, 2, ... elements of padding after the fastest mode, up to one row of banks, after
// which everything repeats. Candidates are ordered by wavefronts, then by accesses, then by the
// memory they take, then plain before swizzled before padded, then as listed: the answer depends on
// nothing else.

#include <optional>
#include <string>
#include <vector>

#include "frontend/algebra/memory/access_pattern.h"

namespace lay {

struct WantedAccess {
  std::string name;  // "write", "read"
  AccessPattern pattern;
  // Elements; the widest that the layout lets be if not given.
  std::optional<int64_t> vector;
};

struct LayoutSearch {
  Tuple tile;
  int bits = 32;
  std::vector<WantedAccess> accesses;
  // The only layout to swizzle or pad.
  std::optional<Layout> base;
  bool swizzles = true, paddings = true;
  SharedMemory memory;
};

struct FoundLayout {
  AnyLayout layout = Layout();
  std::optional<Swizzle> swizzle;
  int64_t padding = 0;  // elements
  // Elements of memory, gaps included.
  int64_t size = 0;
  std::vector<Service> services;  // of the accesses
  int64_t wavefronts = 0;
  // No layout of the tile takes fewer: each phase takes one, and no element has two neighbours.
  int64_t fewest = 0;
  int64_t candidates =
      0;  // that were looked at: all of the family unless none that is left can be better
  std::string family;  // in words
};

// Refusal "not-injective" if the base gives two elements one place, "vector" if no candidate keeps
// the vectors asked for in one piece, "limit" if the search is too long.
FoundLayout find_layout(const LayoutSearch& search);

}  // namespace lay
