// The order in which blocks, or clusters, take the tiles of the output.
//
// The tiles are a grid of R rows, C columns and batches, with a number of places of the order, one
// for each block or each turn of a cluster.
//
// RowGroups: rows of tiles in ceil_div(R, rows) groups: down the rows of a group, then along n,
// then the next group, then batches. Heights differ by one row at most, and the higher groups come
// first: of at most 8 rows, 17 rows make groups of 6, 6 and 5. Tiles that are taken together share
// rows of A and columns of B in L2.
//
// Law: the places are 0 .. R * C * batches - 1, and each is a tile of its own.
//
// With a tail (For::tail) clusters take units. Those of the waves that all clusters have are
// places; each place that is left is a unit for each part of the sum:
//
//   10 places, 4 clusters, 3 parts:   units 0 to 7 are places 0 to 7, and behind them
//                                     8 9   8 9   8 9    the first parts, the second, the third
//
// Neighbours so have one part of the sum in common, and share what they load in L2.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/tile/program.h"
#include "frontend/algebra/integers/int.h"

namespace lay::tile {

// The order with numbers for these dims.
TileOrder at_sizes(const TileOrder& order, const Binding& sizes);

// The places of an order over a grid with these extents: R, C, then batches.
Int places(const TileOrder& order, const std::vector<Int>& grid);

// The grid of one batch in groups, by an arithmetic of numbers or of terms of a kernel:
//
//   Number, Divisor             a number, and one that is divided by again and again
//   let(name, number)           the number, named where a kernel computes it
//   divisor(name, number)       of a number from 1 on
//   divide(name, number, by)    the quotient by a divisor, rounded down
//   select(condition, a, b)     a where the condition holds, else b, of numbers and of divisors
//   number(divisor)             itself
//   quotient_where(condition, a, b)
//                               a / b where the condition holds, else 0
//
// R and C are not 0. The first places are those of the higher groups, by (low + 1, C, R %
// groups):(1@0,1@1,(low + 1)@0); the rest are (low, C, groups - R % groups):(1@0,1@1,low@0),
// `high_rows` below.
template <class Arithmetic>
struct GroupedRows {
  typename Arithmetic::Divisor columns;
  typename Arithmetic::Divisor low, high;              // rows of a group
  typename Arithmetic::Number high_rows, high_places;  // that all of the higher ones have
};

template <class Arithmetic, class Number = typename Arithmetic::Number>
GroupedRows<Arithmetic> grouped_rows(Arithmetic& by, const Number& rows, const Number& columns,
                                     RowGroups most) {
  const Number groups = by.let("groups", (rows + (most.rows - 1)) / most.rows);
  const Number low = by.let("low_rows", rows / groups);
  const Number high_rows = by.let("high_rows", (rows - low * groups) * (low + 1));
  return {by.divisor("columns", columns), by.divisor("low", low), by.divisor("high", low + 1),
          high_rows, by.let("high_places", high_rows * columns)};
}

// The tile (m, n) at a place.
template <class Arithmetic, class Number = typename Arithmetic::Number>
std::array<Number, 2> tile_at(Arithmetic& by, const GroupedRows<Arithmetic>& grid,
                              const Number& place) {
  const auto is_low = place >= grid.high_places;
  const auto height = by.select(is_low, grid.low, grid.high);
  const Number part = by.let("place", place - by.select(is_low, grid.high_places, 0));
  const Number column = by.divide("column", part, height);
  const Number group = by.divide("group", column, grid.columns);
  const Number first = group * by.number(height) + by.select(is_low, grid.high_rows, 0);
  return {first + (part - column * by.number(height)), column - group * by.number(grid.columns)};
}

// The units of clusters that take the places of an order with a tail.
template <class Number>
struct TailUnits {
  Number whole;  // places that are not cut, and come first
  Number rest;   // that are
  Number units;  // of both
};

// The clusters of a launch, of as many as there is room for: with a tail places are cut.
template <class Number>
Number clusters_of_launch(const Number& room, const Number& places, int parts) {
  using std::min;
  return min(room, places * parts);
}

// Places are cut where that is shorter: `rest` of them take one turn of all clusters uncut, and
// ceil_div(rest * parts, clusters) turns of a part each. So there are less than `parts` times as
// many units behind the whole places as clusters.
//
// Law: each place has its unit, or one for each part.
template <class Arithmetic, class Number = typename Arithmetic::Number>
TailUnits<Number> tail_units(Arithmetic& by, const Number& places, const Number& clusters,
                             int parts) {
  const Number left = by.let("left", places - places / clusters * clusters);
  const Number rest =
      by.let("rest", by.select(left * parts <= clusters * (parts - 1), left, Number(left) * 0));
  const Number whole = by.let("whole", places - rest);
  return {whole, rest, by.let("units", whole + rest * parts)};
}

// A unit's place and part; of a whole one part 0.
template <class Arithmetic, class Number = typename Arithmetic::Number>
std::array<Number, 2> place_and_part(Arithmetic& by, const TailUnits<Number>& tail,
                                     const Number& unit) {
  const auto is_part = unit >= tail.whole;
  const Number part = by.let("part", by.quotient_where(is_part, unit - tail.whole, tail.rest));
  return {by.let("place", unit - part * tail.rest), part};
}

// Of numbers.
struct PlainArithmetic {
  using Number = std::int64_t;
  using Divisor = std::int64_t;
  Number let(const char*, Number value) const { return value; }
  Divisor divisor(const char*, Number value) const { return value; }
  Number divide(const char*, Number value, Divisor divisor) const { return value / divisor; }
  Number select(bool condition, Number a, Number b) const { return condition ? a : b; }
  Number number(Divisor divisor) const { return divisor; }
  Number quotient_where(bool condition, Number value, Number divisor) const {
    return condition ? value / divisor : 0;
  }
};

// The tile (m, n, batch...) at a place of an order over a grid of numbers; nothing where the place
// is empty.
class TilePlaces {
 public:
  // Every extent is at least 1. Refusal: more places than 64 bits count, or "too-many", more than
  // 2^20 places of a layout.
  TilePlaces(const TileOrder& order, std::vector<std::int64_t> grid);

  std::int64_t size() const { return size_; }
  std::optional<std::vector<std::int64_t>> at(std::int64_t place) const;

 private:
  std::vector<std::int64_t> grid_;
  std::int64_t size_ = 0;
  std::optional<GroupedRows<PlainArithmetic>> groups_;
  std::vector<std::vector<std::int64_t>> listed_;  // of a layout, by coordinate and place
};

}  // namespace lay::tile
