#include "backend/ir/lower/lower_tiles.h"

#include <algorithm>
#include <stdexcept>

#include "backend/plan/recognise.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

namespace {

constexpr std::int64_t two_to_31 = std::int64_t{1} << 31;

bool is_known(const Term& term) {
  return std::holds_alternative<Constant>(term.builder->kernel.expr(term).node);
}

}  // namespace

Term TermArithmetic::let(const char* name, Term value) {
  const bool is_variable = std::holds_alternative<VarRef>(b_.kernel.expr(value).node);
  return is_known(value) || is_variable ? value : b_.let(declared_.name(name), value);
}

TermArithmetic::Divisor TermArithmetic::divisor(const char* name, Term value) {
  value = let(name, value);
  // The compiler divides by what is known in its own way.
  if (!again_ || is_known(value)) return {value, {}};
  return {value,
          let((std::string("inverse_of_") + name).c_str(), b_.constant(two_to_31 - 1) / value)};
}

TermArithmetic::Divisor TermArithmetic::select(Term condition, const Divisor& a, const Divisor& b) {
  const Term value = let("height", b_.select(condition, a.value, b.value));
  if (!a.inverse.builder || !b.inverse.builder) return divisor("height", value);
  return {value, let("inverse_of_height", b_.select(condition, a.inverse, b.inverse))};
}

Term TermArithmetic::divide(const char* name, Term value, const Divisor& by) {
  if (!by.inverse.builder) return let(name, value / by.value);
  const auto wide = [&](Term term) { return b_.cast(term, ElementType::s64); };
  const Term estimate =
      let("estimate", b_.cast(wide(value) * wide(by.inverse) / two_to_31, ElementType::s32));
  const Term is_more = value - estimate * by.value >= by.value;
  return let(name, estimate + b_.select(is_more, operand(value, 1), operand(value, 0)));
}

TileScheduler::TileScheduler(Declared& declared, const plan::TileOrder& order,
                             const plan::Tiling& tiling, Tiles tiles, std::optional<Term> tile_rows)
    : declared_(declared), b_(declared.b), order_(order), by_(declared, tiles == Tiles::many) {
  declared_.from(declared_.kernel.where, "tiles: " + plan::to_string(order_));
  names_ = {declared_.name("tile_m"), declared_.name("tile_n")};
  for (const sema::IndexId index : tiling.batch) names_.push_back(declared_.index_name(index));
  for (const Int& extent : plan::tile_grid(declared_.kernel, plan::tile_axes(tiling)))
    grid_.push_back(b_.size(extent));
  // A number of the sizes, of which the launcher checks that it fits 32 bits.
  places_ = b_.size(plan::places(declared_.kernel, order_, tiling));
  const auto* groups = std::get_if<plan::RowGroups>(&order_);
  if (!groups) return;
  grid_[0] = by_.let("tile_rows", tile_rows.value_or(grid_[0]));
  grid_[1] = by_.let("tile_columns", grid_[1]);
  groups_ = tile::grouped_rows(by_, grid_[0], grid_[1], *groups);
  const Term of_batch = grid_[0] * grid_[1];
  for (size_t i = 2; i < grid_.size(); ++i)
    batches_.push_back(by_.divisor("batch", i == 2 ? of_batch : grid_[i - 1]));
  if (!tile_rows) return;
  // Rows that the GPU has counted are no more than those of the sizes.
  Term counted = of_batch;
  for (size_t i = 2; i < grid_.size(); ++i) counted = counted * grid_[i];
  places_ = b_.min(places_, counted);
}

Term TileScheduler::cut_tail(Term clusters, int parts) {
  tail_ = tile::tail_units(by_, places_, clusters, parts);
  return tail_->units;
}

TileScheduler::Unit TileScheduler::unit(Term number) {
  const auto [place, part] = tile::place_and_part(by_, *tail_, number);
  return {place, part, number >= tail_->whole, place - tail_->whole, tail_->rest};
}

void TileScheduler::with_tile(Term place,
                              const std::function<void(const std::vector<Term>&)>& body) {
  const auto* layout = std::get_if<Layout>(&order_);
  std::vector<Term> tile = layout ? by_layout(*layout, place) : in_groups(place);
  for (size_t i = 0; i < tile.size(); ++i) tile[i] = b_.let(names_[i], tile[i]);
  if (!layout) return body(tile);
  Term inside = b_.constant(std::int64_t{0}) == 0;
  for (size_t i = 0; i < tile.size(); ++i) inside = inside && tile[i] < grid_[i];
  b_.when(inside, [&] { body(tile); });
}

std::vector<Term> TileScheduler::in_groups(Term place) {
  // The digits of the place, m and n together as the fastest one.
  std::vector<Term> digits;
  Term rest = place;
  for (const TermArithmetic::Divisor& below : batches_) {
    const Term above = by_.divide("batches", rest, below);
    digits.push_back(rest - above * below.value);
    rest = above;
  }
  digits.push_back(rest);
  const auto [m, n] = tile::tile_at(by_, *groups_, digits[0]);
  std::vector<Term> tile{m, n};
  tile.insert(tile.end(), digits.begin() + 1, digits.end());
  return tile;
}

// Digit by digit: (8,C,R):(1@0,1@1,8@0) takes place % 8 as the row inside a group, place / 8 % C as
// the column and place / 8 / C as the group of eight rows, so row = place % 8 + 8 * that.
std::vector<Term> TileScheduler::by_layout(const Layout& layout, Term place) {
  const auto extents = leaves(layout.shape), strides = leaves(layout.stride);
  std::vector<Term> tile(grid_.size(), b_.constant(std::int64_t{0}));
  Term rest = place;
  for (size_t i = 0; i < extents.size(); ++i) {
    const bool last = i + 1 == extents.size();
    const Term extent = b_.size(extents[i].value());
    const Term here = last ? rest : rest % extent;
    // A stride e@a adds digit * e to coordinate a; a plain 0 repeats tiles along no axis.
    if (strides[i].is_basis()) {
      Term& at = tile[static_cast<size_t>(strides[i].path()[0])];
      at = at + here * b_.size(strides[i].value());
    }
    if (!last) rest = b_.let(declared_.fresh("rest"), rest / extent);
  }
  return tile;
}

Ref element_at(const Declared& declared, sema::NodeId load,
               const std::vector<std::pair<sema::IndexId, Term>>& indices) {
  // Factors are read at bare indices (A[m,k], not A[m+1,k]): coordinates are looked up, not
  // computed.
  const auto& what = std::get<sema::Load>(declared.kernel.node(load).what);
  Ref made{declared.tensors[static_cast<size_t>(what.tensor)], {}};
  for (const sema::NodeId coordinate : what.coordinate) {
    const sema::IndexId index = plan::bare_index(declared.kernel, coordinate);
    const auto at = std::find_if(indices.begin(), indices.end(),
                                 [&](const auto& each) { return each.first == index; });
    if (at == indices.end()) throw std::logic_error("internal: a factor's index has no value");
    made.coordinate.push_back(at->second);
  }
  return made;
}

}  // namespace lay::ir
