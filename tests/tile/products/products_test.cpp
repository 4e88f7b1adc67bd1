// Products as tile programs: goldens of products.lay after each pass (LAY_BLESS=1 rewrites them;
// `git diff` is the review), texts that read back, rules that are broken once, and the programs run
// by plain loops against the reference.
#include <functional>

#include "backend/plan/tiles/formed_product.h"
#include "backend/tile/interpret.h"
#include "backend/tile/products/product.h"
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "runtime/commands/tile_dump.h"
#include "tests/tile/calls.h"
#include "tests/tile/rounding.h"

namespace lay::test {

namespace {

using tile::Copy;
using tile::For;
using tile::Map;
using tile::Mma;
using tile::Program;
using tile::Walk;

std::string products() {
  return contents(source("tests/tile/products/products.lay"));
}

// The unbound programs of a plan's variants.
std::vector<Program> formed_products(const plan::Plan& plan) {
  std::vector<Program> programs;
  for (const plan::Variant& variant : plan.variants) {
    const auto made = plan::formed_product(plan, variant);
    if (made && std::holds_alternative<Program>(*made))
      programs.push_back(std::get<Program>(*made));
  }
  return programs;
}

// Of `gemm`: for m in grid { for n in grid { for k in sequence { copy, copy, mma } map, copy } }
Program formed_gemm() {
  const auto kernels = kernels_in("products.lay", products());
  return formed_products(plan::make_plan(kernels.at(0))).at(0);
}

tile::Block& tile_of(Program& program) {
  tile::Block* block = &program.body;
  while (auto* loop = std::get_if<For>(&block->front().node)) {
    if (loop->walk != Walk::grid) break;
    block = &loop->body;
  }
  return *block;
}
For& sums(Program& program) {
  return std::get<For>(tile_of(program).front().node);
}

}  // namespace

TEST_CASE("golden tile programs of products after each pass") {
  Sources sources;
  sema::Evaluator evaluator(sources, {}, {sema::Mode::check, {}});
  for (const sema::Outcome& outcome : evaluator.run("products.lay", products()))
    REQUIRE(outcome.ok());
  for (const auto& kernel : evaluator.kernels()) {
    const auto plan = plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    for (const std::string pass : {"form"})
      check_golden(runtime::tile_dump(sources, plan, pass, plan.variants.front().name),
                   source("tests/tile/products/" + kernel->name + "." + pass));
  }
}

TEST_CASE("programs of products read back as they were") {
  int count = 0;
  auto kernels = kernels_in("products.lay", products());
  for (const char* script : {"tests/agreement/gemm.lay", "tests/agreement/ring.lay",
                             "tests/agreement/sm80.lay", "tests/agreement/tensor.lay"})
    for (const auto& kernel : kernels_of(source(script))) kernels.push_back(kernel);
  for (const auto& kernel : kernels) {
    for (const Program& program : formed_products(plan::make_plan(kernel))) {
      const std::string text = tile::print(program);
      INFO(text);
      const Program read = tile::parse(text, program.kernel);
      CHECK(read == program);
      CHECK(tile::print(read) == text);
      ++count;
    }
  }
  CHECK(count >= 50);
}

TEST_CASE("each rule of products is broken once") {
  CHECK(tile::verify(formed_gemm()).empty());
  const struct {
    const char* code;
    std::function<void(Program&)> breaks;
  } rows[] = {
      {"axis-index",
       [](Program& p) {
         const Int extent = p.axes[0].extent * p.axes[1].extent;
         p.axes[0].indices = {p.axes[0].indices[0], p.axes[1].indices[0]};
         p.axes[0].extent = extent;
         p.axes[1].indices = {};
         p.axes[1].extent = 1;
       }},
      {"nesting", [](Program& p) { sums(p).walk = Walk::whole; }},
      {"nesting", [](Program& p) { std::get<For>(p.body.front().node).walk = Walk::sequence; }},
      {"parts", [](Program& p) { sums(p).parts = 0; }},
      {"parts", [](Program& p) { std::get<For>(p.body.front().node).parts = 2; }},
      {"product", [](Program& p) { std::get<Mma>(sums(p).body[2].node).over = tile::row_axis; }},
      {"product",
       [](Program& p) {
         auto& mma = std::get<Mma>(sums(p).body[2].node);
         mma.b = mma.a;
       }},
      {"incomplete",
       [](Program& p) {
         sums(p).body.push_back(tile_of(p)[1]);
         tile_of(p).erase(tile_of(p).begin() + 1);
       }},
      {"store",
       [](Program& p) {
         const tile::TileId out = std::get<Map>(tile_of(p)[1].node).out;
         p.tiles.push_back(p.tile(out));
         p.tiles.back().name = "late";
         tile_of(p).push_back({Map{static_cast<tile::TileId>(p.tiles.size()) - 1}});
       }},
      {"reduction",
       [](Program& p) {
         const auto mma = std::get<Mma>(sums(p).body[2].node);
         sums(p).body.push_back({tile::Reduce{mma.out, mma.over, {}}});
       }},
  };
  for (const auto& row : rows) {
    Program program = formed_gemm();
    row.breaks(program);
    const auto problems = tile::verify(program);
    INFO(row.code << " in\n" << tile::print(program));
    CHECK(std::any_of(problems.begin(), problems.end(),
                      [&](const tile::Problem& each) { return each.code == row.code; }));
  }
}

TEST_CASE("programs of products give what the reference gives") {
  int ran = 0;
  const auto check = [&](const sema::KernelCall& call) {
    const auto expected = sema::run_reference(call);
    const auto plan = plan::make_plan(call.kernel);
    REQUIRE(plan.problems.empty());
    for (const plan::Variant& variant : plan.variants) {
      // Launches before give other tensors than those of the call.
      const auto made = plan::formed_product(plan, variant);
      if (!variant.before.empty() || !made || !std::holds_alternative<Program>(*made)) continue;
      for (const tile::TileSizes sizes : {tile::TileSizes{1, 1, 1}, tile::TileSizes{3, 5, 4}}) {
        CAPTURE(call.kernel->name, variant.name, sizes.rows);
        const auto actual = tile::interpret(std::get<Program>(*made), call, sizes);
        REQUIRE(actual.outputs.size() == expected.outputs.size());
        for (std::size_t i = 0; i < actual.outputs.size(); ++i)
          CHECK(difference(actual.outputs[i], expected.outputs[i], terms_of(call)) == "");
        ++ran;
      }
    }
  };
  const std::string script =
      products() +
      "kernel exact<M, N, K>(A: s8 (M,K), B: s8 (N,K)) -> C: s32 (M,N)\n"
      "{ C[m,n] = sum[k](s32(A[m,k]) * s32(B[n,k])) }\n"
      "kernel apart<M, N, K>(A: bf16 (M,K,8), B: bf16 (N,K,8)) -> C: bf16 (M,N)\n"
      "{ C[m,n] = sum[k,l](A[m,k,l] * B[n,k,l]) }\n"
      "kernel empty<M, N, K>(A: f32 (M,K), B: f32 (N,K)) -> C: f32 (M,N)\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) + 1 }\n"
      "let g = gemm(random(f32, (5,7)), random(f32, (7,9), 2), random(f32, 9, 3))\n"
      "let r = ring(random(f32, (2,7,5)), random(f32, (7,9), 2))\n"
      "let s = split(random(f32, (5,29)), random(f32, (7,29), 2))\n"
      "let few = split(random(f32, (5,2)), random(f32, (7,2), 2))\n"
      "let x = exact(random(s8, (5,9)), random(s8, (7,9), 2))\n"
      "let a = apart(random(bf16, (5,3,8)), random(bf16, (7,3,8), 2))\n"
      "let e = empty(zeros(f32, (5,0)), zeros(f32, (7,0)))\n"
      "let c = slices(random(f16, (5,9)), random(f16, (7,9), 2), 0.5, random(f32, (5,7), 3))\n";
  CHECK(for_each_call(script, check) == "");
  CHECK(ran >= 8 * 2);
}

TEST_CASE("what is no product of two tiles says why") {
  const auto reason = [](const std::string& script) {
    const auto kernels = kernels_in("script.lay", script);
    const auto plan = plan::make_plan(kernels.at(0));
    for (const plan::Variant& variant : plan.variants) {
      const auto made = plan::formed_product(plan, variant);
      if (made && std::holds_alternative<tile::NotTiled>(*made))
        return std::get<tile::NotTiled>(*made).reason;
    }
    return std::string("none");
  };
  CHECK(reason("kernel scaled<M, N, K>(A: e4m3 (M,K*128), B: e4m3 (N,K*128), s: f32 (M,K))\n"
               "    -> C: f32 (M,N)\n"
               "{ C[m,n] = sum[k](A[m,k] * B[n,k] * s[m,k // 128]) }") ==
        "its sum has factors beside two elements of tensors");
  CHECK(reason("kernel grouped<T, N, K, E>(X: bf16 (T,K), expert: s32 T, W: bf16 (E,N,K))\n"
               "    -> Y: bf16 (T,N)\n"
               "{ Y[t,n] = sum[k](X[t,k] * W[expert[t],n,k]) }") ==
        "its rows select the part of an operand that they meet");
}

}  // namespace lay::test
