// Reductions: the values of a thread, then of the lanes, the warps and the blocks that share rows.
#include <numeric>
#include <utility>

#include "backend/ir/expand/expander.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

bool Expander::is_condition(sema::ReduceFunction function) {
  return sema::reduce_row(function).result == sema::ReduceResult::condition;
}

Expander::Terms Expander::identity(TileId id) {
  const sema::ReduceFunction function = reduction(id).function;
  const std::vector<Partial>& partials = reductions_.at(id).partials;
  const ElementType type = partials.back().type;
  if (is_condition(function))
    return {b_.constant(std::int64_t{function == sema::ReduceFunction::all}, type)};
  const Term first = std::visit([&](auto value) { return b_.constant(value, type); },
                                sema::identity(function, type));
  if (partials.size() == 1) return {first};
  // Where nothing exceeds the identity, every value equals it: position 0 is the first of them.
  return {b_.constant(std::int64_t{0}, partials.front().type), first};
}

Expander::Terms Expander::joined(sema::ReduceFunction function, const Terms& a, const Terms& b) {
  if (is_condition(function))
    return {function == sema::ReduceFunction::any ? b_.max(a[0], b[0]) : b_.min(a[0], b[0])};
  if (a.size() == 1) return {b_.apply(sema::joining(function), {a[0], b[0]})};
  const Term beyond = is_extreme(function, b[1], a[1]), behind = is_extreme(function, a[1], b[1]);
  const Term first = b_.apply(ElementFunction::and_, {!behind, b[0] < a[0]});
  const Term other =
      b_.let(declared_.fresh("other"), b_.apply(ElementFunction::or_, {beyond, first}));
  return {b_.select(other, b[0], a[0]), b_.select(other, b[1], a[1])};
}

Expander::Terms Expander::read(TileId id, const Values& at) {
  Terms terms;
  for (const Partial& partial : reductions_.at(id).partials)
    terms.push_back(b_.read(held(id, partial.registers, at)));
  return terms;
}

void Expander::assign(TileId id, const Values& at, const Terms& terms) {
  const std::vector<Partial>& partials = reductions_.at(id).partials;
  // All terms are values before the first one of them is overwritten.
  Terms named = terms;
  if (terms.size() > 1)
    for (Term& term : named) term = b_.let(declared_.fresh("joined"), term);
  for (std::size_t i = 0; i < partials.size(); ++i)
    b_.assign(held(id, partials[i].registers, at), named[i]);
}

void Expander::clear(TileId id) {
  declared_.from(kernel().node(tile(id).value).where, "");
  const Terms first = identity(id);
  for (std::size_t i = 0; i < first.size(); ++i)
    b_.fill(reductions_.at(id).partials[i].registers, first[i]);
}

void Expander::accumulate(TileId id) {
  const sema::Reduce& over = reduction(id);
  declared_.from(kernel().node(tile(id).value).where, "the columns of this thread");
  const bool guarded = reads_memory(over.body);
  tile::Tile both = tile(id);
  both.axes = {row_axis, column_axis};
  // The number of elements that lie inside or outside together.
  const bool along_columns = modes_[0].axis == column_axis;
  const int together =
      along_columns && may_leave(column_axis)
          ? static_cast<int>(std::gcd(static_cast<std::int64_t>(modes_[0].extent),
                                      facts_.divisor(program_.axis(column_axis).extent)))
          : modes_[0].extent;
  each(both, together, [&](const Values& at) {
    std::optional<Term> there = inside(column_axis, at);
    if (guarded && !along_columns) there = std::nullopt;  // asked for each row below
    where(there, [&] {
      each_element(at, together, [&](const Values& here, Term) {
        where(guarded ? inside(both, here) : std::nullopt, [&] { add(id, over, here); });
      });
    });
  });
}

// A product is added without rounding it first.
void Expander::add(TileId id, const sema::Reduce& over, const Values& at) {
  const std::vector<Partial>& partials = reductions_.at(id).partials;
  const ElementType type = partials.back().type;
  ElementLowering element = element_at(at);
  const Ref into = held(id, at);
  const auto* product = std::get_if<sema::Apply>(&kernel().node(over.body).what);
  const bool fused = over.function == sema::ReduceFunction::sum && product && is_float(type) &&
                     product->function == ElementFunction::mul && values_.tile_of(over.body) < 0;
  if (fused) {
    const Term a = b_.cast(element.value(product->operands[0]), type);
    const Term b = b_.cast(element.value(product->operands[1]), type);
    return b_.assign(into, b_.fma(a, b, b_.read(into)));
  }
  const Term more = b_.cast(truth_as_number(element.value(over.body)), type);
  if (partials.size() == 1)
    return b_.assign(into, joined(over.function, {b_.read(into)}, {more}).front());
  const Term position = b_.cast(element.index(over.indices[0]), partials.front().type);
  const Term value = b_.let(declared_.fresh("t"), more);
  const Terms before = read(id, at);
  if (!columns_ascend()) return assign(id, at, joined(over.function, before, {position, value}));
  const Term later =
      b_.let(declared_.fresh("later"), is_extreme(over.function, value, before.back()));
  assign(id, at, {b_.select(later, position, before[0]), b_.select(later, value, before[1])});
}

bool Expander::columns_ascend() const {
  int last = 0;
  for (const ValueMode& mode : modes_) {
    if (mode.axis != column_axis || mode.extent == 1) continue;
    if (mode.step <= last) return false;
    last += mode.step * (mode.extent - 1);
  }
  return true;
}

void Expander::join_threads(TileId id) {
  const sema::ReduceFunction function = reduction(id).function;
  const Span& here = kernel().node(tile(id).value).where;
  if (!columns_.lane_masks.empty()) {
    declared_.from(here, "the lanes that share rows");
    each(tile(id), 1, [&](const Values& at) {
      Terms values = read(id, at);
      for (Term& value : values) value = b_.let(declared_.fresh("joined"), value);
      for (const int mask : columns_.lane_masks) join_lanes(function, values, mask);
      for (std::size_t i = 0; i < values.size(); ++i)
        b_.assign(held(id, reductions_.at(id).partials[i].registers, at), values[i]);
    });
  }
  if (columns_.warps > 1) join_warps(id, function);
  if (threads_.blocks() > 1) join_blocks(id, function);
}

void Expander::join_warps(TileId id, sema::ReduceFunction function) {
  declared_.from(kernel().node(tile(id).value).where, "the warps that share rows");
  const auto put = [&] {
    const Term warp = b_.at(columns_.warp_column, b_.special(Builtin::warp));
    each(tile(id), 1, [&](const Values& at) {
      for (const Partial& partial : reductions_.at(id).partials)
        b_.assign(in_slot(partial.of_warps, row_in_tile(at), warp),
                  b_.read(held(id, partial.registers, at)));
    });
  };
  std::optional<Term> alone;
  if (!columns_.lane_masks.empty())
    alone = b_.at(columns_.lane_column, b_.special(Builtin::lane)) == 0;
  where(alone, put);
  b_.sync(barrier_);
  // Where all lanes of a warp have the same rows each of them reads what one warp has.
  constexpr int few = 4;
  const bool by_lanes = std::size_t{1} << columns_.lane_masks.size() == tile::threads_of_warp;
  if (columns_.warps > few && by_lanes) return join_by_lanes(id, function);
  join_shared(id, function, &Partial::of_warps, columns_.warps, "of_warp");
}

// The warps are a power of two: behind the read the rest is as inside a warp.
void Expander::join_by_lanes(TileId id, sema::ReduceFunction function) {
  const Term which = b_.let(declared_.fresh("of_warp"), b_.special(Builtin::lane) % columns_.warps);
  each(tile(id), 1, [&](const Values& at) {
    Terms values;
    for (const Partial& partial : reductions_.at(id).partials)
      values.push_back(b_.let(declared_.fresh("joined"),
                              b_.read(in_slot(partial.of_warps, row_in_tile(at), which))));
    for (int mask = 1; mask < columns_.warps; mask *= 2) join_lanes(function, values, mask);
    assign(id, at, values);
  });
}

void Expander::join_lanes(sema::ReduceFunction function, Terms& values, int mask) {
  Terms theirs;
  for (const Term& value : values)
    theirs.push_back(b_.shuffle(declared_.fresh("theirs"), value, mask));
  values = joined(function, values, theirs);
  for (Term& value : values) value = b_.let(declared_.fresh("joined"), value);
}

void Expander::join_blocks(TileId id, sema::ReduceFunction function) {
  declared_.from(kernel().node(tile(id).value).where, "the blocks that share rows");
  const Reduction& exchange = reductions_.at(id);
  const int blocks = threads_.blocks();
  int bytes = 0;
  for (const Partial& partial : exchange.partials)
    bytes += program_.axis(row_axis).tile * blocks * (bits(partial.type) / 8);
  b_.when(b_.special(Builtin::thread) == 0,
          [&] { b_.sync(exchange.arrived, slot_, ArriveExpectBytes{number(bytes)}); });
  const Term rank = b_.special(Builtin::cluster_rank);
  begin_exchange();
  where(speaks_for_rows(), [&] {
    each(tile(id), 1, [&](const Values& at) {
      b_.loop(declared_.name("to_block"), number(0), number(blocks), {.unrolled = true},
              [&](Term to) {
                for (const Partial& partial : exchange.partials)
                  b_.copy(in_slot(partial.of_blocks, row_in_tile(at), rank),
                          held(id, partial.registers, at),
                          RemoteStore{{1, 0, 0}, {exchange.arrived, slot_}, to});
              });
    });
  });
  b_.sync(exchange.arrived, slot_, WaitMbarrier{phase_});
  join_shared(id, function, &Partial::of_blocks, blocks, "of_block");
  end_exchange();
}

void Expander::join_shared(TileId id, sema::ReduceFunction function, BufferId Partial::*shared,
                           int count, const char* name) {
  const std::vector<Partial>& partials = reductions_.at(id).partials;
  each(tile(id), 1, [&](const Values& at) {
    const auto of = [&](Term which) {
      Terms terms;
      for (const Partial& partial : partials)
        terms.push_back(b_.read(in_slot(partial.*shared, row_in_tile(at), which)));
      return terms;
    };
    assign(id, at, of(number(0)));
    b_.loop(declared_.name(name), number(1), number(count), {.unrolled = true},
            [&](Term which) { assign(id, at, joined(function, read(id, at), of(which))); });
  });
}

}  // namespace lay::ir
