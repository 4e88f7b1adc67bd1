// GEMMs by mma.sync (sm80.lay) in the host interpreter, with all its checks, and on a GPU against
// the kernels' reference meaning, bit for bit on integers, over outputs of NaN.
//
//   test_agreement "mma.sync*"        on the host
//   test_agreement "[gpu][sm80]"      on a GPU, with larger sizes; in parts, whose names end in - 0
//   to - 3
#include <catch2/catch.hpp>
#include <set>
#include <span>

#include "backend/cuda/emit.h"
#include "backend/ir/lower/lower.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "backend/plan/make.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/target/target.h"
#include "backend/tile/text/parse.h"
#include "backend/tile/text/print.h"
#include "backend/tile/verify.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/executor.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"
#include "tests/language/script.h"

namespace {

using namespace lay;
using sema::Array;

void agree(lay::test::Kernels& kernels, const sema::KernelPtr& kernel,
           const lay::test::Extents& sizes, bool with_gpu) {
  INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
  const sema::KernelCall call = lay::test::integer_call(kernel, sizes);
  const Array expected = sema::run_reference(call).outputs[0];
  CHECK(lay::test::difference((with_gpu ? kernels.gpu() : kernels.host()).run(call).outputs[0],
                              expected) == "");
}

void agree(lay::test::Kernels& kernels, const lay::test::Extents& sizes) {
  for (const sema::KernelPtr& kernel : kernels.all()) agree(kernels, kernel, sizes, false);
}

}  // namespace

TEST_CASE("mma.sync: every schedule agrees with the reference where vectors are allowed") {
  lay::test::Kernels kernels("tests/agreement/sm80.lay");
  agree(kernels, {144, 80, 48});
  agree(kernels, {16, 208, 112});
}

TEST_CASE("mma.sync: every schedule agrees with the reference on ragged sizes") {
  lay::test::Kernels kernels("tests/agreement/sm80.lay");
  agree(kernels, {1, 1, 1});
  agree(kernels, {67, 33, 45});
  agree(kernels, {129, 10, 131});
}

TEST_CASE("narrow operands are widened in registers, in every variant of their plans") {
  lay::test::Kernels kernels("tests/agreement/mixed.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const auto plan = plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    std::vector<ir::Kernel> lowered;
    for (const plan::Variant& variant : plan.variants) {
      INFO(kernel->name << ", variant " << variant.name);
      if (const auto hopper = plan::sm90_of(variant)) {
        CHECK(hopper->a.converted);
      } else {
        const auto gemm = plan::sm80_of(variant);
        REQUIRE(gemm);
        CHECK((gemm->a.converted || gemm->b.converted));
      }
      // Bounds of sizes say where a variant is fast: it is right for all.
      std::erase_if(
          lowered.emplace_back(ir::lower(plan, variant)).assumptions, [](const Predicate& each) {
            return each.kind() == PredicateKind::less_equal || each.kind() == PredicateKind::less;
          });
    }
    // Few rows or columns, and many; vectors fit the first sizes, which others do not divide.
    for (const lay::test::Extents& sizes : {lay::test::Extents{16, 48, 272},
                                            {80, 16, 32},
                                            {1, 1, 1},
                                            {17, 35, 67},
                                            {3, 70, 259},
                                            {19, 37, 80}}) {
      const sema::KernelCall call = lay::test::integer_call(kernel, sizes);
      const Array expected = sema::run_reference(call).outputs[0];
      for (std::size_t i = 0; i < lowered.size(); ++i) {
        const plan::Variant& variant = plan.variants[i];
        // TMA brings operands along k where their rows are whole 16 bytes.
        const bool by_tma = plan::is_sm90(variant);
        const bool fits =
            (variant.accesses == plan::Width::elements && (!by_tma || sizes.k % 16 == 0)) ||
            (sizes.m % 16 == 0 && sizes.n % 16 == 0 && sizes.k % 16 == 0);
        if (!fits) continue;
        INFO(kernel->name << ", variant " << variant.name << ", " << sizes.m << " x " << sizes.n
                          << " x " << sizes.k);
        CHECK(lay::test::trouble(lowered[i], call, expected) == "");
      }
    }
  }
}

TEST_CASE("copies of a script are planned, run and emitted by what their records say") {
  // Lanes 8 to 15 name the rows of the third matrix, lanes 16 to 23 those of the second.
  sema::test::Script script(R"(use atoms.sm80
record crossed {
  kind        = "warp"
  from        = "shared"
  to          = "registers"
  threads     = 32:1
  source      = thread_values(((8,2,2),128):((128,2048,1024),1))
  destination = thread_values((32,(32,4)):(32,(1,1024)))
  registers   = destination
  instruction = "ldmatrix.crossed.sync.aligned.m8n8.x4.shared.b16 $to, [$from]"
  since       = 80
}
record ahead {
  kind        = "thread"
  from        = "global"
  to          = "shared"
  threads     = 1:0
  source      = thread_values((1,128):(0,1))
  destination = thread_values((1,128):(0,1))
  instruction = "cp.async.cg.shared.global.L2::128B [$to], [$from], 16, $bytes"
  since       = 80
}
kernel product<M, N, K>(A: f16 (M,K), B: f16 (N,K)) -> C: f32 (M,N)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }
schedule product for sm80 {
  mma = sm80.mma(m = 16, k = 16, ab = f16, acc = f32)
  tile = (32,32,32)
  groups = (1,1,1,1)
}
)");
  REQUIRE(script.messages == "");
  const auto copy = [&](const std::string& call) {
    const auto outcomes = script.evaluator.run("copy.lay", call);
    REQUIRE(outcomes.size() == 1);
    for (const Diagnostic& each : outcomes[0].diagnostics.list()) FAIL(each.message);
    REQUIRE(outcomes[0].value);
    return sema::copy_of(**outcomes[0].value->as<sema::RecordPtr>());
  };
  const sema::CopyInstruction crossed = copy("crossed"), ahead = copy("ahead");
  const sema::KernelPtr kernel = script.evaluator.kernels().back();
  const plan::Plan plan = plan::make_plan(kernel, *find_target("a100"));
  REQUIRE(plan.problems.empty());
  plan::Variant variant = plan.variants.front();
  plan::Sm80Gemm gemm = *plan::sm80_of(variant);
  CHECK(gemm.a.fragment.copy->name == "sm75.ldmatrix(n = 4)");
  CHECK(gemm.a.fragment.rows.to_string() == "(8,2,2):(1@0,8@0,8@1)");
  gemm.a.fragment = plan::fragment_from(gemm.mma.a, {16, 16}, true, 16, std::span(&crossed, 1));
  REQUIRE(gemm.a.fragment.copy == crossed);
  CHECK(gemm.a.fragment.rows.to_string() == "(8,2,2):(1@0,8@1,8@0)");
  // B has other values: no copy of that many bits.
  CHECK(!plan::fragment_from(gemm.mma.b, {8, 16}, true, 16, std::span(&crossed, 1)).copy);
  gemm.a.async = ahead;

  const tile::Program program = plan::bind_sm80(variant.programs.front().kernel, gemm);
  INFO(tile::print(program));
  CHECK(tile::verify(program).empty());
  CHECK((plan::sm80_of(program) == gemm));
  CHECK(tile::parse(tile::print(program), program.kernel, {gemm.mma}, {crossed, ahead}) == program);
  variant.programs = {program};
  ir::Kernel lowered = ir::lower(plan, variant);
  CHECK(ir::print(ir::parse(ir::print(lowered))) == ir::print(lowered));
  const sema::KernelCall call = lay::test::integer_call(kernel, {64, 96, 48});
  const Array expected = sema::run_reference(call).outputs[0];
  CHECK(lay::test::trouble(lowered, call, expected) == "");
  const std::string text = std::get<cuda::Emitted>(cuda::emit(lowered, *find_target("a100"))).text;
  CHECK(text.find("\"ldmatrix.crossed.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"") !=
        std::string::npos);
  CHECK(text.find("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;") != std::string::npos);
  // The library's copies of B stand beside them, each with a function of its own.
  CHECK(text.find("\"ldmatrix.sync.aligned.m8n8.x2.shared.b16") != std::string::npos);
  CHECK(text.find("void cp_async_16_2(") != std::string::npos);
  // The rows are what the atom says: the same addresses for ldmatrix(4) give another product.
  for (ir::CopyAtom& atom : lowered.copy_atoms)
    if (atom.name == crossed.name) atom.source = Layout(tuple(32, 128), tuple(128, 1));
  CHECK(ir::verify(lowered).empty());
  CHECK(lay::test::trouble(lowered, call, expected) != "");
}

TEST_CASE("every row of the library for narrow operands fits a GPU with its shared memory") {
  lay::test::Kernels kernels("tests/agreement/mixed.lay");
  const auto names = [&](std::size_t kernel, const char* gpu, const std::string& family) {
    std::vector<std::string> made;
    const auto plan = plan::make_plan(kernels.all().at(kernel), *find_target(gpu));
    for (const plan::Variant& variant : plan.variants)
      if (variant.accesses == plan::Width::vectors && variant.name.starts_with(family))
        made.push_back(variant.name.substr(family.size()));
    return made;
  };
  using Names = std::vector<std::string>;
  // Lanes copy for themselves what runs along K.
  for (const std::size_t rows : {0, 4})
    CHECK(names(rows, "h200", "sm80_") == Names{"few_rows_8", "few_rows_16_long", "few_rows_16",
                                                "some_rows", "skinny", "wide", "small"});
  CHECK(names(1, "h200", "sm80_") == Names{"few_rows", "some_rows", "skinny", "wide", "small"});
  CHECK(names(0, "a100", "sm80_") == Names{"few_rows_8", "few_rows_16_long", "few_rows_16",
                                           "some_rows", "skinny_128", "wide", "small"});
  CHECK(names(0, "sm_86", "sm80_") == Names{"few_rows_8", "few_rows_16_small", "wide", "small"});
  CHECK(names(2, "h200", "sm80_") == Names{"few_columns_8", "few_columns_16_long", "few_columns_16",
                                           "some_columns", "narrow", "wide", "small"});
  CHECK(names(3, "h200", "sm80_") ==
        Names{"few_columns", "some_columns", "narrow", "wide", "small"});
  // By wgmma, where bytes run along k.
  for (const std::size_t rows : {0, 4})
    CHECK(names(rows, "h200", "sm90_") == Names{"32x64", "32x64_split_2", "64x64", "64x64_split_2",
                                                "128x64", "128x128_split_2", "128x128_1x2",
                                                "256x128_2x1", "256x128"});
  CHECK(names(2, "h200", "sm90_") == Names{"64x32", "64x32_split_2", "64x64", "64x64_split_2",
                                           "64x128", "128x128_split_2", "128x128_2x1",
                                           "128x256_1x2", "128x256"});
  for (const std::size_t others : {1, 3}) CHECK(names(others, "h200", "sm90_").empty());
}

TEMPLATE_TEST_CASE_SIG("on a GPU: mma.sync: it agrees with the reference", "[.][gpu][sm80]",
                       ((int part), part), 0, 1, 2, 3) {
  lay::test::Kernels kernels("tests/agreement/sm80.lay");
  for (const sema::KernelPtr& kernel : kernels.part(part, 4))
    for (const std::int64_t m : {1, 67, 128, 520})
      for (const std::int64_t n : {8, 33, 256})
        for (const std::int64_t k : {1, 64, 131, 640}) agree(kernels, kernel, {m, n, k}, true);
}
