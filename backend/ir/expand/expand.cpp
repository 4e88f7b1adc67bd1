#include "backend/ir/expand/expand.h"

#include <algorithm>
#include <utility>

#include "backend/ir/expand/expander.h"
#include "backend/plan/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::ir {

void Expander::run() {
  const tile::Axis& across = program_.axis(row_axis);
  const int blocks = threads_.blocks();
  b_.kernel.launch = {{ceil_div(across.extent, across.tile) * blocks, program_.parts, 1},
                      {blocks, 1, 1},
                      threads_.threads(),
                      program_.blocks_per_sm};
  if (columns_.warps > 1) barrier_ = b_.block_barrier();
  tile::for_each(program_.body, [&](const tile::Stmt& stmt) {
    const auto* copy = std::get_if<tile::Copy>(&stmt.node);
    if (copy && tile(copy->dst).space == tile::Space::global) stored_.insert(copy->src);
  });
  declare(program_.body);
  if (blocks > 1) prepare_cluster();
  b_.role("all", 0, threads_.threads(), [&] {
    declared_.from(declared_.kernel.where, "(thread,value) -> (" + across.name + "," +
                                               program_.axis(column_axis).name +
                                               ") in the tile: " + threads_.layout.to_string());
    const Term thread = b_.special(Builtin::thread);
    row_in_tile_ = b_.let(declared_.name("row_in_tile"),
                          b_.at(plan::along(threads_.layout[0], row_axis), thread));
    column_in_tile_ = b_.let(declared_.name("column_in_tile"),
                             b_.at(plan::along(threads_.layout[0], column_axis), thread));
    Term tile_of_rows = b_.special(Builtin::block_x);
    if (threads_.blocks() > 1) {
      const Layout shares = plan::along(threads_.layout[2], column_axis);
      declared_.from(declared_.kernel.where,
                     "blocks of a cluster share rows: block -> column " + shares.to_string());
      tile_of_rows = tile_of_rows / threads_.blocks();
      column_in_tile_ = b_.let(declared_.name("column_of_block"),
                               column_in_tile_ + b_.at(shares, b_.special(Builtin::cluster_rank)));
    }
    first_[row_axis] =
        b_.let(declared_.name("first_row"), tile_of_rows * across.tile + row_in_tile_);
    first_[column_axis] = column_in_tile_;
    for (const tile::Stmt& stmt : program_.body)  // the loop over the grid, and nothing beside it
      block(std::get<tile::For>(stmt.node).body);
  });
}

void Expander::declare(const tile::Block& body) {
  tile::for_each(body, [&](const tile::Stmt& stmt) {
    if (const auto* copy = std::get_if<tile::Copy>(&stmt.node)) {
      if (tile(copy->dst).space == tile::Space::registers) declare(copy->dst);
    } else if (const auto* map = std::get_if<tile::Map>(&stmt.node)) {
      if (!stored_.contains(map->out)) declare(map->out);
    } else if (const auto* reduce = std::get_if<tile::Reduce>(&stmt.node)) {
      declare(reduce->out);
      if (columns_.warps > 1) declare_shared(reduce->out);
      if (threads_.blocks() > 1) declare_cluster(reduce->out);
    }
  });
}

void Expander::declare(TileId id) {
  const tile::Tile& made = tile(id);
  declared_.from(kernel().node(made.value).where, "the values of this thread");
  std::vector<Tuple> shape, stride;
  int count = 1;
  for (const ValueMode& mode : modes_) {
    if (!runs(made, mode.axis)) continue;
    shape.emplace_back(mode.extent);
    stride.emplace_back(count);
    count *= mode.extent;
  }
  const Layout layout = shape.empty()       ? Layout(1, 0)
                        : shape.size() == 1 ? Layout(shape[0], stride[0])
                                            : Layout(Tuple(shape), Tuple(stride));
  buffers_[static_cast<std::size_t>(id)] =
      b_.registers(declared_.name(made.name), held_type(made), layout);
}

ElementType Expander::held_type(const tile::Tile& made) {
  return made.element == ElementType::pred ? ElementType::s32 : made.element;
}

void Expander::declare_shared(TileId id) {
  const tile::Tile& made = tile(id);
  const int held = program_.axis(row_axis).tile;
  declared_.from(kernel().node(made.value).where, "(row, warp) -> what the warp has of the row");
  shared_[id] = b_.shared(declared_.name("shared_" + made.name), held_type(made),
                          Layout(lay::tuple(held, columns_.warps), lay::tuple(1, held)));
}

void Expander::declare_cluster(TileId id) {
  const tile::Tile& made = tile(id);
  const int held = program_.axis(row_axis).tile;
  declared_.from(kernel().node(made.value).where, "(row, block) -> what the block has of the row");
  const BufferId shared =
      b_.shared(declared_.name("cluster_" + made.name), held_type(made),
                Layout(lay::tuple(held, threads_.blocks()), lay::tuple(1, held)));
  const BarrierId arrived =
      b_.barrier({declared_.name("arrived_" + made.name), BarrierKind::mbarrier, 1, 1, 0});
  cluster_[id] = {shared, arrived};
}

void Expander::prepare_cluster() {
  const BarrierId all = b_.barrier({declared_.name("blocks"), BarrierKind::cluster, 1, 0, 0});
  blocks_ = all;
  b_.inside(b_.kernel.prologue, [&] {
    b_.when(b_.special(Builtin::thread) == 0, [&] {
      for (const auto& [id, exchange] : cluster_)
        b_.sync(exchange.arrived, number(0), InitMbarrier{});
    });
    b_.emit(Fence{FenceKind::mbarrier_init});
    b_.sync(all, {}, ArriveCluster{});
  });
}

Ref Expander::held(TileId id, const Values& at) {
  Ref made{buffers_[static_cast<std::size_t>(id)], {}};
  for (std::size_t i = 0; i < modes_.size(); ++i)
    if (runs(tile(id), modes_[i].axis)) made.coordinate.push_back(at[i]);
  if (made.coordinate.empty()) made.coordinate.push_back(number(0));
  return made;
}

ElementLowering Expander::element_at(const Values& at) {
  std::vector<sema::NodeId> given;
  for (const auto& [node, id] : known_) given.push_back(node);
  ElementLowering element(declared_, given);
  bind(element, at);
  for (const auto& [node, id] : known_) {
    const ElementType type = kernel().node(node).type;
    const Term value = b_.read(held(id, at));
    element.know(node, type == ElementType::pred ? value != 0 : b_.cast(value, type));
  }
  return element;
}

bool Expander::reads_memory(sema::NodeId root) const {
  std::vector<sema::NodeId> open{root};
  std::vector<char> seen(kernel().nodes.size(), 0);
  while (!open.empty()) {
    const sema::NodeId id = open.back();
    open.pop_back();
    if (seen[static_cast<std::size_t>(id)]++ || known_.contains(id)) continue;
    if (std::holds_alternative<sema::Load>(kernel().node(id).what)) return true;
    for (const sema::NodeId operand : sema::operands(kernel().node(id))) open.push_back(operand);
  }
  return false;
}

void Expander::block(const tile::Block& body) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    const auto& node = body[i].node;
    if (const auto* loop = std::get_if<tile::For>(&node)) {
      walk(*loop);
    } else if (const auto* copy = std::get_if<tile::Copy>(&node)) {
      load(*copy);
    } else if (const auto* map = std::get_if<tile::Map>(&node)) {
      const auto* next = i + 1 < body.size() ? std::get_if<tile::Copy>(&body[i + 1].node) : nullptr;
      if (next && next->src == map->out) {
        store(*next);
        ++i;
      } else {
        keep(*map);
      }
    } else {
      const TileId out = std::get<tile::Reduce>(node).out;
      clear(out);
      accumulate(out);
      join_threads(out);
    }
  }
}

void Expander::walk(const tile::For& loop) {
  if (loop.walk == tile::Walk::whole) return block(loop.body);
  const auto reductions = [&](auto each) {
    for (const tile::Stmt& stmt : loop.body)
      if (const auto* reduce = std::get_if<tile::Reduce>(&stmt.node)) each(reduce->out);
  };
  reductions([&](TileId id) { clear(id); });
  const tile::Axis& axis = program_.axis(loop.axis);
  const auto before = known_;
  const bool split = program_.parts > 1;
  const Term begin = split ? b_.special(Builtin::block_y) * axis.tile : number(0);
  b_.loop(declared_.name("first_column"), begin, b_.size(axis.extent),
          {.step = axis.tile * program_.parts}, [&](Term first) {
            first_[column_axis] = first + column_in_tile_;
            for (std::size_t i = 0; i < loop.body.size(); ++i) {
              const auto& node = loop.body[i].node;
              if (const auto* reduce = std::get_if<tile::Reduce>(&node)) {
                accumulate(reduce->out);
              } else {
                tile::Block one{loop.body[i]};
                if (std::holds_alternative<tile::Map>(node) && i + 1 < loop.body.size())
                  one.push_back(loop.body[++i]);
                block(one);
              }
            }
          });
  known_ = before;  // what the loop held is gone
  first_[column_axis] = column_in_tile_;
  reductions([&](TileId id) { join_threads(id); });
}

void Expander::load(const tile::Copy& copy) {
  const tile::Tile& to = tile(copy.dst);
  declared_.from(kernel().node(to.value).where,
                 kernel().loaded(to.value).name + ": global -> registers");
  each(to, copy.vector, [&](const Values& at) {
    ElementLowering element(declared_);
    bind(element, at);
    PlainCopy& made =
        b_.copy(held(copy.dst, at), element.source(to.value), copy.vector, 0, copy.vector_mode);
    if (const auto there = inside(to, at)) {
      made.guard.predicate = *there;
      made.guard.zero_fill = true;
    }
  });
  known_[to.value] = copy.dst;
}

void Expander::keep(const tile::Map& map) {
  const tile::Tile& out = tile(map.out);
  declared_.from(kernel().node(out.value).where, "kept in registers");
  const bool guarded = reads_memory(out.value);
  each(out, 1, [&](const Values& at) {
    where(guarded ? inside(out, at) : std::nullopt, [&] {
      ElementLowering element = element_at(at);
      const Term value = element.value(out.value);
      b_.assign(held(map.out, at), truth_as_number(value));
    });
  });
  known_[out.value] = map.out;
}

Term Expander::truth_as_number(Term value) {
  return value.type() == ElementType::pred ? b_.select(value, number(1), number(0)) : value;
}

void Expander::store(const tile::Copy& copy) {
  const tile::Tile& to = tile(copy.dst);
  const auto& assignment = kernel().assignments[static_cast<std::size_t>(to.assignment)];
  const ElementType type = declared_.tensor(assignment.target).element;
  declared_.from(assignment.where, "registers -> global");
  const BufferId out =
      b_.registers(declared_.fresh("out_" + declared_.tensor(assignment.target).name), type,
                   Layout(copy.vector, 1));
  const auto all = [&] {
    each(to, copy.vector, [&](const Values& at) {
      where(inside(to, at), [&] {
        each_element(at, copy.vector, [&](const Values& here, Term which) {
          ElementLowering element = element_at(here);
          declared_.from(assignment.where);
          b_.assign({out, {which}}, element.value(assignment.value, type));
        });
        ElementLowering element(declared_);
        bind(element, at);
        b_.copy(element.element(assignment.target, assignment.indices), {out, {number(0)}},
                copy.vector, copy.vector_mode, 0);
      });
    });
  };
  if (runs(to, column_axis)) return all();
  std::optional<Term> alone = speaks_for_rows();
  if (threads_.blocks() > 1) {
    const Term first = b_.special(Builtin::cluster_rank) == 0;
    alone = alone ? *alone && first : first;
  }
  where(alone, all);
}

std::optional<Term> Expander::speaks_for_rows() {
  std::optional<Term> alone;
  if (!columns_.lane_masks.empty())
    alone = b_.at(columns_.lane_column, b_.special(Builtin::lane)) == 0;
  if (columns_.warps > 1) {
    const Term first = b_.at(columns_.warp_column, b_.special(Builtin::warp)) == 0;
    alone = alone ? *alone && first : first;
  }
  return alone;
}

void expand(Declared& declared, const tile::Program& program) {
  Expander(declared, program).run();
}

}  // namespace lay::ir
