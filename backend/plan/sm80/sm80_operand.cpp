#include "backend/plan/sm80/sm80_operand.h"

#include <algorithm>
#include <bit>

#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/memo.h"

namespace lay::plan {

namespace {

constexpr int lanes = WorstAccess::lanes, matrix_row_bytes = 16;

Tuple along_axis(int value, int axis) {
  return Tuple::basis(value, {axis});
}

int log2_of(int n) {
  return std::countr_zero(static_cast<unsigned>(n));
}

std::array<int, 2> operand_tile(const Sm80Operand& operand, const Sm80Gemm& gemm) {
  return {gemm.tile[operand.outer == gemm.m ? 0 : 1], gemm.tile[2]};
}

// b = 0 moves nothing: the plain layout, which prints shorter.
AnyLayout swizzled(const Layout& plain, int b, int m, int s) {
  if (b == 0) return plain;
  return Composed{Swizzle(b, m, s), Int(0), plain};
}

}  // namespace

std::optional<KOrder> Sm80Gemm::order_of_k() const {
  if (a.own) return plan::k_order(mma.a, {mma.shape[0], mma.shape[2]}, a.vector);
  if (b.own) return plan::k_order(mma.b, {mma.shape[1], mma.shape[2]}, b.vector);
  return std::nullopt;
}

int Sm80Gemm::tiles_of_scales() const {
  return order_of_k() && !scales.empty() && tiles_of_interval() == 1 ? 2 : 1;
}

Fragment fragment_in_order(const Sm80Gemm& gemm, const Sm80Operand& operand, int side,
                           int element_bits, std::span<const sema::CopyInstruction> copies) {
  const Layout& held = side == 0 ? gemm.mma.a : gemm.mma.b;
  const int outer = gemm.mma.shape[static_cast<std::size_t>(side)];
  const auto order = operand.own ? std::nullopt : gemm.order_of_k();
  Fragment made = order ? fragment_from(reordered(held, outer, *order), {outer, order->block()},
                                        operand.along_k, element_bits, copies)
                        : fragment_from(held, {outer, gemm.mma.shape[2]}, operand.along_k,
                                        element_bits, copies);
  if (!operand.own) read_together(made, element_bits);
  return made;
}

std::optional<Layout> shared_copy(std::array<int, 2> tile, bool along_k, int vector, int threads) {
  const int run_axis = along_k ? 1 : 0, across_axis = 1 - run_axis;
  const int extent = tile[static_cast<std::size_t>(run_axis)],
            across = tile[static_cast<std::size_t>(across_axis)];
  if (extent % vector != 0) return std::nullopt;
  // Accesses of a row side by side, then rows: a warp reads whole rows of memory. 128 x 32 of bf16
  // in vectors of 8: 4 accesses a row, 256 threads take 64 rows at once, twice. Of a long row a
  // thread takes several accesses, a warp's width apart, which have one address in common;
  // more threads than a warp share a row where there are more warps than rows.
  const int run = extent / vector,
            side = std::min({run, threads, std::max(lanes, threads / across)});
  if (run % side != 0 || threads % side != 0 || across % (threads / side) != 0) return std::nullopt;
  const int rows = threads / side;
  return Layout(tuple(tuple(side, rows), tuple(vector, tuple(run / side, across / rows))),
                tuple(tuple(along_axis(vector, run_axis), along_axis(1, across_axis)),
                      tuple(along_axis(1, run_axis), tuple(along_axis(side * vector, run_axis),
                                                           along_axis(rows, across_axis)))));
}

Wavefront worst_write(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits) {
  const auto tile = operand_tile(operand, gemm);
  WorstAccess counter(operand.shared, tile[0], element_bits,
                      std::max(1, operand.vector * element_bits / 8));
  const auto outer = values(along(operand.threads, 0)), k = values(along(operand.threads, 1));
  const auto threads = static_cast<std::size_t>(gemm.threads());
  // Where each lane of a warp begins one access: (outer, k).
  std::array<std::array<std::int64_t, 2>, lanes> at{};
  // One access a `vector` of values; the first of them says where it begins.
  for (std::size_t value = 0; value < outer.size() / threads;
       value += static_cast<std::size_t>(operand.vector)) {
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

namespace {

// Where the steps of an atom along k begin. In an order of its own step s begins where its lanes'
// neighbours do: 4:8 in a block of 128.
std::vector<int> beginnings_of_steps(const Sm80Gemm& gemm) {
  std::vector<int> steps = steps_side_by_side(gemm.tile[2], gemm.mma.shape[2]);
  if (const auto order = gemm.order_of_k()) {
    const auto begins = values(steps_of(*order, static_cast<int>(steps.size())));
    steps.assign(begins.begin(), begins.end());
  }
  return steps;
}

}  // namespace

Wavefront worst_read(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits) {
  const auto axis = static_cast<std::size_t>(operand.outer == gemm.m ? 0 : 1);
  return worst_read(operand.fragment, operand.shared, operand_tile(operand, gemm),
                    gemm.mma.shape[axis], beginnings_of_steps(gemm), element_bits);
}

namespace {

// All that the wavefronts of an operand depend on but for its layout in shared memory.
std::string accesses_text(const Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits) {
  const auto axis = static_cast<std::size_t>(operand.outer == gemm.m ? 0 : 1);
  const Fragment& read = operand.fragment;
  std::string text = operand.along_k ? "k" : "outer";
  const auto order = gemm.order_of_k();
  for (const int number :
       {gemm.tile[axis], gemm.tile[2], gemm.mma.shape[axis], gemm.threads(), operand.vector,
        element_bits, read.copy ? read.row : -read.together, order ? order->block() : 0})
    text += " " + std::to_string(number);
  for (const int first : beginnings_of_steps(gemm)) text += "," + std::to_string(first);
  for (const Layout& layout : {operand.threads, read.copy ? read.rows : read.held, read.warps})
    text += " " + layout.to_string();
  return text;
}

// `operand` has all but its layout in shared memory.
AnyLayout searched_swizzle(Sm80Operand operand, const Sm80Gemm& gemm, int element_bits) {
  const auto tile = operand_tile(operand, gemm);
  const auto order = gemm.order_of_k();
  // (8,1024) in blocks of 128 is (8,(128,8)):(128,(1,1024)): a warp's lanes read one block of all
  // rows, whose pitch of 256 bytes a swizzle spreads over the banks.
  const int row = order && operand.along_k ? order->block() : tile[1];
  const Layout plain =
      row < tile[1]
          ? Layout(tuple(tile[0], tuple(row, tile[1] / row)), tuple(row, tuple(1, tile[0] * row)))
          : Layout(tuple(tile[0], tile[1]),
                   operand.along_k ? tuple(tile[1], 1) : tuple(1, tile[0]));
  // m keeps the 16 bytes of an access together; b and s are searched: b = 0 is no swizzle, three
  // bits reach all 32 banks by 16 bytes, and s is how far the bits of the row lie above. A
  // lane reads elements of 32 and 64 bits one by one, eight of tf32 across rows and four of f64
  // along them side by side, 32 bytes. Rows that swap pieces of 16 bytes of these still meet in
  // their banks: where conflicts are left, larger pieces are tried.
  const int access = log2_of(std::max(1, matrix_row_bytes * 8 / element_bits)),
            all = tile[0] * tile[1];
  constexpr int most_bits = 3, farthest = 8;
  const int larger_pieces = element_bits >= 32 ? 1 : 0;
  std::optional<std::pair<int, AnyLayout>> best;
  const auto consider = [&](AnyLayout layout) {
    operand.shared = std::move(layout);
    const Wavefront write = worst_write(operand, gemm, element_bits),
                    read = worst_read(operand, gemm, element_bits);
    // Wavefronts beyond the least, of the worst write and the worst read.
    const int over = std::max(0, write.taken - write.least) + std::max(0, read.taken - read.least);
    if (!best || over < best->first) best = {over, operand.shared};
    return over == 0;
  };
  for (int m = access; m <= access + larger_pieces; ++m) {
    for (int b = m == access ? 0 : 1; b <= most_bits; ++b) {
      for (int s = b; s <= (b == 0 ? 0 : farthest); ++s) {
        // The pattern has to fit in a stage a whole number of times, or elements of one stage would
        // be moved to another.
        if (all % (1 << (b + m + s)) != 0) break;
        // The first without a conflict wins, which has the fewest bits.
        if (consider(swizzled(plain, b, m, s))) return operand.shared;
      }
    }
  }
  return best->second;
}

}  // namespace

void choose_swizzle(Sm80Operand& operand, const Sm80Gemm& gemm, int element_bits) {
  // A plan's variants have few kinds of operands.
  static Memo<std::string, AnyLayout> known;
  operand.shared = known(accesses_text(operand, gemm, element_bits),
                         [&] { return searched_swizzle(operand, gemm, element_bits); });
}

}  // namespace lay::plan
