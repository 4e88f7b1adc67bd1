// Which columns a mask leaves of a tile of rows, by the least and the greatest value of what it
// compares (plan/mask_range.h): a condition that is linear in the column bounds them.
#include <algorithm>
#include <limits>

#include "backend/ir/expand/products/product_expander.h"
#include "backend/plan/mask_range.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::ir {

namespace {

using sema::IndexId;
using sema::NodeId;

// A whole number: so many times the column, and something between two terms.
struct Linear {
  Term least, greatest;
  int columns = 0;
};

// Columns from `begin` to below `end`, where a side is bounded.
struct Bounds {
  std::optional<Term> begin, end;
};

class ColumnBounds {
 public:
  // `range` gives what an index but the column runs over.
  ColumnBounds(Declared& declared, IndexId column,
               std::function<std::pair<Term, Term>(IndexId)> range)
      : declared_(declared), b_(declared.b), column_(column), range_(std::move(range)) {}

  // Outside of the bounds the condition does not have the value.
  Bounds of(NodeId condition, bool when) {
    using enum ElementFunction;
    const auto& apply = std::get<sema::Apply>(declared_.kernel.node(condition).what);
    const auto part = [&](size_t i, bool value) { return of(apply.operands[i], value); };
    if (apply.function == not_) return part(0, !when);
    if (apply.function == and_ || apply.function == or_) {
      const Bounds a = part(0, when), b = part(1, when);
      return (apply.function == and_) == when ? both(a, b) : either(a, b);
    }
    const Linear a = linear(apply.operands[0]), b = linear(apply.operands[1]);
    ElementFunction function = apply.function;
    if (!when) function = function == lt ? ge : function == le ? gt : function == gt ? le : lt;
    if (function == gt || function == ge) return below(b, a, function == ge);
    return below(a, b, function == le);
  }

 private:
  Bounds both(const Bounds& a, const Bounds& b) {
    const auto join = [](const auto& x, const auto& y, auto f) {
      return x && y ? std::optional(f(*x, *y)) : x ? x : y;
    };
    return {join(a.begin, b.begin, [&](Term x, Term y) { return b_.max(x, y); }),
            join(a.end, b.end, [&](Term x, Term y) { return b_.min(x, y); })};
  }
  Bounds either(const Bounds& a, const Bounds& b) {
    Bounds made;
    if (a.begin && b.begin) made.begin = b_.min(*a.begin, *b.begin);
    if (a.end && b.end) made.end = b_.max(*a.end, *b.end);
    return made;
  }

  // a < b, or a <= b, somewhere: with n on the left n < greatest b - least a, on the right the
  // other way round.
  Bounds below(const Linear& a, const Linear& b, bool or_equal) {
    const Term room = b.greatest - a.least;
    if (a.columns - b.columns == 1) return {{}, or_equal ? room + 1 : room};
    if (a.columns - b.columns == -1) {
      const Term least = a.least - b.greatest;
      return {or_equal ? least : least + 1, {}};
    }
    return {};
  }

  Linear linear(NodeId id) {
    const sema::Node& node = declared_.kernel.node(id);
    const auto same = [](Term value) { return Linear{value, value, 0}; };
    if (const auto* literal = std::get_if<sema::Literal>(&node.what))
      return same(b_.constant(std::get<std::int64_t>(literal->value)));
    if (const auto* size = std::get_if<sema::SizeValue>(&node.what))
      return same(b_.size(size->value));
    if (const auto* index = std::get_if<sema::IndexValue>(&node.what)) {
      if (index->index == column_) {
        const Term none = b_.constant(std::int64_t{0});
        return {none, none, 1};
      }
      const auto [least, greatest] = range_(index->index);
      return {least, greatest, 0};
    }
    const auto& apply = std::get<sema::Apply>(node.what);
    const Linear a = linear(apply.operands[0]), b = linear(apply.operands[1]);
    if (apply.function == ElementFunction::add)
      return {a.least + b.least, a.greatest + b.greatest, a.columns + b.columns};
    return {a.least - b.greatest, a.greatest - b.least, a.columns - b.columns};
  }

  Declared& declared_;
  Builder& b_;
  IndexId column_;
  std::function<std::pair<Term, Term>(IndexId)> range_;
};

// The arithmetic of MaskRange in an emitted kernel.
struct TileTerms {
  Builder& b;
  std::function<std::pair<Term, Term>(IndexId)> of;

  Term number(std::int64_t value) const { return b.constant(value); }
  Term size(const Int& value) const { return b.size(value); }
  Term truth(bool value) const { return number(0) == number(value ? 0 : 1); }
  std::optional<std::pair<Term, Term>> range(IndexId index) const { return of(index); }
};

}  // namespace

void ProductExpander::find_mask() {
  const auto found = plan::mask_of_weights(program_);
  if (!found) return;
  mask_ = found->mask;
  masked_ = found->selection;
  unmasked_ = found->value;
}

bool ProductExpander::leaves_triangle() {
  if (!mask_ || !sema::indices_of(kernel(), mask_->condition).contains(index_of(tile::row_axis)))
    return false;
  const auto anywhere = [&](IndexId) { return std::pair(number(0), number(0)); };
  const Bounds bounds = ColumnBounds(declared_, index_of(tile::column_axis), anywhere)
                            .of(mask_->condition, mask_->when);
  return bounds.begin.has_value() != bounds.end.has_value();
}

void ProductExpander::find_columns(Tile& tile) {
  const tile::Axis& columns = axis(tile::column_axis);
  const Term count = b_.size(ceil_div(columns.extent, columns.tile));
  tile.first = number(0);
  tile.end = count;
  if (!mask_) return;
  const auto& batch = axis(tile::batch_axis).indices;
  const auto range = [&](IndexId index) -> std::pair<Term, Term> {
    if (index == index_of(tile::row_axis)) {
      const tile::Axis& rows = axis(tile::row_axis);
      return {tile.m_first, b_.min(tile.m_first + rows.tile, b_.size(rows.extent)) - 1};
    }
    const auto at = std::find(batch.begin(), batch.end(), index) - batch.begin();
    return {tile.batch[static_cast<size_t>(at)], tile.batch[static_cast<size_t>(at)]};
  };
  declared_.from(kernel().node(mask_->condition).where,
                 "column tiles that the mask leaves some of");
  const Bounds bounds =
      ColumnBounds(declared_, index_of(tile::column_axis), range).of(mask_->condition, mask_->when);
  if (bounds.begin)
    tile.first =
        b_.let(declared_.name("first_tile"), b_.max(*bounds.begin, number(0)) / columns.tile);
  if (bounds.end)
    tile.end =
        b_.let(declared_.name("end_tile"),
               b_.min((b_.max(*bounds.end, number(0)) + (columns.tile - 1)) / columns.tile, count));
}

// Returns the condition that a column of the tile lies outside, or that the mask may fail for it.
Term ProductExpander::counts_in_part(const Tile& tile, Term n_first) {
  const tile::Axis& columns = axis(tile::column_axis);
  const Term last = n_first + (columns.tile - 1);
  std::optional<Term> part;
  if (!facts_.proves(divides(columns.extent, columns.tile))) part = b_.size(columns.extent) <= last;
  if (!mask_) return part.value_or(number(0) == 1);
  const auto& batch = axis(tile::batch_axis).indices;
  const auto range = [&](IndexId index) -> std::pair<Term, Term> {
    if (index == index_of(tile::column_axis)) return {n_first, last};
    // Rows of this warpgroup.
    if (index == index_of(tile::row_axis)) {
      const Term first = tile.m_first + consumer_ * rows_of_atom;
      return {first, first + (rows_of_atom - 1)};
    }
    const auto at = std::find(batch.begin(), batch.end(), index) - batch.begin();
    return {tile.batch[static_cast<size_t>(at)], tile.batch[static_cast<size_t>(at)]};
  };
  TileTerms terms{b_, range};
  const Term fails = plan::MaskRange(kernel(), terms).maybe(mask_->condition, !mask_->when);
  return part ? *part || fails : fails;
}

}  // namespace lay::ir
