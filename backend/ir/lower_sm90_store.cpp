// How outputs leave through shared memory: values are put there in steps, and taken away by TMA or by the threads.
#include <algorithm>

#include "backend/ir/lower_sm90.h"
#include "backend/plan/axes.h"

namespace lay::ir {

namespace {

constexpr int warpgroup = 128, rows_of_atom = 64, rows_of_warp = 16;

}  // namespace

void Sm90Lowering::consumer_meets() {
  Sync meet{SyncOp::sync, stored_, {}, {}, {}, {}};
  if (gemm_.consumers() > 1) meet.slot = consumer_;
  b_.emit(meet);
}

// Until at most so many stores are still to be read from shared memory. Where threads take them away, the meeting after
// the last one was put there says that those before it have left.
void Sm90Lowering::wait_for_stores(int in_flight) {
  if (!gemm_.store->tma) {
    if (in_flight == 0) consumer_meets();
    return;
  }
  by_one_lane([&] { b_.emit(Wait{GroupKind::bulk, in_flight, true}); });
  putters_meet();
}

// The thread that has TMA store what all have put: of each warp, or of the consumer.
void Sm90Lowering::by_one_lane(const std::function<void()>& body) {
  if (gemm_.store->by_warps) return b_.elect(body);
  b_.when(b_.special(Builtin::warp) % 4 == 0, [&] { b_.elect(body); });
}

// Those who put there what is taken away at once.
void Sm90Lowering::putters_meet() {
  if (gemm_.store->by_warps) {
    b_.emit(Fence{FenceKind::warp});
  } else {
    consumer_meets();
  }
}

// 64 rows and the pass' columns: the values go to shared memory in steps, the whole is taken away.
void Sm90Lowering::store_through_shared(const Tile& tile, const Pass& at, Term buffer, const Source& source,
                                        const Picks* picks) {
  const plan::StagedStore& store = *gemm_.store;
  const Span& where = declared_.kernel.assignments.front().where;
  const int values = at.width * rows_of_atom / warpgroup, of_step = std::min(values, store.values());
  const auto step_from = [&](Term first, int count, const Source& of_step_source) {
    pack(tile, at, first, count, of_step_source);
    declared_.from(where);
    if (store.matrices) {
      put_matrices(first, count, buffer);
    } else {
      put_values(count, buffer);
    }
  };
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
        step_from(group * picks->values + local, of_step, [&](Term v) { return source(local + v); });
      });
    });
  } else {
    const int steps = values / of_step, left = values % of_step;
    over("step", steps, [&](Term step) { step_body(step * of_step, of_step); });
    if (left > 0) step_body(number(steps * of_step), left);
  }
  if (store.tma) b_.emit(Fence{FenceKind::proxy_async});
  putters_meet();
  take_away(tile, at, buffer);
}

// So many of the output's elements, from that value of the pass on; the source counts from there.
void Sm90Lowering::pack(const Tile& tile, const Pass& at, Term first, int values, const Source& source) {
  const sema::Assignment& assignment = declared_.kernel.assignments.front();
  const ElementType type = b_.kernel.buffers[static_cast<size_t>(packed_.index)].element;
  const Term base = at.pass * (gemm_.store->width * rows_of_atom / warpgroup) + first;
  read_vectors(tile, {at.i, at.j}, base, values);
  b_.loop("v", number(0), number(values), {.unrolled = true}, [&](Term v) {
    const Term value = base + v;
    const auto accumulator = [&] { return source(v); };
    const Ref to{packed_, {v}};
    declared_.from(assignment.where);
    if (!guarded_) {
      const Term m = position(tile, 0, value, at.i), n = position(tile, 1, value, at.j);
      b_.assign(to, value_at(assignment, tile, m, n, accumulator(), &v));
      return;
    }
    const Term m = b_.let(declared_.index_name(gemm_.m), position(tile, 0, value, at.i));
    const Term n = b_.let(declared_.index_name(gemm_.n), position(tile, 1, value, at.j));
    b_.when(
        m < declared_.extent(gemm_.m) && n < declared_.extent(gemm_.n),
        [&] { b_.assign(to, value_at(assignment, tile, m, n, accumulator(), &v)); },
        [&] { b_.assign(to, b_.constant(std::int64_t{0}, type)); });
  });
}

// By one stmatrix: two columns a value of a thread.
void Sm90Lowering::put_matrices(Term first, int values, Term buffer) {
  const plan::StagedStore& store = *gemm_.store;
  constexpr int columns = 2, of_matrix = 2;  // values
  Copy put;
  put.kind = CopyKind::stmatrix;
  put.dst = {staged_, {put_[0], put_[1] + first * columns, buffer, consumer_}};
  put.src = {packed_, {number(0)}};
  put.count = values;
  put.dst_mode = store.along_n ? 1 : 0;
  put.transpose = !store.along_n;
  put.atom =
      std::string(store.along_n ? "sm90.stmatrix(" : "sm90.stmatrix_trans(") + std::to_string(values / of_matrix) + ")";
  b_.emit(put);
}

// Each thread its own, some at once; half of the lanes in another order, where their places share banks.
void Sm90Lowering::put_values(int values, Term buffer) {
  const plan::StagedStore& store = *gemm_.store;
  b_.loop("v", number(0), number(values), {.step = store.vector, .unrolled = true}, [&](Term v) {
    const auto of = [&](const std::function<Term(Term)>& value) {
      if (!store.turned) return value(v);
      return b_.select(turned_, value((v + store.turned->values) % values), value(v));
    };
    for (int e = 0; e < store.vector; ++e) {
      b_.assign({together_, {number(e)}}, of([&](Term at) { return b_.read({packed_, {at + e}}); }));
    }
    std::vector<ExprId> to;
    for (int axis = 0; axis < 2; ++axis) {
      const Layout places = plan::along(store.held, axis);
      to.push_back(put_[static_cast<size_t>(axis)] + of([&](Term at) { return b_.at(places, at); }));
    }
    to.insert(to.end(), {buffer, consumer_});
    b_.copy({staged_, to}, {together_, {number(0)}}, store.vector, store.along_n ? 1 : 0, 0);
  });
}

// The output's coordinate of an element.
std::vector<ExprId> Sm90Lowering::output_at(const sema::Assignment& assignment, const Tile& tile, Term m,
                                            Term n) const {
  std::vector<ExprId> made;
  for (const sema::IndexId index : assignment.indices) {
    if (index == gemm_.m || index == gemm_.n) {
      made.push_back(index == gemm_.m ? m : n);
    } else {
      made.push_back(batch_at(tile, index));
    }
  }
  return made;
}

void Sm90Lowering::take_away(const Tile& tile, const Pass& at, Term buffer) {
  if (!gemm_.store->tma) return take_runs(tile, at, buffer);
  by_one_lane([&] { take_boxes(tile, at, buffer); });
}

// Each warp neighbours in memory, as far as they lie inside the tensor.
void Sm90Lowering::take_runs(const Tile& tile, const Pass& at, Term buffer) {
  const plan::StagedStore& store = *gemm_.store;
  const sema::Assignment& assignment = declared_.kernel.assignments.front();
  const Layout accesses = store.runs[1];
  const int columns = static_cast<int>(size(store.runs).value()) * store.run / rows_of_atom;
  const int count = static_cast<int>(size(accesses).value()), together = std::min(count, 8);
  const auto mode = static_cast<int>(
      std::find(assignment.indices.begin(), assignment.indices.end(), store.along_n ? gemm_.n : gemm_.m) -
      assignment.indices.begin());
  const auto access = [&](Term number_of) {
    std::array<Term, 2> from;
    for (size_t axis = 0; axis < 2; ++axis)
      from[axis] = taken_from_[axis] + b_.at(plan::along(accesses, static_cast<int>(axis)), number_of);
    const Term m =
        b_.let(declared_.index_name(gemm_.m), tile.first[0] + part_[0] + at.i * gemm_.mma.shape[0] + from[0]);
    const Term n = b_.let(declared_.index_name(gemm_.n),
                          tile.first[1] + part_[1] + at.j * gemm_.mma.shape[1] + at.pass * store.width + from[1]);
    const bool whole = at.width == columns;
    const auto take = [&] {
      b_.copy({run_, {number(0)}}, {staged_, {from[0], from[1], buffer, consumer_}}, store.run, 0,
              store.along_n ? 1 : 0);
    };
    if (whole) take();
    const Term inside = m < declared_.extent(gemm_.m) && n < declared_.extent(gemm_.n);
    b_.when(whole ? inside : from[1] < at.width && inside, [&] {
      if (!whole) take();
      b_.copy({declared_.tensors[static_cast<size_t>(store.tensor)], output_at(assignment, tile, m, n)},
              {run_, {number(0)}}, store.run, mode, 0);
    });
  };
  declared_.from(assignment.where, "neighbours in memory by each warp");
  b_.loop("some", number(0), number(count), {.step = together}, [&](Term some) {
    b_.loop("access", number(0), number(together), {.unrolled = true}, [&](Term one) { access(some + one); });
  });
}

void Sm90Lowering::take_boxes(const Tile& tile, const Pass& at, Term buffer) {
  const plan::StagedStore& store = *gemm_.store;
  const sema::Assignment& assignment = declared_.kernel.assignments.front();
  const auto take = [&](Term row) {
    Copy leave;
    leave.kind = CopyKind::tma_store;
    leave.dst = {declared_.tensors[static_cast<size_t>(store.tensor)],
                 output_at(assignment, tile, tile.first[0] + part_[0] + at.i * gemm_.mma.shape[0] + row,
                           tile.first[1] + part_[1] + at.j * gemm_.mma.shape[1] + at.pass * store.width)};
    leave.src = {staged_, {row, number(0), buffer, consumer_}};
    leave.completion = Completion::bulk_group;
    leave.tensor_map = at.width == store.width ? store_map_ : rest_map_;
    b_.emit(leave);
  };
  if (store.by_warps) {
    take(b_.special(Builtin::warp) % 4 * rows_of_warp);
  } else {
    for (int row = 0; row < gemm_.mma.shape[0]; row += store.box[0]) take(number(row));
  }
  b_.emit(Commit{GroupKind::bulk});
}

}  // namespace lay::ir
