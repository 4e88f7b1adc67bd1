// Orders of tiles: each place is a tile of its own, and groups are as high as they are said to be.
#include "backend/plan/schedule/tile_order.h"

#include <array>
#include <catch2/catch.hpp>
#include <set>

#include "frontend/algebra/support/refusal.h"

namespace lay::plan {
namespace {

using tile::grouped_rows;
using Tile = std::vector<std::int64_t>;

std::vector<Tile> tiles_of(const TileOrder& order, const std::vector<std::int64_t>& grid) {
  const TilePlaces all(order, grid);
  std::vector<Tile> tiles;
  for (std::int64_t place = 0; place < all.size(); ++place) {
    const auto tile = all.at(place);
    REQUIRE(tile);
    tiles.push_back(*tile);
  }
  return tiles;
}

// The same by loops: group by group, column by column, row by row.
std::vector<Tile> by_loops(int most, const std::vector<std::int64_t>& grid) {
  const std::int64_t rows = grid[0], groups = (rows + most - 1) / most;
  std::vector<Tile> tiles;
  for (std::int64_t batch = 0; batch < grid[2]; ++batch) {
    std::int64_t first = 0;
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::int64_t height = rows / groups + (group < rows % groups ? 1 : 0);
      for (std::int64_t column = 0; column < grid[1]; ++column) {
        for (std::int64_t row = 0; row < height; ++row)
          tiles.push_back({first + row, column, batch});
      }
      first += height;
    }
  }
  return tiles;
}

// The units of a tail by loops: whole places, then the first part of each place that is left, then
// the second, and so on.
std::vector<std::array<std::int64_t, 2>> units_by_loops(std::int64_t places, std::int64_t clusters,
                                                        int parts) {
  std::vector<std::array<std::int64_t, 2>> units;
  const std::int64_t left = places % clusters;
  const std::int64_t turns = (left * parts + clusters - 1) / clusters;  // of a part each
  const bool is_shorter = left > 0 && turns < parts;
  const std::int64_t whole = is_shorter ? places - left : places;
  for (std::int64_t place = 0; place < whole; ++place) units.push_back({place, 0});
  for (int part = 0; part < parts && whole < places; ++part)
    for (std::int64_t place = whole; place < places; ++place) units.push_back({place, part});
  return units;
}

}  // namespace

TEST_CASE("groups of rows have every tile once, in groups of nearly equal height") {
  for (const int most : {1, 2, 3, 7, 8, 11, 4096}) {
    for (std::int64_t rows = 1; rows <= 40; ++rows) {
      for (const std::int64_t columns : {1, 2, 5, 13}) {
        for (const std::int64_t batches : {1, 3}) {
          INFO(most << " " << rows << " " << columns << " " << batches);
          const std::vector<Tile> tiles = tiles_of(RowGroups{most}, {rows, columns, batches});
          CHECK(tiles == by_loops(most, {rows, columns, batches}));
          CHECK(std::set<Tile>(tiles.begin(), tiles.end()).size() ==
                static_cast<size_t>(rows * columns * batches));
        }
      }
    }
  }
  // 98 rows: seven groups of eight, then six of seven.
  PlainArithmetic numbers;
  const auto grouped = grouped_rows(numbers, std::int64_t{98}, std::int64_t{3}, RowGroups{8});
  CHECK(grouped.low == 7);
  CHECK(grouped.high_rows == 56);
  CHECK(grouped.high_places == 168);
}

TEST_CASE("batches of an order are its slowest coordinates") {
  const std::vector<Tile> tiles = tiles_of(RowGroups{2}, {3, 2, 2, 3});
  REQUIRE(tiles.size() == 36);
  CHECK(tiles[0] == Tile{0, 0, 0, 0});
  CHECK(tiles[5] == Tile{2, 1, 0, 0});
  CHECK(tiles[6] == Tile{0, 0, 1, 0});
  CHECK(tiles[12] == Tile{0, 0, 0, 1});
}

TEST_CASE("a layout may have empty places, and no more than can be listed") {
  const Layout eights(tuple(8, 2, 2),
                      tuple(Tuple::basis(1, {0}), Tuple::basis(1, {1}), Tuple::basis(8, {0})));
  const TilePlaces places(eights, {11, 2});
  CHECK(places.size() == 32);
  std::set<Tile> seen;
  for (std::int64_t place = 0; place < places.size(); ++place)
    if (const auto tile = places.at(place)) seen.insert(*tile);
  CHECK(seen.size() == 22);
  CHECK_FALSE(places.at(16 + 3));
  CHECK_THROWS_AS(TilePlaces(Layout(std::int64_t{1} << 21, Tuple::basis(1, {0})), {4, 4}), Refusal);
  CHECK_THROWS_AS(TilePlaces(RowGroups{8}, {std::int64_t{1} << 40, std::int64_t{1} << 40}),
                  Refusal);
}

TEST_CASE("a tail has each place whole or in all its parts, and is cut where that is shorter") {
  PlainArithmetic numbers;
  for (const int parts : {2, 3, 4, 8, 16}) {
    for (std::int64_t clusters = 1; clusters <= 20; ++clusters) {
      for (std::int64_t places = 0; places <= 70; ++places) {
        INFO(places << " places, " << clusters << " clusters, " << parts << " parts");
        const auto tail = tile::tail_units(numbers, places, clusters, parts);
        std::vector<std::array<std::int64_t, 2>> units;
        for (std::int64_t unit = 0; unit < tail.units; ++unit)
          units.push_back(tile::place_and_part(numbers, tail, unit));
        CHECK(units == units_by_loops(places, clusters, parts));
        CHECK(tail.units - tail.whole <= clusters * (parts - 1));
      }
    }
  }
  // 4 of 8 clusters have work, or all of them half of it; 6 of 8 would have as much in two halves.
  CHECK(tile::tail_units(numbers, std::int64_t{12}, std::int64_t{8}, 2).rest == 4);
  CHECK(tile::tail_units(numbers, std::int64_t{14}, std::int64_t{8}, 2).rest == 0);
  CHECK(tile::tail_units(numbers, std::int64_t{14}, std::int64_t{8}, 4).rest == 6);
}

}  // namespace lay::plan
