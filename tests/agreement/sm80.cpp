// GEMMs by mma.sync (sm80.lay) in the host interpreter, with all its checks, and on a GPU against
// the kernels' reference meaning, bit for bit on integers, over outputs of NaN.
//
//   test_agreement "mma.sync*"        on the host
//   test_agreement "[gpu][sm80]"      on a GPU, with larger sizes; in parts, whose names end in - 0
//   to - 3
#include <catch2/catch.hpp>
#include <set>

#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/target/target.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/executor.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

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
      if (const auto* hopper = std::get_if<plan::Sm90Gemm>(&variant.how)) {
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
        const bool by_tma = std::holds_alternative<plan::Sm90Gemm>(variant.how);
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
  for (const std::size_t rows : {0, 1, 4})
    CHECK(names(rows, "h200", "sm80_") ==
          Names{"few_rows_long", "few_rows", "some_rows", "skinny", "wide", "small"});
  CHECK(names(0, "a100", "sm80_") ==
        Names{"few_rows_long", "few_rows", "some_rows", "skinny_128", "wide", "small"});
  for (const std::size_t columns : {2, 3})
    CHECK(names(columns, "h200", "sm80_") ==
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
