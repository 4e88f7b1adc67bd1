// Rows that are copied ahead of those that are reduced: every kernel here runs with the stages, the
// threads and the clusters of a table, on a target of so few SMs that a block takes several tiles,
// and gives what the reference gives, in the interpreter of threads, without a fault, and in that
// of tiles.
#include "backend/tile/rows_ahead.h"

#include "backend/tile/bind.h"
#include "backend/tile/interpret.h"
#include "backend/tile/roles/specialise.h"
#include "backend/tile/verify.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/library.h"
#include "tests/plan/script_calls.h"
#include "tests/tile/calls.h"
#include "tests/tile/rounding.h"

namespace lay::test {

namespace {

struct Case {
  std::string kernel;
  int inputs = 1;  // of rows and columns
};

const std::vector<Case> cases{
    {"kernel f<M, N>(X: bf16 (M,N)) -> Y: bf16 (M,N) { Y[m,n] = softmax[n](X[m,n]) }"},
    {"kernel f<M, N>(X: f32 (M,N), w: f32 N) -> Y: f32 (M,N) {\n"
     "  let s[m] = rsqrt(sum[n](X[m,n] * X[m,n]) / f32(N) + 1e-5)\n"
     "  Y[m,n] = X[m,n] * s[m] * w[n]\n}"},
    // One reduction alone: nothing but the slots keeps what warps exchange of two rows apart.
    {"kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) { Y[m,n] = X[m,n] - max[k](X[m,k]) }"},
    {"kernel f<M, N>(X: f16 (M,N), Z: f16 (M,N)) -> (Y: f16 (M,N), i: s32 M) {\n"
     "  let at[m] = argmax[n](X[m,n] * Z[m,n])\n"
     "  Y[m,n] = if n == at[m] then X[m,n] else Z[m,n]\n"
     "  i[m] = at[m]\n}",
     2}};

std::string threads_of(const tile::Shape& shape) {
  return "threads = " + shape.distribution().layout.to_string();
}

struct Ran {
  int calls = 0, ahead = 0;
};

void check_call(const sema::KernelCall& call, int sms, int stages, Ran& ran) {
  Target target = default_target();
  target.sms = sms;
  target.sm_blocks = 1;
  const auto plan = plan::make_plan(call.kernel, target);
  for (const plan::Problem& problem : plan.problems) FAIL(problem.message);
  const plan::Variant& variant = plan.variants.front();
  REQUIRE(holds(variant.when, call.sizes));
  const tile::Program& program = *plan::scheduled_program(variant);
  const auto expected = sema::run_reference(call);
  const auto actual = outputs(plan, variant, call);
  const auto by_tiles = tile::interpret(program, call);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CHECK(difference(actual[i], expected.outputs[i], terms_of(call)) == "");
    CHECK(difference(by_tiles.outputs[i], expected.outputs[i], terms_of(call)) == "");
  }
  ++ran.calls;
  ran.ahead += program.sms > 0;
  CHECK((program.sms > 0) == (stages > 0));
  // What was added to the program can be taken from it again, and added.
  tile::Program again = tile::without_rows_ahead(program);
  CHECK(again.sms == 0);
  CHECK(std::ranges::none_of(again.tiles, tile::is_ahead));
  if (stages > 0) {
    const bool columns = std::ranges::any_of(program.tiles, [](const tile::Tile& each) {
      return tile::is_ahead(each) && !tile::has_rows(each);
    });
    auto copies =
        sema::library_copies(sema::CopySpace::global, sema::CopySpace::shared, target.capability);
    std::erase_if(copies, [](const sema::CopyInstruction& each) { return !each.is_async(); });
    REQUIRE(tile::copy_rows_ahead(again, {stages, sms, copies, columns}));
  }
  CHECK(again == program);
}

}  // namespace

TEST_CASE("rows that are copied ahead give what the reference gives") {
  using tile::column_axis;
  // Threads of a row of 128 columns, in a warp, in several, and in blocks of a cluster.
  const std::vector<tile::Shape> shapes{{column_axis, 2, 16, 1, 2, 8, 1},
                                        {column_axis, 1, 64, 2, 1, 4, 1},
                                        {column_axis, 1, 64, 1, 1, 4, 2},
                                        {column_axis, 4, 8, 2, 1, 8, 4}};
  Ran ran;
  for (const Case& each : cases) {
    for (const tile::Shape& shape : shapes) {
      for (const int stages : {0, 1, 2, 3}) {
        // A row and many, fewer than stages, ragged, and of fewer columns than a tile.
        for (const auto& [m, n] : {std::pair{1, 128}, std::pair{41, 120}}) {
          std::string script =
              each.kernel + "\nschedule f for simt { accesses = \"vectors\"; " + threads_of(shape) +
              "; columns = \"kept\"; stages = " + std::to_string(stages) + " }\nf(";
          const std::string size = "(" + std::to_string(m) + "," + std::to_string(n) + ")";
          const std::string type = each.kernel.find("bf16") != std::string::npos  ? "bf16"
                                   : each.kernel.find("f16") != std::string::npos ? "f16"
                                                                                  : "f32";
          script += "random(" + type + ", " + size + ", 1)";
          if (each.inputs > 1) script += ", random(" + type + ", " + size + ", 2)";
          if (each.kernel.find("w: ") != std::string::npos)
            script += ", random(f32, " + std::to_string(n) + ", 3)";
          script += ")\n";
          INFO(script);
          CHECK(for_each_call(script, [&](const sema::KernelCall& call) {
                  check_call(call, 3, stages, ran);
                }) == "");
        }
      }
    }
  }
  CHECK(ran.calls == static_cast<int>(cases.size() * shapes.size()) * 8);
  CHECK(ran.ahead == ran.calls * 3 / 4);
}

TEST_CASE("what a block has of a tile lies side by side") {
  // Of 128 columns, four threads of eight values and two blocks that take turns.
  const tile::Shape shape{tile::column_axis, 1, 4, 1, 2, 8, 2};
  const Layout own = tile::own_layout(shape.distribution(), {tile::row_axis, tile::column_axis});
  CHECK(own.to_string() == "(1,(8,4,2,2)):(0,(1,8,0,32))");
  // Column 64 begins either block's second turn, behind the 32 columns of its first.
  const std::vector<std::int64_t> offsets = values(own);
  REQUIRE(offsets.size() == 128);
  CHECK(offsets[64] == 32);
  CHECK(offsets[96] == 32);
}

namespace {

// A program of the second kernel, whose blocks are pairs that share rows.
tile::Program ahead_by(int stages) {
  const auto kernels = kernels_in("f.lay", cases.at(1).kernel +
                                               "\nschedule f for simt { threads = "
                                               "(64,(4,2),2):(4@1,(1@1,512@1),256@1); "
                                               "columns = \"kept\"; stages = " +
                                               std::to_string(stages) + " }\n");
  const auto plan = plan::make_plan(kernels.at(0));
  REQUIRE(plan.problems.empty());
  return *plan::scheduled_program(plan.variants.front());
}

std::string first_problem(const tile::Program& program) {
  const auto problems = tile::verify(program);
  return problems.empty() ? "" : problems.front().message;
}

}  // namespace

TEST_CASE("a tile that is copied ahead lies as its threads have it") {
  tile::Program program = ahead_by(1);
  CHECK(first_problem(program) == "");
  const auto ahead = std::ranges::find(program.tiles, "ahead_X", &tile::Tile::name);
  REQUIRE(ahead != program.tiles.end());
  const tile::Tile as_it_is = *ahead;
  ahead->shared->layout = Layout(lay::tuple(1, 1024), lay::tuple(0, 1));
  CHECK(first_problem(program) == "the tile `ahead_X` does not lie as its threads have it");
  *ahead = as_it_is;
  ahead->filled_by.reset();
  CHECK(first_problem(program) == "the tile `ahead_X` is not copied by the threads that read it");
  *ahead = as_it_is;
  program.sms = 0;
  CHECK(first_problem(program) ==
        "the tile `ahead_X` is copied ahead, and a block takes one tile of rows");
}

TEST_CASE("a schedule that asks for more stages than shared memory holds is refused") {
  const auto kernels =
      kernels_in("f.lay", cases.front().kernel +
                              "\nschedule f for simt { threads = (512,(8,8)):(8@1,(1@1,4096@1)); "
                              "columns = \"kept\"; stages = 8 }\n");
  const auto plan = plan::make_plan(kernels.at(0));
  REQUIRE(plan.problems.size() == 1);
  CHECK(plan.problems.front().code == "schedule-cover");
  CHECK(plan.problems.front().message == "no rows can be copied ahead as this schedule says");
}

TEST_CASE("tiles of rows that are copied ahead are a pipeline, and weights one of a stage") {
  const tile::Specialised said = tile::specialised(ahead_by(2));
  REQUIRE(said.pipelines.size() == 2);
  CHECK(said.pipelines[0].stages == 2);
  CHECK(said.pipelines[0].tiles.size() == 1);
  CHECK(said.pipelines[1].stages == 1);
  CHECK(said.pipelines[1].tiles.size() == 1);
}

}  // namespace lay::test
