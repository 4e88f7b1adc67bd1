#include "backend/plan/fragment.h"

#include <algorithm>
#include <vector>

#include "backend/plan/axes.h"
#include "backend/plan/tensor_shape.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

constexpr int lanes = WorstAccess::lanes, row_bytes = 16, matrix = 8;

// ldmatrix gives lane 4i + j the 4 bytes j of row i of each matrix; with .trans, of 16-bit
// elements, the elements i of rows 2j and 2j + 1 (PTX ISA, ldmatrix). Rows lie in shared memory:
// along k, or transposed along the outer index. In both cases lane 4i + j holds what lies i along
// the outer index and, in elements of 4 bytes, j along k.
void choose_matrices(Fragment& fragment, int element_bits) {
  fragment.matrices = 0;
  // ldmatrix moves rows of 16 bytes of any type, .trans elements of 16 bits only.
  if (element_bits > 32 || element_bits < 8 || (element_bits != 16 && !fragment.along_k)) return;
  const auto outer = values(along(fragment.held, 0)), k = values(along(fragment.held, 1));
  const int held = static_cast<int>(outer.size()) / lanes, together = 32 / element_bits,
            count = held / together;
  if (held % together != 0 || (count != 1 && count != 2 && count != 4)) return;
  std::vector<std::array<std::int64_t, 2>> first;
  for (int value = 0; value < held; ++value) {
    for (int lane = 0; lane < lanes; ++lane) {
      const auto at = static_cast<std::size_t>(lane + lanes * value);
      // bf16: lane 4 i + j holds (i, 2 j) and (i, 2 j + 1); 8-bit types four of a row, 32-bit types
      // one.
      const std::int64_t i = lane / 4, j = lane % 4 * together + value % together;
      if (value % together == 0 && lane == 0) first.push_back({outer[at], k[at]});
      if (outer[at] != first.back()[0] + i || k[at] != first.back()[1] + j) return;
    }
  }
  // Matrix q begins at a layout's value of q: two modes of two, where there are four.
  const auto begin = [&](int axis, std::size_t q) {
    return first[q][static_cast<std::size_t>(axis)];
  };
  // m16n8k16 A: matrices at (0,0), (8,0), (0,8), (8,8), and indeed (0,0) + (8,8) = (8,0) + (0,8).
  if (count == 4 && (first[0][0] + first[3][0] != first[1][0] + first[2][0] ||
                     first[0][1] + first[3][1] != first[1][1] + first[2][1])) {
    return;
  }
  // The first matrix is at the atom's corner; the strides of the others follow from their corners.
  if (first[0][0] != 0 || first[0][1] != 0) return;
  const auto stride = [&](std::size_t q) {
    const std::int64_t m = begin(0, q), n = begin(1, q);
    return n == 0 ? Tuple::basis(m, {0}) : Tuple::basis(n, {1});
  };
  for (std::size_t q = 1; q < first.size(); ++q) {
    if (q < 3 && begin(0, q) != 0 && begin(1, q) != 0) return;
  }
  fragment.matrices = count;
  fragment.transposed = !fragment.along_k;
  const Tuple row = Tuple::basis(1, {fragment.along_k ? 0 : 1});
  if (count == 1) fragment.rows = Layout(tuple(matrix), tuple(row));
  if (count == 2) fragment.rows = Layout(tuple(matrix, 2), tuple(row, stride(1)));
  if (count == 4) fragment.rows = Layout(tuple(matrix, 2, 2), tuple(row, stride(1), stride(2)));
}

}  // namespace

int Fragment::values() const {
  return static_cast<int>(size(held.shape[1]).value());
}

Fragment fragment_from(const Layout& operand, std::array<int, 2> shape, bool along_k,
                       int element_bits) {
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
  choose_matrices(made, element_bits);
  return made;
}

void read_together(Fragment& fragment, int element_bits) {
  // m16n8k16 gives lane 4i + j the neighbours (i, 2j) and (i, 2j + 1) along k: of s8 one read of 16
  // bits. Where rows run along the outer index these lie in two rows, and each is read by itself.
  if (fragment.matrices > 0) return;
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
  for (std::size_t count = 2; count * static_cast<std::size_t>(element_bits) <= 8 * row_bytes;
       count *= 2)
    if (all % count == 0 && holds(count)) fragment.together = static_cast<int>(count);
}

Wavefront worst_read(const Fragment& fragment, const AnyLayout& shared, std::array<int, 2> tile,
                     std::array<int, 2> atom, int element_bits) {
  const bool matrices = fragment.matrices > 0;
  WorstAccess worst(shared, tile[0], element_bits,
                    matrices ? row_bytes : std::max(1, fragment.together * element_bits / 8));
  const Layout& from = matrices ? fragment.rows : fragment.held;
  const auto outer = values(along(from, 0)), k = values(along(from, 1));
  const std::size_t together = std::min<std::size_t>(outer.size(), lanes);  // lanes that name a row
  // Values that come together are one access, which begins where the first of them lies. Matrices
  // name rows, one for each lane.
  const std::size_t step = lanes * static_cast<std::size_t>(matrices ? 1 : fragment.together);
  std::vector<std::int64_t> warp_outer{0}, warp_k{0};
  if (fragment.warps.rank() > 0 && !size(fragment.warps).is(1)) {
    warp_outer = values(along(fragment.warps, 0));
    warp_k = values(along(fragment.warps, 1));
  }
  // Atoms lie side by side: what differs between them is where their part of the tile begins.
  std::array<std::array<std::int64_t, 2>, lanes> at{};
  for (int first = 0; first < tile[0]; first += atom[0]) {
    for (int first_k = 0; first_k < tile[1]; first_k += atom[1]) {
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

}  // namespace lay::plan
