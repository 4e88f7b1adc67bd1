#include "backend/plan/permute/permute_smem.h"

#include <algorithm>
#include <numeric>

#include "backend/plan/permute/permute_tile.h"
#include "frontend/algebra/layouts/inner_layout.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/access_pattern.h"
#include "frontend/algebra/memory/find_layout.h"

namespace lay::plan {

namespace {

constexpr int lanes = 32;

Tuple tuple_of(const std::vector<int>& tile) {
  return Tuple(std::vector<Tuple>(tile.begin(), tile.end()));
}

// Coordinates along indices of extent 1 stay 0.
// A staged bias has one row: all rows of threads read the same element.
Layout inside(const Layout& thread_value, const std::vector<int>& tile) {
  return Layout(thread_value.shape, transform(thread_value.stride, [&](const Tuple& d) {
                  const bool gone =
                      d.is_basis() && tile[static_cast<std::size_t>(d.path()[0])] == 1;
                  return gone ? Tuple(0) : d;
                }));
}

// Returns true if `vector` neighbours along the axis are neighbours in memory, from every multiple
// of `vector` on.
bool keeps_together(const AnyLayout& layout, int axis, int vector) {
  // A swizzle moves groups of 2^m elements: vectors inside a group stay whole.
  if (const auto* composed = std::get_if<Composed>(&layout)) {
    const auto* swizzle = std::get_if<Swizzle>(&composed->outer);
    if (!swizzle || !composed->offset.is_literal(0)) return vector == 1;
    if (swizzle->b > 0 && (std::int64_t{1} << swizzle->m) % vector != 0) {
      return false;
    }
  }
  const Layout& inner = *inner_layout(layout);
  Facts facts;
  for (int mode = 0; mode < inner.rank(); ++mode) {
    const Layout merged = coalesce(facts, inner[mode]);
    const auto extents = leaves(merged.shape), strides = leaves(merged.stride);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i].is_literal(1)) continue;
      const bool runs = mode == axis && i == 0;
      if (runs && !strides[i].is_literal(1) && vector > 1) return false;
      // Along the run the extent, elsewhere the stride is a multiple of the vector: every vector
      // begins at a multiple of its width.
      if ((runs ? extents[i] : strides[i]).value().value() % vector != 0) return false;
    }
  }
  return true;
}

int widest(const AnyLayout& layout, int axis, int most) {
  int vector = most;
  while (vector > 1 && !keeps_together(layout, axis, vector)) vector /= 2;
  return vector;
}

BankConflicts conflicts(std::string name, const Service& service) {
  return {std::move(name),
          std::accumulate(service.worst_phases.begin(), service.worst_phases.end(), 0),
          service.phases};
}

// One way to store the tile there, and to read it.
struct Search {
  std::vector<int> tile;
  int bits;
  AccessPattern read;

  Search(const tile::Elementwise& program, const AffineAccess& way, int element_bits)
      : tile(staged_tile(program.tile, way)),
        bits(element_bits),
        read(access_pattern(inside(program.threads.layout, tile), tuple_of(tile))) {}

  AccessPattern write(const Layout& threads) const {
    return access_pattern(threads, tuple_of(tile));
  }

  Staging with(const tile::Distribution& threads, const AnyLayout& shared, int read_vector) const {
    // Counted on real addresses: the threads' accesses through the layout, bank by bank.
    const Placement where = placement_of(shared, bits);
    // Elements are written one by one, since a thread's neighbours along the input's run lie apart,
    // and read in vectors along the output's.
    const Service in = shared_service(write(threads.layout), where, 1),
                  out = shared_service(read, where, read_vector);
    return {{threads, shared, read_vector},
            conflicts("write", in),
            conflicts("read", out),
            in.taken + out.taken};
  }
};

}  // namespace

std::vector<int> staged_tile(const std::vector<int>& tile, const AffineAccess& way) {
  std::vector<int> result = tile;
  for (std::size_t axis = 0; axis < tile.size(); ++axis) {
    if (!way.depends_on(static_cast<int>(axis))) result[axis] = 1;
  }
  return result;
}

Layout packed_tile(const std::vector<int>& tile, const AffineAccess& way, int run_axis) {
  // The output's run first, then the input's leaves from the fastest on, then the rest.
  std::vector<int> axes{run_axis};
  const auto add = [&](int axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  };
  for (const AffineAccess::Leaf& leaf : way.leaves) add(leaf.axis);
  for (std::size_t axis = 0; axis < tile.size(); ++axis) add(static_cast<int>(axis));
  std::vector<Tuple> strides(tile.size(), Tuple(0));
  std::int64_t stride = 1;
  for (int axis : axes) {
    const auto i = static_cast<std::size_t>(axis);
    if (tile[i] > 1) strides[i] = stride;
    stride *= tile[i];
  }
  return Layout(tuple_of(tile), Tuple(strides));
}

Staging stage(const tile::Elementwise& program, const AffineAccess& way, int vector,
              ElementType element, const std::optional<AnyLayout>& asked) {
  const Search search(program, way, std::max(8, bits(element)));
  const int most = std::min(program.threads.vector, 128 / search.bits);
  const Sharing sharing{&way, search.tile, way.run_axis, vector, program.grid.threads};
  const std::vector<Part> parts = parts_of(sharing);
  // The part of the tile along the output's run: interleaving lanes along it lets a warp write
  // several columns, and so meet different banks.
  const auto across = static_cast<std::size_t>(
      std::find_if(parts.begin(), parts.end(),
                   [&](const Part& part) { return part.axis == program.threads.along; }) -
      parts.begin());
  const Layout packed = packed_tile(search.tile, way, program.threads.along);
  // Side by side what fills a line of the cache first; then more, then less, down to a sector.
  // Accesses that fill a line of 128 bytes, and those that fill a sector of 32.
  const int line = 128 * 8 / (search.bits * vector), sector = std::max(1, line / 4);
  std::vector<int> sides{line, 0};
  for (int side = line / 2; side >= sector && side >= 1; side /= 2) sides.push_back(side);
  std::optional<Staging> best;
  std::int64_t fewest = 0;
  for (int side : sides) {
    std::vector<Part> order = parts;
    if (side > 0) {
      if (side > lanes || across == 0 || across >= parts.size() || parts[0].axis != way.run_axis)
        continue;
      order = interleaved(parts, 0, side, across,
                          std::min<std::int64_t>(lanes / side, parts[across].extent));
      if (order.empty()) continue;
    }
    const tile::Distribution threads{share(sharing, order), vector, way.run_axis};
    if (asked) {
      // A layout that was asked for keeps the threads that it was found with.
      Staging with = search.with(threads, *asked, widest(*asked, program.threads.along, most));
      if (!best || with.wavefronts < fewest) {
        fewest = with.wavefronts;
        best = std::move(with);
      }
      if (best->write.wavefronts == best->write.least && best->read.wavefronts == best->read.least)
        return *best;
      continue;
    }
    // Padding before swizzles: its addresses are sums.
    for (const bool swizzles : {false, true}) {
      const int read = widest(packed, program.threads.along, most);
      const auto found =
          find_layout({tuple_of(search.tile),
                       search.bits,
                       {{"write", search.write(threads.layout), 1}, {"read", search.read, read}},
                       packed,
                       swizzles,
                       !swizzles,
                       {}});
      if (!best || found.wavefronts < fewest) {
        best = search.with(threads, found.layout, read);
        fewest = found.wavefronts;
      }
      // Nothing is better than no conflict: the search ends.
      if (best->write.wavefronts == best->write.least && best->read.wavefronts == best->read.least)
        return *best;
    }
  }
  return *best;
}

}  // namespace lay::plan
