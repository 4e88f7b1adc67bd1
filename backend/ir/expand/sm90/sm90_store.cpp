// How outputs leave through shared memory: values are put there in steps, and taken away by TMA or
// by the threads.
#include "backend/plan/sm90/sm90_store.h"

#include <algorithm>

#include "backend/ir/expand/sm90/sm90_expander.h"
#include "backend/ir/lower/lower_ring.h"
#include "backend/plan/sm90/tma.h"
#include "frontend/algebra/layouts/axes.h"

namespace lay::ir {

namespace {

using plan::rows_of_atom, plan::rows_of_warp;

constexpr int warpgroup = 128;

}  // namespace

void Sm90Expander::declare_staged() {
  const plan::StagedStore& store = *gemm_.store;
  const auto& assignments = declared_.kernel.assignments;
  const bool single = assignments.size() == 1;
  for (size_t i = 0; i < assignments.size(); ++i) {
    declared_.from(assignments[i].where, "(m,n,buffer,consumer)");
    const std::string stem = single ? "C" : declared_.tensor(assignments[i].target).name;
    Staged& made = outputs_.emplace_back();
    declare_tensor(made, store.outputs[i], stem.c_str(), store.buffers);
  }
  declare_inputs();
  prepare_values();
  for (Staged& each : outputs_) {
    const ElementType type = declared_.tensor(each.plan->tensor).element;
    each.values = b_.registers(single ? declared_.name("packed") : declared_.fresh("packed"), type,
                               Layout(store.step(), 1));
    declared_.from(assignments.front().where);
    if (&each == &outputs_.front()) {
      // Of each product; the first has the name itself.
      const int picked = picked_values();
      for (int p = 0; picked > 0 && p < gemm_.products(); ++p)
        picked_.push_back(
            b_.registers(p == 0 ? declared_.name("picked") : declared_.fresh("picked"), gemm_.total,
                         Layout(picked, 1)));
    }
    if (!each.plan->matrices)
      each.together =
          b_.registers(single ? declared_.name("together") : declared_.fresh("together"), type,
                       Layout(each.plan->vector, 1));
    if (!each.plan->tma)
      each.run = b_.registers(single ? declared_.name("run") : declared_.fresh("run"), type,
                              Layout(each.plan->run, 1));
  }
  output_stages_ = sync_.declare(tile::Pipeline::Moves::outputs);
}

// Its place in shared memory, and how TMA copies it.
void Sm90Expander::declare_tensor(Staged& staged, const plan::StagedTensor& plan, const char* stem,
                                  int buffers) {
  // A multiple of the pattern of every swizzle width: 8 rows of 128 bytes.
  constexpr int alignment = 1024;
  const plan::StagedStore& store = *gemm_.store;
  const std::string name = stem;
  staged.plan = &plan;
  staged.shared = b_.shared(declared_.name(name + "_stage"), declared_.tensor(plan.tensor).element,
                            plan::repeated(plan.shared, {buffers, gemm_.consumers()}), alignment);
  if (!plan.tma) return;
  staged.map = map_of(plan, name + "_map", store.width);
  if (store.rest > 0) staged.rest_map = map_of(plan, name + "_rest_map", store.rest);
}

// Returns the tensor map by which TMA copies a box of `columns`.
int Sm90Expander::map_of(const plan::StagedTensor& plan, const std::string& name, int columns) {
  TensorMap map{declared_.name(name),
                declared_.tensors[static_cast<size_t>(plan.tensor)],
                plan.order,
                {},
                {},
                {}};
  map.swizzle = plan::address_swizzle(plan.span);
  for (const int mode : plan.order) {
    // Modes that are neither m nor n are batches: one element of a box.
    const sema::IndexId index = plan.indices[static_cast<size_t>(mode)];
    map.box.push_back(index == gemm_.m ? plan.box[0] : index == gemm_.n ? columns : 1);
    map.onto.push_back(index == gemm_.n ? 1 : 0);
  }
  b_.kernel.tensor_maps.push_back(std::move(map));
  return static_cast<int>(b_.kernel.tensor_maps.size()) - 1;
}

// Where this thread accesses it in shared memory.
void Sm90Expander::place_tensor(Staged& staged) {
  const plan::StagedTensor& plan = *staged.plan;
  const Span& where = declared_.kernel.assignments.front().where;
  declared_.from(where, (plan.matrices ? "where this lane puts a row of 8: "
                                       : "where this thread puts its values: ") +
                            plan.lanes.to_string());
  for (int axis = 0; axis < 2; ++axis) {
    // `lanes` counts threads of a consumer. Thread number % 128 serves every warpgroup.
    staged.put[static_cast<size_t>(axis)] =
        b_.let(declared_.name(axis == 0 ? "staged_row" : "staged_column"),
               b_.at(lay::along(plan.lanes, axis), b_.special(Builtin::thread) % warpgroup));
  }
  if (!plan.tma) {
    declared_.from(where,
                   "where this thread takes its first run of elements: " + plan.runs.to_string());
    for (int axis = 0; axis < 2; ++axis) {
      staged.first_run[static_cast<size_t>(axis)] =
          b_.let(declared_.name(axis == 0 ? "run_row" : "run_column"),
                 b_.at(lay::along(plan.runs[0], axis), b_.special(Builtin::thread) % warpgroup));
    }
  }
  if (plan.rotated) {
    declared_.from(where, "lanes that write later values first");
    // The lanes whose number has bit `bit` set are those whose first access would meet the banks of
    // the lanes that have it clear.
    staged.rotated = b_.let(declared_.name("rotated"),
                            b_.special(Builtin::lane) / (1 << plan.rotated->bit) % 2 == 1);
  }
}

void Sm90Expander::consumer_meets() {
  b_.sync(output_stages_.stored, gemm_.consumers() > 1 ? ExprId(consumer_) : ExprId{});
}

// Waits until at most `in_flight` stores are still to be read from shared memory. Where threads
// copy them out, the barrier after the last one was written says that those before it have been
// read.
void Sm90Expander::wait_for_stores(int in_flight) {
  if (!gemm_.store->out_by_tma()) {
    if (in_flight == 0) consumer_meets();
    return;
  }
  by_one_lane([&] { b_.emit(Wait{GroupKind::bulk, in_flight, true}); });
  putters_meet();
}

// The thread that has TMA store what all have put: of each warp, or of the consumer.
void Sm90Expander::by_one_lane(const std::function<void()>& body) {
  if (gemm_.store->by_warps) return b_.elect(body);
  b_.when(b_.special(Builtin::warp) % 4 == 0, [&] { b_.elect(body); });
}

// Synchronises the threads that write what TMA or other threads then copy out.
void Sm90Expander::putters_meet() {
  if (gemm_.store->by_warps) {
    b_.emit(Fence{FenceKind::warp});
  } else {
    consumer_meets();
  }
}

// 64 rows and the pass' columns: the values go to shared memory in steps, the whole is taken away.
void Sm90Expander::store_through_shared(const Tile& tile, const Pass& at, Term buffer,
                                        const Source& source, const Picks* picks) {
  const plan::StagedStore& store = *gemm_.store;
  const Span& where = declared_.kernel.assignments.front().where;
  // width = 64 gives a thread 64 * 64 / 128 = 32 values, stored in steps of 8: four stmatrix.x4.
  const int values = at.width * rows_of_atom / warpgroup, of_step = std::min(values, store.step());
  const auto step_from = [&](Term first, int count, const Source& of_step_source) {
    pack(tile, at, first, count, of_step_source);
    declared_.from(where);
    for (const Staged& each : outputs_) put(each, first, count, buffer);
  };
  inputs_arrive(tile, at);
  declared_.from(where);
  const auto step_body = [&](Term first, int count) {
    step_from(first, count, [&](Term v) { return source(first + v); });
  };
  if (picks) {
    rolled("group", values / picks->values, [&](Term group) {
      picks->pick(group);
      declared_.from(where);
      over("step", picks->values / of_step, [&](Term step) {
        const Term local = step * of_step;
        step_from(group * picks->values + local, of_step,
                  [&](Term v) { return source(local + v); });
      });
    });
  } else {
    const int steps = values / of_step, left = values % of_step;
    over("step", steps, [&](Term step) { step_body(step * of_step, of_step); });
    if (left > 0) step_body(number(steps * of_step), left);
  }
  inputs_done();
  // TMA reads shared memory through the async proxy: each writing thread makes its generic stores
  // visible to it first, then all meet, then one lane issues the copy (PTX ISA, fence.proxy.async).
  sync_.fence(tile::Fence::Use::stored);
  putters_meet();
  store_tile(tile, at, buffer);
  load_next_inputs(tile, at);
}

// Packs `values` of the outputs' elements, from value `first` of the pass on; the source counts
// from there.
void Sm90Expander::pack(const Tile& tile, const Pass& at, Term first, int values,
                        const Source& source) {
  const auto& assignments = declared_.kernel.assignments;
  // Values count from the atom's first for positions and vectors, from the subtile's first for
  // inputs, and from the step's for the source.
  const Term base = at.pass * (gemm_.store->width * rows_of_atom / warpgroup) + first;
  read_vectors(tile, {at.i, at.j}, base);
  read_inputs(first, values);
  b_.loop("v", number(0), number(values), {.unrolled = true}, [&](Term v) {
    const Term value = base + v;
    const auto assign = [&](Term m, Term n) {
      for (size_t o = 0; o < outputs_.size(); ++o) {
        declared_.from(assignments[o].where);
        b_.assign({outputs_[o].values, {v}}, value_at(assignments[o], tile, m, n, source(v), &v));
      }
    };
    declared_.from(assignments.front().where);
    // Without reads that could leave the tensor every lane computes, inside or not: TMA and the
    // guarded stores drop what lies outside.
    if (!guarded_) return assign(position(tile, 0, value, at.i), position(tile, 1, value, at.j));
    const Term m = b_.let(declared_.index_name(gemm_.m), position(tile, 0, value, at.i));
    const Term n = b_.let(declared_.index_name(gemm_.n), position(tile, 1, value, at.j));
    b_.when(
        m < tile.end && n < declared_.extent(gemm_.n), [&] { assign(m, n); },
        [&] {
          for (const Staged& each : outputs_) {
            const ElementType type = declared_.tensor(each.plan->tensor).element;
            b_.assign({each.values, {v}}, b_.constant(std::int64_t{0}, type));
          }
        });
  });
}

// A step's values, in steps of the tensor's own.
void Sm90Expander::put(const Staged& staged, Term first, int values, Term buffer) {
  if (!staged.plan->matrices) return store_values_to_shared(staged, first, values, buffer);
  store_matrices_to_shared(staged, first, values, buffer);
}

// By copies of the warp: two columns a value of a thread.
void Sm90Expander::store_matrices_to_shared(const Staged& staged, Term first, int values,
                                            Term buffer) {
  constexpr int columns = 2;
  plan::each_copy(*staged.plan, values, [&](const sema::CopyInstruction& copy, int v, int count) {
    const Ref to{staged.shared,
                 {staged.put[0], staged.put[1] + (first + v) * columns, buffer, consumer_}};
    b_.copy(to, {staged.values, {number(v)}},
            WarpCopy{{count, staged.plan->along_n ? 1 : 0, 0}, b_.atom(copy)});
  });
}

// Where a thread accesses a value of those from the first on: half of the lanes in another order,
// where their places share banks.
std::vector<ExprId> Sm90Expander::place_of(const Staged& staged, Term first, Term v, int values,
                                           Term buffer) {
  const plan::StagedTensor& plan = *staged.plan;
  std::vector<ExprId> place;
  for (int axis = 0; axis < 2; ++axis) {
    const Layout places = lay::along(plan.held, axis);
    // Rotated lanes store value (v + r) mod `values` where others store v: all values are stored
    // once, in another order, and in each access the two kinds of lanes touch different banks.
    const Term own = b_.at(places, first + v);
    const Term held =
        plan.rotated ? b_.select(staged.rotated,
                                 b_.at(places, first + (v + plan.rotated->values) % values), own)
                     : own;
    place.push_back(staged.put[static_cast<size_t>(axis)] + held);
  }
  place.insert(place.end(), {buffer, consumer_});
  return place;
}

// Each thread its own, some at once.
void Sm90Expander::store_values_to_shared(const Staged& staged, Term first, int values,
                                          Term buffer) {
  const plan::StagedTensor& plan = *staged.plan;
  b_.loop("v", number(0), number(values), {.step = plan.vector, .unrolled = true}, [&](Term v) {
    for (int e = 0; e < plan.vector; ++e) {
      const auto held = [&](Term at) { return b_.read({staged.values, {at + e}}); };
      b_.assign({staged.together, {number(e)}},
                plan.rotated
                    ? b_.select(staged.rotated, held((v + plan.rotated->values) % values), held(v))
                    : held(v));
    }
    b_.copy({staged.shared, place_of(staged, first, v, values, buffer)},
            {staged.together, {number(0)}}, plan.vector, plan.along_n ? 1 : 0, 0);
  });
}

// The element of a tensor of those indices.
std::vector<ExprId> Sm90Expander::element_at(const std::vector<sema::IndexId>& indices,
                                             const Tile& tile, Term m, Term n) const {
  std::vector<ExprId> made;
  for (const sema::IndexId index : indices) {
    if (index == gemm_.m || index == gemm_.n) {
      made.push_back(index == gemm_.m ? m : n);
    } else {
      made.push_back(batch_at(tile, index));
    }
  }
  return made;
}

// The row of the outputs that a row inside the tile is.
Term Sm90Expander::row_of_output(Term m) {
  if (!gemm_.segments || gemm_.segments->row_of < 0) return m;
  const auto table = static_cast<size_t>(gemm_.segments->row_of);
  return b_.let(declared_.fresh("row"), b_.read({declared_.tensors[table], {m}}));
}

void Sm90Expander::store_tile(const Tile& tile, const Pass& at, Term buffer) {
  if (gemm_.store->out_by_tma()) {
    by_one_lane([&] {
      for (const Staged& each : outputs_) {
        if (each.plan->tma) store_boxes(each, tile, at, buffer);
      }
      // One group a subtile, so that wait_for_stores counts subtiles.
      b_.emit(Commit{GroupKind::bulk});
    });
  }
  for (const Staged& each : outputs_) {
    if (!each.plan->tma) store_runs(each, tile, at, buffer);
  }
}

// The tensor's mode along which neighbours in memory are neighbours.
int Sm90Expander::mode_along(const plan::StagedTensor& plan) const {
  return static_cast<int>(
      std::find(plan.indices.begin(), plan.indices.end(), plan.along_n ? gemm_.n : gemm_.m) -
      plan.indices.begin());
}

Sm90Expander::Run Sm90Expander::run_at(const Staged& staged, const Tile& tile, const Pass& at,
                                       Term access) {
  Run made;
  for (size_t axis = 0; axis < 2; ++axis) {
    const Layout places = lay::along(staged.plan->runs[1], static_cast<int>(axis));
    made.at[axis] = staged.first_run[axis] + b_.at(places, access);
  }
  // The run's place in the consumer's 64 rows, moved to the block's tile, the consumer's part of
  // it, the atom and, along n, the subtile.
  const Term m = b_.let(declared_.index_name(gemm_.m),
                        tile.first[0] + part_[0] + at.i * gemm_.mma.shape[0] + made.at[0]);
  const Term n =
      b_.let(declared_.index_name(gemm_.n), tile.first[1] + part_[1] + at.j * gemm_.mma.shape[1] +
                                                at.pass * gemm_.store->width + made.at[1]);
  made.inside = m < tile.end && n < declared_.extent(gemm_.n);
  made.m = m;
  made.n = n;
  return made;
}

// Each warp neighbours in memory, as far as they lie inside the tensor.
void Sm90Expander::store_runs(const Staged& staged, const Tile& tile, const Pass& at, Term buffer) {
  const plan::StagedTensor& plan = *staged.plan;
  const int count = static_cast<int>(size(plan.runs[1]).value()), together = plan.runs_together();
  const auto access = [&](Term number_of) {
    const Run run = run_at(staged, tile, at, number_of);
    // Where a subtile has fewer columns than all runs together, some runs have nothing in shared
    // memory: they are neither read nor written.
    const bool whole = at.width == plan.run_columns();
    const auto take = [&] {
      b_.copy({staged.run, {number(0)}}, {staged.shared, {run.at[0], run.at[1], buffer, consumer_}},
              plan.run, 0, plan.along_n ? 1 : 0);
    };
    if (whole) take();
    b_.when(whole ? run.inside : run.at[1] < at.width && run.inside, [&] {
      if (!whole) take();
      b_.copy({declared_.tensors[static_cast<size_t>(plan.tensor)],
               element_at(plan.indices, tile, row_of_output(run.m), run.n)},
              {staged.run, {number(0)}}, plan.run, mode_along(plan), 0);
    });
  };
  declared_.from(declared_.kernel.assignments.front().where, "neighbours in memory by each warp");
  // A few accesses are unrolled so that their loads overlap; all of them would be too much text.
  b_.loop("some", number(0), number(count), {.step = together}, [&](Term some) {
    b_.loop("access", number(0), number(together), {.unrolled = true},
            [&](Term one) { access(some + one); });
  });
}

// The boxes of a pass that TMA copies for this warp or consumer: the first row in its 64 rows, and
// in the tensor.
void Sm90Expander::each_box_of_pass(
    const Staged& staged, const Tile& tile, const Pass& at,
    const std::function<void(Term row, std::vector<ExprId> element)>& body) {
  const plan::StagedTensor& plan = *staged.plan;
  const auto from = [&](Term row) {
    body(row,
         element_at(
             plan.indices, tile, tile.first[0] + part_[0] + at.i * gemm_.mma.shape[0] + row,
             tile.first[1] + part_[1] + at.j * gemm_.mma.shape[1] + at.pass * gemm_.store->width));
  };
  // wgmma gives warp w the rows 16 w to 16 w + 15 of an atom's 64.
  if (gemm_.store->by_warps) return from(b_.special(Builtin::warp) % 4 * rows_of_warp);
  for (int row = 0; row < gemm_.mma.shape[0]; row += plan.box[0]) from(number(row));
}

void Sm90Expander::store_boxes(const Staged& staged, const Tile& tile, const Pass& at,
                               Term buffer) {
  const int map = at.width == gemm_.store->width ? staged.map : staged.rest_map;
  each_box_of_pass(staged, tile, at, [&](Term row, std::vector<ExprId> element) {
    b_.copy({declared_.tensors[static_cast<size_t>(staged.plan->tensor)], std::move(element)},
            {staged.shared, {row, number(0), buffer, consumer_}},
            TmaStore{map, box_atom(declared_, map, sema::CopySpace::global)});
  });
}

}  // namespace lay::ir
