// Rows that are copied ahead: a block takes tile after tile, and some are on their way while one is
// reduced.
#include <algorithm>
#include <utility>

#include "backend/ir/expand/expander.h"
#include "backend/tile/rows_ahead.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

namespace {

// (coordinates, stage) -> offset: stages one behind the other.
Layout in_stages(const Layout& tile, int axes, int stages) {
  std::vector<Tuple> shape, stride;
  for (int axis = 0; axis < axes; ++axis) {
    shape.push_back(axes == 1 ? tile.shape : tile.shape[axis]);
    stride.push_back(axes == 1 ? tile.stride : tile.stride[axis]);
  }
  Facts facts;
  shape.emplace_back(stages);
  stride.emplace_back(cosize(facts, tile));
  return Layout(Tuple(shape), Tuple(stride));
}

}  // namespace

int Expander::clusters() const {
  return std::max(1, program_.sms * program_.blocks_per_sm / threads_.blocks());
}

void Expander::declare_ahead() {
  constexpr int alignment = 128;
  for (const bool with_rows : {true, false}) {
    for (const tile::Copy* copy : copies_ahead(with_rows)) {
      const tile::Tile& ahead = tile(copy->dst);
      declared_.from(kernel().node(ahead.value).where,
                     "(row, column, stage) -> offset in elements of what this block has");
      const auto& layout = std::get<Layout>(ahead.shared->layout);
      buffers_[static_cast<std::size_t>(copy->dst)] = b_.shared(
          declared_.name(ahead.name), ahead.element,
          in_stages(layout, static_cast<int>(ahead.axes.size()), ahead.shared->stages), alignment);
    }
  }
}

std::vector<const tile::Copy*> Expander::copies_ahead(bool with_rows) const {
  std::vector<const tile::Copy*> found;
  tile::for_each(program_.body, [&](const tile::Stmt& stmt) {
    const auto* copy = std::get_if<tile::Copy>(&stmt.node);
    const bool ahead = copy && tile::is_ahead(tile(copy->dst));
    if (ahead && tile::has_rows(tile(copy->dst)) == with_rows) found.push_back(copy);
  });
  return found;
}

void Expander::walk_rows(Term first_tile) {
  // A launch may have fewer clusters than there could be (ir::Launch::persistent).
  first_tile_ = b_.let(declared_.name("first_tile"), first_tile);
  step_ = b_.let(declared_.name("clusters"), b_.special(Builtin::grid_x) / threads_.blocks());
  const tile::Axis& across = program_.axis(row_axis);
  const auto rows_ahead = copies_ahead(true);
  const int stages = tile(rows_ahead.front()->dst).shared->stages;
  const int groups = static_cast<int>(rows_ahead.size());
  first_[row_axis] = number(0);  // of what is the same for all rows
  for (const tile::Copy* copy : copies_ahead(false)) copy_ahead(*copy, number(0));
  b_.loop(declared_.name("s"), number(0), number(stages), {.unrolled = true}, [&](Term s) {
    place_rows("row_ahead", s);
    for (const tile::Copy* copy : rows_ahead) copy_ahead(*copy, s);
  });
  if (threads_.blocks() > 1 && !reductions_.empty()) meet_behind();
  const Term tiles = b_.let(declared_.name("tiles"), b_.size(ceil_div(across.extent, across.tile)));
  declared_.from(declared_.kernel.where,
                 "tile of rows after tile, " + std::to_string(stages) + " on their way");
  b_.loop(declared_.name("turn"), number(0), (tiles - first_tile_ + step_ - 1) / step_, {},
          [&](Term turn) {
            turn_ = turn;
            stage_ = stages == 1 ? number(0) : b_.let(declared_.name("stage"), turn % stages);
            slot_ = b_.let(declared_.name("slot"), turn % 2);
            phase_ = b_.let(declared_.name("phase"), turn / 2 % 2);
            // Groups come in the order in which they were begun.
            b_.emit(Wait{GroupKind::cp_async, (stages - 1) * groups, false});
            place_rows("first_row", turn);
            rows();
          });
  declared_.from(declared_.kernel.where, "copies behind the last row wrote zeros");
  b_.emit(Wait{GroupKind::cp_async, 0, false});
  if (exchanges_ > 0) b_.sync(blocks_, {}, WaitCluster{});
}

void Expander::place_rows(const char* name, Term turn) {
  first_[row_axis] =
      b_.let(declared_.fresh(name),
             (first_tile_ + turn * step_) * program_.axis(row_axis).tile + row_in_tile_);
}

void Expander::copy_ahead(const tile::Copy& copy, Term stage) {
  const tile::Tile& to = tile(copy.dst);
  declared_.from(kernel().node(to.value).where,
                 kernel().loaded(to.value).name + ": global -> shared");
  const std::string atom = b_.atom(*to.filled_by);
  const auto along = std::ranges::find(to.axes, modes_[0].axis) - to.axes.begin();
  each(to, copy.vector, [&](const Values& at) {
    ElementLowering element(declared_);
    bind(element, at);
    std::optional<Term> there = inside(column_axis, at);
    if (tile::has_rows(to)) {
      const Term row = coordinate(row_axis, at) < b_.size(program_.axis(row_axis).extent);
      there = there ? row && *there : row;
    }
    const CopyGuard guard = there ? CopyGuard{*there, true} : CopyGuard{};
    b_.copy(shared_place(copy.dst, at, stage), element.source(to.value),
            AsyncCopy{{copy.vector, static_cast<int>(along), copy.vector_mode}, guard, atom});
  });
  b_.emit(Commit{GroupKind::cp_async});
}

Ref Expander::shared_place(TileId id, const Values& at, Term stage) {
  Ref made{buffers_[static_cast<std::size_t>(id)], {}};
  for (const AxisId axis : tile(id).axes)
    made.coordinate.push_back(axis == row_axis ? row_in_tile(at) : coordinate(column_axis, at));
  made.coordinate.push_back(stage);
  return made;
}

void Expander::take(const tile::Copy& copy) {
  const tile::Tile& ahead = tile(copy.src);
  const bool with_rows = tile::has_rows(ahead);
  declared_.from(kernel().node(ahead.value).where,
                 kernel().loaded(ahead.value).name + ": shared -> registers");
  each(tile(copy.dst), copy.vector, [&](const Values& at) {
    b_.copy(held(copy.dst, at), shared_place(copy.src, at, with_rows ? stage_ : number(0)),
            PlainCopy{{copy.vector, 0, copy.vector_mode}, {}});
  });
  if (!with_rows) return;
  const Term here = first_[row_axis];
  place_rows("row_ahead", turn_ + ahead.shared->stages);
  for (const tile::Copy* each : copies_ahead(true))
    if (each->dst == copy.src) copy_ahead(*each, stage_);
  first_[row_axis] = here;
}

Layout Expander::by_slots(int held, int count) const {
  if (program_.sms == 0) return Layout(lay::tuple(held, count), lay::tuple(1, held));
  return Layout(lay::tuple(held, count, 2), lay::tuple(1, held, held * count));
}

Ref Expander::in_slot(BufferId shared, Term row, Term which) {
  if (program_.sms == 0) return {shared, {row, which}};
  return {shared, {row, which, slot_}};
}

void Expander::begin_exchange() {
  const bool is_first = exchanges_++ == 0;
  if (is_first && program_.sms == 0) b_.sync(blocks_, {}, WaitCluster{});
}

void Expander::end_exchange() {
  const bool is_last = exchanges_ == static_cast<int>(reductions_.size());
  if (program_.sms > 0 && is_last) meet_behind();
}

void Expander::meet_behind() {
  b_.sync(blocks_, {}, WaitCluster{});
  b_.sync(blocks_, {}, ArriveCluster{});
}

}  // namespace lay::ir
