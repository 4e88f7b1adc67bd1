#include "backend/ir/expand/expand.h"

#include <algorithm>
#include <utility>

#include "backend/ir/expand/elementwise/expand_elementwise.h"
#include "backend/ir/expand/expander.h"
#include "backend/ir/expand/products/expand_products.h"
#include "backend/ir/expand/simt/simt_expander.h"
#include "backend/ir/expand/sm80/sm80_expander.h"
#include "backend/ir/expand/sm90/sm90_expander.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::ir {

void Expander::run() {
  const tile::Axis& across = program_.axis(row_axis);
  const int blocks = threads_.blocks();
  Int tiles = ceil_div(across.extent, across.tile);
  const bool takes_turns = program_.sms > 0;
  if (takes_turns) tiles = min(Int(clusters()), tiles);
  b_.kernel.launch = {{tiles * blocks, program_.parts, 1},
                      {blocks, 1, 1},
                      sync_.threads(),
                      program_.blocks_per_sm,
                      takes_turns};
  barrier_ = sync_.declare_meeting(tile::Barrier::Scope::block);
  tile::for_each(program_.body, [&](const tile::Stmt& stmt) {
    const auto* copy = std::get_if<tile::Copy>(&stmt.node);
    if (copy && tile(copy->dst).space == tile::Space::global) stored_.insert(copy->src);
  });
  declare(program_.body);
  declare_ahead();
  if (blocks > 1 && !reductions_.empty()) prepare_cluster();
  sync_.role(0, [&] {
    declared_.from(declared_.kernel.where, "(thread,value) -> (" + across.name + "," +
                                               program_.axis(column_axis).name +
                                               ") in the tile: " + threads_.layout.to_string());
    const Term thread = b_.special(Builtin::thread);
    row_in_tile_ = b_.let(declared_.name("row_in_tile"),
                          b_.at(lay::along(threads_.layout[0], row_axis), thread));
    column_in_tile_ = b_.let(declared_.name("column_in_tile"),
                             b_.at(lay::along(threads_.layout[0], column_axis), thread));
    Term tile_of_rows = b_.special(Builtin::block_x);
    if (threads_.blocks() > 1) {
      const Layout shares = lay::along(threads_.layout[2], column_axis);
      declared_.from(declared_.kernel.where,
                     "blocks of a cluster share rows: block -> column " + shares.to_string());
      tile_of_rows = tile_of_rows / threads_.blocks();
      column_in_tile_ = b_.let(declared_.name("column_of_block"),
                               column_in_tile_ + b_.at(shares, b_.special(Builtin::cluster_rank)));
    }
    first_[column_axis] = column_in_tile_;
    if (takes_turns) return walk_rows(tile_of_rows);
    slot_ = phase_ = number(0);
    first_[row_axis] =
        b_.let(declared_.name("first_row"), tile_of_rows * across.tile + row_in_tile_);
    rows();
  });
}

void Expander::rows() {
  for (const tile::Stmt& stmt : program_.body)  // the loop over the grid, and nothing beside it
    block(std::get<tile::For>(stmt.node).body, true);
}

void Expander::declare(const tile::Block& body) {
  tile::for_each(body, [&](const tile::Stmt& stmt) {
    if (const auto* copy = std::get_if<tile::Copy>(&stmt.node)) {
      if (tile(copy->dst).space == tile::Space::registers) declare(copy->dst);
    } else if (const auto* map = std::get_if<tile::Map>(&stmt.node)) {
      if (!stored_.contains(map->out)) declare(map->out);
    } else if (const auto* reduce = std::get_if<tile::Reduce>(&stmt.node)) {
      declare_reduction(reduce->out);
    }
  });
}

void Expander::declare(TileId id) {
  declared_.from(kernel().node(tile(id).value).where, "the values of this thread");
  buffers_[static_cast<std::size_t>(id)] =
      declare_registers(id, tile(id).name, held_type(tile(id)));
}

BufferId Expander::declare_registers(TileId id, const std::string& name, ElementType type) {
  std::vector<Tuple> shape, stride;
  int count = 1;
  for (const ValueMode& mode : modes_) {
    if (!runs(tile(id), mode.axis)) continue;
    shape.emplace_back(mode.extent);
    stride.emplace_back(count);
    count *= mode.extent;
  }
  const Layout layout = shape.empty()       ? Layout(1, 0)
                        : shape.size() == 1 ? Layout(shape[0], stride[0])
                                            : Layout(Tuple(shape), Tuple(stride));
  return b_.registers(declared_.name(name), type, layout);
}

ElementType Expander::held_type(const tile::Tile& made) {
  return made.element == ElementType::pred ? ElementType::s32 : made.element;
}

void Expander::declare_reduction(TileId id) {
  const Span& where = kernel().node(tile(id).value).where;
  const int held = program_.axis(row_axis).tile, blocks = threads_.blocks();
  const std::vector<ElementType> types = tile::partial_types(program_, id);
  std::vector<std::string> names{tile(id).name};
  if (types.size() > 1) names.push_back("extreme_" + tile(id).name);
  Reduction& made = reductions_[id];
  for (std::size_t i = 0; i < types.size(); ++i) {
    Partial& partial = made.partials.emplace_back();
    partial.type = types[i];
    declared_.from(where, "the values of this thread");
    partial.registers = declare_registers(id, names[i], types[i]);
    if (columns_.warps > 1) {
      declared_.from(where, "(row, warp) -> what the warp has of the row");
      partial.of_warps =
          b_.shared(declared_.name("shared_" + names[i]), types[i], by_slots(held, columns_.warps));
    }
    if (blocks > 1) {
      declared_.from(where, "(row, block) -> what the block has of the row");
      partial.of_blocks =
          b_.shared(declared_.name("cluster_" + names[i]), types[i], by_slots(held, blocks));
    }
  }
  buffers_[static_cast<std::size_t>(id)] = made.partials.front().registers;
  made.arrived = sync_.declare_joined(id);
}

void Expander::prepare_cluster() {
  const BarrierId all = sync_.declare_meeting(tile::Barrier::Scope::cluster);
  blocks_ = all;
  b_.inside(b_.kernel.prologue, [&] {
    b_.when(b_.special(Builtin::thread) == 0, [&] {
      for (const auto& [id, reduction] : reductions_)
        for (int slot = 0; slot < tile::exchange_slots(program_); ++slot)
          b_.sync(reduction.arrived, number(slot), InitMbarrier{});
    });
    sync_.fence(tile::Fence::Use::initialised);
    b_.sync(all, {}, ArriveCluster{});
  });
}

Ref Expander::held(TileId id, BufferId registers, const Values& at) {
  Ref made{registers, {}};
  for (std::size_t i = 0; i < modes_.size(); ++i)
    if (runs(tile(id), modes_[i].axis)) made.coordinate.push_back(at[i]);
  if (made.coordinate.empty()) made.coordinate.push_back(number(0));
  return made;
}

ElementLowering Expander::element_at(const Values& at) {
  std::vector<sema::NodeId> given;
  for (const auto& [node, id] : values_.all()) given.push_back(node);
  ElementLowering element(declared_, given);
  bind(element, at);
  for (const auto& [node, id] : values_.all()) {
    const ElementType type = kernel().node(node).type;
    const Term value = b_.read(held(id, at));
    element.know(node, type == ElementType::pred ? value != 0 : b_.cast(value, type));
  }
  return element;
}

void Expander::block(const tile::Block& body, bool completes) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    const auto& node = body[i].node;
    if (const auto* loop = std::get_if<tile::For>(&node)) {
      walk(*loop);
      continue;
    }
    if (const auto* copy = std::get_if<tile::Copy>(&node)) {
      if (tile::is_ahead(tile(copy->src)))
        take(*copy);
      else if (!tile::is_ahead(tile(copy->dst)))
        load(*copy);
    } else if (const auto* map = std::get_if<tile::Map>(&node)) {
      const auto* next = i + 1 < body.size() ? std::get_if<tile::Copy>(&body[i + 1].node) : nullptr;
      if (next && next->src == map->out) {
        store(*next);
        ++i;
        continue;
      }
      keep(*map);
    } else {
      const TileId out = std::get<tile::Reduce>(node).out;
      if (completes) clear(out);
      accumulate(out);
      if (completes) join_threads(out);
    }
    values_.after(body[i]);
  }
}

void Expander::walk(const tile::For& loop) {
  if (loop.walk == tile::Walk::whole) {
    values_.enter(loop);
    block(loop.body, true);
    return values_.leave();
  }
  const auto reductions = [&](auto each) {
    for (const tile::Stmt& stmt : loop.body)
      if (const auto* reduce = std::get_if<tile::Reduce>(&stmt.node)) each(reduce->out);
  };
  reductions([&](TileId id) { clear(id); });
  const tile::Axis& axis = program_.axis(loop.axis);
  const bool split = program_.parts > 1;
  const Term begin = split ? b_.special(Builtin::block_y) * axis.tile : number(0);
  values_.enter(loop);
  b_.loop(declared_.name("first_column"), begin, b_.size(axis.extent),
          {.step = axis.tile * program_.parts}, [&](Term first) {
            first_[column_axis] = first + column_in_tile_;
            block(loop.body, false);
          });
  values_.leave();
  first_[column_axis] = column_in_tile_;
  reductions([&](TileId id) { join_threads(id); });
}

void Expander::load(const tile::Copy& copy) {
  const tile::Tile& to = tile(copy.dst);
  declared_.from(kernel().node(to.value).where,
                 kernel().loaded(to.value).name + ": global -> registers");
  each(to, copy.vector, [&](const Values& at) {
    ElementLowering element = element_at(at);  // coordinates may be values of the row
    PlainCopy& made =
        b_.copy(held(copy.dst, at), element.source(to.value), copy.vector, 0, copy.vector_mode);
    std::optional<Term> there = inside(to, at);
    for (const tile::Condition& each : copy.where) {
      const Term truth = b_.read(held(each.tile, at));
      const Term holds = each.holds ? truth != 0 : truth == 0;
      there = there ? *there && holds : holds;
    }
    if (there) {
      made.guard.predicate = *there;
      made.guard.zero_fill = true;
    }
  });
}

void Expander::keep(const tile::Map& map) {
  const tile::Tile& out = tile(map.out);
  declared_.from(kernel().node(out.value).where, "kept in registers");
  const bool guarded = reads_memory(out.value);
  // Outside of the extents it may be a coordinate of what is not accessed.
  if (guarded && inside(out, Values(modes_.size(), number(0))))
    b_.fill(buffers_[static_cast<std::size_t>(map.out)], b_.cast(number(0), held_type(out)));
  each(out, 1, [&](const Values& at) {
    where(guarded ? inside(out, at) : std::nullopt, [&] {
      ElementLowering element = element_at(at);
      const Term value = element.value(out.value);
      b_.assign(held(map.out, at), truth_as_number(value));
    });
  });
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

void expand(Declared& declared, const std::vector<tile::Program>& programs) {
  const tile::Program& program = programs.front();
  if (program.is_chain()) return expand_products(declared, program);
  if (plan::is_sm90(program)) return Sm90Expander(declared, program).run();
  if (plan::is_sm80(program)) return Sm80Expander(declared, program).run();
  if (program.is_product()) return SimtExpander(declared, program).run();
  if (program.is_elementwise()) return expand_elementwise(declared, programs);
  Expander(declared, program).run();
}

}  // namespace lay::ir
