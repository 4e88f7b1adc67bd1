// Inputs of the output's shape: they come to shared memory the way that outputs leave it, and
// threads read there what goes with the accumulators that they hold.
//
//   by TMA      a tile's first passes are asked for before its products are made, each further one
//   when a buffer
//               has been read; an mbarrier counts the bytes of a pass
//   by threads  each warp copies neighbours in memory when the pass begins, and the consumer meets
#include <algorithm>

#include "backend/ir/expand/sm90/sm90_expander.h"
#include "backend/ir/lower/lower_ring.h"
#include "backend/ir/lower/source_operand.h"
#include "backend/plan/sm90/sm90_store.h"
#include "frontend/algebra/layouts/axes.h"

namespace lay::ir {

namespace {

using plan::rows_of_atom, plan::rows_of_warp;

constexpr int warps = 4;

}  // namespace

void Sm90Expander::declare_inputs() {
  const plan::StagedStore& store = *gemm_.store;
  for (const plan::StagedInput& plan : store.inputs) {
    const sema::Node& node = declared_.kernel.node(plan.load);
    const sema::Tensor& tensor = declared_.tensor(plan.tensor);
    declared_.from(node.where, "(m,n,buffer,consumer)");
    Input& made = inputs_.emplace_back();
    const std::string stem = declared_.fresh(tensor.name + "_in");
    declare_tensor(made, plan, stem.c_str(), plan.tma ? store.loads_ahead : 1);
    made.load = plan.load;
    // An input under a condition that is the same for all elements (beta != 0 of a scalar) is not
    // loaded where the condition fails: one branch of the block in place of one of each element.
    const SourceOperand read = when_read(declared_.kernel, plan.load);
    made.condition = read.condition;
    made.when = read.when;
    made.values = b_.registers(declared_.fresh("in"), tensor.element, Layout(store.step(), 1));
    if (plan.rotated)
      made.raw = b_.registers(declared_.fresh("as_read"), tensor.element, Layout(store.step(), 1));
    if (!plan.tma) {
      made.run = b_.registers(declared_.fresh("run_in"), tensor.element,
                              make_layout(tuple(plan.run, plan.runs_together())));
    }
  }
  input_stages_ = sync_.declare(tile::Pipeline::Moves::inputs, tile::Completion::mbarrier);
}

void Sm90Expander::place_inputs() {
  for (Input& each : inputs_) {
    place_tensor(each);
    if (each.condition < 0) continue;
    declared_.from(declared_.kernel.node(each.load).where, "whether it is read at all");
    const Term condition = ElementLowering(declared_).value(each.condition);
    each.wanted = b_.let(declared_.fresh("wanted"), each.when ? condition : !condition);
  }
}

void Sm90Expander::if_wanted(const Input& input, const std::function<void()>& body,
                             const std::function<void()>& otherwise) {
  if (input.condition < 0) return body();
  if (!otherwise) return b_.when(input.wanted, body);
  b_.when(input.wanted, body, otherwise);
}

// The barrier of the ring's buffer that this warp or consumer waits for.
Term Sm90Expander::arrived_slot(RingId ring) {
  const plan::StagedStore& store = *gemm_.store;
  const Term who =
      store.by_warps ? consumer_ * warps + b_.special(Builtin::warp) % warps : consumer_;
  // Slots of one that waits lie together: who 2 with 2 buffers has the slots 4 and 5.
  return who * input_stages_.pipeline->stages + b_.slot(ring);
}

// The pass of a tile with that number.
Sm90Expander::Pass Sm90Expander::pass_with(Term number_of) {
  const auto repeats = gemm_.repeats();
  const int of_atom = passes_of_atom(), width = gemm_.store->width;
  if (repeats[0] * repeats[1] == 1) return {number(0), number(0), number_of, width};
  const Term atom = number_of / of_atom;
  return {repeats[0] == 1 ? number(0) : atom / repeats[1],
          repeats[1] == 1 ? number(0) : atom % repeats[1], number_of % of_atom, width};
}

// Returns the condition that this block has a pass left to store after `own` of its own.
Term Sm90Expander::passes_left(Term own) {
  if (!gemm_.split) return own < gemm_.stores();
  return own < gemm_.split->each && split_ * gemm_.split->each + own < gemm_.split->passes;
}

void Sm90Expander::load_first_inputs(const Tile& tile) {
  if (!input_stages_.filled) return;
  const plan::StagedStore& store = *gemm_.store;
  // With K split over blocks a block stores `each` subtiles of its own, from part * each on.
  over("ahead", store.loads_ahead, [&](Term own) {
    if (!gemm_.split) return load_inputs(tile, own);
    b_.when(passes_left(own), [&] { load_inputs(tile, split_ * gemm_.split->each + own); });
  });
}

// The pass whose inputs take the place of those that have just been read.
void Sm90Expander::load_next_inputs(const Tile& tile, const Pass& at) {
  if (!input_stages_.filled) return;
  const plan::StagedStore& store = *gemm_.store;
  const auto repeats = gemm_.repeats();
  // All subtiles are on their way from the start.
  if (store.loads_ahead >= (gemm_.split ? gemm_.split->each : gemm_.stores())) return;
  const Term next = (at.i * repeats[1] + at.j) * passes_of_atom() + at.pass + store.loads_ahead;
  b_.when(passes_left(gemm_.split ? next - split_ * gemm_.split->each : next),
          [&] { load_inputs(tile, next); });
}

void Sm90Expander::load_inputs(const Tile& tile, Term number_of) {
  const plan::StagedStore& store = *gemm_.store;
  const Pass at = pass_with(number_of);
  const auto boxes = [&](int width) {
    const ExprId slot = arrived_slot(input_stages_.write);
    // TMA counts full boxes, zeros outside the tensor included; what is not wanted sends none.
    Term bytes = number(0);
    for (const Input& each : inputs_) {
      if (!each.plan->tma) continue;
      const int rows = store.by_warps ? rows_of_warp : rows_of_atom;
      const Term of_this =
          number(rows * width * declared_.tensor(each.plan->tensor).element_bytes());
      bytes = bytes + (each.condition < 0 ? of_this : b_.select(each.wanted, of_this, number(0)));
    }
    b_.sync(input_stages_.filled, slot, ArriveExpectBytes{bytes});
    for (const Input& each : inputs_) {
      if (!each.plan->tma) continue;
      const int map = width == store.width ? each.map : each.rest_map;
      if_wanted(each, [&] { load_input_boxes(each, tile, at, map); }, {});
    }
  };
  declared_.from(declared_.kernel.node(inputs_.front().load).where, "inputs of a pass");
  by_one_lane([&] {
    if (store.rest == 0) return boxes(store.width);
    b_.when(
        at.pass == passes_of_atom() - 1, [&] { boxes(store.rest); }, [&] { boxes(store.width); });
  });
  b_.emit(Advance{input_stages_.write, {}});
}

void Sm90Expander::load_input_boxes(const Input& input, const Tile& tile, const Pass& at, int map) {
  each_box_of_pass(input, tile, at, [&](Term row, std::vector<ExprId> element) {
    const Ref to{input.shared, {row, number(0), b_.slot(input_stages_.write), consumer_}};
    b_.copy(to, {declared_.tensors[static_cast<size_t>(input.plan->tensor)], std::move(element)},
            TmaLoad{map,
                    {input_stages_.filled, arrived_slot(input_stages_.write)},
                    box_atom(declared_, map, sema::CopySpace::shared),
                    {}});
  });
}

// Each warp neighbours in memory; zeros for what lies outside of the tensor.
void Sm90Expander::load_input_runs(const Tile& tile, const Pass& at) {
  for (const Input& each : inputs_) {
    const plan::StagedTensor& plan = *each.plan;
    if (plan.tma) continue;
    const int count = static_cast<int>(size(plan.runs[1]).value()), together = plan.runs_together();
    declared_.from(declared_.kernel.node(each.load).where, "neighbours in memory by each warp");
    const auto some_of = [&](Term some) {
      // Two loops, not one: first all loads from memory, then all stores to shared memory, so that
      // `together` loads are in flight at once.
      b_.loop("access", number(0), number(together), {.unrolled = true}, [&](Term one) {
        const Run run = run_at(each, tile, at, some + one);
        PlainCopy& made = b_.copy({each.run, {number(0), one}},
                                  {declared_.tensors[static_cast<size_t>(plan.tensor)],
                                   element_at(plan.indices, tile, run.m, run.n)},
                                  plan.run, 0, mode_along(plan));
        made.guard.predicate =
            at.width == plan.run_columns() ? run.inside : run.at[1] < at.width && run.inside;
        made.guard.zero_fill = true;
      });
      b_.loop("access", number(0), number(together), {.unrolled = true}, [&](Term one) {
        std::vector<ExprId> to;
        for (size_t axis = 0; axis < 2; ++axis)
          to.push_back(each.first_run[axis] +
                       b_.at(lay::along(plan.runs[1], static_cast<int>(axis)), some + one));
        to.insert(to.end(), {number(0), consumer_});
        b_.copy({each.shared, to}, {each.run, {number(0), one}}, plan.run, plan.along_n ? 1 : 0, 0);
      });
    };
    if_wanted(each,
              [&] {
                if (count == together) return some_of(number(0));
                b_.loop("some", number(0), number(count), {.step = together}, some_of);
              },
              {});
  }
}

// Until the inputs of the pass are in shared memory.
void Sm90Expander::inputs_arrive(const Tile& tile, const Pass& at) {
  if (inputs_.empty()) return;
  load_input_runs(tile, at);
  declared_.from(declared_.kernel.node(inputs_.front().load).where, "inputs have come");
  if (std::any_of(inputs_.begin(), inputs_.end(),
                  [](const Input& each) { return !each.plan->tma; }))
    consumer_meets();
  if (!input_stages_.filled) return;
  const ExprId slot = arrived_slot(input_stages_.read);
  b_.sync(input_stages_.filled, slot, WaitMbarrier{b_.phase(input_stages_.read)});
}

// A pass has been read: its buffer is not the next one's.
void Sm90Expander::inputs_done() {
  if (input_stages_.filled) b_.emit(Advance{input_stages_.read, {}});
}

// Reads `values` values of the pass from shared memory, from `first` on.
void Sm90Expander::read_inputs(Term first, int values) {
  for (const Input& each : inputs_) {
    declared_.from(declared_.kernel.node(each.load).where);
    if_wanted(
        each, [&] { read_inputs(each, first, values); },
        [&] {
          b_.fill(each.values,
                  b_.constant(std::int64_t{0}, declared_.tensor(each.plan->tensor).element));
        });
  }
}

void Sm90Expander::read_inputs(const Input& input, Term first, int values) {
  const plan::StagedTensor& plan = *input.plan;
  const Term buffer = plan.tma ? b_.slot(input_stages_.read) : number(0);
  const int along = plan.along_n ? 1 : 0;
  if (plan.matrices) {
    constexpr int columns = 2;
    return plan::each_copy(plan, values, [&](const sema::CopyInstruction& copy, int v, int count) {
      b_.copy(
          {input.values, {number(v)}},
          {input.shared, {input.put[0], input.put[1] + (first + v) * columns, buffer, consumer_}},
          WarpCopy{{count, 0, along}, b_.atom(copy)});
    });
  }
  const BufferId into = plan.rotated ? input.raw : input.values;
  b_.loop("v", number(0), number(values), {.step = plan.vector, .unrolled = true}, [&](Term v) {
    b_.copy({into, {v}}, {input.shared, place_of(input, first, v, values, buffer)}, plan.vector, 0,
            along);
  });
  if (!plan.rotated) return;
  b_.loop("v", number(0), number(values), {.unrolled = true}, [&](Term v) {
    const auto read = [&](Term at) { return b_.read({input.raw, {at}}); };
    // place_of rotated the places by r: register v of such a lane holds value (v + r) mod n, so
    // value v is in register (v + n - r) mod n.
    const int by = values - plan.rotated->values % values;
    b_.assign({input.values, {v}}, b_.select(input.rotated, read((v + by) % values), read(v)));
  });
}

}  // namespace lay::ir
