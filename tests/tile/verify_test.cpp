// The verifier of tile programs: programs of every pass are right, and each rule is broken once.
#include "backend/tile/verify.h"

#include <functional>

#include "tests/tile/programs.h"

namespace lay::test {

namespace {

using tile::Columns;
using tile::Copy;
using tile::For;
using tile::Map;
using tile::Program;
using tile::Space;
using tile::Stmt;
using tile::Walk;

const std::string norm = R"(
kernel norm<M, N>(X: bf16 (M,N)) -> Y: f32 (M,N) { Y[m,n] = X[m,n] / sum[k](X[m,k] * X[m,k]) }
)";

// for m in grid { for n in sequence { copy, reduce } for n in sequence { copy, map, copy } }
Program streamed() {
  return formed(norm, Columns::streamed);
}
// for m in grid { for n whole { copy, reduce, map, copy } }
Program kept() {
  return formed(norm, Columns::kept);
}
// for m in grid { map is_read, map of_row; for n in sequence { copy .. where is_read, map, copy } }
Program guarded() {
  return formed(
      "kernel above<M, N>(X: bf16 (M,N)) -> Y: bf16 (M,N)\n"
      "{ Y[m,n] = if 1 <= m then X[m-1,n] else 7 }",
      Columns::streamed);
}
Program bound_program() {
  const auto kernels = kernels_in("norm.lay", norm);
  for (const Program& program : bound(plan::make_plan(kernels[0])))
    if (program.threads->vector > 1) return program;
  FAIL("no variant has wide accesses");
  return {};
}

tile::Block& grid(Program& program) {
  return std::get<For>(program.body[0].node).body;
}
tile::Block& walk(Program& program, std::size_t which) {
  return std::get<For>(grid(program)[which].node).body;
}
tile::TileId tile_named(const Program& program, const std::string& name) {
  for (std::size_t id = 0; id < program.tiles.size(); ++id)
    if (program.tiles[id].name == name) return static_cast<tile::TileId>(id);
  FAIL("no tile " + name);
  return -1;
}
tile::Tile& named(Program& program, const std::string& name) {
  return program.tiles[static_cast<std::size_t>(tile_named(program, name))];
}

// The copy of a guarded program that loads.
Copy& loaded(Program& program) {
  for (tile::Stmt& stmt : std::get<For>(grid(program).back().node).body)
    if (auto* copy = std::get_if<Copy>(&stmt.node); copy && !copy->where.empty()) return *copy;
  throw std::logic_error("no copy has conditions");
}

struct Broken {
  const char* code;
  const char* message;  // part of it
  Program (*make)();
  std::function<void(Program&)> change;
};

void swap(tile::Block& block, std::size_t a, std::size_t b) {
  std::swap(block[a], block[b]);
}

const std::vector<Broken>& broken_programs() {
  static const std::vector<Broken> all = {
      {"kernel", "has no kernel", streamed, [](Program& p) { p.kernel = nullptr; }},
      {"id", "the destination of a copy is out of range", streamed,
       [](Program& p) { std::get<Copy>(walk(p, 0)[0].node).dst = 99; }},
      {"id", "a loop's axis", streamed,
       [](Program& p) { std::get<For>(grid(p)[0].node).axis = 2; }},
      {"id", "the value of the tile `tile_X`", streamed,
       [](Program& p) { named(p, "tile_X").value = -1; }},
      {"reduction", "`tile_X` holds no reduction", streamed,
       [](Program& p) {
         std::get<tile::Reduce>(walk(p, 0)[1].node).out = tile_named(p, "tile_X");
       }},
      {"name", "two tiles have the name `X`", streamed,
       [](Program& p) { named(p, "tile_X").name = "X"; }},
      {"axes", "expected rows and columns, got 3 axes", streamed,
       [](Program& p) {
         p.axes.push_back({"third", {}, 1, 0});
       }},
      {"axis-index", "the index `m` is walked by two axes", streamed,
       [](Program& p) { p.axes[1].indices.push_back(p.axes[0].indices[0]); }},
      {"axis-extent", "the axis `m` has the extent N, and its indices have M", streamed,
       [](Program& p) { p.axes[0].extent = p.axes[1].extent; }},
      {"axis-tile", "has a tile and no threads", streamed, [](Program& p) { p.axes[0].tile = 4; }},
      {"axis-tile", "has threads and no tile", bound_program,
       [](Program& p) { p.axes[0].tile = 0; }},
      {"parts", "no index says which part", streamed, [](Program& p) { p.parts = 4; }},
      {"parts", "expected N parts, the extent of `n`, got 4", streamed,
       [](Program& p) {
         p.part = p.axes[1].indices[0];
         p.parts = 4;
       }},
      {"tile-axes", "depend on `n`, which its axes do not walk", streamed,
       [](Program& p) { named(p, "tile_X").axes = {tile::row_axis}; }},
      {"tile-axes", "has an axis twice", streamed,
       [](Program& p) {
         named(p, "all_sum").axes = {tile::row_axis, tile::row_axis};
       }},
      {"tile-output", "is an output, and not in global memory", streamed,
       [](Program& p) { named(p, "out_Y").assignment = 0; }},
      {"tile-output", "holds another value than its output", streamed,
       [](Program& p) { named(p, "Y").value = named(p, "X").value; }},
      {"tile-global", "is no load and no output", streamed,
       [](Program& p) { named(p, "all_sum").space = Space::global; }},
      {"tile-element", "another element than its tensor", streamed,
       [](Program& p) { named(p, "X").element = ElementType::f32; }},
      {"id", "a condition of a copy is out of range", guarded,
       [](Program& p) { loaded(p).where[0].tile = 99; }},
      {"condition", "is loaded under other conditions than the kernel's", guarded,
       [](Program& p) { loaded(p).where.clear(); }},
      {"condition", "is loaded under other conditions than the kernel's", guarded,
       [](Program& p) { loaded(p).where[0].holds = false; }},
      {"condition", "holds no truth value of each row at this place", guarded,
       [](Program& p) { loaded(p).where[0].tile = tile_named(p, "of_row"); }},
      {"condition", "is stored under a condition of its rows", guarded,
       [](Program& p) {
         tile::Block& body = std::get<For>(grid(p).back().node).body;
         std::get<Copy>(body.back().node).where = loaded(p).where;
       }},
      {"nesting", "the outermost loop is over the grid", streamed,
       [](Program& p) { std::get<For>(p.body[0].node).walk = Walk::sequence; }},
      {"nesting", "a loop over the grid is inside another", streamed,
       [](Program& p) {
         tile::Stmt rows = p.body[0];
         std::get<For>(rows.node).body.clear();
         walk(p, 0).push_back(rows);
       }},
      {"nesting", "two loops around one another walk `m`", streamed,
       [](Program& p) { std::get<For>(grid(p)[0].node).axis = tile::row_axis; }},
      {"nesting", "no loop around it walks `n`, an axis of `tile_X`", streamed,
       [](Program& p) {
         grid(p).insert(grid(p).begin(), walk(p, 0)[0]);
         walk(p, 1).clear();
       }},
      {"copy-space", "one of `tile_X` and `tile_X2` lies in global memory", streamed,
       [](Program& p) { std::get<Copy>(walk(p, 0)[0].node).src = tile_named(p, "tile_X2"); }},
      {"copy-space", "`Y` is an output", streamed,
       [](Program& p) { std::get<Copy>(walk(p, 0)[0].node).src = tile_named(p, "Y"); }},
      {"copy-space", "`X` is no output", streamed,
       [](Program& p) { std::get<Copy>(walk(p, 1)[2].node).dst = tile_named(p, "X"); }},
      {"copy-axes", "`tile_X` and `X` have other axes", streamed,
       [](Program& p) {
         named(p, "tile_X").axes = {tile::column_axis, tile::row_axis};
       }},
      {"copy-element", "have other elements", streamed,
       [](Program& p) { named(p, "tile_X").element = ElementType::f32; }},
      {"copy-value", "hold other values", streamed,
       [](Program& p) { named(p, "tile_X").value = named(p, "out_Y").value; }},
      {"space", "`Y` is in global memory", streamed,
       [](Program& p) { std::get<Map>(walk(p, 1)[1].node).out = tile_named(p, "Y"); }},
      {"written-twice", "`tile_X` is written by two statements", streamed,
       [](Program& p) { walk(p, 0).push_back(walk(p, 0)[0]); }},
      {"read", "which no tile before it holds", streamed,
       [](Program& p) { grid(p).erase(grid(p).begin()); }},
      {"read", "`out_Y` is stored and not written before", streamed,
       [](Program& p) { walk(p, 1).erase(walk(p, 1).begin() + 1); }},
      {"read", "which no tile before it holds", kept, [](Program& p) { swap(walk(p, 0), 1, 2); }},
      {"incomplete", "reads `all_sum`, which is complete after the loop only", streamed,
       [](Program& p) {
         for (const Stmt& stmt : walk(p, 1)) walk(p, 0).push_back(stmt);
         grid(p).pop_back();
       }},
      {"store", "is stored, and not by the statement after its map", kept,
       [](Program& p) {
         tile::Tile again = named(p, "tile_X");
         again.name = "again";
         p.tiles.push_back(again);
         Stmt copy = walk(p, 0)[0];
         std::get<Copy>(copy.node).dst = static_cast<tile::TileId>(p.tiles.size()) - 1;
         walk(p, 0).insert(walk(p, 0).begin() + 3, copy);
       }},
      {"reduction", "is a reduction over other indices than those of `m`", streamed,
       [](Program& p) { std::get<tile::Reduce>(walk(p, 0)[1].node).over = tile::row_axis; }},
      {"reduction", "has the axis that it is reduced over", streamed,
       [](Program& p) { named(p, "all_sum").axes.push_back(tile::column_axis); }},
      {"reduction", "the loop around it does not walk `n`", streamed,
       [](Program& p) {
         grid(p).insert(grid(p).begin() + 1, walk(p, 0)[1]);
         walk(p, 0).pop_back();
       }},
      {"output", "the output `Y` is stored 0 times", streamed,
       [](Program& p) {
         walk(p, 1).pop_back();
         walk(p, 1).pop_back();
       }},
      {"output", "the output `Y` is stored 2 times", streamed,
       [](Program& p) { walk(p, 1).push_back(walk(p, 1)[2]); }},
      {"output", "`Y` is stored again in each step of the loop over `n`", streamed,
       [](Program& p) {
         named(p, "Y").axes = {tile::row_axis};
         named(p, "out_Y").axes = {tile::row_axis};
       }},
      {"access", "several elements before the program is bound", streamed,
       [](Program& p) { std::get<Copy>(walk(p, 0)[0].node).vector = 4; }},
      {"access", "expected a divisor of the", bound_program,
       [](Program& p) { std::get<Copy>(walk(p, 0)[0].node).vector = 3; }},
      {"access", "the tensor has no mode 5", bound_program,
       [](Program& p) { std::get<Copy>(walk(p, 0)[0].node).vector_mode = 5; }},
      {"access", "mode 0 is not the one that neighbouring values", bound_program,
       [](Program& p) { std::get<Copy>(walk(p, 0)[0].node).vector_mode = 0; }},
      {"threads", "and its tile is 4096", bound_program, [](Program& p) { p.axes[1].tile = 4096; }},
      {"threads", "is not covered exactly once", bound_program,
       [](Program& p) {
         p.threads->layout =
             Layout(tuple(32, tuple(4, 2)),
                    tuple(Tuple::basis(4, {1}), tuple(Tuple::basis(1, {1}), Tuple::basis(4, {1}))));
         p.threads->vector = 4;
       }},
  };
  return all;
}

}  // namespace

TEST_CASE("programs of every pass keep the rules") {
  for (const auto& kernel : kernels_of(source("tests/tile/reductions.lay"))) {
    for (const auto columns : {Columns::kept, Columns::streamed})
      CHECK(tile::verify(formed(kernel, columns)).empty());
    const auto plan = plan::make_plan(kernel);
    for (const Program& program : bound(plan)) CHECK(tile::verify(program).empty());
  }
}

TEST_CASE("each rule of tile programs is broken once") {
  for (const Broken& row : broken_programs()) {
    INFO(row.code << ": " << row.message);
    Program program = row.make();
    REQUIRE(tile::verify(program).empty());
    row.change(program);
    const auto problems = tile::verify(program);
    bool found = false;
    for (const tile::Problem& problem : problems) {
      UNSCOPED_INFO(problem.code << ": " << problem.message << " in " << problem.statement);
      found = found ||
              (problem.code == row.code && problem.message.find(row.message) != std::string::npos);
    }
    CHECK(found);
  }
}

TEST_CASE("after a pass the first problem is an error that names the pass and the statement") {
  Program program = streamed();
  walk(program, 0).push_back(walk(program, 0)[0]);
  std::string message;
  try {
    tile::verify_after("form", program);
  } catch (const std::logic_error& error) {
    message = error.what();
  }
  CHECK(message ==
        "internal: the tile program is broken after `form`: `tile_X` is written by two statements "
        "(written-twice) in `copy tile_X[m,n] <- X[m,n]`");
}

}  // namespace lay::test
