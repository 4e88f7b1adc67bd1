// A last wave that is not whole (plan/sm90/sm90_tail.h): clusters take parts of K of its tiles. A
// consumer leaves its sums of a part in workspace, where each thread writes vectors beside those of
// its neighbours, and counts. The one that counts last adds up the sums of all parts, in the order
// of parts; each thread reads what the threads of its number have written.
#include "backend/plan/sm90/sm90_tail.h"

#include "backend/ir/expand/sm90/sm90_expander.h"

namespace lay::ir {

namespace {

constexpr int warpgroup = 128, warps = 4, vector = 4;  // sums that go together: 16 bytes

}  // namespace

void Sm90Expander::declare_tail() {
  const plan::TailTensors tensors = plan::tail_tensors(declared_.kernel, gemm_);
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  declared_.from(where, "sums of parts, (value,thread,unit)");
  tail_.sums = declared_.workspace(tensors.sums.name, gemm_.total, tensors.sums.layout);
  declared_.from(where, "parts of a tile that are there");
  tail_.counts =
      declared_.workspace(tensors.counts.name, tensors.counts.element, tensors.counts.layout);
  declared_.from(where);
  tail_.before = b_.registers(declared_.name("before"), ElementType::s32, Layout(1, 1));
  tail_.piece = b_.registers(declared_.name("piece"), gemm_.total, Layout(vector, 1));
  tail_.counted = sync_.declare_counted();
}

// The place of a block's sums: those of a unit's blocks lie one behind the other.
Term Sm90Expander::of_block(Term unit) const {
  return gemm_.blocks() == 1 ? unit : unit * gemm_.blocks() + b_.special(Builtin::cluster_rank);
}

// The number in the tail of a part of the tile.
Term Sm90Expander::in_tail(const Tile& tile, Term part) const {
  return tile.unit.of_tile + part * tile.unit.rest;
}

ExprId Sm90Expander::slot_of_consumer() const {
  return gemm_.consumers() > 1 ? ExprId(consumer_) : ExprId{};
}

// Calls the body with each vector of this thread's sums: its first value, and where it is held.
void Sm90Expander::each_sum_vector(const std::function<void(Term, Ref)>& body) {
  const auto repeats = gemm_.repeats();
  const int values = gemm_.mma.shape[0] * gemm_.mma.shape[1] / warpgroup;
  over("i", repeats[0], [&](Term i) {
    over("j", repeats[1], [&](Term j) {
      b_.loop("v", number(0), number(values), {.step = vector, .unrolled = true}, [&](Term v) {
        body((i * repeats[1] + j) * values + v, {totals_, {v, i, j}});
      });
    });
  });
}

// Leaves the sums of a part to the others, and counts it.
void Sm90Expander::leave_part(const Tile& tile) {
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  const Term thread = b_.special(Builtin::thread) - warpgroup;
  declared_.from(where, "the sums of this part");
  const Term unit = b_.let(declared_.name("own_sums"), of_block(in_tail(tile, tile.unit.part)));
  each_sum_vector([&](Term value, const Ref& held) {
    b_.copy({tail_.sums, {value, thread, unit}}, held, vector);
  });
  declared_.from(where, "counted when all threads have written");
  b_.fill(tail_.before, number(-1));
  b_.sync(tail_.counted, slot_of_consumer());
  b_.when(b_.special(Builtin::warp) % warps == 0, [&] {
    b_.elect([&] {
      const Term at = of_block(in_tail(tile, number(0))) * gemm_.consumers() + consumer_;
      b_.assign({tail_.before, {number(0)}},
                b_.atomic_count(declared_.name("counted_before"), {tail_.counts, {at}}));
    });
  });
}

// Adds up the sums of all parts in their order.
void Sm90Expander::add_parts(const Tile& tile) {
  const Term thread = b_.special(Builtin::thread) - warpgroup;
  declared_.from(declared_.kernel.node(gemm_.contraction).where, "the sums, in the order of parts");
  const Term first = b_.let(declared_.name("first_sums"), of_block(in_tail(tile, number(0))));
  each_sum_vector([&](Term value, const Ref& held) {
    b_.copy(held, {tail_.sums, {value, thread, first}}, vector);
  });
  b_.loop(declared_.name("other"), number(1), number(gemm_.tail), {}, [&](Term part) {
    const Term unit = b_.let(declared_.name("its_sums"), of_block(in_tail(tile, part)));
    each_sum_vector([&](Term value, const Ref& held) {
      b_.copy({tail_.piece, {number(0)}}, {tail_.sums, {value, thread, unit}}, vector);
      b_.loop("e", number(0), number(vector), {.unrolled = true}, [&](Term e) {
        const Ref sum{totals_,
                      {b_.term(held.coordinate[0]) + e, held.coordinate[1], held.coordinate[2]}};
        b_.assign(sum, b_.read(sum) + b_.read({tail_.piece, {e}}));
      });
    });
  });
}

// A whole tile is stored, and one in parts by the consumer that has the sums of all.
void Sm90Expander::finish_with_tail(const Tile& tile) {
  declared_.from(declared_.kernel.node(gemm_.contraction).where);
  b_.when(
      tile.unit.is_part, [&] { leave_part(tile); },
      [&] { b_.fill(tail_.before, number(gemm_.tail - 1)); });
  const Term is_last =
      b_.sync_any(declared_.name("is_last"), b_.read({tail_.before, {number(0)}}) == gemm_.tail - 1,
                  tail_.counted, slot_of_consumer());
  b_.when(is_last, [&] {
    b_.when(tile.unit.is_part, [&] {
      add_parts(tile);
      load_first_inputs(tile);
    });
    epilogue(tile);
  });
}

}  // namespace lay::ir
