// Products on Hopper's tensor cores as tile programs: goldens of sm90.lay, what the planner chooses
// said as a program and read back from its text, texts that are changed, rules that are broken
// once, and the programs run by plain loops against the reference.
#include <functional>
#include <random>

#include "backend/plan/make.h"
#include "backend/plan/recognise.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/tensor_variant.h"
#include "backend/plan/views/recognise_views.h"
#include "backend/target/target.h"
#include "backend/tile/interpret.h"
#include "backend/tile/products/product.h"
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "frontend/sema/library.h"
#include "tests/tile/calls.h"
#include "tests/tile/hopper/proposals.h"
#include "tests/tile/hopper/same_gemm.h"
#include "tests/tile/products/product_programs.h"
#include "tests/tile/rounding.h"

namespace lay::test {

namespace {

using plan::Sm90Gemm;
using tile::Copy;
using tile::For;
using tile::Mma;
using tile::Program;

const std::string hopper_script = "tests/tile/hopper/sm90.lay";

Program hopper_program(const std::string& name) {
  return first_program(hopper_script, name, *find_target("h200"));
}

tile::SharedTile& shared_of(Program& program, const std::string& name) {
  return *named(program, name).shared;
}

// A kernel's product and the schedules that the planner may follow: those of the script, and some
// of those that `lay tune` proposes.
struct Choices {
  plan::Gemm product;
  std::vector<plan::TensorSchedule> schedules;
};

std::optional<plan::Gemm> product_of_kernel(const sema::KernelPtr& kernel, const Facts& facts) {
  if (auto viewed = plan::recognise_viewed(kernel, facts)) return viewed;
  auto found = plan::recognise_scaled(kernel, facts);
  if (auto* gemm = std::get_if<plan::Gemm>(&found)) return std::move(*gemm);
  return std::nullopt;
}

std::optional<Choices> choices_of(const sema::KernelPtr& kernel, std::mt19937& random) {
  const auto product = product_of_kernel(kernel, plan::facts_of(*kernel));
  if (!product) return std::nullopt;
  Choices made{*product, {}};
  std::vector<sema::Schedule> all;
  for (const sema::Schedule& each : product->kernel->schedules)
    if (each.target == "sm90")
      for (int i = 0; i < 4; ++i) all.push_back(each);
  const auto proposals = sm90_proposals(*product->kernel, product->form);
  for (int i = 0; i < 25 && !proposals.empty(); ++i)
    all.push_back(proposals[random() % proposals.size()]);
  for (const sema::Schedule& each : all) {
    std::vector<plan::Problem> problems;
    plan::TensorSchedule read = plan::read_tensor_schedule(
        plan::with_operand_roles(each, *product->kernel, product->form, problems), problems);
    if (!problems.empty() || !read.mma) continue;
    // Further entries that go with any tile.
    if (random() % 3 == 0) read.alternate_k = true;
    if (random() % 3 == 0 && read.tile) read.promotion_interval = (*read.tile)[2];
    if (random() % 3 == 0) read.order = plan::RowGroups{static_cast<int>(random() % 5) + 1};
    if (random() % 3 == 0 && !read.alternate_k && !read.promotion_interval)
      read.tail = static_cast<int>(random() % 15) + 2;
    made.schedules.push_back(std::move(read));
  }
  return made;
}

// Kernels with operands along either index, batches, types and epilogues that are drawn.
std::string drawn_kernel(int number, std::mt19937& random) {
  const auto one_of = [&](const std::vector<std::string>& list) {
    return list[random() % list.size()];
  };
  const std::string type = one_of({"bf16", "f16"}), out = one_of({"bf16", "f16", "f32"});
  const bool batch = random() % 3 == 0;
  const std::string a = one_of({"(M,K)", "(M,K):(1,M)"}), b = one_of({"(N,K)", "(N,K):(1,N)"}),
                    c = batch ? "(L,M,N)" : one_of({"(M,N)", "(M,N):(1,M)"}),
                    at = batch ? "l,m,n" : "m,n";
  const std::string more =
      one_of({"", " + bias[n]", " * s[m]", " + D[" + at + "]", " + bias[n] + f32(D[" + at + "])"});
  return "kernel drawn" + std::to_string(number) + "<L, M, N, K>(A: " + type + " " +
         (batch ? "(L,M,K)" : a) + ", B: " + type + " " + b + ", bias: f32 N, s: f32 M, D: " + out +
         " " + c + ") -> C: " + out + " " + c + "\n{ C[" + at + "] = sum[k](A[" +
         (batch ? "l,m,k" : "m,k") + "] * B[n,k])" + more + " }\n";
}

}  // namespace

TEST_CASE("golden tile programs of products on Hopper's tensor cores") {
  check_golden_programs(hopper_script, default_target(), {"form", "bind"});
}

TEST_CASE("what the planner chooses for Hopper is read back from the program and its text") {
  std::mt19937 random(7);
  std::vector<sema::KernelPtr> kernels;
  for (const char* name :
       {"tests/tile/hopper/sm90.lay", "tests/agreement/tensor.lay", "tests/agreement/staged.lay",
        "tests/agreement/mixed.lay", "tests/agreement/products/scaled.lay",
        "tests/agreement/products/views.lay", "tests/tile/products/tensor_cores.lay"})
    for (const auto& kernel : kernels_of(source(name))) kernels.push_back(kernel);
  std::string drawn;
  for (int i = 0; i < 24; ++i) drawn += drawn_kernel(i, random);
  for (const auto& kernel : kernels_in("drawn.lay", drawn)) kernels.push_back(kernel);
  int count = 0, exchanged = 0, split = 0, staged = 0, views = 0, scales = 0, sets = 0, tails = 0;
  for (const auto& kernel : kernels) {
    const auto choices = choices_of(kernel, random);
    if (!choices) continue;
    const auto& [product, schedules] = *choices;
    for (const plan::TensorSchedule& schedule : schedules) {
      const plan::Width width = random() % 2 == 0 ? plan::Width::vectors : plan::Width::elements;
      const Target& target = *find_target(random() % 2 == 0 ? "h200" : "h100_pcie");
      const auto chosen = plan::chosen_for_sm90(*product.kernel, product.form, schedule, width,
                                                target, plan::facts_of(*product.kernel));
      if (!chosen) continue;
      const Program program = plan::bind_sm90(product.kernel, *chosen);
      const std::string text = tile::print(program);
      INFO(text);
      CHECK(DifferentFields().of(plan::sm90_of(program), *chosen) == "");
      CHECK((plan::sm90_of(program) == *chosen));  // of fields that have no name there, too
      CHECK(tile::parse(text, product.kernel, {chosen->mma}) == program);
      ++count;
      exchanged += chosen->swap_ab;
      split += chosen->split.has_value();
      staged += chosen->store && !chosen->store->inputs.empty();
      views += chosen->a.view || chosen->b.view;
      scales += !chosen->scales.empty();
      sets += chosen->accumulator_sets > 1;
      tails += chosen->tail > 1;
    }
  }
  CHECK(count >= 400);
  for (const int of : {exchanged, split, staged, views, scales, sets, tails}) CHECK(of > 0);
}

TEST_CASE("what a changed text of a program says is chosen") {
  const struct {
    const char* kernel;
    const char* from;
    const char* to;
    const char* field;
  } rows[] = {
      {"inputs", "clusters of (2,1)", "clusters of (1,2)", "cluster"},
      {"inputs", "groups of 8 rows", "groups of 3 rows", "order"},
      {"inputs", "warpgroups 2", "warpgroups 1", "groups"},
      {"inputs", "registers (56,224)", "registers (40,232)", "registers"},
      {"inputs", "sms 132", "sms 114", "sms"},
      {"inputs", "box (64,64) stages 4", "box (64,64) stages 5", "stages"},
      {"inputs", "box (64,64)", "box (32,64)", "a.box"},
      {"turns", "parts (64,32)", "parts (64,64)", "store.width"},
      {"inputs", "box (16,64) stages 2\n  tile bias", "box (16,64) stages 1\n  tile bias",
       "store.loads_ahead"},
      {"inputs", "box (16,64) stages 2\n  tile Y", "box (16,64) stages 1\n  tile Y",
       "store.buffers"},
      {"inputs", "by 2 along mode 0", "by 4 along mode 0", "vector.together"},
      {"inputs", "for k in sequence step 64", "for k in sequence step 64 by 2 blocks", "split"},
      {"exchanged", "tile_W[n,l,k] * tile_X[m,l,k]", "tile_X[m,l,k] * tile_W[n,l,k]", "swap_ab"},
      {"exchanged", " by 2 blocks", "", "cluster"},
      {"turns", " into 2 sets", "", "accumulator_sets"},
      {"turns", " alternating", "", "alternate_k"},
      {"turns", "in intervals of 128", "in intervals of 256", "promotion_interval"},
      {"turns", "span 128", "span 64", "a.span"},
      {"tailed", " in 3 parts in the tail", "", "tail"},
      {"tailed", "in 3 parts", "in 5 parts", "tail"},
      {"threads", "<- staged_Y[m,n] by 1", "<- staged_Y[m,n] by 2", "output.run"},
      {"threads", "(32@1,4@0))", "(32@1,8@0))", "output.runs"},
      {"threads", "o (64,32):(32,1)", "o (64,32):(1,64)", "output.shared"},
      {"threads", "along mode 1", "along mode 0", "output.along_n"},
      {"widened", "wgmma_rs(n = 64", "wgmma_rs(n = 32", "mma"},
  };
  for (const auto& row : rows) {
    const Program program = hopper_program(row.kernel);
    std::string text = tile::print(program);
    const auto at = text.find(row.from);
    INFO(row.from << " of " << text);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string(row.from).size(), row.to);
    const Program read = tile::parse(text, program.kernel, {*tile::parts_of(program).mma->atom});
    const std::string names = DifferentFields().of(plan::sm90_of(read), plan::sm90_of(program));
    CHECK(("\n" + names).find("\n" + std::string(row.field) + "\n") != std::string::npos);
  }
}

TEST_CASE("each rule of products on Hopper's tensor cores is broken once") {
  for (const char* name : {"inputs", "exchanged", "turns", "threads", "widened", "tailed"})
    CHECK(tile::verify(hopper_program(name)).empty());
  const struct {
    const char* code;
    const char* what;
    const char* kernel;
    std::function<void(Program&)> breaks;
  } rows[] = {
      {"grid", "a cluster has 18 blocks", "inputs",
       [](Program& p) {
         p.grid->cluster = {9, 2};
       }},
      {"grid", "alternates, and a block takes one tile", "turns",
       [](Program& p) { p.warpgroups->sms = 0; }},
      {"tail", "a tail has 0 parts", "tailed", [](Program& p) { sums(p).tail = 0; }},
      {"tail", "and a block takes one tile", "tailed", [](Program& p) { p.warpgroups->sms = 0; }},
      {"tail", "and groups of consumers take turns", "inputs",
       [](Program& p) { sums(p).tail = 2; }},
      {"tail", "and the loop over the sum is another one", "exchanged",
       [](Program& p) { sums(p).tail = 2; }},
      {"tail", "and the loop over the sum is another one", "turns",
       [](Program& p) { sums(p).tail = 2; }},
      {"threads", "expected 512 threads", "exchanged", [](Program& p) { p.grid->threads = 512; }},
      {"product", "is not whole instructions", "exchanged",
       [](Program& p) { std::swap(mma(p).a, mma(p).b); }},
      {"interval", "2 accumulators take turns", "turns", [](Program& p) { mma(p).interval = 256; }},
      {"fragment", "is not what", "widened", [](Program& p) { mma(p).atom->a_shared = true; }},
      {"shared", "`tile_A` is no box of TMA", "inputs",
       [](Program& p) { shared_of(p, "tile_A").box[0] = 48; }},
      {"shared", "`tile_A` has not as many places", "inputs",
       [](Program& p) {
         // A box more than the tile has.
         shared_of(p, "tile_A").layout = Layout(tuple(128, 64), tuple(64, 1));
         shared_of(p, "tile_A").box = {64, 64};
       }},
      {"shared", "`tile_A` has not as many places", "inputs",
       [](Program& p) {
         shared_of(p, "tile_A").layout = Layout(tuple(32, 64), tuple(64, 1));
         shared_of(p, "tile_A").box = {32, 64};
       }},
      {"shared", "`staged_Y` is no box of TMA", "inputs",
       [](Program& p) { shared_of(p, "staged_Y").box[0] = 48; }},
      {"shared", "has parts of another size", "inputs",
       [](Program& p) { (*shared_of(p, "staged_C").part)[1] = 32; }},
      {"shared", "and not in parts", "inputs",
       [](Program& p) { shared_of(p, "staged_Y").part.reset(); }},
      {"shared", "no parts of the instruction's sums", "inputs",
       [](Program& p) { (*shared_of(p, "staged_C").part)[0] = 128; }},
      {"shared", "`staged_Y` has one place for two", "inputs",
       [](Program& p) { shared_of(p, "staged_Y").layout = Layout(tuple(64, 64), tuple(1, 1)); }},
      {"shared", "the stages take", "inputs",
       [](Program& p) { shared_of(p, "staged_Y").stages = 20; }},
      {"threads", "`staged_Y` is copied by TMA, and by threads", "inputs",
       [](Program& p) { named(p, "staged_Y").threads = p.threads; }},
      {"threads", "`staged_Y` is copied by no threads", "threads",
       [](Program& p) { named(p, "staged_Y").threads.reset(); }},
      {"threads", "`staged_Y` do not cover", "threads",
       [](Program& p) {
         tile::Distribution& threads = *named(p, "staged_Y").threads;
         const Tuple column = Tuple::basis(1, {1});
         threads.layout =
             Layout(tuple(128, tuple(1, 16)), tuple(Tuple::basis(1, {0}), tuple(column, column)));
       }},
      {"access", "`staged_Y` has no 1 elements side by side", "threads",
       [](Program& p) { named(p, "staged_Y").threads->along = 0; }},
      {"copies", "vector_copy(bytes = 16) does not say its spaces", "threads",
       [](Program& p) {
         p.copies = {sema::library_copy("atoms.simt", "vector_copy", {{"bytes", 16}})};
       }},
      {"name", "two copies have the name", "threads",
       [](Program& p) {
         p.copies.assign(2, sema::library_copy("atoms.sm90", "stmatrix", {{"n", 2}}));
       }},
  };
  for (const auto& row : rows) {
    Program program = hopper_program(row.kernel);
    row.breaks(program);
    check_problem(program, row.code, row.what);
  }
}

TEST_CASE("programs of products on Hopper's tensor cores give what the reference gives") {
  int ran = 0;
  const auto check = [&](const sema::KernelCall& call) {
    const auto expected = sema::run_reference(call);
    for (const plan::Variant& variant : plan::make_plan(call.kernel).variants) {
      if (!plan::is_sm90(variant) || !variant.schedule.known() || !variant.before.empty()) continue;
      INFO(call.kernel->name << " " << variant.name);
      const auto actual = tile::interpret(variant.programs.front(), call, {});
      REQUIRE(actual.outputs.size() == expected.outputs.size());
      for (std::size_t i = 0; i < actual.outputs.size(); ++i)
        CHECK(difference(actual.outputs[i], expected.outputs[i], terms_of(call)) == "");
      ++ran;
    }
  };
  CHECK(for_each_call(contents(source(hopper_script)) +
                          "let i = inputs(random(bf16, (70,72)), random(bf16, (136,72), 2), "
                          "random(f32, 136, 3), random(bf16, (70,136), 4))\n"
                          "let x = exchanged(random(f16, (2,20,208)), random(f16, (2,36,208), 2))\n"
                          "let t = turns(random(e4m3, (9,272)), random(e4m3, (140,272), 2))\n"
                          "let s = threads(random(bf16, (72,40)), random(bf16, (9,40), 2))\n"
                          "let w = widened(random(s8, (9,80)), random(bf16, (8,80), 2), "
                          "random(f32, 9, 3))\n"
                          "let l = tailed(random(bf16, (300,136)), random(bf16, (72,136), 2), "
                          "random(bf16, (300,72), 3))\n",
                      check) == "");
  CHECK(ran >= 9);
}

}  // namespace lay::test
