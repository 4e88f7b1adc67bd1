#include "backend/plan/fragments/fragment.h"

#include <algorithm>
#include <vector>

#include "backend/plan/fragments/lane_rows.h"
#include "backend/plan/tensor_shape.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

constexpr int lanes = WorstAccess::lanes, widest_read = 16;  // bytes

// Sets the copy where it gives lanes what they hold.
bool takes(Fragment& fragment, const sema::CopyInstruction& copy, int element_bits) {
  const auto rows = lane_rows(copy, fragment.held, fragment.along_k ? 1 : 0, element_bits);
  if (!rows) return false;
  fragment.copy = copy;
  fragment.rows = rows->lanes;
  fragment.row = rows->length;
  return true;
}

}  // namespace

int Fragment::values() const {
  return static_cast<int>(size(held.shape[1]).value());
}

Fragment fragment_from(const Layout& operand, std::array<int, 2> shape, bool along_k,
                       int element_bits, std::span<const sema::CopyInstruction> copies) {
  Fragment made;
  const int warps = static_cast<int>(size(operand.shape[0]).value()) / lanes;
  const Layout whole = fragment_of(operand, shape);
  // An operand of four warps: the first 32 threads say what a lane holds, every 32nd where a warp
  // begins.
  if (warps > 1) {
    Facts facts;
    const Layout lane = composition(facts, operand[0], Layout(lanes, 1));
    made.held = fragment_of(
        Layout(tuple(lane.shape, operand.shape[1]), tuple(lane.stride, operand.stride[1])), shape);
    made.warps = fragment_of(composition(facts, operand[0], Layout(warps, lanes)), shape);
  } else {
    made.held = whole;
  }
  made.along_k = along_k;
  std::ranges::any_of(
      copies, [&](const sema::CopyInstruction& copy) { return takes(made, copy, element_bits); });
  return made;
}

void read_together(Fragment& fragment, int element_bits) {
  // m16n8k16 gives lane 4i + j the neighbours (i, 2j) and (i, 2j + 1) along k: of s8 one read of 16
  // bits. Where rows run along the outer index these lie in two rows, and each is read by itself.
  if (fragment.copy) return;
  const int run = fragment.along_k ? 1 : 0;
  const auto moving = values(along(fragment.held, run)),
             fixed = values(along(fragment.held, 1 - run));
  // Every group of `count` values is one run, which begins at a multiple of its length.
  const auto holds = [&](std::size_t count) {
    for (std::size_t i = 0; i < moving.size(); ++i) {
      const std::size_t place = i / lanes % count, first = i - place * lanes;
      if (fixed[i] != fixed[first] || moving[first] % static_cast<std::int64_t>(count) != 0 ||
          moving[i] != moving[first] + static_cast<std::int64_t>(place))
        return false;
    }
    return true;
  };
  // The longest run wins. It begins at a multiple of its length in the atom, in the tile as well,
  // whose atoms begin at multiples of theirs, and in shared memory, whose swizzles move 16 bytes.
  const auto all = static_cast<std::size_t>(fragment.values());
  for (std::size_t count = 2; count * static_cast<std::size_t>(element_bits) <= 8 * widest_read;
       count *= 2)
    if (all % count == 0 && holds(count)) fragment.together = static_cast<int>(count);
}

Wavefront worst_read(const Fragment& fragment, const AnyLayout& shared, std::array<int, 2> tile,
                     int outer_of_atom, std::span<const int> steps, int element_bits) {
  const bool by_rows = fragment.copy.has_value();
  const int together_read = by_rows ? fragment.row : fragment.together;
  WorstAccess worst(shared, tile[0], element_bits, std::max(1, together_read * element_bits / 8));
  const Layout& from = by_rows ? fragment.rows : fragment.held;
  const auto outer = values(along(from, 0)), k = values(along(from, 1));
  const std::size_t together = std::min<std::size_t>(outer.size(), lanes);  // lanes that name a row
  // Values that come together are one access, which begins where the first of them lies. A copy's
  // lanes name one row each.
  const std::size_t step = lanes * static_cast<std::size_t>(by_rows ? 1 : fragment.together);
  std::vector<std::int64_t> warp_outer{0}, warp_k{0};
  if (fragment.warps.rank() > 0 && !size(fragment.warps).is(1)) {
    warp_outer = values(along(fragment.warps, 0));
    warp_k = values(along(fragment.warps, 1));
  }
  // What differs between atoms is where their part of the tile begins.
  std::array<std::array<std::int64_t, 2>, lanes> at{};
  for (int first = 0; first < tile[0]; first += outer_of_atom) {
    for (const int first_k : steps) {
      for (std::size_t warp = 0; warp < warp_outer.size(); ++warp) {
        for (std::size_t value = 0; value < outer.size(); value += step) {
          for (std::size_t lane = 0; lane < together; ++lane) {
            at[lane] = {first + warp_outer[warp] + outer[value + lane],
                        first_k + warp_k[warp] + k[value + lane]};
          }
          worst.count(at, together);
        }
      }
    }
  }
  return worst.worst();
}

std::vector<int> steps_side_by_side(int tile, int atom) {
  std::vector<int> steps;
  for (int first = 0; first < tile; first += atom) steps.push_back(first);
  return steps;
}

}  // namespace lay::plan
