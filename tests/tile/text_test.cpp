// Tile programs as text: what is printed reads back as the same program, and a text that says
// something else is an error at its place.
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "tests/tile/programs.h"

namespace lay::test {

namespace {

void check_round_trip(const tile::Program& program) {
  const std::string text = tile::print(program);
  INFO(text);
  const tile::Program read = tile::parse(text, program.kernel);
  CHECK(read == program);
  CHECK(tile::print(read) == text);
}

const std::string two_walks = R"(
kernel f<B, M, N>(X: bf16 (B,M,N), w: f32 N, a: f32, step: s32 M) -> (Y: bf16 (B,M,N), s: f32 (B,M))
{
  let total = sum[k](if k <= m and not (w[k] == 0.5) then X[b,m,k] * (w[k] - (a - 2)) else -1.0)
  Y[b,m,n] = -(X[b,m,n]) / (total / 3) + step[m] % 4
  s[b,m] = max[k](abs(X[b,m,k])) * N
}
)";

// Loads under conditions that hold, and that do not.
const std::string two_rows = R"(
kernel f<M, N>(A: f32 (M,N), B: f32 (M+1,N)) -> Y: f32 (M,N)
{ Y[m,n] = if 1 <= m then A[m-1,n] else B[m+1,n] }
)";

}  // namespace

TEST_CASE("unbound and bound programs read back as they were") {
  int count = 0;
  auto kernels = kernels_of(source("tests/tile/reductions.lay"));
  kernels.push_back(kernels_in("two_walks.lay", two_walks).at(0));
  kernels.push_back(kernels_in("two_rows.lay", two_rows).at(0));
  for (const auto& kernel : kernels) {
    for (const auto columns : {tile::Columns::kept, tile::Columns::streamed})
      check_round_trip(formed(kernel, columns));
    const auto plan = plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    for (const tile::Program& program : bound(plan)) {
      check_round_trip(program);
      ++count;
    }
  }
  CHECK(count >= 20);
}

TEST_CASE("arithmetic is written as in Lay, with tiles for what they hold") {
  const std::string text = tile::print(formed(two_walks, tile::Columns::streamed));
  INFO(text);
  const auto has = [&](const std::string& line) { CHECK(text.find(line) != std::string::npos); };
  has("axis b_m = (b,m) of B*M\n");
  has("reduce all_sum[b_m] = sum over n of if n <= m and not tile_w[n] == 0.5 then "
      "f32(tile_X[b_m,n]) * (tile_w[n] - (a - 2.0)) else -1.0\n");
  has("map of_row[b_m] = all_sum[b_m] / 3.0\n");
  // An integer from memory may be negative: its remainder is that of a division rounded down.
  has("value %25: s32 = step[m] % 4\n");
  has("map out_Y[b_m,n] = -f32(tile_X2[b_m,n]) / of_row[b_m] + "
      "f32(if %25 < 0 then %25 + 4 else %25)\n");
  has("value %21: f32 = %18 / 3.0\n");
}

TEST_CASE("a load is written with its conditions") {
  const std::string text = tile::print(formed(two_rows, tile::Columns::streamed));
  INFO(text);
  CHECK(text.find("copy tile_A[m,n] <- A[m,n] where is_read\n") != std::string::npos);
  CHECK(text.find("copy tile_B[m,n] <- B[m,n] unless is_read\n") != std::string::npos);
}

TEST_CASE("a text that says something else is an error at its place") {
  const auto program = formed("kernel s<M, N>(X: f32 (M,N)) -> s: f32 M { s[m] = sum[n](X[m,n]) }",
                              tile::Columns::streamed);
  const std::string text = tile::print(program);
  const struct {
    std::string from, to, message;
  } rows[] = {
      {"program s", "program t", "expected `s` of `program s`, found `t`"},
      {"(m) of M", "(q) of M", "`q` is no index of the kernel"},
      {"tile tile_X:", "tile X:", "`X` is declared twice"},
      {": f32 (m,n)", ": f31 (m,n)", "expected an element type, found `f31`"},
      {"(m,n) in registers", "(m,k) in registers", "`k` is no axis"},
      {"= %2\n", "= %99\n", "the kernel has no node %99"},
      {"value %2: f32 = X[m,n]", "value %2: f32 = X[n,m]",
       "expected `m` of `value %2: f32 = X[m,n]`, found `n`"},
      {"in sequence", "in order", "expected `sequence`, found `order`"},
      {"copy tile_X[m,n]", "copy tile_Z[m,n]", "`tile_Z` is no tile"},
      {"copy tile_X[m,n]", "copy tile_X[n,m]", "`tile_X` has the axis `m` here, not `n`"},
      {"sum over n of tile_X", "max over n of tile_X", "expected `sum`, found `max`"},
      {"of tile_X[m,n]", "of tile_X[m,n] + 1", "`+` starts no statement"},
      {"map out_s[m] = all_sum[m]", "map out_s[m] = %3",
       "expected `all_sum` of `all_sum[m]`, found `%`"},
      {"reduce all_sum[m]", "reduce tile_X[m]", "expected `,`, found `]`"},
      {"  }\n", "", "expected `sum` of `sum[n](tile_X[m,n])`, found `all_sum`"},
  };
  for (const auto& row : rows) {
    const std::size_t at = text.find(row.from);
    INFO(row.from << " -> " << row.to << "\n" << text);
    REQUIRE(at != std::string::npos);
    std::string changed = text;
    changed.replace(at, row.from.size(), row.to);
    std::string message = "none";
    try {
      tile::parse(changed, program.kernel);
    } catch (const notation::ParseError& error) {
      message = error.message;
    }
    CHECK(message == row.message);
  }
}

TEST_CASE("a step is the tile of its axis") {
  const auto kernels = kernels_of(source("tests/tile/reductions.lay"));
  const auto program = bound(plan::make_plan(kernels[0])).back();
  std::string text = tile::print(program);
  const std::string step = "step " + std::to_string(program.axes[1].tile);
  text.replace(text.find(step), step.size(), "step 3");
  CHECK_THROWS_AS(tile::parse(text, program.kernel), notation::ParseError);
}

}  // namespace lay::test
