// Reductions: the values of a thread, then of the lanes, the warps and the blocks that share rows.
#include <numeric>
#include <utility>

#include "backend/ir/expand/expander.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

bool Expander::is_condition(sema::ReduceFunction function) {
  return sema::reduce_row(function).result == sema::ReduceResult::condition;
}

Term Expander::identity(TileId id) {
  const sema::ReduceFunction function = reduction(id).function;
  const ElementType type = held_type(tile(id));
  if (is_condition(function))
    return b_.constant(std::int64_t{function == sema::ReduceFunction::all}, type);
  return std::visit([&](auto value) { return b_.constant(value, type); },
                    sema::identity(function, type));
}

Term Expander::joined(sema::ReduceFunction function, Term a, Term b) {
  if (is_condition(function))
    return function == sema::ReduceFunction::any ? b_.max(a, b) : b_.min(a, b);
  return b_.apply(sema::joining(function), {a, b});
}

void Expander::clear(TileId id) {
  declared_.from(kernel().node(tile(id).value).where, "");
  b_.fill(buffers_[static_cast<std::size_t>(id)], identity(id));
}

void Expander::accumulate(TileId id) {
  const sema::Reduce& over = reduction(id);
  const ElementType type = held_type(tile(id));
  declared_.from(kernel().node(tile(id).value).where, "the columns of this thread");
  const bool guarded = reads_memory(over.body);
  tile::Tile both = tile(id);
  both.axes = {row_axis, column_axis};
  // As many elements as lie inside or outside together.
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
        where(guarded ? inside(both, here) : std::nullopt, [&] { add(id, over, type, here); });
      });
    });
  });
}

void Expander::add(TileId id, const sema::Reduce& over, ElementType type, const Values& at) {
  ElementLowering element = element_at(at);
  const Ref into = held(id, at);
  const auto* product = std::get_if<sema::Apply>(&kernel().node(over.body).what);
  const bool fused = over.function == sema::ReduceFunction::sum && product && is_float(type) &&
                     product->function == ElementFunction::mul && !known_.contains(over.body);
  if (fused) {
    const Term a = b_.cast(element.value(product->operands[0]), type);
    const Term b = b_.cast(element.value(product->operands[1]), type);
    return b_.assign(into, b_.fma(a, b, b_.read(into)));
  }
  const Term more = truth_as_number(element.value(over.body));
  b_.assign(into, joined(over.function, b_.read(into), b_.cast(more, type)));
}

void Expander::join_threads(TileId id) {
  const sema::ReduceFunction function = reduction(id).function;
  const Span& here = kernel().node(tile(id).value).where;
  if (!columns_.lane_masks.empty()) {
    declared_.from(here, "the lanes that share rows");
    each(tile(id), 1, [&](const Values& at) {
      Term value = b_.let(declared_.fresh("joined"), b_.read(held(id, at)));
      for (const int mask : columns_.lane_masks) {
        const Term theirs = b_.shuffle(declared_.fresh("theirs"), value, mask);
        value = b_.let(declared_.fresh("joined"), joined(function, value, theirs));
      }
      b_.assign(held(id, at), value);
    });
  }
  if (columns_.warps > 1) join_warps(id, function);
  if (threads_.blocks() > 1) join_blocks(id, function);
  known_[tile(id).value] = id;
}

void Expander::join_warps(TileId id, sema::ReduceFunction function) {
  declared_.from(kernel().node(tile(id).value).where, "the warps that share rows");
  const BufferId shared = shared_.at(id);
  const auto put = [&] {
    const Term warp = b_.at(columns_.warp_column, b_.special(Builtin::warp));
    each(tile(id), 1, [&](const Values& at) {
      b_.assign({shared, {row_in_tile(at), warp}}, b_.read(held(id, at)));
    });
  };
  std::optional<Term> alone;
  if (!columns_.lane_masks.empty())
    alone = b_.at(columns_.lane_column, b_.special(Builtin::lane)) == 0;
  where(alone, put);
  b_.sync(barrier_);
  each(tile(id), 1, [&](const Values& at) {
    b_.assign(held(id, at), b_.read({shared, {row_in_tile(at), number(0)}}));
    b_.loop(declared_.name("of_warp"), number(1), number(columns_.warps), {.unrolled = true},
            [&](Term warp) {
              b_.assign(held(id, at), joined(function, b_.read(held(id, at)),
                                             b_.read({shared, {row_in_tile(at), warp}})));
            });
  });
}

void Expander::join_blocks(TileId id, sema::ReduceFunction function) {
  declared_.from(kernel().node(tile(id).value).where, "the blocks that share rows");
  const Exchange& exchange = cluster_.at(id);
  const int blocks = threads_.blocks();
  const int bytes = program_.axis(row_axis).tile * blocks * (bits(held_type(tile(id))) / 8);
  b_.when(b_.special(Builtin::thread) == 0,
          [&] { b_.sync(exchange.arrived, number(0), ArriveExpectBytes{number(bytes)}); });
  const Term rank = b_.special(Builtin::cluster_rank);
  if (!std::exchange(met_, true)) b_.sync(blocks_, {}, WaitCluster{});
  where(speaks_for_rows(), [&] {
    each(tile(id), 1, [&](const Values& at) {
      b_.loop(declared_.name("to_block"), number(0), number(blocks), {.unrolled = true},
              [&](Term to) {
                b_.copy({exchange.shared, {row_in_tile(at), rank}}, held(id, at),
                        RemoteStore{{1, 0, 0}, {exchange.arrived, number(0)}, to});
              });
    });
  });
  b_.sync(exchange.arrived, number(0), WaitMbarrier{number(0)});
  each(tile(id), 1, [&](const Values& at) {
    b_.assign(held(id, at), b_.read({exchange.shared, {row_in_tile(at), number(0)}}));
    b_.loop(declared_.name("of_block"), number(1), number(blocks), {.unrolled = true},
            [&](Term block) {
              b_.assign(held(id, at), joined(function, b_.read(held(id, at)),
                                             b_.read({exchange.shared, {row_in_tile(at), block}})));
            });
  });
}

}  // namespace lay::ir
