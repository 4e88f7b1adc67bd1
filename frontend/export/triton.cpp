// Triton: linear layouts by their bases, in the words of Gluon. A thread-value layout with its tile
// is a distributed layout; any other bijective one a layout of shared memory, which Triton states
// the other way round: from offsets to coordinates.
#include <algorithm>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/export/export.h"
#include "frontend/export/linear.h"

namespace lay::exports {
namespace {

std::string list_of(const Point& point) {
  std::string text = "[";
  for (const std::int64_t n : point) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}
std::string list_of(const std::vector<Point>& points) {
  std::string text = "[";
  for (const Point& p : points) text += (text.size() > 1 ? ", " : "") + list_of(p);
  return text + "]";
}

// The place of an offset in the tile: one coordinate for each of its modes, left-most fastest.
Point in_tile(const Point& value, const Point& extents) {
  if (value.size() == extents.size()) return value;
  Point place;
  std::int64_t rest = value[0];
  for (const std::int64_t extent : extents) {
    place.push_back(rest % extent);
    rest /= extent;
  }
  return place;
}

Point extents_of(const Tuple& tile) {
  if (!tile.is_known())
    throw refusal("export", "the tile " + tile.to_string() + " has sizes that are not known");
  Point extents;
  for (int m = 0; m < tile.rank(); ++m) extents.push_back(size(tile[m]).value());
  for (const std::int64_t n : extents)
    if (n & (n - 1)) cannot("the tile has an extent of " + std::to_string(n));
  return extents;
}

// Steps in the tile, of threads and of values.
using Placed = std::vector<std::vector<Point>>;

// Steps are powers of two that share no bit, or images of such under a swizzle, so those that move
// are independent: the tile is covered if there are as many as it has bits, and left where one of
// them leaves it.
Placed placed_in(const Tuple& tile, const Point& extents, const LinearMap& map) {
  std::int64_t all = 1;
  for (const std::int64_t n : extents) all = checked_mul(all, n);
  Placed placed;
  std::int64_t covered = 1;
  for (const auto& mode : map.modes) {
    placed.emplace_back();
    for (const Point& base : mode) {
      const bool inside = !map.coordinates ? base[0] < all
                                           : std::equal(base.begin(), base.end(), extents.begin(),
                                                        [](auto b, auto n) { return b < n; });
      if (!inside) cannot("a step by " + list_of(base) + " leaves the tile " + tile.to_string());
      placed.back().push_back(in_tile(base, extents));
      const auto still = std::count(placed.back().back().begin(), placed.back().back().end(), 0);
      const auto moves = static_cast<std::ptrdiff_t>(extents.size()) - still;
      if (moves > 1)
        cannot("a step of threads or values moves along several modes of the tile, by " +
               list_of(placed.back().back()));
      if (moves == 1) covered *= 2;
    }
  }
  if (covered != all)
    cannot("threads and values reach " + std::to_string(covered) + " of the " +
           std::to_string(all) + " elements of the tile " + tile.to_string());
  return placed;
}

std::string distributed(const Exported& x, const LinearMap& map) {
  constexpr size_t lane_bits = 5;
  if (map.modes.size() != 2)
    throw refusal("export",
                  "a thread-value layout has two modes, threads and values, and this has " +
                      std::to_string(map.modes.size()));
  const Point extents = extents_of(*x.tile);
  if (map.coordinates && static_cast<size_t>(map.rank) != extents.size())
    throw refusal("export", "the layout gives coordinates of rank " + std::to_string(map.rank) +
                                ", and the tile " + x.tile->to_string() + " has rank " +
                                std::to_string(extents.size()));
  Placed placed = placed_in(*x.tile, extents, map);
  std::vector<Point>& threads = placed[0];
  std::string notes;
  if (threads.size() < lane_bits) {
    notes =
        "# cannot be said in Triton: fewer than 32 threads; the other lanes repeat what the "
        "first " +
        std::to_string(1 << threads.size()) + " hold\n";
    threads.resize(lane_bits, Point(extents.size(), 0));
  }
  const auto split = threads.begin() + lane_bits;
  return notes + x.name + " = gl.DistributedLinearLayout(\n    reg_bases=" + list_of(placed[1]) +
         ",\n    lane_bases=" + list_of(std::vector<Point>(threads.begin(), split)) +
         ",\n    warp_bases=" + list_of(std::vector<Point>(split, threads.end())) +
         ",\n    block_bases=[],\n    shape=" + list_of(extents) + ")\n";
}

struct Row {
  std::int64_t offset;  // bits of the offset
  Point coordinate;     // the coordinate that reaches it
};

// Coordinates of the offsets 1, 2, 4, ... by elimination over bits; empty if the map is no
// bijection onto 0 .. 2^n-1.
std::vector<Point> inverse(const LinearMap& map) {
  std::vector<Row> rows;
  for (size_t m = 0; m < map.modes.size(); ++m)
    for (size_t k = 0; k < map.modes[m].size(); ++k) {
      Point unit(map.modes.size(), 0);
      unit[m] = std::int64_t{1} << k;
      rows.push_back({map.modes[m][k][0], unit});
    }
  for (size_t bit = 0; bit < rows.size(); ++bit) {
    const std::int64_t mask = std::int64_t{1} << bit;
    const auto pivot = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(bit), rows.end(),
                                    [&](const Row& r) { return r.offset & mask; });
    if (pivot == rows.end()) return {};
    std::iter_swap(rows.begin() + static_cast<std::ptrdiff_t>(bit), pivot);
    for (size_t other = 0; other < rows.size(); ++other) {
      if (other == bit || !(rows[other].offset & mask)) continue;
      rows[other].offset ^= rows[bit].offset;
      for (size_t k = 0; k < map.modes.size(); ++k)
        rows[other].coordinate[k] ^= rows[bit].coordinate[k];
    }
  }
  std::vector<Point> coordinates;
  for (size_t bit = 0; bit < rows.size(); ++bit) {
    if (rows[bit].offset != std::int64_t{1} << bit) return {};
    coordinates.push_back(rows[bit].coordinate);
  }
  return coordinates;
}

}  // namespace

std::string to_triton(const Exported& x) {
  const LinearMap map = bases_of(x.value);
  std::string text = "import triton.experimental.gluon.language as gl\n";
  const auto* layout = std::get_if<Layout>(&x.value);
  if (layout && layout->depth() > 1)
    text +=
        "# cannot be said in Triton: the nesting of modes; a dimension is a mode, its bits "
        "left-most fastest\n";
  if (x.tile) return text + distributed(x, map);
  for (size_t m = 0; m < map.modes.size(); ++m)
    text += "# bases of mode " + std::to_string(m) + ": " + list_of(map.modes[m]) + "\n";
  const bool one = std::all_of(map.modes.begin(), map.modes.end(),
                               [](const auto& mode) { return mode.empty(); });
  const std::vector<Point> offsets = map.coordinates ? std::vector<Point>() : inverse(map);
  const std::string why = map.coordinates       ? "a map into coordinates without its tile"
                          : one                 ? "shared memory of one element"
                          : offsets.empty()     ? "shared memory with gaps or aliases"
                          : offsets.size() > 31 ? "offsets past 2^31"
                                                : "";
  if (!why.empty()) return text + "# cannot be said in Triton: " + why + "\n";
  return text + x.name + " = gl.SharedLinearLayout(offset_bases=" + list_of(offsets) + ")\n";
}

}  // namespace lay::exports
