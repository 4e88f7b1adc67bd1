// Tiles of a permute kernel, and which thread has which element of them.
#pragma once

#include <vector>

#include "backend/plan/permute/permute_form.h"

namespace lay::plan {

// A side of a permute kernel: a tensor and the bytes of its elements.
struct PermuteSide {
  const AffineAccess* way;
  int element_bytes;
};

// Extents of a tile, one an index: along every side a run of at least `run_bytes` where there is
// one, in all about `elements`, and no more than next to the extents that are known.
std::vector<int> default_tile(const sema::Kernel& kernel, const std::vector<sema::IndexId>& indices,
                              const std::vector<PermuteSide>& sides, int run_bytes,
                              std::int64_t elements);

// How the threads share a tile.
struct Sharing {
  const AffineAccess* way;
  std::vector<int> tile;  // extent 1 for an index that the tensor does not depend on
  int run_axis =
      0;  // the vectors' direction, with `vector` elements each; the tile's extent is a multiple
  int vector = 1;
  int threads = 256;
};

// A part of a tile: `extent` steps of `step` along an axis.
struct Part {
  int axis;
  std::int64_t extent, step;
};

// The tile's parts in the order of the tensor's memory, the vector apart.
std::vector<Part> parts_of(const Sharing& sharing);

// The same parts in another order: `first` only up to `side`, then `second` up to `high`, then what
// is left of them. Nothing if these do not divide the parts.
std::vector<Part> interleaved(const std::vector<Part>& parts, std::size_t first, std::int64_t side,
                              std::size_t second, std::int64_t high);

// (thread, (element, access)) -> coordinate in the tile, one-to-one: threads one beside the other
// in the order of the parts, the most that divide the tile that way, at most those given.
Layout share(const Sharing& sharing, const std::vector<Part>& parts);

// The order of the outputs' parts in which a warp touches the fewest pieces of 64 bytes, all
// tensors together that it accesses in this order.
std::vector<Part> parts_for_all(const sema::Kernel& kernel, const Sharing& sharing,
                                const std::vector<PermuteSide>& sides);

}  // namespace lay::plan
