// The pass `bind`: thread-value layouts, what is wrong with those that cannot share a tile, which
// lanes and warps hold columns of one row, and how wide accesses become.
#include "backend/tile/bind.h"

#include "backend/ir/lower/lower.h"
#include "backend/plan/tiles/tile_schedule.h"
#include "tests/tile/programs.h"

namespace lay::test {

namespace {

using tile::column_axis;
using tile::row_axis;
using tile::Shape;

Tuple rows(int step) {
  return Tuple::basis(step, {row_axis});
}
Tuple columns(int step) {
  return Tuple::basis(step, {column_axis});
}

std::string text(const Shape& shape) {
  return shape.distribution().layout.to_string();
}

std::string fault(const Layout& layout, int threads = 1024, int blocks = 8) {
  return tile::fault_of(plan::distribution_of(layout), threads, blocks).value_or("");
}

std::vector<int> numbers(const Layout& layout, int count) {
  std::vector<int> all;
  Facts facts;
  for (int i = 0; i < count; ++i)
    all.push_back(static_cast<int>(evaluate(facts, layout, Tuple(i)).value().value()));
  return all;
}

std::optional<tile::Bound> bound_as(const std::string& kernel, const Shape& shape, int bytes,
                                    tile::Columns how = tile::Columns::streamed) {
  const auto program = formed(kernel, how);
  return tile::bind(program, shape.distribution(), bytes, plan::facts_of(*program.kernel));
}

std::vector<tile::Copy> copies(const tile::Program& program) {
  std::vector<tile::Copy> all;
  tile::for_each(program.body, [&](const tile::Stmt& stmt) {
    if (const auto* copy = std::get_if<tile::Copy>(&stmt.node)) all.push_back(*copy);
  });
  return all;
}

const std::string row_sum =
    "kernel f<M, N, ld>(X: bf16 (M,N):(ld,1)) -> s: f32 M where ld >= N\n"
    "{ s[m] = sum[n](X[m,n]) }\n";

}  // namespace

TEST_CASE("threads and values along rows and columns are a layout") {
  CHECK(text({column_axis, 4, 32, 1, 4, 8, 1}) == "((32,4),(8,4)):((8@1,1@0),(1@1,256@1))");
  CHECK(text({column_axis, 1, 128, 2, 1, 4, 1}) == "(128,(4,2)):(4@1,(1@1,1@0))");
  CHECK(text({row_axis, 32, 8, 1, 4, 2, 1}) == "((32,8),(2,4)):((2@0,1@1),(1@0,8@1))");
  CHECK(text({column_axis, 1, 512, 1, 2, 8, 4}) == "(512,(8,2),4):(8@1,(1@1,16384@1),4096@1)");
  const auto threads = Shape{column_axis, 4, 32, 2, 4, 8, 2}.distribution();
  CHECK(threads.threads() == 128);
  CHECK(threads.blocks() == 2);
  CHECK(threads.values(row_axis) == 2);
  CHECK(threads.values(column_axis) == 32);
  CHECK(tile::extent_of(threads, row_axis) == 8);
  CHECK(tile::extent_of(threads, column_axis) == 2048);
}

TEST_CASE("every shape of powers of two can share its tile") {
  for (const auto along : {row_axis, column_axis}) {
    for (int bits = 0; bits < 1 << 10; ++bits) {
      const Shape shape{along,
                        1 << bits % 4 * 2,
                        1 << bits / 4 % 4 * 2,
                        1 << bits / 16 % 2,
                        1 << bits / 32 % 4,
                        1 << bits / 128 % 4,
                        1 << bits / 512 % 2};
      const auto threads = shape.distribution();
      if (threads.threads() < 32 || threads.threads() > 1024) continue;
      if (threads.values(row_axis) * threads.values(column_axis) > 256) continue;
      INFO(threads.layout.to_string());
      CHECK(tile::fault_of(threads, 1024, 8).value_or("") == "");
    }
  }
}

TEST_CASE("what is wrong with threads that cannot share a tile") {
  const auto pair = [](const Tuple& shape, const Tuple& stride) { return Layout(shape, stride); };
  CHECK(fault(pair(tuple(32, 4), tuple(4, 1))) ==
        "expected (thread, value) -> (row, column) with strides such as 1@0 and 8@1");
  CHECK(fault(pair(tuple(32, 4), tuple(Tuple::basis(1, {2}), columns(1)))) ==
        "expected strides on rows (@0) and columns (@1) only");
  CHECK(fault(pair(tuple(16, 4), tuple(columns(4), columns(1)))) ==
        "expected a multiple of 32 threads, at most 1024, got 16");
  CHECK(fault(pair(tuple(64, 4), tuple(columns(4), columns(1))), 32) ==
        "expected a multiple of 32 threads, at most 32, got 64");
  CHECK(fault(pair(tuple(96, 4), tuple(columns(4), columns(1)))) ==
        "expected modes of threads whose extents are powers of two, got 96");
  CHECK(fault(pair(tuple(32, 512), tuple(columns(512), columns(1)))) ==
        "a thread holds at most 256 values, got 512");
  CHECK(fault(pair(tuple(32, 4), tuple(columns(2), columns(1)))) ==
        "the tile (1,66) is not covered exactly once");
  CHECK(fault(pair(tuple(32, 4, 16), tuple(columns(4), columns(1), columns(128)))) ==
        "expected at most 8 blocks of a cluster, got 16");
  CHECK(fault(pair(tuple(32, 4, 2), tuple(columns(4), columns(1), rows(1)))) ==
        "expected blocks of a cluster to differ in the column (@1) only");
}

TEST_CASE("lanes and warps that share rows are those that differ in the column") {
  const auto one_row = tile::column_threads(Shape{column_axis, 1, 128, 1, 1, 8, 1}.distribution());
  CHECK(one_row.lane_masks == std::vector<int>{1, 2, 4, 8, 16});
  CHECK(one_row.warps == 4);
  CHECK(numbers(one_row.warp_column, 4) == std::vector<int>{0, 1, 2, 3});
  const auto warp_a_row =
      tile::column_threads(Shape{column_axis, 4, 32, 1, 1, 8, 1}.distribution());
  CHECK(warp_a_row.lane_masks == std::vector<int>{1, 2, 4, 8, 16});
  CHECK(warp_a_row.warps == 1);
  const auto quads = tile::column_threads(Shape{column_axis, 16, 8, 1, 1, 8, 1}.distribution());
  CHECK(quads.lane_masks == std::vector<int>{1, 2, 4});
  CHECK(quads.warps == 1);
  CHECK(numbers(quads.lane_column, 10) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1});
  const auto by_warps = tile::column_threads(Shape{row_axis, 32, 8, 1, 1, 2, 1}.distribution());
  CHECK(by_warps.lane_masks.empty());
  CHECK(by_warps.warps == 8);
  const auto half = tile::column_threads(Shape{row_axis, 16, 8, 1, 1, 2, 1}.distribution());
  CHECK(half.lane_masks == std::vector<int>{16});
  CHECK(half.warps == 4);
}

TEST_CASE("threads with equal columns by column_threads hold the same rows, and no others") {
  for (const Shape& shape :
       {Shape{column_axis, 4, 32, 1, 2, 4, 1}, Shape{row_axis, 8, 16, 2, 1, 2, 1},
        Shape{column_axis, 16, 16, 1, 1, 1, 1}, Shape{row_axis, 64, 4, 1, 2, 4, 1}}) {
    const auto threads = shape.distribution();
    const auto shared = tile::column_threads(threads);
    Facts facts;
    const auto place = [&](int thread) {
      return evaluate(facts, threads.layout[0], Tuple(thread)).to_string();
    };
    INFO(threads.layout.to_string());
    int columns_of_lanes = 1;
    for (const int mask : shared.lane_masks) columns_of_lanes *= mask > 0 ? 2 : 1;
    std::set<std::string> places;
    for (int t = 0; t < threads.threads(); ++t) places.insert(place(t));
    CHECK(static_cast<int>(places.size()) == threads.threads());
    const int rows_held = tile::extent_of(threads, row_axis) / threads.values(row_axis);
    CHECK(rows_held * columns_of_lanes * shared.warps == threads.threads());
  }
}

TEST_CASE("accesses are as wide as threads, bytes and memory allow, under conditions") {
  const Shape wide{column_axis, 4, 32, 1, 4, 8, 1};
  const auto by_8 = bound_as(row_sum, wide, 16);
  REQUIRE(by_8);
  CHECK(copies(by_8->program)[0].vector == 8);
  CHECK(copies(by_8->program)[0].vector_mode == 1);
  std::vector<std::string> when;
  for (const Predicate& condition : by_8->when) when.push_back(condition.to_string());
  CHECK(when == std::vector<std::string>{"ld % 8 == 0", "N % 8 == 0"});
  REQUIRE(by_8->aligned.size() == 1);
  CHECK(by_8->aligned[0].bytes == 16);
  const auto by_2 = bound_as(row_sum, wide, 4);
  REQUIRE(by_2);
  CHECK(copies(by_2->program)[0].vector == 2);
  const auto by_1 = bound_as(row_sum, wide, 0);
  REQUIRE(by_1);
  CHECK(copies(by_1->program)[0].vector == 1);
  CHECK(by_1->when.empty());
  CHECK(by_1->aligned.empty());
  // Threads whose values lie side by side along the rows have no vectors here.
  const auto across = bound_as(row_sum, {row_axis, 32, 4, 1, 1, 4, 1}, 16);
  REQUIRE(across);
  CHECK(copies(across->program)[0].vector == 1);
}

TEST_CASE("a tile that holds whole rows asks for rows that are no longer") {
  const Shape shape{column_axis, 4, 32, 1, 4, 1, 1};
  const auto kept = bound_as(row_sum, shape, 0, tile::Columns::kept);
  REQUIRE(kept);
  REQUIRE(kept->when.size() == 1);
  CHECK(kept->when[0].to_string() == "N <= 128");
  CHECK(
      !bound_as("kernel f<M, N>(X: f32 (M,N)) -> s: f32 M where N > 128\n"
                "{ s[m] = sum[n](X[m,n]) }\n",
                shape, 0, tile::Columns::kept));
}

TEST_CASE("shared memory holds a value a row and warp, and a row and block") {
  const auto bytes = [](const Shape& shape) {
    return tile::shared_bytes(bound_as(row_sum, shape, 0)->program);
  };
  CHECK(bytes({column_axis, 4, 32, 1, 1, 1, 1}) == 0);
  CHECK(bytes({column_axis, 2, 64, 1, 1, 1, 1}) == 2 * 2 * 4);
  CHECK(bytes({column_axis, 1, 128, 2, 1, 1, 1}) == 2 * 4 * 4);
  CHECK(bytes({column_axis, 4, 32, 1, 1, 1, 2}) == 4 * 2 * 4 + 8);
}

TEST_CASE("variants whose conditions never hold together are left out, and all others lower") {
  // N*N rows of N columns: few rows and long ones exclude each other.
  const auto kernels = kernels_in("script.lay",
                                  "kernel f<N>(X: f32 (N,N), p: s32 N) -> Y: f32 (N,N)\n"
                                  "{ Y[m,n] = sum[k](X[p[n],k]) + sum[k](X[p[m],k]) }\n");
  const plan::Plan plan = plan::make_plan(kernels.at(0));
  REQUIRE(!plan.variants.empty());
  for (const plan::Variant& variant : plan.variants) {
    INFO(variant.name);
    CHECK_NOTHROW(ir::lower_all(plan, variant));
  }
}

}  // namespace lay::test
