// Products that share a factor as one tile program with several mma in its loop: goldens of
// fused.lay, what the planner chooses read back from the program and its text, rules that are
// broken once, the programs run by plain loops against the reference, and what is no such kernel.
#include <functional>
#include <random>

#include "backend/plan/make.h"
#include "backend/plan/model/forecast.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/tensor_variant.h"
#include "backend/target/target.h"
#include "backend/tile/interpret.h"
#include "backend/tile/products/product.h"
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "tests/tile/calls.h"
#include "tests/tile/hopper/proposals.h"
#include "tests/tile/hopper/same_gemm.h"
#include "tests/tile/products/product_programs.h"
#include "tests/tile/rounding.h"

namespace lay::test {

namespace {

using tile::Copy;
using tile::For;
using tile::Mma;
using tile::Program;

const std::string fused_script = "tests/tile/hopper/fused.lay";

Program fused_program(const std::string& name) {
  return first_program(fused_script, name, *find_target("h200"));
}

Program formed_program(const std::string& name) {
  const Program bound = fused_program(name);
  return std::get<Program>(tile::form_product(bound.kernel, tile::product_of(bound)));
}

std::optional<plan::Gemm> fused_product(const sema::KernelPtr& kernel) {
  auto found = plan::recognise_fused(kernel, plan::facts_of(*kernel));
  if (auto* gemm = std::get_if<plan::Gemm>(&found)) return std::move(*gemm);
  return std::nullopt;
}

// The statement of the loop over k, counted from its end.
tile::Stmt& from_end(Program& program, std::size_t place) {
  auto& body = sums(program).body;
  return body.at(body.size() - 1 - place);
}
Mma& first_mma(Program& program) {
  return std::get<Mma>(from_end(program, 1).node);
}

sema::KernelPtr only_kernel(const std::string& text) {
  return kernels_in("fused.lay", text).at(0);
}

}  // namespace

TEST_CASE("golden tile programs of products that share a factor") {
  check_golden_programs(fused_script, default_target(), {"form", "bind"});
}

TEST_CASE("what the planner chooses for products that share a factor is read back") {
  std::mt19937 random(11);
  int count = 0, clusters = 0, staged = 0;
  for (const auto& kernel : kernels_of(source(fused_script))) {
    const auto product = fused_product(kernel);
    REQUIRE(product);
    CHECK(product->form.further.size() == (kernel->name == "three" ? 2 : 1));
    std::vector<sema::Schedule> all = sm90_proposals(*product->kernel, product->form);
    std::shuffle(all.begin(), all.end(), random);
    int of_kernel = 0;
    for (const sema::Schedule& each : all) {
      std::vector<plan::Problem> problems;
      const plan::TensorSchedule read = plan::read_tensor_schedule(
          plan::with_operand_roles(each, *product->kernel, product->form, problems), problems);
      REQUIRE(problems.empty());
      const auto chosen =
          plan::chosen_for_sm90(*product->kernel, product->form, read,
                                random() % 2 == 0 ? plan::Width::vectors : plan::Width::elements,
                                *find_target("h200"), plan::facts_of(*product->kernel));
      if (!chosen) continue;
      const Program program = plan::bind_sm90(product->kernel, *chosen);
      INFO(tile::print(program));
      CHECK(program.is_product());
      CHECK(DifferentFields().of(plan::sm90_of(program), *chosen) == "");
      CHECK((plan::sm90_of(program) == *chosen));
      CHECK(tile::parse(tile::print(program), product->kernel, {chosen->mma}) == program);
      ++count;
      clusters += chosen->multicast_size() > 1;
      staged += chosen->store && !chosen->store->inputs.empty();
      if (++of_kernel == 12) break;
    }
  }
  CHECK(count >= 30);
  CHECK(clusters > 0);
  CHECK(staged > 0);
}

TEST_CASE("each rule of products that share a factor is broken once") {
  for (const char* name : {"swiglu", "apart", "three"}) {
    CHECK(tile::verify(fused_program(name)).empty());
    CHECK(tile::verify(formed_program(name)).empty());
  }
  const struct {
    const char* code;
    const char* what;
    bool bound;
    std::function<void(Program&)> breaks;
  } rows[] = {
      {"product", "are no products of one first operand", false,
       [](Program& p) { std::swap(mma(p).a, mma(p).b); }},
      {"product", "the factors of `sum2` are not", false,
       [](Program& p) { mma(p).b = first_mma(p).b; }},
      {"written-twice", "`sum` is written by two", false,
       [](Program& p) { mma(p).out = first_mma(p).out; }},
      {"product", "have sums or second operands of different types", false,
       [](Program& p) { named(p, "sum2").element = ElementType::f64; }},
      {"product", "are multiplied by different instructions", true,
       [](Program& p) { mma(p).atom->name = "another"; }},
      {"interval", "several products are added up in intervals", true,
       [](Program& p) { mma(p).interval = 64; }},
      {"interval", "several products are added up in intervals", true,
       [](Program& p) { first_mma(p).interval = 64; }},
      {"product", "`tile_U` is copied behind a product", false,
       [](Program& p) {
         auto& body = sums(p).body;
         std::swap(body[body.size() - 3], body[body.size() - 2]);  // copy of U, first mma
       }},
      {"nesting", "two loops walk the axis of the sums", false,
       [](Program& p) {
         tile::Block& body = body_of_grid(p);
         For second = sums(p);
         second.body = {second.body.back()};
         sums(p).body.pop_back();
         body.insert(body.begin() + 1, tile::Stmt{std::move(second)});
       }},
      {"read", "`tile_U` is not read from memory", true,
       [](Program& p) {
         auto& body = sums(p).body;
         body.erase(body.end() - 3);
       }},
      {"shared", "`tile_U` and `tile_G` do not come to shared memory in one way", true,
       [](Program& p) {
         named(p, "tile_U").shared->box = {32, 64};
       }},
      {"shared", "do not come to shared memory in one way", true,
       [](Program& p) { named(p, "tile_U").shared->span = 64; }},
      {"shared", "do not come to shared memory in one way", true,
       [](Program& p) {
         named(p, "tile_U").shared->order = {0, 1};
       }},
      {"shared", "do not come to shared memory in one way", true,
       [](Program& p) {
         named(p, "tile_U").shared->layout = Layout(tuple(128, 64), tuple(64, 1));
       }},
      {"product", "several products have no instruction", true,
       [](Program& p) {
         for (const char* name : {"tile_G", "tile_U"}) named(p, name).shared->box = {128, 64};
         mma(p).atom.reset();
         first_mma(p).atom.reset();
       }},
      {"stages", "different numbers of stages", true,
       [](Program& p) { named(p, "tile_U").shared->stages = 2; }},
      {"shared", "has no layout", true, [](Program& p) { named(p, "tile_U").shared.reset(); }},
      {"segments", "the rows of several products have segments", false,
       [](Program& p) { p.axes[0].segments = tile::Segments{p.tile(mma(p).a).value}; }},
  };
  for (const auto& row : rows) {
    Program program = row.bound ? fused_program("swiglu") : formed_program("swiglu");
    row.breaks(program);
    check_problem(program, row.code, row.what);
  }
}

TEST_CASE("products that share a factor have no scales") {
  const Program bound =
      first_program("tests/tile/products/tensor_cores.lay", "scaled", *find_target("h200"));
  Program program = std::get<Program>(tile::form_product(bound.kernel, tile::product_of(bound)));
  REQUIRE(tile::verify(program).empty());
  tile::Tile sum = program.tile(mma(program).out);
  sum.name = "again";
  program.tiles.push_back(sum);
  Mma second = mma(program);
  second.out = static_cast<tile::TileId>(program.tiles.size()) - 1;
  sums(program).body.push_back({second});
  check_problem(program, "product", "one of several products has scales");
}

TEST_CASE("programs of products that share a factor give what the reference gives") {
  int ran = 0;
  const auto check = [&](const sema::KernelCall& call) {
    const auto expected = sema::run_reference(call);
    const auto compare = [&](const Program& program, const tile::TileSizes& sizes) {
      INFO(tile::print(program));
      sema::KernelCall given = call;
      given.kernel = program.kernel;
      const auto actual = tile::interpret(program, given, sizes);
      REQUIRE(actual.outputs.size() == expected.outputs.size());
      for (std::size_t i = 0; i < actual.outputs.size(); ++i)
        CHECK(difference(actual.outputs[i], expected.outputs[i], terms_of(call)) == "");
      ++ran;
    };
    const auto plan = plan::make_plan(call.kernel);
    const auto& bound = plan.variants.front().programs.front();
    REQUIRE(plan::sm90_of(bound).products() > 1);
    compare(bound, {});
    const auto formed =
        std::get<Program>(tile::form_product(bound.kernel, tile::product_of(bound)));
    compare(formed, {1, 1, 1});
    compare(formed, {3, 5, 7});
  };
  CHECK(for_each_call(
            contents(source(fused_script)) +
                "let y = swiglu(random(bf16, (70,72)), random(bf16, (136,72), 2), "
                "random(bf16, (136,72), 3))\n"
                "let z = swiglu(zeros(bf16, (3,0)), zeros(bf16, (8,0)), zeros(bf16, (8,0)))\n"
                "let p = apart(random(f16, (20,40)), random(f16, (24,40), 2), "
                "random(f16, (24,40), 3))\n"
                "let t = three(random(e4m3, (2,9,48)), random(e4m3, (2,12,48), 2), "
                "random(e4m3, (12,48), 3), random(e4m3, (12,48), 4), random(f32, 12, 5), "
                "random(f32, (2,9,12), 6))\n",
            check) == "");
  CHECK(ran == 12);
}

TEST_CASE("products that share a factor are counted together") {
  const auto kernel = only_kernel(
      "kernel f<M, N, K>(X: bf16 (M,K), G: bf16 (N,K), U: bf16 (N,K)) -> Y: bf16 (M,N)\n"
      "{ Y[m,n] = silu(sum[k](X[m,k] * G[n,k])) * sum[k](X[m,k] * U[n,k]) }");
  const auto plan = plan::make_plan(kernel);
  REQUIRE(plan.problems.empty());
  Binding sizes;
  const std::int64_t extents[] = {1024, 2048, 512};
  for (std::size_t i = 0; i < 3; ++i) sizes[*kernel->dims[i].symbol.dim_id()] = extents[i];
  const auto fitting = plan::fitting_variants(plan, sizes);
  REQUIRE(!fitting.empty());
  const plan::Variant& first = *fitting.front();
  REQUIRE(plan::is_sm90(first));
  CHECK(first.before.empty());
  CHECK(plan::sm90_of(first)->products() == 2);
  CHECK(first.prediction.flops.evaluate(sizes) == 2 * 2 * 1024LL * 2048 * 512);
  const std::int64_t bytes = 2 * (1024 * 512 + 2 * 2048 * 512 + 1024 * 2048);
  CHECK(first.prediction.global_bytes.evaluate(sizes) == bytes);
  const auto forecast = plan::forecast(plan, first, sizes, *find_target("h200"));
  REQUIRE((forecast && forecast->size() == 1));
  CHECK(forecast->front().multiply_adds == 2 * 1024.0 * 2048 * 512);
  CHECK(forecast->front().global_bytes == static_cast<double>(bytes));
  // Behind it the split form, which stands first where no schedule is for Hopper.
  const auto is_split = [](const plan::Variant& each) { return !each.before.empty(); };
  const auto split = std::ranges::find_if(plan.variants, is_split);
  REQUIRE(split != plan.variants.end());
  CHECK(std::ranges::none_of(split, plan.variants.end(), [](const plan::Variant& each) {
    return plan::is_sm90(each) && plan::sm90_of(each)->products() > 1;
  }));
  CHECK(is_split(plan::make_plan(kernel, *find_target("a100")).variants.front()));
}

TEST_CASE("what is said of products that share a factor, and they cannot follow") {
  const struct {
    const char* entries;
    const char* code;
    const char* what;
    const char* mma = "wgmma(n = 64,";
    const char* layout = "(K,1)";  // of U's strides
  } rows[] = {
      {"tile = (128,64,64), swap_ab = 1", "unsupported", "exchanged factors"},
      {"tile = (128,64,64), cluster = (1,1,2)", "unsupported", "blocks that share K"},
      {"tile = (128,64,64), promotion_interval = 64", "unsupported", "sums in intervals"},
      {"tile = (128,64,64), groups = (1,1,1,2)", "unsupported", "groups over successive tiles"},
      {"tile = (128,64,64), repack X = \"elements\"", "unsupported",
       "several products in one launch are read"},
      {"tile = (128,64,64)", "unsupported", "an atom that reads registers", "wgmma_rs(n = 64,"},
      {"tile = (128,64,64)", "unsupported", "U and G do not run along one index", "wgmma(n = 64,",
       "(1,N)"},
      {"tile = (128,256,64)", "schedule-registers", "leaves 256 accumulators", "wgmma(n = 256,"},
  };
  for (const auto& row : rows) {
    const auto kernel = only_kernel(
        "use atoms.sm90\n"
        "kernel f<M, N, K>(X: bf16 (M,K), G: bf16 (N,K), U: bf16 (N,K):" +
        std::string(row.layout) +
        ") -> Y: bf16 (M,N)\n"
        "{ Y[m,n] = silu(sum[k](X[m,k] * G[n,k])) * sum[k](X[m,k] * U[n,k]) }\n"
        "schedule f for sm90 { mma = sm90." +
        row.mma + " ab = bf16, acc = f32), " + row.entries + " }");
    const auto plan = plan::make_plan(kernel);
    INFO(row.entries);
    REQUIRE(plan.problems.size() >= 1);
    INFO(plan.problems.front().message);
    CHECK(plan.problems.front().code == row.code);
    CHECK(plan.problems.front().message.find(row.what) != std::string::npos);
  }
  // Stored products are launches of their own.
  const auto stored = only_kernel(
      "use atoms.sm90\n"
      "kernel f<M, N, K>(X: bf16 (M,K), G: bf16 (N,K), U: bf16 (N,K)) -> Y: bf16 (M,N)\n"
      "{ Y[m,n] = silu(sum[k](X[m,k] * G[n,k])) * sum[k](X[m,k] * U[n,k]) }\n"
      "schedule f for sm90 { tile = (128,64,64), mma = sm90.wgmma(n = 64, ab = bf16, acc = f32), "
      "operands = \"stored\" }");
  const auto plan = plan::make_plan(stored);
  REQUIRE(plan.problems.empty());
  CHECK(!plan.variants.front().before.empty());
  CHECK(plan.variants.front().schedule.known());
}

TEST_CASE("what is no kernel of products that share a factor says why") {
  const struct {
    const char* parameters;
    const char* body;
    const char* reason;
  } rows[] = {
      {"X: bf16 (M,K), G: bf16 (N,K)", "sum[k](X[m,k] * G[n,k])", "not several sums"},
      {"X: bf16 (M,K), G: bf16 (N,K)", "sum[k](X[m,k] * G[n,k]) * sum[k](X[m,k] * G[n,k])",
       "not several sums|its products are one"},
      {"X: bf16 (M,K), G: bf16 (N,K), Z: bf16 (M,K), U: bf16 (N,K)",
       "sum[k](X[m,k] * G[n,k]) * sum[k](Z[m,k] * U[n,k])", "share no factor"},
      {"X: bf16 (M,K), G: bf16 (N,K), U: f16 (N,K)",
       "sum[k](f32(X[m,k]) * G[n,k]) * sum[k](f32(X[m,k]) * U[n,k])", "share no factor"},
      {"X: bf16 (M,K), G: bf16 (N,K), V: bf16 (M,J), U: bf16 (N,J)",
       "sum[k](X[m,k] * G[n,k]) * sum[j](V[m,j] * U[n,j])", "over other indices"},
      {"X: bf16 (M,K), G: bf16 (N,K)", "sum[k](X[m,k] * G[n,k]) * max[k](X[m,k])",
       "reduces by `max`"},
  };
  for (const auto& row : rows) {
    const auto kernel = only_kernel("kernel f<M, N, K, J>(" + std::string(row.parameters) +
                                    ") -> Y: f32 (M,N)\n{ Y[m,n] = " + row.body + " }");
    const auto found = plan::recognise_fused(kernel, plan::facts_of(*kernel));
    const auto* no = std::get_if<plan::NotGemm>(&found);
    INFO(row.body);
    REQUIRE(no);
    INFO(no->reason);
    const std::string reasons = row.reason;
    const auto bar = reasons.find('|');
    CHECK((no->reason.find(reasons.substr(0, bar)) != std::string::npos ||
           (bar != std::string::npos &&
            no->reason.find(reasons.substr(bar + 1)) != std::string::npos)));
  }
}

}  // namespace lay::test
