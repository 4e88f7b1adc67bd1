#include "backend/ir/expand/products/expand_products.h"

#include <algorithm>

#include "backend/ir/expand/products/product_expander.h"
#include "backend/ir/lower/lower_ring.h"
#include "backend/ir/lower/mma_atom.h"
#include "backend/plan/sm90/tma.h"
#include "backend/plan/tensor_shape.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::ir {

namespace {

constexpr int lanes = 32;
// The 128-byte swizzle repeats every 8 rows: stages begin at whole repeats.
constexpr int stage_alignment = 1024;

}  // namespace

ProductExpander::ProductExpander(Declared& declared, const tile::Program& program)
    : declared_(declared),
      b_(declared.b),
      program_(program),
      groups_(*program.warpgroups),
      parts_(tile::chained_products_of(program)),
      sync_(declared, program) {
  for (const Predicate& known : b_.kernel.assumptions) facts_.assume(known);
  q_ = operand(parts_.scores->a, tile::row_axis, tile::summed_axis);
  k_ = operand(parts_.scores->b, tile::column_axis, tile::summed_axis);
  v_ = operand(parts_.result->b, tile::result_axis, tile::column_axis);
  scores_ = accumulators(*parts_.scores, "scores");
  result_ = accumulators(*parts_.result, "result");
  // Value i of the scores is value i % 8 of the operand's step i / 8.
  const sema::Atom& second = *parts_.result->atom;
  const int of_step = static_cast<int>(size(second.a.shape[1]).value());
  const int steps = axis(tile::column_axis).tile / second.shape[2];
  declared_.from(where(parts_.result->a), "(value of the atom, step)");
  weights_ = b_.registers(declared_.name("weights"), program.tile(parts_.result->a).element,
                          make_layout(lay::tuple(of_step, steps)));
  const Layout of_rows(scores_.rows, 1);
  const Layout of_chains = make_layout(lay::tuple(scores_.rows, chains));
  if (parts_.maximum) {
    declared_.from(where(parts_.maximum->out), "of each row of this thread");
    maximum_ = b_.registers(declared_.name("row_max"), ElementType::f32, of_rows);
    subtracted_ = b_.registers(declared_.name("subtracted"), ElementType::f32, of_rows);
    moved_ = b_.registers(declared_.name("moved"), ElementType::f32, of_rows);
    chains_ = b_.registers(declared_.name("chain_max"), ElementType::f32, of_chains);
  }
  for (const tile::Reduce* sum : parts_.sums) {
    declared_.from(where(sum->out), "of each row of this thread");
    sums_.push_back(b_.registers(declared_.fresh("row_sum"), ElementType::f32, of_chains));
  }
  for (const tile::Mma* mma : {parts_.scores, parts_.result}) {
    auto& atoms = b_.kernel.atoms;
    const bool known = std::any_of(atoms.begin(), atoms.end(), [&](const MmaAtom& each) {
      return each.name == mma->atom->name;
    });
    if (!known) atoms.push_back(mma_atom(*mma->atom));
  }
  find_mask();
  find_scale();
  turn_ = sync_.declare_turn();
}

ProductExpander::Operand ProductExpander::operand(tile::TileId id, tile::AxisId outer,
                                                  tile::AxisId summed) {
  Operand made;
  made.tile = &program_.tile(id);
  made.load = made.tile->value;
  made.outer = index_of(outer);
  made.summed = index_of(summed);
  made.extent = {axis(outer).tile, axis(summed).tile};
  const tile::SharedTile& shared = *made.tile->shared;
  const auto& load = kernel().load(made.load);
  const std::string& name = declared_.tensor(load.tensor).name;
  made.global = declared_.tensors[static_cast<size_t>(load.tensor)];
  declared_.from(kernel().node(made.load).where,
                 "(" + axis(outer).name + "," + axis(summed).name + ",stage)");
  made.stages = b_.shared(declared_.name(name + "_stage"), made.tile->element,
                          plan::repeated(shared.layout, {shared.stages}), stage_alignment);
  made.map =
      map_of_boxes(declared_, name + "_map",
                   {made.load, made.summed, made.outer, shared.order, shared.box, shared.span});
  made.sync = sync_.declare(sync_.said().holding(id));
  return made;
}

ProductExpander::Accumulators ProductExpander::accumulators(const tile::Mma& mma,
                                                            const char* name) {
  const sema::Atom& atom = *mma.atom;
  const Layout held = plan::fragment_of(atom.c, {atom.shape[0], atom.shape[1]});
  Accumulators made;
  declared_.from(where(mma.out), "(thread,value) -> (row,column): " + held.to_string());
  made.registers = b_.registers(declared_.name(name), ElementType::f32,
                                Layout(static_cast<int>(size(held.shape[1]).value()), 1));
  const auto extents = leaves(held.shape[1]), strides = leaves(held.stride[1]);
  int value = 1;
  std::vector<Digit> columns;
  for (size_t i = 0; i < extents.size(); ++i) {
    const int extent = static_cast<int>(extents[i].value().value());
    const bool moves = strides[i].is_basis();
    const int step = moves ? static_cast<int>(strides[i].value().value()) : 0;
    const bool of_row = moves && strides[i].path()[0] == 0;
    const Digit digit{extent, value, of_row ? step : 0, of_row ? 0 : step};
    value *= extent;
    if (extent == 1) continue;
    (of_row ? made.digits : columns).push_back(digit);
    if (of_row) made.rows *= extent;
  }
  // The slowest columns are the outermost loop of those.
  made.digits.insert(made.digits.end(), columns.rbegin(), columns.rend());
  for (const int side : {0, 1})
    made.of_thread[static_cast<size_t>(side)] = lay::along(held[0], side);
  if (row_lanes_.empty()) {
    const auto of_lanes = leaves(held.shape[0]), moves = leaves(held.stride[0]);
    int thread = 1;
    for (size_t i = 0; i < of_lanes.size(); ++i) {
      const int extent = static_cast<int>(of_lanes[i].value().value());
      const bool column = moves[i].is_basis() && moves[i].path()[0] == 1;
      for (int mask = thread; column && mask < thread * extent && mask < lanes; mask *= 2)
        row_lanes_.push_back(mask);
      thread *= extent;
    }
  }
  return made;
}

void ProductExpander::run() {
  const tile::Axis &rows = axis(tile::row_axis), &batch = axis(tile::batch_axis);
  const Int tiles = ceil_div(rows.extent, rows.tile) * batch.extent;
  b_.kernel.launch = {{min(Int(groups_.sms), tiles), 1, 1}, {1, 1, 1}, sync_.threads(), 1, true};
  prologue();
  sync_.role(0, [&] { producer(); });
  sync_.role(1, [&] { consumer(); });
}

void ProductExpander::prologue() {
  declared_.from(kernel().where);
  const BarrierId all = sync_.declare_meeting();
  b_.inside(b_.kernel.prologue, [&] {
    sync_.initialise();
    b_.sync(all);
    const Term blocks = b_.special(Builtin::grid_x);
    const Int tiles = ceil_div(axis(tile::row_axis).extent, axis(tile::row_axis).tile);
    const Int batches = axis(tile::batch_axis).extent;
    places_of_batch_ = b_.size(tiles);
    if (leaves_triangle()) {
      tiles_of_place_ = b_.let(declared_.name("tiles_of_place"),
                               b_.select(blocks < b_.size(tiles * batches), number(2), number(1)));
      places_of_batch_ = b_.let(declared_.name("places_of_batch"),
                                (b_.size(tiles) + (*tiles_of_place_ - 1)) / *tiles_of_place_);
    }
    places_ = b_.let(declared_.name("places"), places_of_batch_ * b_.size(batches));
    const Term rounds = (places_ + (blocks - 1)) / blocks;
    rounds_ =
        b_.let(declared_.name("rounds"), tiles_of_place_ ? rounds * *tiles_of_place_ : rounds);
    b_.emit(Fence{FenceKind::grid_dependency_wait});
  });
}

// Tiles of the same batch, which share its columns, follow one another; the last rows come first.
// Every other round of the blocks goes backwards, so that what they have to do evens out. Where a
// causal mask leaves later rows more columns, a place is two tiles, the last rows and the first
// ones, then the next from both ends: all places take the same time, however many a batch has. A
// grid that has a block for every tile takes them one by one.
void ProductExpander::each_tile(const std::function<void(const Tile&)>& body) {
  const tile::Axis &rows = axis(tile::row_axis), &batch = axis(tile::batch_axis);
  const Term last = b_.size(ceil_div(rows.extent, rows.tile)) - 1;
  const Term block = b_.special(Builtin::block_x), blocks = b_.special(Builtin::grid_x);
  declared_.from(kernel().where, "block -> tile: to and fro, the last rows of a batch first");
  b_.loop(declared_.name("round"), number(0), rounds_, {}, [&](Term round) {
    // One loop over rounds and the tiles of a place keeps one counter alive.
    const Term half = tiles_of_place_ ? round % *tiles_of_place_ : number(0);
    const Term pass = tiles_of_place_ ? round / *tiles_of_place_ : round;
    const Term place = b_.let(declared_.name("place"),
                              pass * blocks + b_.select(pass % 2 == 0, block, blocks - 1 - block));
    const Term at = b_.let(declared_.name("place_of_batch"), place % places_of_batch_);
    Term takes = place < places_;
    // The tile in the middle of an odd number is its own other end.
    if (tiles_of_place_) takes = takes && (half == 0 || at + at < last);
    b_.when(takes, [&] {
      Tile made;
      const Term tile = tiles_of_place_ ? b_.select(half == 0, last - at, at) : last - at;
      made.m_first = b_.let(declared_.name("m_first"), tile * rows.tile);
      made.batch.assign(batch.indices.size(), number(0));
      Term rest = b_.let(declared_.name("batch"), place / places_of_batch_);
      for (size_t i = batch.indices.size(); i-- > 0;) {
        const Term extent = declared_.extent(batch.indices[i]);
        made.batch[i] =
            b_.let(declared_.index_name(batch.indices[i]), i == 0 ? rest : rest % extent);
        if (i > 0) rest = b_.let(declared_.fresh("rest"), rest / extent);
      }
      find_columns(made);
      body(made);
    });
  });
}

void ProductExpander::bind_batch(ElementLowering& element, const Tile& tile) {
  const auto& indices = axis(tile::batch_axis).indices;
  for (size_t i = 0; i < indices.size(); ++i) element.bind(indices[i], tile.batch[i]);
}

// ---- the producer

void ProductExpander::producer() {
  const auto fill = [&](const Operand& operand, const Tile& tile, Term outer, Term summed) {
    const int bytes = operand.extent[0] * operand.extent[1] * bits(operand.tile->element) / 8;
    declared_.from(kernel().node(operand.load).where,
                   declared_.tensor(kernel().load(operand.load).tensor).name);
    wait_at(b_, operand.sync.drained, operand.sync.write);
    expect_at(b_, operand.sync.filled, operand.sync.write, bytes);
    load(operand, tile, outer, summed);
    b_.emit(Advance{operand.sync.write, {}});
  };
  b_.when(b_.special(Builtin::warp) == 0, [&] {
    b_.elect([&] {
      each_tile([&](const Tile& tile) {
        fill(q_, tile, tile.m_first, number(0));
        b_.loop(declared_.name("tile_n"), tile.first, tile.end, {}, [&](Term tile_n) {
          const Term n_first = tile_n * axis(tile::column_axis).tile;
          fill(k_, tile, n_first, number(0));
          fill(v_, tile, number(0), n_first);
        });
      });
    });
  });
}

void ProductExpander::load(const Operand& operand, const Tile& tile, Term outer, Term summed) {
  each_box(b_, operand.extent, operand.tile->shared->box, [&](Term row, Term column) {
    ElementLowering element(declared_);
    bind_batch(element, tile);
    std::vector<ExprId> from;
    for (const sema::NodeId coordinate : kernel().load(operand.load).coordinate) {
      const sema::IndexId index = sema::bare_index(kernel(), coordinate);
      if (index == operand.outer) {
        from.push_back(outer + row);
      } else if (index == operand.summed) {
        from.push_back(summed + column);
      } else {
        from.push_back(element.value(coordinate, ElementType::s32));
      }
    }
    b_.copy({operand.stages, {row, column, b_.slot(operand.sync.write)}},
            {operand.global, std::move(from)},
            TmaLoad{operand.map,
                    {operand.sync.filled, b_.slot(operand.sync.write)},
                    box_atom(declared_, operand.map, sema::CopySpace::shared),
                    {}});
  });
}

void expand_products(Declared& declared, const tile::Program& program) {
  ProductExpander(declared, program).run();
}

}  // namespace lay::ir
