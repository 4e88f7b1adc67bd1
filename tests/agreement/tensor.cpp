// GEMMs on tensor cores, each by its schedule: the host interpreter, with all its checks, and a GPU
// against the kernel's reference meaning, bit for bit on integers, over outputs of NaN.
//
//   test_agreement "tensor*"             on the host
//   test_agreement "[gpu][tensor]"       on a GPU too, with larger sizes; in parts, whose names end
//   in - 0 to - 3
#include <catch2/catch.hpp>
#include <set>

#include "backend/interpret/launches.h"
#include "backend/ir/lower/lower.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "backend/plan/make.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/simt/simt.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/executor.h"
#include "runtime/execute/host_run.h"
#include "runtime/execute/packed_call.h"
#include "runtime/gpu/launches.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/planted.h"
#include "tests/agreement/script.h"
#include "tests/language/script.h"

namespace {

using namespace lay;
using sema::Array;

using test::difference;
using test::Extents;
using test::find_planted;
using test::integer_call;
using test::trouble;

void agree(lay::test::Kernels& kernels, const sema::KernelPtr& kernel, const Extents& sizes,
           bool with_gpu) {
  INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
  const sema::KernelCall call = integer_call(kernel, sizes);
  const Array expected = sema::run_reference(call).outputs[0];
  CHECK(difference((with_gpu ? kernels.gpu() : kernels.host()).run(call).outputs[0], expected) ==
        "");
}

void agree(lay::test::Kernels& kernels, const Extents& sizes) {
  for (const sema::KernelPtr& kernel : kernels.all()) agree(kernels, kernel, sizes, false);
}

// A part of the kernels, so that several processes share the work.
constexpr int parts = 4;

void agree_on_gpu(const std::string& file, int part, const std::vector<std::int64_t>& all_m,
                  const std::vector<std::int64_t>& all_n, const std::vector<std::int64_t>& all_k) {
  lay::test::Kernels kernels(file);
  for (const sema::KernelPtr& kernel : kernels.part(part, parts))
    for (const std::int64_t m : all_m)
      for (const std::int64_t n : all_n)
        for (const std::int64_t k : all_k) agree(kernels, kernel, {m, n, k}, true);
}

}  // namespace

TEST_CASE("tensor cores: every schedule agrees with the reference on ragged sizes", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  agree(kernels, {200, 144, 80});
  agree(kernels, {64, 64, 16});
  agree(kernels, {8, 16, 208});
  // Where the output's rows are no whole 16 bytes it leaves element by element; the operands that
  // run along it are not there then.
  agree(kernels, {70, 37, 48});
}

TEST_CASE("tensor cores: tiles that a mask empties have no products", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name != "masked") continue;
    const plan::Plan plan = plan::make_plan(kernel);
    REQUIRE(plan::is_sm90(plan.variants.front()));
    CHECK(plan::sm90_of(plan.variants.front())->mask);
    const std::string text = ir::print(ir::lower(plan, plan.variants.front()));
    // The least column of the cluster's tile against its greatest row, as far as the output goes.
    CHECK(text.find("let steps : s32 block = select(tile_n * 64 <= min(tile_m * 128 + 127, [M - "
                    "1]), tiles_k, 0)") != std::string::npos);
    return;
  }
  FAIL("no kernel `masked`");
}

TEST_CASE("tensor cores: factors that TMA cannot read are copied first", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/copied.lay");
  // Odd in every combination, sizes at which some factors need no copy, and less than a tile.
  agree(kernels, {70, 37, 45});
  agree(kernels, {65, 48, 72});
  agree(kernels, {80, 33, 48});
  agree(kernels, {64, 80, 131});
  agree(kernels, {1, 3, 1});
}

TEST_CASE("tensor cores: what is copied depends on the sizes", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/copied.lay");
  const auto chosen = [&](const std::string& name, const Extents& sizes) {
    for (const sema::KernelPtr& kernel : kernels.all()) {
      if (kernel->name != name) continue;
      const plan::Plan plan = plan::make_plan(kernel);
      Binding bound;
      for (const sema::Dim& dim : kernel->dims) {
        bound[*dim.symbol.dim_id()] = dim.name == "M"   ? sizes.m
                                      : dim.name == "N" ? sizes.n
                                                        : sizes.k;
      }
      return plan::chosen_variant(plan, bound).name;
    }
    return std::string();
  };
  CHECK(chosen("along", {70, 37, 48}) == "sm90_any");
  CHECK(chosen("along", {70, 37, 45}) == "sm90_any_repack_A_B");
  CHECK(chosen("along", {70, 40, 45}) == "sm90_repack_A_B");
  CHECK(chosen("a_across", {70, 37, 48}) == "sm90_any_repack_A");
  CHECK(chosen("a_across", {72, 37, 45}) == "sm90_repack_B");
  CHECK(chosen("a_across", {71, 37, 45}) == "sm90_any_repack_A_B");
  CHECK(chosen("tf32_b", {70, 36, 44}) == "sm90_repack_B_bytes16");
  CHECK(chosen("tf32_b", {70, 37, 44}) == "sm90_any_repack_B");
  CHECK(chosen("tf32_b", {70, 37, 45}) == "sm90_any_repack_A_B");
  CHECK(chosen("gram", {70, 0, 45}) == "sm90_any_repack_A");
}

TEST_CASE("tensor cores: the library's portfolio agrees with the reference", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/lines.lay");
  const sema::KernelPtr& kernel = kernels.all().front();
  const plan::Plan plan = plan::make_plan(kernel);
  std::set<std::string> seen;
  // Rows that begin inside lines and with lines. More than one tile along both axes of every
  // cluster, ragged; a long K in parts; and few rows and columns, as many as the tiles have that
  // are for them.
  for (const Extents& sizes :
       {Extents{272, 400, 72}, Extents{40, 72, 1032}, Extents{264, 392, 64}, Extents{7, 136, 1032},
        Extents{90, 232, 264}, Extents{150, 264, 136}, Extents{136, 16, 1032}}) {
    const sema::KernelCall call = integer_call(kernel, sizes);
    const Array expected = sema::run_reference(call).outputs[0];
    for (const plan::Variant* variant : plan::fitting_variants(plan, call.sizes)) {
      if (!variant->cost || !variant->before.empty()) continue;
      INFO(variant->name);
      CHECK(trouble(ir::lower(plan, *variant), call, expected) == "");
      seen.insert(variant->name);
    }
  }
  for (const plan::Variant& variant : plan.variants) {
    if (!variant.cost || !variant.before.empty()) continue;
    INFO(variant.name);
    CHECK(seen.contains(variant.name));
  }
}

TEST_CASE("tensor cores: pointers that are not aligned are for the variant that copies",
          "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/copied.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name != "along") continue;
    const plan::Plan plan = plan::make_plan(kernel);
    runtime::NamedArguments arguments;
    const std::int64_t m = 16, n = 24, k = 32;
    for (const sema::Dim& dim : kernel->dims) {
      arguments.sizes[*dim.symbol.dim_id()] = dim.name == "M" ? m : dim.name == "N" ? n : k;
    }
    constexpr std::uint64_t a = 0x10002, b = 0x20004, c = 0x30000, workspace = 0x40000;
    arguments.tensors = {{"A", {a, 2 * m * k}}, {"B", {b, 2 * n * k}}, {"C", {c, 2 * m * n}}};
    int copying = 0;
    for (const plan::Variant& variant : plan.variants) {
      if (!variant.name.starts_with("sm90")) continue;
      const runtime::Launches launches = ir::lower_all(plan, variant);
      const auto bytes = runtime::workspace_bytes(launches, arguments.sizes);
      REQUIRE(bytes);
      arguments.workspace = {workspace, *bytes};
      runtime::Status status = runtime::Status::ok;
      for (const ir::Kernel& launch : launches) {
        const auto checked =
            runtime::check_launch(launch, runtime::arguments_of(launch, arguments), {}, 0);
        if (!checked.outcome.ok()) status = checked.outcome.status;
      }
      INFO(variant.name);
      CHECK(status == (variant.before.empty() ? runtime::Status::misaligned : runtime::Status::ok));
      if (variant.before.empty()) continue;
      ++copying;
      CHECK(*bytes == (m + n) * 128 - (128 - 2 * k));  // what pads the last row is not there
      CHECK(variant.workspace.evaluate(arguments.sizes) == (m + n) * 128);
      arguments.workspace.bytes = *bytes - 1;
      const auto& last = launches.back();
      CHECK(runtime::check_launch(last, runtime::arguments_of(last, arguments), {}, 0)
                .outcome.status == runtime::Status::too_small);
    }
    CHECK(copying == 2);
  }
}

TEST_CASE("tensor cores: more tiles than 32 bits count are refused, whatever the grid",
          "[tensor]") {
  lay::sema::test::Script script(
      "kernel many<P, Q, M, N, K>(A: f16 (P,Q,M,K), B: f16 (P,Q,N,K)) -> C: f16 (P,Q,M,N)\n"
      "{ C[p,q,m,n] = sum[k](A[p,q,m,k] * B[p,q,n,k]) }\n");
  REQUIRE(script.messages == "");
  const sema::KernelPtr kernel = script.evaluator.kernels().back();
  const plan::Plan plan = plan::make_plan(kernel);
  const auto status = [&](std::int64_t batches) {
    runtime::NamedArguments arguments;
    for (const sema::Dim& dim : kernel->dims) {
      const bool batch = dim.name == "P" || dim.name == "Q";
      arguments.sizes[*dim.symbol.dim_id()] = batch ? batches : dim.name == "N" ? 520 : 8;
    }
    constexpr std::int64_t bytes = std::int64_t{1} << 44;
    arguments.tensors = {
        {"A", {1 * bytes, bytes}}, {"B", {2 * bytes, bytes}}, {"C", {3 * bytes, bytes}}};
    const ir::Kernel launch = ir::lower(plan, plan::chosen_variant(plan, arguments.sizes));
    CHECK(launch.launch.persistent);
    return runtime::check_launch(launch, runtime::arguments_of(launch, arguments), {}, 0)
        .outcome.status;
  };
  // 4e8 batches, and 1.6e9, of three to nine tiles of 256 to 64 columns.
  CHECK(status(20000) == runtime::Status::ok);
  CHECK(status(40000) == runtime::Status::extent_too_large);
}

TEST_CASE("tensor cores: to multiply before the copies is found", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/copied.lay");
  const sema::KernelPtr& kernel = kernels.all().front();
  const plan::Plan plan = plan::make_plan(kernel);
  const sema::KernelCall call = integer_call(kernel, {70, 37, 45});
  runtime::PackedCall packed = runtime::packed(call);
  runtime::Launches launches = ir::lower_all(plan, plan::chosen_variant(plan, call.sizes));
  REQUIRE(launches.size() == 2);
  std::swap(launches[0], launches[1]);
  CHECK_THROWS_WITH(runtime::run_on_host(launches, packed, true),
                    Catch::Contains("is read before it is written"));
}

namespace {

const sema::KernelPtr& kernel_of(lay::test::Kernels& kernels, const std::string& name) {
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name == name) return kernel;
  }
  throw std::logic_error("no kernel " + name);
}

// The first variant for a machine so small that every block takes many tiles.
ir::Kernel lowered_for_few(const sema::KernelPtr& kernel, int clusters) {
  Target target = default_target();
  const plan::Plan first = plan::make_plan(kernel, target);
  target.sms = clusters * plan::sm90_of(first.variants.front())->blocks();
  const plan::Plan plan = plan::make_plan(kernel, target);
  return ir::lower(plan, plan.variants.front());
}

}  // namespace

TEST_CASE("tensor cores: ping-pong consumers, in any order of warps", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const char* name : {"pingpong", "pingpong_masked", "pairs_pingpong", "long_with_rest"}) {
    for (const Extents& sizes : {Extents{264, 136, 208}, {520, 72, 16}}) {
      const sema::KernelCall call = integer_call(kernel_of(kernels, name), sizes);
      const Array expected = sema::run_reference(call).outputs[0];
      for (const int clusters : {1, 3}) {
        INFO(name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k << ", clusters "
                  << clusters);
        const ir::Kernel lowered = lowered_for_few(kernel_of(kernels, name), clusters);
        for (const std::uint64_t seed : {0, 1}) CHECK(trouble(lowered, call, expected, seed) == "");
      }
    }
  }
}

TEST_CASE("tensor cores: every other tile goes through K from its end", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const char* name : {"alternate_k", "alternate_k_halves", "alternate_k_parts"}) {
    const sema::KernelPtr& kernel = kernel_of(kernels, name);
    for (const Extents& sizes : {Extents{264, 136, 208}, Extents{136, 72, 464}}) {
      INFO(name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
      const sema::KernelCall call = integer_call(kernel, sizes);
      const Array expected = sema::run_reference(call).outputs[0];
      for (const std::uint64_t seed : {0, 1})
        CHECK(trouble(lowered_for_few(kernel, 2), call, expected, seed) == "");
    }
  }
  const sema::KernelPtr& kernel = kernel_of(kernels, "alternate_k_parts");
  const sema::KernelCall call = integer_call(kernel, {264, 136, 464});
  find_planted(
      ir::print(lowered_for_few(kernel, 1)), call, sema::run_reference(call).outputs[0],
      {
          {"back from beyond the end", "tiles_k - 1 - tile_k)", "tiles_k - tile_k)", "element"},
          {"always to the end", "select(phase(way) == 0, tile_k,", "select(phase(way) == 0, 0,",
           "element"},
      });
}

TEST_CASE("tensor cores: faults of ping-pong consumers are found", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  const sema::KernelPtr& kernel = kernel_of(kernels, "pingpong_masked");
  const sema::KernelCall call = integer_call(kernel, {136, 136, 336});
  const Array expected = sema::run_reference(call).outputs[0];
  const std::string text = ir::print(lowered_for_few(kernel, 2));
  find_planted(
      text, call, expected,
      {
          {"the stages of another's tile are not skipped", "advance use by steps",
           "advance use by 0", "deadlock"},
          {"skipped as if every tile had products", "advance use by steps",
           "advance use by tiles_k", "in-flight"},
          {"one stage too few", "advance use by steps", "advance use by max(steps - 1, 0)",
           "in-flight"},
          {"one stage too many", "advance use by steps", "advance use by steps + 1", "deadlock"},
          {"stages that another uses are given back", "advance freed by steps",
           "advance freed by 0", "deadlock"},
          // A phase of the ring's barriers is known by its parity, so that nobody may be two rounds
          // ahead.
          {"nobody waits for the turn",
           "wait pingpong[consumer] phase select(consumer == 0, 1 - phase(pingpong_turn), "
           "phase(pingpong_turn))",
           "", "in-flight"},
          {"the turn is passed on to oneself", "arrive pingpong[(consumer + 1) % 3]",
           "arrive pingpong[consumer]", "in-flight"},
          {"the turn is not passed on", "arrive pingpong[(consumer + 1) % 3]", "", "deadlock"},
          {"a stage is given back by all consumer groups", "drained mbarrier slots 4 count 1",
           "drained mbarrier slots 4 count 3", "deadlock"},
          {"everybody begins with the first tile", "if slot(pingpong_turn) == consumer {",
           "if slot(pingpong_turn) == 0 {", "deadlock"},
      });
}

TEST_CASE("tensor cores: faults of warps that store their own rows are found", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  const sema::KernelPtr& kernel = kernel_of(kernels, "narrow_rest");
  const sema::KernelCall call = integer_call(kernel, {264, 144, 64});
  const Array expected = sema::run_reference(call).outputs[0];
  const std::string text = ir::print(lowered_for_few(kernel, 1));
  // Where whole spans are stored, where the rest is, and where that has been put into shared
  // memory.
  const size_t epilogue = text.find("wait_group bulk"),
               rest = text.find("wait_group bulk", epilogue + 1),
               put = text.find("fence proxy_async", rest);
  find_planted(
      text, call, expected,
      {
          {"what is being read is overwritten", "wait_group bulk pending 1 read", "", "in-flight",
           epilogue},
          {"the others do not know that it has been read", "fence warp", "", "race", epilogue},
          {"TMA does not see what was put there", "fence proxy_async", "", "missing-fence",
           epilogue},
          {"TMA does not see the rest", "fence proxy_async", "", "missing-fence", rest},
          {"it is taken away before the other lanes have put it there", "fence warp", "", "race",
           put},
          {"the rows of another warp", "C_stage[warp % 4 * 16", "C_stage[(warp + 1) % 4 * 16",
           "uninitialised", rest},
          {"the rest is as wide as the others", "map C_rest_map", "map C_map", "uninitialised",
           rest},
          {"the rest goes where the others went", "n_first + 64", "n_first", "element", rest},
      });
}

TEST_CASE("tensor cores: outputs reach shared memory without bank conflicts", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name);
    const plan::Plan plan = plan::make_plan(kernel);
    int by_tma = 0, by_threads = 0;
    for (const plan::Variant& variant : plan.variants) {
      const auto gemm = plan::sm90_of(variant);
      if (!gemm || !variant.before.empty()) continue;
      INFO(variant.name);
      REQUIRE(gemm->store);
      const plan::StagedStore& store = *gemm->store;
      const plan::StagedTensor& output = store.outputs.front();
      ++(output.tma ? by_tma : by_threads);
      std::size_t accesses = 2;  // A and B
      for (const plan::StagedTensor& each : store.outputs) accesses += each.tma ? 1 : 2;
      for (const plan::StagedTensor& each : store.inputs) accesses += each.tma ? 1 : 2;
      CHECK(variant.prediction.conflicts.size() == accesses);
      // Pieces of rows of 32-bit elements that fill half of a span share banks in twos.
      const int shares = !output.matrices && store.rest > 0 ? 2 : 1;
      for (const plan::BankConflicts& access : variant.prediction.conflicts) {
        // Single elements on their way to registers lie where TMA puts them.
        const bool single =
            gemm->a.fragment && !gemm->a.fragment->copy && access.access == "read A";
        CHECK((single || access.wavefronts <= shares * access.least));
      }
      const ir::Kernel lowered = ir::lower(plan, variant);
      runtime::PackedCall packed = runtime::packed(integer_call(kernel, {128, 64, 16}));
      const interpret::Report report =
          interpret::run_all({lowered}, runtime::named_arguments(packed), {.bank_conflicts = true});
      REQUIRE(!report.fault);
      int writes = 0, reads = 0;
      for (const interpret::BankConflicts& access : report.banks) {
        if (access.buffer != "C_stage") continue;
        ++(access.statement.find("<- C_stage") == std::string::npos ? writes : reads);
        CHECK(access.wavefronts <= shares * access.least);
      }
      CHECK(writes > 0);
      CHECK((reads > 0) == !output.tma);
    }
    CHECK(by_tma > 0);
    CHECK(by_threads > 0);
  }
}

TEST_CASE("tensor cores: where TMA stores nothing a warp writes whole lines", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const char* name : {"cooperative", "of_s8", "split", "pingpong", "both_across"}) {
    INFO(name);
    const plan::Plan plan = plan::make_plan(kernel_of(kernels, name));
    for (const plan::Variant& variant : plan.variants) {
      const auto gemm = plan::sm90_of(variant);
      if (!gemm || !gemm->store || gemm->store->outputs.front().tma) continue;
      const plan::StagedTensor& store = gemm->store->outputs.front();
      const auto along = values(lay::along(store.runs, store.along_n ? 1 : 0)),
                 across = values(lay::along(store.runs, store.along_n ? 0 : 1));
      for (std::size_t lane = 1; lane < 32; ++lane) {
        CHECK(along[lane] == along[lane - 1] + store.run);
        CHECK(across[lane] == across[0]);
      }
      CHECK(!plan::cover_fault(store.runs, {64, gemm->store->width}));
    }
  }
}

TEST_CASE("tensor cores: faults of an operand on its way to registers are found", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  const sema::KernelPtr& kernel = kernel_of(kernels, "mn_major_to_registers");
  const sema::KernelCall call = integer_call(kernel, {264, 64, 336});
  const Array expected = sema::run_reference(call).outputs[0];
  const std::string text = ir::print(lowered_for_few(kernel, 1));
  for (const std::uint64_t seed : {0, 1})
    CHECK(trouble(ir::parse(text), call, expected, seed) == "");
  find_planted(
      text, call, expected,
      {
          {"registers are overwritten while they are multiplied", "wait_group wgmma pending 3", "",
           "in-flight"},
          {"a group too few is waited for", "wait_group wgmma pending 3",
           "wait_group wgmma pending 4", "in-flight"},
          {"the products are not told of the registers", "fence wgmma", "", "missing-fence"},
          {"a warp that reads the stage is not waited for", "drained mbarrier slots 3 count 4",
           "drained mbarrier slots 3 count 3", "race"},
          {"one warp speaks for all", "arrive drained[slot(freed)]",
           "if warp % 4 == 0 {\narrive drained[slot(freed)]\n}", "deadlock"},
          {"the stage before is read", "A_stage[a_row + i * 64,a_row_k + step * 16,slot(use)]",
           "A_stage[a_row + i * 64,a_row_k + step * 16,(slot(use) + 2) % 3]", "in-flight"},
          {"fragments are swap_ab", "a[0,i,step] <- A_stage[a_row + i * 64",
           "a[0,i,step] <- A_stage[a_row + (1 - i) * 64", "element"},
          {"every warp reads the first one's rows", "at(4:16, warp % 4)", "at(4:0, warp % 4)",
           "element"},
          {"rows are not transposed", "((4,8),(16,2,4)):((256,16),(1,128,1024))",
           "(32,(32,4)):(32,(1,1024))", "element"},
      });
}

TEST_CASE("tensor cores: faults of sums that go on in registers are found", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  const sema::KernelPtr& kernel = kernel_of(kernels, "promoted");
  const sema::KernelCall call = integer_call(kernel, {128, 128, 400});
  const Array expected = sema::run_reference(call).outputs[0];
  const std::string text = ir::print(lowered_for_few(kernel, 1));
  // Two sets of accumulators take turns: the second product of a round fills the first one again.
  const char* fresh = "zero step == 0";
  const std::size_t again = text.find(fresh, text.find(fresh, text.find("for pair")) + 1);
  REQUIRE(again != std::string::npos);
  find_planted(
      text, call, expected,
      {
          {"they are added up before they are complete", "wait_group wgmma pending 1", "",
           "in-flight"},
          {"the last ones are added up before they are complete", "wait_group wgmma pending 0", "",
           "in-flight"},
          {"the next ones begin before they have been read", "fence wgmma", "", "missing-fence"},
          {"the next ones go on from them", fresh, "zero step == 4", "element", again},
          {"only the last ones count", "total[v,0,0] + acc1[v,0,0]", "acc1[v,0,0]", "element"},
          {"totals begin with what was there", "fill total = 0.0", "", "uninitialised"},
      });
}

TEMPLATE_TEST_CASE_SIG("on a GPU: tensor cores: it agrees with the reference", "[.][gpu][tensor]",
                       ((int part), part), 0, 1, 2, 3) {
  agree_on_gpu("tests/agreement/tensor.lay", part, {64, 200}, {37, 96, 336}, {16, 208});
}

TEMPLATE_TEST_CASE_SIG("on a GPU: tensor cores: factors that TMA cannot read are copied first",
                       "[.][gpu][tensor]", ((int part), part), 0, 1, 2, 3) {
  agree_on_gpu("tests/agreement/copied.lay", part, {1, 64, 201}, {37, 96, 336}, {1, 45, 208});
}
