// The tiles of blocks and clusters by the plan's order, and the places of operands.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "backend/ir/lower/lower_parts.h"
#include "backend/plan/schedule/order.h"

namespace lay::ir {

// The arithmetic of tile/products/tile_order.h on terms of a kernel. What is divided by again and
// again is divided by its inverse, since a division takes as long as the first loads of a tile:
//   inverse = (2^31 - 1) / d,  estimate = v * inverse / 2^31,  v / d is the estimate or one more
// for each v below 2^31, because v / d - v * inverse / 2^31 <= v / 2^31 < 1.
class TermArithmetic {
 public:
  using Number = Term;
  struct Divisor {
    Term value, inverse;
  };
  // `again`: by inverses.
  TermArithmetic(Declared& declared, bool again)
      : declared_(declared), b_(declared.b), again_(again) {}

  // A variable, but for what is known or a variable already.
  Term let(const char* name, Term value);
  Divisor divisor(const char* name, Term value);
  Term divide(const char* name, Term value, const Divisor& by);
  Term select(Term condition, Term a, Term b) { return b_.select(condition, a, b); }
  Term select(Term condition, Term a, int b) { return b_.select(condition, a, operand(a, b)); }
  Divisor select(Term condition, const Divisor& a, const Divisor& b);
  Term number(const Divisor& by) const { return by.value; }
  Term quotient_where(Term condition, Term value, Term by) {
    return b_.select(condition, value / by, operand(value, 0));
  }

 private:
  Declared& declared_;
  Builder& b_;
  bool again_;
};

// An order over the grid of tiles (tile/products/tile_order.h) as statements: what all tiles share
// is computed where it is made, the rest where a tile is taken.
class TileScheduler {
 public:
  // That a block takes.
  enum class Tiles { one, many };
  // `tile_rows`: the rows of the grid, where they are not those of the tiling. Not 0.
  TileScheduler(Declared& declared, const plan::TileOrder& order, const plan::Tiling& tiling,
                Tiles tiles, std::optional<Term> tile_rows = {});

  // The places of the order.
  Term places() const { return places_; }

  // Cuts the places of a last wave that is not whole into parts of the sum (tile_order.h), and
  // returns the number of units that there are then.
  Term cut_tail(Term clusters, int parts);
  // A unit: its place, and the part of the sum that it is. In the tail part p of a place has the
  // number of_tile + p * rest.
  struct Unit {
    Term place, part, is_part;
    Term of_tile, rest;
  };
  Unit unit(Term number);

  // The body sees the coordinates of the tile at a place, m, n, then batches. It does not run where
  // the place is empty.
  void with_tile(Term place, const std::function<void(const std::vector<Term>&)>& body);

 private:
  std::vector<Term> in_groups(Term place);
  std::vector<Term> by_layout(const Layout& layout, Term place);

  Declared& declared_;
  Builder& b_;
  const plan::TileOrder& order_;
  std::vector<std::string> names_;  // of the coordinates
  std::vector<Term> grid_;          // tiles along each coordinate
  TermArithmetic by_;
  std::optional<tile::GroupedRows<TermArithmetic>> groups_;
  std::optional<tile::TailUnits<Term>> tail_;
  std::vector<TermArithmetic::Divisor> batches_;  // the tiles of a batch, then extents of batches
  Term places_;
};

// The element of a loaded tensor where its bare indices have these values.
Ref element_at(const Declared& declared, sema::NodeId load,
               const std::vector<std::pair<sema::IndexId, Term>>& indices);

}  // namespace lay::ir
