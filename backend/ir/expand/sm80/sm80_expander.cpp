#include "backend/ir/expand/sm80/sm80_expander.h"

#include "backend/ir/lower/lower_fragment.h"
#include "backend/ir/lower/lower_tiles.h"
#include "backend/ir/lower/lower_values.h"
#include "backend/ir/lower/mma_atom.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm80/sm80.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::ir {

namespace {

int extent_of(const Tuple& mode) {
  return static_cast<int>(size(mode).value());
}

// Single elements that are on their way at once: those of a K tile during the products of the one
// before, where a thread has registers for them and their addresses beside its sums, else a few at
// a time. 64 sums and 32 elements spill, and so do 32 and 32 where batches make addresses longer.
constexpr int most_beside_sums = 64, most_at_once = 8;

// Elements of a thread's part of a K tile that no asynchronous copy brings.
int elements_of_thread(const plan::Sm80Operand& operand) {
  return operand.async ? 0 : operand.vector * extent_of(operand.threads[1][1].shape);
}

int sums_of_thread(const plan::Sm80Gemm& gemm) {
  return extent_of(gemm.accumulators.shape[1]) * (gemm.promotion_interval > 0 ? 2 : 1);
}

// A further mode of stages, one behind the other.
AnyLayout with_stages(const AnyLayout& one, int stages) {
  const auto* composed = std::get_if<Composed>(&one);
  const Layout& inner = composed ? composed->layout() : std::get<Layout>(one);
  // The largest offset and one more: padding between rows counts, behind the last row it does not.
  const auto offsets = values(inner);
  const std::int64_t step = *std::max_element(offsets.begin(), offsets.end()) + 1;
  const Layout made(append(inner.shape, Tuple(stages)), append(inner.stride, Tuple(step)));
  if (!composed) return made;
  return Composed{composed->outer, composed->offset, made};
}

}  // namespace

Sm80Expander::Sm80Expander(Declared& declared, const tile::Program& program)
    : declared_(declared),
      b_(declared.b),
      gemm_(plan::sm80_of(program)),
      rounds_(gemm_.tiles_of_scales()),
      scales_(declared, gemm_, OutsideNumbers::last, 1,
              rounds_ > 1 ? rounds_ * gemm_.intervals_of_tile() : 1),
      sync_(declared, program),
      holds_ahead_(sums_of_thread(gemm_) +
                       (elements_of_thread(gemm_.a) + elements_of_thread(gemm_.b)) *
                           (gemm_.batch.empty() ? 1 : 2) <=
                   most_beside_sums),
      order_(gemm_.order_of_k()) {
  declare(a_, gemm_.a, 0);
  declare(b_operand_, gemm_.b, 1);
  declared.from(declared.kernel.node(gemm_.contraction).where,
                "accumulators, (thread,value) -> (m,n): " + gemm_.accumulators.to_string());
  // Values of the atom, then its repeats along m and n: m16n8k16 gives a lane 4, and (4,4) of them
  // make (4,4,4):(1,4,16), 64 accumulators.
  const auto repeats = gemm_.repeats();
  const Layout held = make_layout(tuple(extent_of(gemm_.mma.c.shape[1]), repeats[0], repeats[1]));
  accumulators_ = totals_ = b_.registers(declared.name("acc"), gemm_.mma.accumulator, held);
  if (gemm_.promotion_interval) {
    declared_.from(declared.kernel.node(gemm_.contraction).where,
                   "where the accumulators are added up every " +
                       std::to_string(gemm_.promotion_interval) + " of K" +
                       (scales_.any() ? ", each multiplied by its scales" : ""));
    totals_ = b_.registers(declared.name("total"), gemm_.total, held);
  }
  scales_.declare();
  if (gemm_.groups[2] > 1) {
    declared.from(declared.kernel.node(gemm_.contraction).where,
                  "(accumulator,thread of a slice,slice): the sums of all slices but the first");
    const int values = extent_of(gemm_.mma.c.shape[1]) * repeats[0] * repeats[1],
              threads = gemm_.slice_threads();
    handed_ = b_.shared(
        declared.name("handed"), gemm_.total,
        Layout(tuple(values, threads, gemm_.groups[2] - 1), tuple(threads, 1, values * threads)),
        16);
  }
  b_.kernel.atoms.push_back(mma_atom(gemm_.mma));
  all_ = sync_.declare_meeting();
  stages_ = sync_.declare(tile::Pipeline::Moves::operands);
}

const Span& Sm80Expander::where_of(const Operand& operand) const {
  return declared_.kernel.node(operand.plan->load).where;
}

void Sm80Expander::declare(Operand& operand, const plan::Sm80Operand& plan, int axis) {
  operand.plan = &plan;
  operand.axis = axis;
  operand.name = axis == 0 ? "A" : "B";
  const auto& load = std::get<sema::Load>(declared_.kernel.node(plan.load).what);
  const ElementType element = declared_.tensor(load.tensor).element;
  declared_.from(where_of(operand),
                 std::string(axis == 0 ? "(m" : "(n") + ",k,stage) -> offset in elements");
  constexpr int alignment = 128;
  operand.shared = b_.shared(declared_.name(operand.name + "_shared"), element,
                             with_stages(plan.shared, gemm_.stages), alignment);
  declared_.from(where_of(operand), "(value of the atom, atom, step)");
  // Two buffers of fragments: one step is multiplied while the next one is read. What a thread has
  // read of its own needs one.
  const Layout held = make_layout(
      tuple(plan.fragment.values(), gemm_.repeats()[static_cast<size_t>(axis)], plan.own ? 1 : 2));
  operand.fragment = b_.registers(declared_.name(axis == 0 ? "a" : "b"),
                                  axis == 0 ? gemm_.mma.a_type : gemm_.mma.b_type, held);
  if (is_held(operand)) {
    declared_.from(where_of(operand), "(element,access) of this thread's part of a K tile");
    operand.staged =
        b_.registers(declared_.name(axis == 0 ? "a_next" : "b_next"), element,
                     make_layout(tuple(plan.vector, extent_of(plan.threads[1][1].shape))));
  }
  if (plan.own) {
    declared_.from(where_of(operand), "(element,access) of what this thread has of a K tile");
    operand.stored =
        b_.registers(declared_.name(axis == 0 ? "a_own" : "b_own"), element,
                     make_layout(tuple(plan.vector, extent_of(plan.threads[1][1].shape))));
  } else if (plan.converted) {
    operand.stored =
        b_.registers(declared_.name(axis == 0 ? "a_stored" : "b_stored"), element, held);
  }
}

void Sm80Expander::run() {
  // One block a tile.
  const plan::Tiling tiling = plan::tiling_of(gemm_);
  b_.kernel.launch = {{plan::places(declared_.kernel, gemm_.order, tiling), 1, 1},
                      {1, 1, 1},
                      sync_.threads(),
                      plan::blocks_of_sm(gemm_, declared_.kernel)};
  wait_for_grids();
  sync_.role(0, [&] {
    TileScheduler(declared_, gemm_.order, tiling, TileScheduler::Tiles::one)
        .with_tile(b_.special(Builtin::block_x),
                   [&](const std::vector<Term>& tile) { body(tile); });
  });
}

// Where nothing but the factors is read, the launch of the grid may overlap the one before. What
// may have been written before the wait is no constant for the compiler, so that what an epilogue
// reads would wait for each element that it has stored.
void Sm80Expander::wait_for_grids() {
  const sema::Kernel& kernel = declared_.kernel;
  const auto is_sum = [&](sema::NodeId node) { return node == gemm_.contraction; };
  for (const sema::Assignment& each : kernel.assignments)
    if (sema::reads_memory(kernel, each.value, is_sum)) return;
  declared_.from(kernel.where);
  b_.inside(b_.kernel.prologue, [&] { b_.emit(Fence{FenceKind::grid_dependency_wait}); });
}

void Sm80Expander::place(Operand& operand, Term tile) {
  const plan::Sm80Operand& plan = *operand.plan;
  const auto axis = static_cast<size_t>(operand.axis);
  const std::string lower = axis == 0 ? "a" : "b", outer = axis == 0 ? "m" : "n";
  declared_.from(where_of(operand), operand.name + ": (thread,value) -> (" + outer +
                                        ",k): " + plan.threads.to_string());
  const Term thread = b_.special(Builtin::thread);
  Term warp = b_.special(Builtin::warp);
  if (gemm_.groups[2] > 1) warp = warp % (gemm_.groups[0] * gemm_.groups[1]);
  operand.outer =
      b_.let(declared_.name(lower + "_" + outer), b_.at(along(plan.threads[0], 0), thread));
  operand.k = b_.let(declared_.name(lower + "_k"), b_.at(along(plan.threads[0], 1), thread));
  operand.first = b_.let(declared_.name(lower + "_first"), tile * gemm_.tile[axis] + operand.outer);
  // Warp w multiplies part (w % groups[0], w / groups[0]) of the tile.
  const Term group = axis == 0 ? warp % gemm_.groups[0] : warp / gemm_.groups[0];
  part_[axis] = b_.let(declared_.name(lower + "_part"), group * gemm_.part()[axis]);
  tile_[axis] = b_.let(declared_.name(outer + "_tile"), tile * gemm_.tile[axis]);
  if (plan.own) return;
  declared_.from(where_of(operand), plan.fragment.copy
                                        ? "the row that this lane names to " +
                                              plan.fragment.copy->name + ": " +
                                              plan.fragment.rows.to_string()
                                        : "this lane's values: " + plan.fragment.held.to_string());
  const LanePlace place = lane_place(b_, plan.fragment);
  operand.read_outer = b_.let(declared_.name(lower + "_row"), part_[axis] + place.outer);
  // A slice's part of the K tile begins so many steps further.
  const int part_k = gemm_.steps() * gemm_.mma.shape[2];
  operand.read_k = b_.let(declared_.name(lower + "_row_k"),
                          gemm_.groups[2] > 1 ? place.k + slice_ * part_k : place.k);
}

void Sm80Expander::body(const std::vector<Term>& tile) {
  batch_.assign(tile.begin() + 2, tile.end());
  const bool slices = gemm_.groups[2] > 1;
  if (slices) {
    declared_.from(declared_.kernel.node(gemm_.contraction).where, "which part of every K tile");
    slice_ = b_.let(declared_.name("slice"),
                    b_.special(Builtin::warp) / (gemm_.groups[0] * gemm_.groups[1]));
  }
  place(a_, tile[0]);
  place(b_operand_, tile[1]);
  if (scales_.any()) place_first();
  main_loop();
  if (!slices) return epilogue();
  add_slices();
  b_.when(slice_ == 0, [&] { epilogue(); });
}

void Sm80Expander::unrolled(const char* name, int count, const std::function<void(Term)>& body) {
  if (count == 0) return;
  if (count == 1) return body(number(0));
  b_.loop(name, number(0), number(count), {.unrolled = true}, body);
}

// Each access of one operand's part of a K tile.
void Sm80Expander::each_access(const Operand& operand, const AccessBody& body) {
  const Layout rest = operand.plan->threads[1][1];
  const auto at = [&](Term access) {
    // Access 0 was placed once a tile; further ones add their part of the layout to it.
    body(access, b_.at(along(rest, 0), access), b_.at(along(rest, 1), access));
  };
  const int count = extent_of(rest.shape);
  if (operand.plan->async || holds_ahead_ || count <= most_at_once)
    return unrolled("access", count, at);
  b_.loop("first", number(0), number(count), {.step = most_at_once}, [&](Term first) {
    unrolled("access", most_at_once, [&](Term access) { at(first + access); });
  });
}

// One operand's part of a K tile on its way: to the stage itself, or to registers that hold it.
void Sm80Expander::load(const Operand& operand, Term k_first, Term stage) {
  const plan::Sm80Operand& plan = *operand.plan;
  declared_.from(where_of(operand), operand.name + (is_held(operand) ? ": global -> registers"
                                                                     : ": global -> shared"));
  each_access(operand, [&](Term access, Term outer_step, Term k_step) {
    const Term outer = operand.first + outer_step, k = k_first + operand.k + k_step;
    std::vector<std::pair<sema::IndexId, Term>> at{{gemm_.k, k}, {plan.outer, outer}};
    for (size_t i = 0; i < batch_.size(); ++i) at.emplace_back(gemm_.batch[i], batch_[i]);
    const Ref from = element_at(declared_, plan.load, at);
    const int run = plan.along_k ? 1 : 0;
    // An asynchronous copy of no bytes writes zeros, so that a guard costs no branch. K tiles past
    // the last are zeros as well, which lets the main loop copy ahead without a condition.
    const CopyGuard guard{outer < declared_.extent(plan.outer) && k < declared_.extent(gemm_.k),
                          true};
    const Ref to{operand.shared, {operand.outer + outer_step, operand.k + k_step, stage}};
    const CopyVector vector{plan.vector, run, plan.vector_mode};
    if (plan.async) {
      b_.copy(to, from, AsyncCopy{vector, guard, b_.atom(*plan.async)});
    } else if (holds_ahead_) {
      b_.copy({operand.staged, {number(0), access}}, from,
              PlainCopy{{plan.vector, 0, plan.vector_mode}, guard});
    } else {
      b_.copy(to, from, PlainCopy{vector, guard});
    }
  });
}

// What registers hold goes on to its stage.
void Sm80Expander::store(const Operand& operand, Term stage) {
  const plan::Sm80Operand& plan = *operand.plan;
  if (!is_held(operand)) return;
  declared_.from(where_of(operand), operand.name + ": registers -> shared");
  each_access(operand, [&](Term access, Term outer_step, Term k_step) {
    b_.copy({operand.shared, {operand.outer + outer_step, operand.k + k_step, stage}},
            {operand.staged, {number(0), access}},
            PlainCopy{{plan.vector, plan.along_k ? 1 : 0, 0}, {}});
  });
}

void Sm80Expander::load_tile(Term tile_k, Term stage) {
  // One group a K tile: waiting for all but n groups is waiting for all but the n newest tiles.
  // Plain copies make empty groups, which count the same.
  load(a_, tile_k * gemm_.tile[2], stage);
  load(b_operand_, tile_k * gemm_.tile[2], stage);
  b_.emit(Commit{GroupKind::cp_async});
  if (!is_held(a_) && !is_held(b_operand_)) return;
  // Loads stay before the products: without a fence the compiler may sink them to where they are
  // stored, where nothing hides their latency.
  declared_.from(declared_.kernel.node(gemm_.contraction).where);
  b_.emit(Fence{FenceKind::warp});
}

void Sm80Expander::store_tile(Term stage) {
  store(a_, stage);
  store(b_operand_, stage);
}

// What this thread has copied for itself of a K tile: whole accesses, each of several steps.
void Sm80Expander::read_own(Term stage) {
  for (const Operand* each : {&a_, &b_operand_}) {
    if (!each->plan->own) continue;
    declared_.from(where_of(*each), each->name + ": shared -> registers");
    each_access(*each, [&](Term access, Term outer_step, Term k_step) {
      b_.copy({each->stored, {number(0), access}},
              {each->shared, {each->outer + outer_step, each->k + k_step, stage}},
              PlainCopy{{each->plan->vector, 0, 1}, {}});
    });
  }
}

// One step's fragments of what a thread has read of its own.
void Sm80Expander::convert_own(const Operand& operand, Term step) {
  const plan::Sm80Operand& plan = *operand.plan;
  const auto axis = static_cast<size_t>(operand.axis);
  const int together = order_->together, rows = plan.fragment.values() / together,
            repeats = gemm_.repeats()[axis], steps = order_->steps_of_run();
  const ElementType type = axis == 0 ? gemm_.mma.a_type : gemm_.mma.b_type;
  declared_.from(where_of(operand), operand.name + ": registers -> fragments");
  unrolled(axis == 0 ? "i" : "j", repeats, [&](Term atom) {
    unrolled("row", rows, [&](Term row) {
      const Term access = row + (atom + step / steps * repeats) * rows,
                 first = step % steps * together;
      b_.loop("v", number(0), number(together), {.unrolled = true}, [&](Term v) {
        ElementLowering conversion(declared_, {plan.load});
        conversion.know(plan.load, b_.read({operand.stored, {v + first, access}}));
        b_.assign({operand.fragment, {v + row * together, atom, number(0)}},
                  b_.cast(conversion.value(plan.value), type));
      });
    });
  });
}

void Sm80Expander::convert_own(Term step) {
  for (const Operand* each : {&a_, &b_operand_})
    if (each->plan->own) convert_own(*each, step);
}

void Sm80Expander::read(const Operand& operand, Term step, Term stage, Term buffer) {
  const plan::Sm80Operand& plan = *operand.plan;
  const auto axis = static_cast<size_t>(operand.axis);
  declared_.from(where_of(operand), operand.name + ": shared -> fragments");
  unrolled(axis == 0 ? "i" : "j", gemm_.repeats()[axis], [&](Term atom) {
    read_fragment(b_, plan.fragment,
                  {plan.converted ? operand.stored : operand.fragment,
                   {atom, buffer},
                   operand.shared,
                   // The lane's row is computed once; atoms and steps add constants to it.
                   operand.read_outer + atom * gemm_.mma.shape[axis],
                   operand.read_k + (order_ ? b_.at(plan::steps_of(*order_, gemm_.steps()), step)
                                            : step * gemm_.mma.shape[2]),
                   stage});
    if (!plan.converted) return;
    const ElementType type = axis == 0 ? gemm_.mma.a_type : gemm_.mma.b_type;
    convert_fragment(declared_, plan.fragment,
                     {plan.load,
                      plan.value,
                      type,
                      operand.stored,
                      operand.fragment,
                      {atom, buffer},
                      {atom, buffer}});
  });
}

void Sm80Expander::read_fragments(Term step, Term stage, Term buffer) {
  for (const Operand* each : {&a_, &b_operand_})
    if (!each->plan->own) read(*each, step, stage, buffer);
}

void Sm80Expander::products(Term buffer) {
  declared_.from(declared_.kernel.node(gemm_.contraction).where, "products of one step");
  const auto repeats = gemm_.repeats();
  const auto buffer_of = [&](const Operand& operand) {
    return operand.plan->own ? number(0) : buffer;
  };
  unrolled("i", repeats[0], [&](Term i) {
    unrolled("j", repeats[1], [&](Term j) {
      b_.mma(mma_kind(gemm_.mma), {accumulators_, {i, j}}, {a_.fragment, {i, buffer_of(a_)}},
             {b_operand_.fragment, {j, buffer_of(b_operand_)}}, gemm_.mma.name);
    });
  });
}

// Where this thread's first accumulator is in the output.
void Sm80Expander::place_first() {
  // The layout's thread mode is (lane of the atom, warp): the warp's share is `part_` already.
  const Layout thread = gemm_.accumulators[0][0];
  const Term lane = b_.special(Builtin::lane);
  declared_.from(declared_.kernel.assignments[0].where, "this thread's first element");
  for (size_t axis = 0; axis < 2; ++axis) {
    first_[axis] =
        b_.let(declared_.name(axis == 0 ? "m_first" : "n_first"),
               tile_[axis] + part_[axis] + b_.at(along(thread, static_cast<int>(axis)), lane));
  }
}

// Part `part` of what this slice has of a K tile. Slices count on from those before; whole K tiles
// are one interval for all slices.
ScaleLowering::Place Sm80Expander::interval_at(Term tile, Term part) {
  const bool inside = gemm_.promotion_interval < gemm_.tile[2] && gemm_.groups[2] > 1;
  return {first_, batch_, tile, inside ? slice_ * gemm_.intervals_of_tile() + part : part};
}

// Those of an interval of a K tile of that round.
HeldScales Sm80Expander::scales_of(Term part, Term round) {
  if (rounds_ == 1) return {};
  return {0, round * gemm_.intervals_of_tile() + part};
}

void Sm80Expander::begin_interval(Term tile, Term part) {
  if (!scales_.any() || rounds_ > 1) return;
  const int of_tiles = gemm_.tiles_of_interval();
  const auto read = [&] { scales_.read(interval_at(tile, part)); };
  if (of_tiles == 1) return read();
  b_.when(tile % of_tiles == 0, read);
}

void Sm80Expander::end_interval(Term tile, Term tiles, Term part, Term round) {
  if (!gemm_.promotion_interval) return;
  const int of_tiles = gemm_.tiles_of_interval();
  declared_.from(declared_.kernel.node(gemm_.contraction).where, "the sums of an interval");
  const auto add = [&] { scales_.add(totals_, accumulators_, scales_of(part, round)); };
  const auto clear = [&] {
    b_.fill(accumulators_, b_.constant(std::int64_t{0}, gemm_.mma.accumulator));
  };
  if (of_tiles > 1) {
    return b_.when(tile % of_tiles == of_tiles - 1 || tile == tiles - 1, [&] {
      add();
      clear();
    });
  }
  if (scales_.any() && scales_.may_be_behind_k()) {
    b_.when(scales_.is_inside_k(interval_at(tile, part)), add);
  } else {
    add();
  }
  // Without a condition: every interval begins with zeros, which then need no registers.
  clear();
  if (rounds_ > 1) scales_.read(interval_at(tile + rounds_, part), scales_of(part, round));
}

// All but ahead - 1 groups are done: the oldest tile in flight has arrived for this thread, and
// after the barrier for every thread. The same barrier says that the stage read last is free.
void Sm80Expander::arrived(const Span& where) {
  declared_.from(where,
                 "the next K tile is in shared memory, and the last one is no longer needed");
  b_.emit(Wait{GroupKind::cp_async, stages_.pipeline->ahead() - 1, false});
  b_.sync(all_);
}

// Fragments alternate between two buffers: step s of a K tile, of which there is an even number,
// uses buffer s % 2.
void Sm80Expander::main_loop() {
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  const Term tiles = b_.let(declared_.name("tiles_k"),
                            b_.size(plan::tiles(declared_.kernel, gemm_.k, gemm_.tile[2])));
  // The stage that is read may not be written: the others' K tiles are on their way.
  const int ahead = stages_.pipeline->ahead();
  declared_.from(where);
  b_.fill(accumulators_, b_.constant(std::int64_t{0}, gemm_.mma.accumulator));
  if (gemm_.promotion_interval) b_.fill(totals_, b_.constant(std::int64_t{0}, gemm_.total));
  b_.loop("s", number(0), number(ahead), {.unrolled = a_.plan->async && b_operand_.plan->async},
          [&](Term s) {
            load_tile(s, s);
            store_tile(s);
          });
  if (rounds_ > 1) {
    unrolled("s", rounds_, [&](Term s) {
      b_.when(s < tiles, [&] {
        unrolled("part", gemm_.intervals_of_tile(),
                 [&](Term part) { scales_.read(interval_at(s, part), scales_of(part, s)); });
      });
    });
  }
  arrived(where);
  read_own(number(0));
  read_fragments(number(0), number(0), number(0));
  declared_.from(where, "K tile by K tile, " + std::to_string(ahead) + " on their way");
  if (rounds_ == 1) {
    b_.loop(declared_.name("tile_k"), number(0), tiles, {},
            [&](Term tile) { multiply_tile(tile, tiles, number(0)); });
  } else {
    b_.loop(declared_.name("first_k"), number(0), tiles, {.step = rounds_}, [&](Term first) {
      unrolled("round", rounds_, [&](Term round) {
        const Term tile = b_.let(declared_.name("tile_k"), first + round);
        b_.when(tile < tiles, [&] { multiply_tile(tile, tiles, round); });
      });
    });
  }
  declared_.from(where, "copies past the last K tile wrote zeros");
  b_.emit(Wait{GroupKind::cp_async, 0, false});
}

// `round`: whose scales the K tile has.
void Sm80Expander::multiply_tile(Term tile, Term tiles, Term round) {
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  const int stages = stages_.pipeline->stages, ahead = stages_.pipeline->ahead();
  const int parts = gemm_.intervals_of_tile(), steps = gemm_.steps() / parts;  // of an interval
  const Term stage = b_.let(declared_.name("stage"), tile % stages);
  const Term next = b_.let(declared_.name("next"), (tile + 1) % stages);
  // (tile + stages - 1) % stages is the stage of tile - 1, which the barrier before has freed.
  const Term fill = b_.let(declared_.name("filled"), (tile + ahead) % stages);
  // All steps but the last prefetch the next one of this stage. The last one prefetches the first
  // of the next K tile, so that the wait for that tile stands before it.
  const auto multiply = [&](Term part, int count) {
    unrolled("step", count, [&](Term step) {
      const Term at = part * steps + step;
      read_fragments(at + 1, stage, (at + 1) % 2);
      convert_own(at);
      products(at % 2);
    });
  };
  begin_interval(tile, number(0));
  load_tile(tile + ahead, fill);
  unrolled("part", parts - 1, [&](Term part) {
    multiply(part, steps);
    end_interval(tile, tiles, part, round);
    begin_interval(tile, part + 1);
  });
  multiply(number(parts - 1), steps - 1);
  convert_own(number(parts * steps - 1));
  store_tile(fill);
  arrived(where);
  read_own(next);
  read_fragments(number(0), next, number(0));
  products(number(1));
  end_interval(tile, tiles, number(parts - 1), round);
}

// In the order of the slices, so that every run gives the same bits.
void Sm80Expander::add_slices() {
  const Span& where = declared_.kernel.node(gemm_.contraction).where;
  const int values = extent_of(gemm_.mma.c.shape[1]);
  const auto repeats = gemm_.repeats();
  const Term thread = b_.let(declared_.name("thread_of_slice"),
                             b_.special(Builtin::thread) % gemm_.slice_threads());
  // For every accumulator: where this thread holds it, and its number.
  const auto each = [&](const std::function<void(const Ref&, Term)>& body) {
    unrolled("i", repeats[0], [&](Term i) {
      unrolled("j", repeats[1], [&](Term j) {
        unrolled("v", values, [&](Term v) {
          body({totals_, {v, i, j}}, v + (i + j * repeats[0]) * values);
        });
      });
    });
  };
  declared_.from(where, "all slices but the first hand over their sums");
  b_.when(slice_ > 0, [&] {
    each([&](const Ref& own, Term n) {
      b_.assign({handed_, {n, thread, slice_ - 1}}, b_.read(own));
    });
  });
  b_.sync(all_);
  declared_.from(where, "the first slice adds them up");
  b_.when(slice_ == 0, [&] {
    for (int slice = 1; slice < gemm_.groups[2]; ++slice)
      each([&](const Ref& own, Term n) {
        b_.assign(own, b_.read(own) + b_.read({handed_, {n, thread, number(slice - 1)}}));
      });
  });
}

void Sm80Expander::epilogue() {
  const auto repeats = gemm_.repeats();
  const Layout value = gemm_.accumulators[1];
  if (!scales_.any()) place_first();
  store_values(declared_, {gemm_.contraction,
                           {gemm_.m, gemm_.n},
                           gemm_.batch,
                           batch_,
                           first_,
                           value,
                           totals_,
                           {extent_of(value.shape[0]), repeats[0], repeats[1]},
                           gemm_.vectors});
}

}  // namespace lay::ir
