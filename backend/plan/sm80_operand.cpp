#include "backend/plan/sm80_operand.h"

#include <algorithm>
#include <bit>

#include "backend/plan/axes.h"
#include "frontend/algebra/operations.h"

namespace lay::plan {

namespace {

constexpr int lanes = 32, row_bytes = 16, matrix = 8;

Tuple along_axis(int value, int axis) {
  return Tuple::basis(value, {axis});
}

int log2_of(int n) {
  return std::countr_zero(static_cast<unsigned>(n));
}

std::array<int, 2> operand_tile(const Sm80Operand& operand, const Sm80Gemm& gemm) {
  return {gemm.tile[operand.outer == gemm.m ? 0 : 1], gemm.tile[2]};
}

// The byte addresses of the accesses of warps, one after the other, and what the banks make of them.
class Counter {
 public:
  Counter(const AnyLayout& shared, int outer, int element_bytes, int access_bytes)
      : offsets_(values(shared)), outer_(outer), element_bytes_(element_bytes), access_bytes_(access_bytes) {}

  // Where the first `count` lanes begin their accesses.
  void count(const std::array<std::array<std::int64_t, 2>, lanes>& at, std::size_t count = lanes) {
    std::array<std::int64_t, lanes> addresses{};
    addresses.fill(-1);
    for (std::size_t lane = 0; lane < count; ++lane) {
      addresses[lane] = offsets_[static_cast<std::size_t>(at[lane][0] + outer_ * at[lane][1])] * element_bytes_;
    }
    const Wavefronts taken = wavefronts(addresses, access_bytes_);
    if (taken.taken - taken.least >= worst_.taken - worst_.least) worst_ = {taken.taken, taken.least};
  }
  Wavefront worst() const { return worst_; }

 private:
  std::vector<std::int64_t> offsets_;
  std::int64_t outer_;
  int element_bytes_, access_bytes_;
  Wavefront worst_;
};

AnyLayout swizzled(const Layout& plain, int b, int m, int s) {
  if (b == 0) return plain;
  return Composed{Swizzle(b, m, s), Int(0), plain};
}

}  // namespace

std::optional<Layout> shared_copy(std::array<int, 2> tile, bool along_k, int vector, int threads) {
  const int run_axis = along_k ? 1 : 0, across_axis = 1 - run_axis;
  const int extent = tile[static_cast<std::size_t>(run_axis)], across = tile[static_cast<std::size_t>(across_axis)];
  if (extent % vector != 0) return std::nullopt;
  const int run = extent / vector, side = std::min(run, threads);
  if (run % side != 0 || threads % side != 0 || across % (threads / side) != 0) return std::nullopt;
  const int rows = threads / side;
  return Layout(
      tuple(tuple(side, rows), tuple(vector, tuple(run / side, across / rows))),
      tuple(tuple(along_axis(vector, run_axis), along_axis(1, across_axis)),
            tuple(along_axis(1, run_axis), tuple(along_axis(side * vector, run_axis), along_axis(rows, across_axis)))));
}

// ldmatrix gives lane 4i + j the 4 bytes j of row i of each matrix; with .trans, of 16-bit elements, the elements i of
// rows 2j and 2j + 1 (PTX ISA, ldmatrix). Rows lie in shared memory: along k, or transposed along the outer index. In
// both cases lane 4i + j holds what lies i along the outer index and, in elements of 4 bytes, j along k.
void take_matrices(Sm80Operand& operand, int element_bits) {
  operand.matrices = 0;
  if (element_bits > 32 || element_bits < 8 || (element_bits != 16 && !operand.along_k)) return;
  const auto outer = values(along(operand.fragment, 0)), k = values(along(operand.fragment, 1));
  const int held = static_cast<int>(outer.size()) / lanes, together = 32 / element_bits, count = held / together;
  if (held % together != 0 || (count != 1 && count != 2 && count != 4)) return;
  std::vector<std::array<std::int64_t, 2>> first;
  for (int value = 0; value < held; ++value) {
    for (int lane = 0; lane < lanes; ++lane) {
      const auto at = static_cast<std::size_t>(lane + lanes * value);
      const std::int64_t i = lane / 4, j = lane % 4 * together + value % together;
      if (value % together == 0 && lane == 0) first.push_back({outer[at], k[at]});
      if (outer[at] != first.back()[0] + i || k[at] != first.back()[1] + j) return;
    }
  }
  // Matrix q begins at a layout's value of q: two modes of two, where there are four.
  const auto begin = [&](int axis, std::size_t q) { return first[q][static_cast<std::size_t>(axis)]; };
  if (count == 4 && (first[0][0] + first[3][0] != first[1][0] + first[2][0] ||
                     first[0][1] + first[3][1] != first[1][1] + first[2][1])) {
    return;
  }
  if (first[0][0] != 0 || first[0][1] != 0) return;
  const auto stride = [&](std::size_t q) {
    const std::int64_t m = begin(0, q), n = begin(1, q);
    return n == 0 ? Tuple::basis(m, {0}) : Tuple::basis(n, {1});
  };
  for (std::size_t q = 1; q < first.size(); ++q) {
    if (q < 3 && begin(0, q) != 0 && begin(1, q) != 0) return;
  }
  operand.matrices = count;
  operand.transposed = !operand.along_k;
  const Tuple row = along_axis(1, operand.along_k ? 0 : 1);
  if (count == 1) operand.rows = Layout(tuple(matrix), tuple(row));
  if (count == 2) operand.rows = Layout(tuple(matrix, 2), tuple(row, stride(1)));
  if (count == 4) operand.rows = Layout(tuple(matrix, 2, 2), tuple(row, stride(1), stride(2)));
}

Wavefront worst_write(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits) {
  const auto tile = operand_tile(operand, gemm);
  Counter counter(operand.shared, tile[0], element_bits / 8, operand.vector * element_bits / 8);
  const auto outer = values(along(operand.threads, 0)), k = values(along(operand.threads, 1));
  const auto threads = static_cast<std::size_t>(gemm.threads());
  std::array<std::array<std::int64_t, 2>, lanes> at{};
  for (std::size_t value = 0; value < outer.size() / threads; value += static_cast<std::size_t>(operand.vector)) {
    for (std::size_t warp = 0; warp < threads / lanes; ++warp) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t i = warp * lanes + lane + value * threads;
        at[lane] = {outer[i], k[i]};
      }
      counter.count(at);
    }
  }
  return counter.worst();
}

Wavefront worst_read(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits) {
  const auto tile = operand_tile(operand, gemm);
  const bool matrices = operand.matrices > 0;
  const int bytes = matrices ? row_bytes : element_bits / 8;
  Counter counter(operand.shared, tile[0], element_bits / 8, bytes);
  const Layout& from = matrices ? operand.rows : operand.fragment;
  const auto outer = values(along(from, 0)), k = values(along(from, 1));
  const std::size_t together = std::min<std::size_t>(outer.size(), lanes);  // lanes that name a row
  const int step = gemm.mma.shape[operand.outer == gemm.m ? 0 : 1];
  // Atoms lie side by side: what differs between them is where their part of the tile begins.
  std::array<std::array<std::int64_t, 2>, lanes> at{};
  for (int first = 0; first < tile[0]; first += step) {
    for (int first_k = 0; first_k < tile[1]; first_k += gemm.mma.shape[2]) {
      for (std::size_t value = 0; value < outer.size(); value += lanes) {
        for (std::size_t lane = 0; lane < together; ++lane) {
          at[lane] = {first + outer[value + lane], first_k + k[value + lane]};
        }
        counter.count(at, together);
      }
    }
  }
  return counter.worst();
}

void take_swizzle(Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits) {
  const auto tile = operand_tile(operand, gemm);
  const Layout plain(tuple(tile[0], tile[1]), operand.along_k ? tuple(tile[1], 1) : tuple(1, tile[0]));
  const int m = log2_of(std::max(1, row_bytes * 8 / element_bits)), all = tile[0] * tile[1];
  constexpr int most_bits = 3, farthest = 8;
  std::optional<std::pair<int, AnyLayout>> best;
  const auto consider = [&](AnyLayout layout) {
    operand.shared = std::move(layout);
    const Wavefront write = worst_write(operand, gemm, element_bits), read = worst_read(operand, gemm, element_bits);
    const int over = std::max(0, write.taken - write.least) + std::max(0, read.taken - read.least);
    if (!best || over < best->first) best = {over, operand.shared};
    return over == 0;
  };
  for (int b = 0; b <= most_bits; ++b) {
    for (int s = b; s <= (b == 0 ? 0 : farthest); ++s) {
      if (all % (1 << (b + m + s)) != 0) break;
      if (consider(swizzled(plain, b, m, s))) return;
    }
  }
  operand.shared = best->second;
}

}  // namespace lay::plan
