// GEMMs on tensor cores, each by its schedule: the host interpreter, with all its checks, and a GPU against the
// kernel's reference meaning, bit for bit on integers, over outputs of NaN.
//
//   test_agreement "tensor*"             on the host
//   test_agreement "[gpu][tensor]"       on a GPU too, with larger sizes
#include <catch2/catch.hpp>

#include "backend/interpret/launches.h"
#include "backend/ir/lower.h"
#include "backend/ir/parse.h"
#include "backend/ir/print.h"
#include "backend/ir/verify.h"
#include "backend/plan/axes.h"
#include "backend/plan/make.h"
#include "backend/plan/simt.h"
#include "frontend/sema/reference.h"
#include "runtime/executor.h"
#include "runtime/host_run.h"
#include "runtime/launches.h"
#include "runtime/packed_call.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using sema::Array;

using test::difference;
using test::Extents;
using test::integer_call;
using test::trouble;

void agree(lay::test::Kernels& kernels, const Extents& sizes, bool with_host, bool with_gpu) {
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
    const sema::KernelCall call = integer_call(kernel, sizes);
    const Array due = sema::run_reference(call).outputs[0];
    if (with_host) CHECK(difference(kernels.host().run(call).outputs[0], due) == "");
    if (with_gpu) CHECK(difference(kernels.gpu().run(call).outputs[0], due) == "");
  }
}

}  // namespace

TEST_CASE("tensor cores: every schedule agrees with the reference on ragged sizes", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  agree(kernels, {200, 144, 80}, true, false);
  agree(kernels, {64, 64, 16}, true, false);
  agree(kernels, {8, 16, 208}, true, false);
  // Where the output's rows are no whole 16 bytes it leaves element by element; the operands that run along it are not
  // there then.
  agree(kernels, {70, 37, 48}, true, false);
}

TEST_CASE("tensor cores: tiles that a mask empties have no products", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name != "masked") continue;
    const plan::Plan plan = plan::make_plan(kernel);
    REQUIRE(std::holds_alternative<plan::Sm90Gemm>(plan.variants.front().how));
    CHECK(std::get<plan::Sm90Gemm>(plan.variants.front().how).mask);
    const std::string text = ir::print(ir::lower(plan, plan.variants.front()));
    // The least column of the cluster's tile against its greatest row, as far as the output goes.
    CHECK(text.find("let steps : s32 block = select(tile_n * 64 <= min(tile_m * 128 + 127, [M - 1]), tiles_k, 0)") !=
          std::string::npos);
    return;
  }
  FAIL("no kernel `masked`");
}

TEST_CASE("tensor cores: factors that TMA cannot read are copied first", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/copied.lay");
  // Odd in every combination, sizes at which some factors need no copy, and less than a tile.
  agree(kernels, {70, 37, 45}, true, false);
  agree(kernels, {65, 48, 72}, true, false);
  agree(kernels, {80, 33, 48}, true, false);
  agree(kernels, {64, 80, 131}, true, false);
  agree(kernels, {1, 3, 1}, true, false);
}

TEST_CASE("tensor cores: what is copied depends on the sizes", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/copied.lay");
  const auto chosen = [&](const std::string& name, const Extents& sizes) {
    for (const sema::KernelPtr& kernel : kernels.all()) {
      if (kernel->name != name) continue;
      const plan::Plan plan = plan::make_plan(kernel);
      Binding bound;
      for (const sema::Dim& dim : kernel->dims) {
        bound[*dim.symbol.dim_id()] = dim.name == "M" ? sizes.m : dim.name == "N" ? sizes.n : sizes.k;
      }
      return runtime::chosen_variant(plan, bound).name;
    }
    return std::string();
  };
  CHECK(chosen("along", {70, 37, 48}) == "sm90_any");
  CHECK(chosen("along", {70, 37, 45}) == "sm90_any_copy_A_B");
  CHECK(chosen("along", {70, 40, 45}) == "sm90_copy_A_B");
  CHECK(chosen("a_across", {70, 37, 48}) == "sm90_any_copy_A");
  CHECK(chosen("a_across", {72, 37, 45}) == "sm90_copy_B");
  CHECK(chosen("a_across", {71, 37, 45}) == "sm90_any_copy_A_B");
  CHECK(chosen("tf32_b", {70, 36, 44}) == "sm90_copy_B_bytes16");
  CHECK(chosen("tf32_b", {70, 37, 44}) == "sm90_any_copy_B");
  CHECK(chosen("tf32_b", {70, 37, 45}) == "sm90_any_copy_A_B");
  CHECK(chosen("gram", {70, 0, 45}) == "sm90_any_copy_A");
}

TEST_CASE("tensor cores: pointers that are not aligned are for the variant that copies", "[tensor]") {
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
        const auto checked = runtime::check_launch(launch, runtime::arguments_of(launch, arguments), {}, 0);
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
      CHECK(runtime::check_launch(last, runtime::arguments_of(last, arguments), {}, 0).outcome.status ==
            runtime::Status::too_small);
    }
    CHECK(copying == 2);
  }
}

TEST_CASE("tensor cores: to multiply before the copies is found", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/copied.lay");
  const sema::KernelPtr& kernel = kernels.all().front();
  const plan::Plan plan = plan::make_plan(kernel);
  const sema::KernelCall call = integer_call(kernel, {70, 37, 45});
  runtime::PackedCall packed = runtime::packed(call);
  runtime::Launches launches = ir::lower_all(plan, runtime::chosen_variant(plan, call.sizes));
  REQUIRE(launches.size() == 2);
  std::swap(launches[0], launches[1]);
  CHECK_THROWS_WITH(runtime::run_on_host(launches, packed, true), Catch::Contains("nothing has been written"));
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
  target.multiprocessors = clusters * std::get<plan::Sm90Gemm>(first.variants.front().how).blocks();
  const plan::Plan plan = plan::make_plan(kernel, target);
  return ir::lower(plan, plan.variants.front());
}

}  // namespace

TEST_CASE("tensor cores: teams that take the tiles in turns, in any order of warps", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const char* name : {"in_turns", "in_turns_masked", "pairs_in_turns"}) {
    for (const Extents& sizes : {Extents{264, 136, 208}, {520, 72, 16}}) {
      const sema::KernelCall call = integer_call(kernel_of(kernels, name), sizes);
      const Array due = sema::run_reference(call).outputs[0];
      for (const int clusters : {1, 3}) {
        INFO(name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k << ", clusters " << clusters);
        const ir::Kernel lowered = lowered_for_few(kernel_of(kernels, name), clusters);
        for (const std::uint64_t seed : {0, 1}) CHECK(trouble(lowered, call, due, seed) == "");
      }
    }
  }
}

TEST_CASE("tensor cores: faults of teams in turns are found", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  const sema::KernelPtr& kernel = kernel_of(kernels, "in_turns_masked");
  const sema::KernelCall call = integer_call(kernel, {136, 136, 336});
  const Array due = sema::run_reference(call).outputs[0];
  const std::string text = ir::print(lowered_for_few(kernel, 2));
  const auto with = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    const ir::Kernel changed = ir::parse(text.substr(0, at) + to + text.substr(at + from.size()));
    return trouble(changed, call, due);
  };
  CHECK(with("", "") == "");
  struct Mistake {
    const char *what, *from, *to, *found;
  };
  const Mistake mistakes[] = {
      {"the stages of another's tile are not skipped", "advance use by steps", "advance use by 0", "deadlock"},
      {"skipped as if every tile had products", "advance use by steps", "advance use by tiles_k", "in-flight"},
      {"one stage too few", "advance use by steps", "advance use by max(steps - 1, 0)", "in-flight"},
      {"one stage too many", "advance use by steps", "advance use by steps + 1", "deadlock"},
      {"stages that another uses are given back", "advance freed by steps", "advance freed by 0", "deadlock"},
      // A phase of the ring's barriers is known by its parity, so that nobody may be two rounds ahead.
      {"nobody waits for the turn", "wait turns[consumer] phase select(consumer == 0, 1 - phase(turn), phase(turn))",
       "", "in-flight"},
      {"the turn is passed on to oneself", "arrive turns[(consumer + 1) % 3]", "arrive turns[consumer]", "in-flight"},
      {"the turn is not passed on", "arrive turns[(consumer + 1) % 3]", "", "deadlock"},
      {"a stage is given back by all teams", "drained mbarrier slots 4 count 1", "drained mbarrier slots 4 count 3",
       "deadlock"},
      {"everybody begins with the first tile", "if slot(turn) == consumer {", "if slot(turn) == 0 {", "deadlock"},
  };
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.what);
    const std::string found = with(mistake.from, mistake.to);
    INFO(found);
    CHECK(found.substr(0, found.find(':')) == mistake.found);
  }
}

TEST_CASE("tensor cores: outputs reach shared memory without bank conflicts", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name);
    const plan::Plan plan = plan::make_plan(kernel);
    int by_tma = 0, by_threads = 0;
    for (const plan::Variant& variant : plan.variants) {
      const auto* gemm = std::get_if<plan::Sm90Gemm>(&variant.how);
      if (!gemm || !variant.before.empty()) continue;
      INFO(variant.name);
      REQUIRE(gemm->store);
      ++(gemm->store->tma ? by_tma : by_threads);
      CHECK(variant.prediction.conflicts.size() == (gemm->store->tma ? 3 : 4));  // A, B and C
      for (const plan::BankConflicts& access : variant.prediction.conflicts) CHECK(access.wavefronts == access.least);
      const ir::Kernel lowered = ir::lower(plan, variant);
      runtime::PackedCall packed = runtime::packed(integer_call(kernel, {128, 64, 16}));
      const interpret::Report report =
          interpret::run_all({lowered}, runtime::named_arguments(packed), {.bank_conflicts = true});
      REQUIRE(!report.fault);
      int writes = 0, reads = 0;
      for (const interpret::BankConflicts& access : report.banks) {
        if (access.buffer != "C_stage") continue;
        ++(access.statement.find("<- C_stage") == std::string::npos ? writes : reads);
        CHECK(access.wavefronts == access.least);
      }
      CHECK(writes > 0);
      CHECK((reads > 0) == !gemm->store->tma);
    }
    CHECK(by_tma > 0);
    CHECK(by_threads > 0);
  }
}

TEST_CASE("tensor cores: where TMA stores nothing a warp writes whole lines", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const char* name : {"cooperative", "of_s8", "split", "in_turns", "both_across"}) {
    INFO(name);
    const plan::Plan plan = plan::make_plan(kernel_of(kernels, name));
    for (const plan::Variant& variant : plan.variants) {
      const auto* gemm = std::get_if<plan::Sm90Gemm>(&variant.how);
      if (!gemm || !gemm->store || gemm->store->tma) continue;
      const plan::StagedStore& store = *gemm->store;
      const auto along = values(plan::along(store.runs, store.along_n ? 1 : 0)),
                 across = values(plan::along(store.runs, store.along_n ? 0 : 1));
      for (std::size_t lane = 1; lane < 32; ++lane) {
        CHECK(along[lane] == along[lane - 1] + store.run);
        CHECK(across[lane] == across[0]);
      }
      CHECK(!plan::cover_fault(store.runs, {64, store.width}));
    }
  }
}

TEST_CASE("tensor cores: faults of sums that go on in registers are found", "[tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  const sema::KernelPtr& kernel = kernel_of(kernels, "promoted");
  const sema::KernelCall call = integer_call(kernel, {128, 128, 400});
  const Array due = sema::run_reference(call).outputs[0];
  const std::string text = ir::print(lowered_for_few(kernel, 1));
  const auto with = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return trouble(ir::parse(text.substr(0, at) + to + text.substr(at + from.size())), call, due);
  };
  CHECK(with("", "") == "");
  struct Mistake {
    const char *what, *from, *to, *found;
  };
  const Mistake mistakes[] = {
      {"they are added up before they are complete", "wait_group wgmma pending 0", "", "in-flight"},
      {"the next ones begin before they have been read", "fence wgmma", "", "missing-fence"},
      {"the next ones go on from them", "zero step == 0", "zero tile_k == 0 and step == 0", "element"},
      {"only the last ones count", "total[v,0,0] + acc[v,0,0]", "acc[v,0,0]", "element"},
      {"totals begin with what was there", "fill total = 0.0", "", "uninitialised"},
  };
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.what);
    const std::string found = with(mistake.from, mistake.to);
    INFO(found);
    CHECK(found.starts_with(mistake.found));
  }
}

TEST_CASE("on a GPU, tensor cores: it agrees with the reference", "[.][gpu][tensor]") {
  lay::test::Kernels kernels("tests/agreement/tensor.lay");
  for (const std::int64_t m : {64, 200})
    for (const std::int64_t n : {37, 96, 336})
      for (const std::int64_t k : {16, 208}) agree(kernels, {m, n, k}, false, true);
}

TEST_CASE("on a GPU, tensor cores: factors that TMA cannot read are copied first", "[.][gpu][tensor]") {
  lay::test::Kernels kernels("tests/agreement/copied.lay");
  for (const std::int64_t m : {1, 64, 201})
    for (const std::int64_t n : {37, 96, 336})
      for (const std::int64_t k : {1, 45, 208}) agree(kernels, {m, n, k}, false, true);
}
