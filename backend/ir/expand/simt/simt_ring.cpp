// A SIMT GEMM whose K tiles come through a ring of stages.
#include "backend/ir/expand/simt/simt_expander.h"
#include "backend/ir/lower/lower_ring.h"
#include "backend/plan/schedule/order.h"

namespace lay::ir {

namespace {
constexpr int warp_threads = 32;
}  // namespace

void SimtExpander::declare_ring() {
  for (Operand* operand : {&a_operand_, &b_operand_}) {
    const auto& boxes = operand->copy->boxes;
    if (!boxes) continue;
    // A swizzle width of 16 bytes is none: rows lie one behind the other.
    constexpr int as_it_lies = 16;
    operand->map = map_of_boxes(
        declared_, operand->name + "_map",
        {operand->copy->load, gemm_.k, operand->copy->outer, boxes->order, boxes->box, as_it_lies});
  }
  stages_ = sync_.declare(tile::Pipeline::Moves::operands);
}

void SimtExpander::run_ring(const WithTile& with_its_tile) {
  declared_.from(declared_.kernel.where);
  b_.inside(b_.kernel.prologue, [&] {
    sync_.initialise(sync_.said().moving(tile::Pipeline::Moves::operands));
    if (gemm_.parts > 1)
      meet_blocks();
    else
      b_.sync(all_);
    // The kernel may read what the launch before wrote from now on (programmatic dependent launch).
    b_.emit(Fence{FenceKind::grid_dependency_wait});
  });
  sync_.role(0, [&] { with_its_tile([&](const std::vector<Term>& tile) { copy_ahead(tile); }); });
  sync_.role(1, [&] { with_its_tile([&](const std::vector<Term>& tile) { body(tile); }); });
}

// The warp says that it has written or read the stage.
void SimtExpander::tell(BarrierId barrier, RingId ring) {
  b_.emit(Fence{FenceKind::warp});
  b_.elect([&] { b_.sync(barrier, b_.slot(ring), ArriveMbarrier{}); });
}

// By one thread: what TMA brings of a K tile.
void SimtExpander::copy_boxes(const std::vector<Term>& tile, Term k_first) {
  int elements = 0;
  for (const Operand* operand : {&a_operand_, &b_operand_}) {
    if (operand->copy->boxes)
      elements += gemm_.tile[static_cast<size_t>(operand->axis)] * gemm_.tile[2];
  }
  // TMA brings operands only of the accumulator's type: what is converted goes through registers.
  expect_at(b_, stages_.filled, stages_.write, elements * bits(gemm_.accumulator) / 8);
  for (const Operand* operand : {&a_operand_, &b_operand_}) {
    if (!operand->copy->boxes) continue;
    const auto axis = static_cast<size_t>(operand->axis);
    declared_.from(declared_.kernel.node(operand->copy->load).where,
                   operand->name + ": global -> shared");
    const Ref to{operand->shared, {number(0), number(0), b_.slot(stages_.write)}};
    b_.copy(to, operand_at(*operand, tile[axis] * gemm_.tile[axis], k_first),
            TmaLoad{operand->map,
                    {stages_.filled, b_.slot(stages_.write)},
                    box_atom(declared_, operand->map, sema::CopySpace::shared),
                    {}});
  }
}

// Copies K tile after K tile, as the stages become free. Elements that go through registers are on
// their way while the warps wait.
void SimtExpander::copy_ahead(const std::vector<Term>& tile) {
  batch_.assign(tile.begin() + 2, tile.end());
  std::vector<Operand*> held;
  for (Operand* operand : {&a_operand_, &b_operand_}) {
    if (operand->copy->boxes) continue;
    place_copy(tile[static_cast<size_t>(operand->axis)], *operand,
               b_.special(Builtin::thread) - gemm_.threads());
    held.push_back(operand);
  }
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  const auto [first_tile, end_tile] = k_tiles();
  const Term first = first_tile, end = end_tile;  // for the lambdas
  const Term first_warp = b_.special(Builtin::warp) == gemm_.threads() / warp_threads;
  const auto each_tile = [&](const std::function<void(Term)>& body) {
    b_.loop(declared_.name("tile_k"), first, end, {}, [&](Term tile_k) {
      body(tile_k * gemm_.tile[2]);
      b_.emit(Advance{stages_.write, {}});
    });
  };
  const auto wait = [&] {
    declared_.from(where, "all warps have read the stage");
    wait_at(b_, stages_.drained, stages_.write);
  };
  // TMA alone: one thread of the first producer warp does it all.
  if (held.empty()) {
    b_.when(first_warp, [&] {
      b_.elect([&] {
        each_tile([&](Term k_first) {
          wait();
          copy_boxes(tile, k_first);
        });
      });
    });
    return;
  }
  each_tile([&](Term k_first) {
    // The loads from global memory are issued before the wait for the stage, so that their latency
    // passes while the consumers still read it.
    for (Operand* operand : held) load(*operand, k_first);
    wait();
    if (held.size() == 1)
      b_.when(first_warp, [&] { b_.elect([&] { copy_boxes(tile, k_first); }); });
    for (Operand* operand : held) store(*operand, b_.slot(stages_.write));
    tell(stages_.filled, stages_.write);
  });
}

void SimtExpander::empty_ring() {
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  const auto [first, end] = k_tiles();
  declared_.from(where, "accumulators");
  b_.fill(accumulators_, b_.constant(std::int64_t{0}, gemm_.accumulator));
  b_.loop(declared_.name("tile_k"), first, end, {}, [&](Term) {
    declared_.from(where, "the K tile has arrived");
    wait_at(b_, stages_.filled, stages_.read);
    products(b_.slot(stages_.read));
    declared_.from(where, "this warp has read the stage");
    // A warp tells for itself, so that no barrier of the block is needed.
    tell(stages_.drained, stages_.read);
    b_.emit(Advance{stages_.read, {}});
  });
}

}  // namespace lay::ir
