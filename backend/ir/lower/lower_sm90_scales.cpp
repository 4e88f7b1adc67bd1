// Factors of a product that are constant within promotion intervals: each thread reads the numbers
// that its accumulators take, once an interval, and multiplies the interval's sums by them.
//
//   C[m,n] = sum[k](a[m,k//128] * b[n//128,k//128] * A[m,k] * B[n,k]), tiles of 128 x 128 x 128
//
//   two numbers of a, those of the thread's rows, and one of b; for each accumulator
//   total = fma(a * b, acc, total)
#include <algorithm>

#include "backend/ir/lower/lower_sm90.h"
#include "backend/plan/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

namespace {

using plan::along;

bool is_zero(const Layout& layout) {
  const auto all = values(layout);
  return std::all_of(all.begin(), all.end(), [](std::int64_t value) { return value == 0; });
}

}  // namespace

void Sm90Lowering::declare_scales() {
  for (const plan::ProductScale& scale : gemm_.scales) {
    declared_.from(declared_.kernel.node(scale.factor.value).where,
                   "scales of an interval, number -> (m,n) from this thread's first: " +
                       scale.read.to_string());
    scales_.push_back(b_.registers(declared_.fresh("scale"), gemm_.total, Layout(scale.count, 1)));
  }
}

// The K tile of the sum that a step of the tile multiplies, as the producer has loaded it.
Term Sm90Lowering::k_tile(const Tile& tile, Term tile_k) {
  if (!way_ && !gemm_.split) return tile_k;
  const Term step = way_ ? b_.select(b_.phase(way_) == 0, tile_k, tile.steps - 1 - tile_k) : tile_k;
  return b_.let(declared_.name("at_k"), tile.k_first + step);
}

// The group of an interval: K tile `k_tile` has parts of an interval each, or intervals have whole
// K tiles. A group is whole intervals: those of 32 in groups of 64, four a K tile of 128, are in
// group (k_tile * 4 + part) / 2.
Term Sm90Lowering::group_of(const plan::GroupScale::Quotient& quotient, Term k_tile, Term part) {
  const int k = gemm_.tile[2], interval = std::min(k, gemm_.promotion_interval);
  if (!quotient.group.is_literal()) return (k_tile * k + part * interval) / b_.size(quotient.group);
  const int parts = k / interval, group = static_cast<int>(quotient.group.value());
  return (k_tile * parts + part) / (group / interval);
}

void Sm90Lowering::read_scales(const Tile& tile, Term k_tile, Term part) {
  for (size_t i = 0; i < gemm_.scales.size(); ++i)
    read_scale(gemm_.scales[i], scales_[i], tile, k_tile, part);
}

// Outside the output, and in intervals behind the end of K, scales are 0 and are not read: the
// accumulators are 0 there.
void Sm90Lowering::read_scale(const plan::ProductScale& scale, BufferId numbers, const Tile& tile,
                              Term k_tile, Term part) {
  const sema::NodeId value = scale.factor.value;
  const std::array<sema::IndexId, 2> indices{gemm_.m, gemm_.n};
  declared_.from(declared_.kernel.node(value).where);
  const auto one = [&](Term e) {
    std::array<Term, 2> at;
    Term inside = number(0) == 0;
    for (size_t axis = 0; axis < 2; ++axis) {
      if (!scale.varies[axis]) continue;
      const int a = static_cast<int>(axis);
      at[axis] = b_.let(declared_.index_name(indices[axis]),
                        tile.first[axis] + held_[axis] + b_.at(along(scale.read, a), e));
      inside = inside && at[axis] < declared_.extent(indices[axis]);
    }
    // An interval of whole K tiles begins inside K, as each of its tiles does.
    const int k = gemm_.tile[2], interval = gemm_.promotion_interval;
    if (interval < k) inside = inside && k_tile * k + part * interval < declared_.extent(gemm_.k);
    const Ref to{numbers, {e}};
    const auto read = [&] {
      ElementLowering element(declared_);
      for (size_t axis = 0; axis < 2; ++axis)
        if (scale.varies[axis]) element.bind(indices[axis], at[axis]);
      for (size_t i = 0; i < gemm_.batch.size(); ++i) element.bind(gemm_.batch[i], tile.batch[i]);
      for (const plan::GroupScale::Quotient& each : scale.factor.quotients)
        element.know(each.node, group_of(each, k_tile, part));
      b_.assign(to, element.value(value, gemm_.total));
    };
    const bool is_guarded = scale.varies[0] || scale.varies[1] || interval < k;
    if (!is_guarded) return read();
    b_.when(inside, read, [&] { b_.assign(to, b_.constant(0.0, gemm_.total)); });
  };
  if (scale.count == 1) return one(number(0));
  b_.loop("e", number(0), number(scale.count), {.unrolled = true}, one);
}

// The product of the scales of an accumulator.
Term Sm90Lowering::scale_at(Term v, Term i, Term j) {
  Term made;
  for (size_t s = 0; s < gemm_.scales.size(); ++s) {
    const auto& held = gemm_.scales[s].held;
    Term at = number(0);
    const std::array<Term, 3> places{v, i, j};
    // A layout whose every value is 0 needs no arithmetic.
    for (size_t part = 0; part < places.size(); ++part)
      if (!is_zero(held[part])) at = at + b_.at(held[part], places[part]);
    const Term each = b_.read({scales_[s], {at}});
    made = s == 0 ? each : made * each;
  }
  return made;
}

}  // namespace lay::ir
