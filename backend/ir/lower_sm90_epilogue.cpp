#include <algorithm>

#include "backend/ir/lower_sm90.h"
#include "backend/plan/axes.h"
#include "backend/plan/recognise.h"
#include "frontend/algebra/operations.h"

namespace lay::ir {

namespace {

constexpr int warpgroup = 128, rows_of_atom = 64, rows_of_warp = 16;

// The loads of an epilogue, outside the sum.
void loads_of(const sema::Kernel& kernel, sema::NodeId node, sema::NodeId contraction, std::vector<sema::NodeId>& loads,
              bool& others) {
  if (node == contraction || std::find(loads.begin(), loads.end(), node) != loads.end()) return;
  const auto& what = kernel.nodes[static_cast<size_t>(node)].what;
  if (std::holds_alternative<sema::Load>(what)) loads.push_back(node);
  if (std::holds_alternative<sema::Contraction>(what)) others = true;
  if (const auto* apply = std::get_if<sema::Apply>(&what)) {
    for (const sema::NodeId operand : apply->operands) loads_of(kernel, operand, contraction, loads, others);
  }
}

}  // namespace

Term Sm90Lowering::position(const Tile& tile, int axis, Term value, Term repeat) const {
  const auto at = static_cast<size_t>(axis);
  const Layout values = gemm_.accumulators[1];
  Term made = tile.first[at] + held_[at] + b_.at(plan::along(values[0], axis), value);
  if (gemm_.repeats()[at] > 1) made = made + repeat * gemm_.mma.shape[at];
  return made;
}

// What of the epilogue's reads can be made before its arithmetic: elements of vectors along m or along n.
void Sm90Lowering::prepare_values() {
  const sema::Assignment& assignment = declared_.kernel.assignments.front();
  std::vector<sema::NodeId> loads;
  loads_of(declared_.kernel, assignment.value, gemm_.contraction, loads, guarded_);
  for (const sema::NodeId id : loads) {
    const sema::Node& node = declared_.kernel.nodes[static_cast<size_t>(id)];
    const auto& load = std::get<sema::Load>(node.what);
    const sema::IndexId index =
        load.coordinate.size() == 1 ? plan::bare_index(declared_.kernel, load.coordinate[0]) : -1;
    // Whole numbers are read where they count: arithmetic on a 0 in their place may not be defined.
    const bool real = is_float(declared_.tensor(load.tensor).element);
    if (!real || (index != gemm_.m && index != gemm_.n)) {
      guarded_ = true;
      continue;
    }
    declared_.from(node.where, "read ahead");
    ahead_.push_back({id, index == gemm_.m ? 0 : 1,
                      b_.registers(declared_.fresh("ahead"), declared_.tensor(load.tensor).element,
                                   Layout(gemm_.store->values(), 1))});
  }
}

// The rows and columns of so many values from `base` on; what lies outside is 0.
void Sm90Lowering::read_vectors(const Tile& tile, const std::array<Term, 2>& repeat, Term base, int values) {
  for (const Ahead& each : ahead_) {
    const sema::Node& node = declared_.kernel.nodes[static_cast<size_t>(each.load)];
    const auto& load = std::get<sema::Load>(node.what);
    declared_.from(node.where);
    b_.loop("v", number(0), number(values), {.unrolled = true}, [&](Term v) {
      const Term at = position(tile, each.axis, base + v, repeat[static_cast<size_t>(each.axis)]);
      Copy& made = b_.copy({each.held, {v}}, {declared_.tensors[static_cast<size_t>(load.tensor)], {at}});
      made.predicate = at < declared_.extent(each.axis == 0 ? gemm_.m : gemm_.n);
      made.zero_fill = true;
    });
  }
}

Term Sm90Lowering::value_at(const sema::Assignment& assignment, const Tile& tile, Term m, Term n, Term accumulator,
                            const Term* v) {
  std::vector<sema::NodeId> given{gemm_.contraction};
  if (v) {
    for (const Ahead& each : ahead_) given.push_back(each.load);
  }
  ElementLowering element(declared_, given);
  if (v) {
    for (const Ahead& each : ahead_) element.know(each.load, b_.read({each.held, {*v}}));
  }
  element.bind(gemm_.m, m);
  element.bind(gemm_.n, n);
  for (size_t i = 0; i < gemm_.batch.size(); ++i) element.bind(gemm_.batch[i], tile.batch[i]);
  element.know(gemm_.contraction, accumulator);
  return b_.cast(element.value(assignment.value), declared_.tensor(assignment.target).element);
}

// Times that an atom's accumulators are stored.
int Sm90Lowering::passes_of_atom() const {
  return gemm_.store ? gemm_.store->passes(gemm_.mma.shape[1]) : 1;
}

// Whether an element takes much code.
bool Sm90Lowering::much_text() const {
  constexpr int much = 8;  // steps of arithmetic
  const sema::NodeId value = declared_.kernel.assignments.front().value;
  return plan::arithmetic_outside(declared_.kernel, value, gemm_.contraction) >= much;
}

// A rolled loop over halves of the accumulators, which move up in between, where each element takes much code: the text
// is half as long, and the moves are a small part of the work.
bool Sm90Lowering::in_halves(int passes) const {
  const auto repeats = gemm_.repeats();
  constexpr int worth = 4;  // passes
  const bool in_order = repeats[0] == 1 || repeats[1] == 1;
  const bool alike = !gemm_.store || gemm_.store->rest == 0 || repeats[0] * repeats[1] % 2 == 0;
  if (!in_order || !alike || passes < worth || passes % 2 != 0) return false;
  return (gemm_.store && !gemm_.store->tma) || much_text();
}

// The passes of that part of the accumulators: each one, where it is held when the part is the first, and its number in
// the part.
void Sm90Lowering::each_pass(Term half, int halves, const PassBody& body) {
  const auto repeats = gemm_.repeats();
  const int of_atom = passes_of_atom(), atoms = repeats[0] * repeats[1] / halves;
  if (!gemm_.store || gemm_.store->rest == 0) {
    const int width = gemm_.mma.shape[1] / of_atom, passes = of_atom * repeats[0] * repeats[1] / halves;
    return over("pass", passes, [&](Term pass) {
      body(pass_of(half * passes + pass, of_atom, width), pass_of(pass, of_atom, width), pass);
    });
  }
  over("atom", atoms, [&](Term atom) {
    const auto one = [&](Term pass, int width) {
      const auto of = [&](Term number_of) { return Pass{number_of / repeats[1], number_of % repeats[1], pass, width}; };
      body(of(half * atoms + atom), of(atom), atom * of_atom + pass);
    };
    over("pass", of_atom - 1, [&](Term pass) { one(pass, gemm_.store->width); });
    one(number(of_atom - 1), gemm_.store->rest);
  });
}

void Sm90Lowering::epilogue(const Tile& tile) {
  if (picked_) return rolled_epilogue(tile);
  const auto repeats = gemm_.repeats();
  const int all = passes_of_atom() * repeats[0] * repeats[1];
  const int halves = in_halves(all) ? 2 : 1, passes = all / halves;
  const int of_pass = (gemm_.store ? gemm_.store->width : gemm_.mma.shape[1]) / 2;  // values of a whole one
  const auto value_of = [&](const Pass& at, Term value) {
    return Ref{totals_, {at.pass * of_pass + value, at.i, at.j}};
  };
  const auto half_of_passes = [&](Term half) {
    each_pass(half, halves, [&](const Pass& at, const Pass& held, Term pass) {
      const auto source = [&](Term value) { return b_.read(value_of(held, value)); };
      declared_.from(declared_.kernel.assignments.front().where);
      if (!gemm_.store) return store_from_registers(tile, at, at.width / 2, source);
      const plan::StagedStore& store = *gemm_.store;
      const Term index = passes % store.buffers == 0 ? pass : half * passes + pass;
      const Term buffer = out_ ? b_.slot(out_) : index % store.buffers;
      wait_for_stores(store.buffers - 1);
      store_through_shared(tile, at, buffer, source);
      if (out_) b_.emit(Advance{out_, {}});
    });
  };
  declared_.from(declared_.kernel.assignments.front().where);
  if (halves == 1) return half_of_passes(number(0));
  b_.loop("half", number(0), number(halves), {}, [&](Term half) {
    half_of_passes(half);
    declared_.from(declared_.kernel.assignments.front().where, "the other half moves up");
    each_pass(number(1), halves, [&](const Pass& from, const Pass& to, Term) {
      b_.loop("v", number(0), number(to.width / 2), {.unrolled = true},
              [&](Term v) { b_.assign(value_of(to, v), b_.read(value_of(from, v))); });
    });
  });
}

// How many values of a pass of that width one round of a rolled loop takes: whole steps that divide it, as many as
// there are registers for beside the accumulators. 0: there is no such number.
int Sm90Lowering::picked_values(int width) const {
  constexpr int others = 40, no_limit = 240;  // registers
  const auto repeats = gemm_.repeats();
  const int values = width / 2, of_step = std::min(values, gemm_.store->values());
  const int room = (gemm_.registers ? (*gemm_.registers)[1] : no_limit) - others -
                   gemm_.mma.shape[1] / 2 * repeats[0] * repeats[1] * (gemm_.accumulate ? 2 : 1);
  int taken = 0;
  for (int of = of_step; of <= std::min(values, room); of += of_step) {
    if (values % of == 0) taken = of;
  }
  return taken;
}

// The most of any pass, where the epilogue is rolled: 0 where it is not, since an element takes little code or all is
// one round.
int Sm90Lowering::picked_values() const {
  if (!gemm_.store || gemm_.split || !much_text()) return 0;
  const auto repeats = gemm_.repeats();
  const int of_width = picked_values(gemm_.store->width), rest = gemm_.store->rest;
  const int of_rest = rest > 0 ? picked_values(rest) : of_width;
  if (of_width == 0 || of_rest == 0) return 0;
  return of_width < gemm_.mma.shape[1] / 2 * repeats[0] * repeats[1] ? std::max(of_width, of_rest) : 0;
}

void Sm90Lowering::rolled(const char* name, int count, const std::function<void(Term)>& body) {
  if (count == 1) return body(number(0));
  b_.loop(name, number(0), number(count), {}, body);
}

// What of the numbered is at that number: a tree of branches, since registers have no address.
void Sm90Lowering::pick(Term number_of, int count, const std::function<void(int)>& one) {
  const std::function<void(int, int)> among = [&](int first, int last) {
    if (last - first == 1) return one(first);
    const int middle = (first + last) / 2;
    b_.when(
        number_of < middle, [&] { among(first, middle); }, [&] { among(middle, last); });
  };
  among(0, count);
}

// The passes of that width, one text for all: its values come to the same registers first. Beside halves that move up
// the text is shorter still, and each value moves once.
void Sm90Lowering::store_picked(const Tile& tile, int first_pass, int passes, int width, Term atom) {
  const plan::StagedStore& store = *gemm_.store;
  const auto repeats = gemm_.repeats();
  const int of_atom = passes_of_atom(), atoms = repeats[0] * repeats[1];
  const int values = width / 2, of_pass = store.width / 2;
  const int at_once = picked_values(width), groups = values / at_once;
  rolled("pass", passes, [&](Term pass) {
    declared_.from(declared_.kernel.assignments.front().where);
    const Pass at{atom / repeats[1], atom % repeats[1], pass + first_pass, width};
    const Term buffer = out_ ? b_.slot(out_) : (atom * of_atom + at.pass) % store.buffers;
    wait_for_stores(store.buffers - 1);
    const Picks picks{
        at_once, [&](Term group) {
          declared_.from(declared_.kernel.assignments.front().where, "the values of this round");
          pick((atom * passes + pass) * groups + group, atoms * passes * groups, [&](int which) {
            const int of = which / groups / passes,
                      first = (first_pass + which / groups % passes) * of_pass + which % groups * at_once;
            b_.loop("v", number(0), number(at_once), {.unrolled = true}, [&](Term v) {
              b_.assign({picked_, {v}},
                        b_.read({totals_, {number(first) + v, number(of / repeats[1]), number(of % repeats[1])}}));
            });
          });
        }};
    store_through_shared(
        tile, at, buffer,
        [&](Term v) {
          return b_.read({picked_, {v}});
        },
        &picks);
    if (out_) b_.emit(Advance{out_, {}});
  });
}

void Sm90Lowering::rolled_epilogue(const Tile& tile) {
  const plan::StagedStore& store = *gemm_.store;
  const auto repeats = gemm_.repeats();
  const int of_atom = passes_of_atom(), whole = store.rest > 0 ? of_atom - 1 : of_atom;
  rolled("atom", repeats[0] * repeats[1], [&](Term atom) {
    if (whole > 0) store_picked(tile, 0, whole, store.width, atom);
    if (store.rest > 0) store_picked(tile, whole, 1, store.rest, atom);
  });
}

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
      const auto which = std::find(gemm_.batch.begin(), gemm_.batch.end(), index) - gemm_.batch.begin();
      made.push_back(tile.batch[static_cast<size_t>(which)]);
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

// Each thread its own elements, two neighbours along n at once where they may be.
void Sm90Lowering::store_from_registers(const Tile& tile, const Pass& at, int values, const Source& source) {
  const auto& kernel = declared_.kernel;
  const int together = *std::max_element(gemm_.vectors.begin(), gemm_.vectors.end());
  b_.loop("v", number(0), number(values), {.step = together, .unrolled = true}, [&](Term v) {
    const Term value = at.pass * values + v;
    declared_.from(kernel.assignments.front().where);
    const Term m = b_.let(declared_.index_name(gemm_.m), position(tile, 0, value, at.i));
    const Term n = b_.let(declared_.index_name(gemm_.n), position(tile, 1, value, at.j));
    b_.when(m < declared_.extent(gemm_.m) && n < declared_.extent(gemm_.n), [&] {
      for (size_t o = 0; o < kernel.assignments.size(); ++o) {
        declared_.from(kernel.assignments[o].where);
        for (int e = 0; e < together; ++e) {
          const Term value_of = value_at(kernel.assignments[o], tile, m, n + e, source(v + e));
          b_.assign({values_[o], {number(e)}}, value_of);
        }
      }
      for (size_t o = 0; o < kernel.assignments.size(); ++o) {
        const sema::Assignment& assignment = kernel.assignments[o];
        declared_.from(assignment.where);
        const auto place = [&](int e) {
          return Ref{declared_.tensors[static_cast<size_t>(assignment.target)], output_at(assignment, tile, m, n + e)};
        };
        const auto mode =
            std::find(assignment.indices.begin(), assignment.indices.end(), gemm_.n) - assignment.indices.begin();
        for (int e = 0; e < together; e += gemm_.vectors[o]) {
          if (gemm_.vectors[o] == 1) {
            b_.assign(place(e), b_.read({values_[o], {number(e)}}));
          } else {
            b_.copy(place(e), {values_[o], {number(e)}}, gemm_.vectors[o], static_cast<int>(mode), 0);
          }
        }
      }
    });
  });
}

}  // namespace lay::ir
