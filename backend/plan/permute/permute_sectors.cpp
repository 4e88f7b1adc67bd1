// Which threads stand side by side, by counting what a warp touches of each tensor.
#include <algorithm>
#include <optional>

#include "backend/plan/permute/permute_tile.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/access_pattern.h"

namespace lay::plan {

namespace {

constexpr int lanes = 32;
// Two sectors: what the memory behind the caches gives at once.
constexpr GlobalMemory memory{64, lanes};

// Where the tile's elements lie in a tensor, for sizes that stand for all: every dim the same power
// of two.
std::optional<Placement> place(const sema::Kernel& kernel, const std::vector<int>& tile,
                               const PermuteSide& side) {
  constexpr std::int64_t dim = 4096;
  Binding sizes;
  for (const sema::Dim& each : kernel.dims) sizes[*each.symbol.dim_id()] = dim;
  // Offsets are sums of one term an axis: a leaf moves by its stride every `step` elements and
  // starts again after `extent` of them.
  std::vector<std::vector<std::int64_t>> along;
  for (int extent : tile) along.emplace_back(static_cast<std::size_t>(extent), 0);
  for (const AffineAccess::Leaf& leaf : side.way->leaves) {
    const auto extent = leaf.extent.evaluate(sizes), step = leaf.step.evaluate(sizes),
               stride = leaf.stride.evaluate(sizes);
    if (!extent || !step || !stride || *extent < 1 || *step < 1) return std::nullopt;
    auto& offsets = along[static_cast<std::size_t>(leaf.axis)];
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      offsets[i] += static_cast<std::int64_t>(i) / *step % *extent * *stride;
    }
  }
  Placement placement{{0}, side.element_bytes * 8};
  for (const auto& axis : along) {
    std::vector<std::int64_t> next;
    for (std::int64_t offset : axis) {
      for (std::int64_t before : placement.offsets) next.push_back(before + offset);
    }
    placement.offsets = std::move(next);
  }
  const auto least = *std::min_element(placement.offsets.begin(), placement.offsets.end());
  // Strides may be negative; sectors count from the least.
  for (std::int64_t& offset : placement.offsets) offset -= least;
  return placement;
}

// The first access of every thread.
AccessPattern first_access(const Layout& work, const std::vector<int>& tile) {
  AccessPattern all = access_pattern(work, Tuple(std::vector<Tuple>(tile.begin(), tile.end())));
  all.values = size(work[1][0]).value();
  all.elements.resize(static_cast<std::size_t>(all.threads * all.values));
  return all;
}

}  // namespace

std::vector<Part> parts_for_all(const sema::Kernel& kernel, const Sharing& sharing,
                                const std::vector<PermuteSide>& sides) {
  const std::vector<Part> usual = parts_of(sharing);
  std::vector<Placement> places;
  for (const PermuteSide& side : sides) {
    auto placed = place(kernel, sharing.tile, side);
    if (!placed) return usual;
    places.push_back(std::move(*placed));
  }
  const auto cost = [&](const std::vector<Part>& parts) {
    const AccessPattern pattern = first_access(share(sharing, parts), sharing.tile);
    std::int64_t sum = 0;
    for (const Placement& where : places) {
      // Transactions of one access of every thread, of all tensors together.
      sum += global_service(pattern, where, widest_vector(pattern, where), memory).taken;
    }
    return sum;
  };
  std::vector<Part> best = usual;
  std::int64_t least = cost(usual);
  // A few parts and powers of two: some dozens of orders, each counted on one access of the tile.
  for (std::size_t first = 0; first < usual.size(); ++first) {
    for (std::size_t second = first + 1; second < usual.size(); ++second) {
      for (std::int64_t side = lanes / 2; side >= 2; side /= 2) {
        for (std::int64_t high = 2; high <= lanes / side; high *= 2) {
          const auto parts = interleaved(usual, first, side, second, high);
          if (parts.empty() || usual[first].extent == side) continue;
          const std::int64_t taken = cost(parts);
          if (taken < least) {
            least = taken;
            best = parts;
          }
        }
      }
    }
  }
  return best;
}

}  // namespace lay::plan
