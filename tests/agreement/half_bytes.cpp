// Inputs of 4 bits (half_bytes.lay) in every variant of their plans for several GPUs, in the host
// interpreter with all its checks, against the kernels' reference meaning; and what kernels of
// them refuse.
//
//   test_agreement "half bytes*"            on the host
//   test_agreement "[gpu][half_bytes]"      on a GPU
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "backend/ir/lower/lower.h"
#include "backend/ir/text/print.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/make.h"
#include "backend/target/target.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/executor.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/planted.h"
#include "tests/agreement/script.h"
#include "tests/agreement/variants.h"

namespace {

using namespace lay;
using lay::test::Extents;

// Inputs from -3 to 3, and from 0 where they have no sign.
sema::KernelCall call_of(const sema::KernelPtr& kernel, const Extents& sizes) {
  return test::integer_call(kernel, sizes);
}

bool takes(const plan::Variant& variant, const Binding& sizes) {
  return std::all_of(variant.when.begin(), variant.when.end(), [&](const Predicate& condition) {
    return agreement::is_preference(condition) || condition.evaluate(sizes) == true;
  });
}

// Runs every variant that takes the sizes, also where it would be slow; adds their names.
void check_variants(const sema::KernelPtr& kernel, const Extents& extents, const char* gpu,
                    std::set<std::string>& ran) {
  const plan::Plan plan = plan::make_plan(kernel, *find_target(gpu));
  for (const plan::Problem& problem : plan.problems) FAIL(kernel->name << ": " << problem.message);
  const sema::KernelCall call = call_of(kernel, extents);
  const sema::KernelResult expected = sema::run_reference(call);
  for (const plan::Variant& variant : plan.variants) {
    if (!takes(variant, call.sizes)) continue;
    INFO(kernel->name << ", variant " << variant.name << " for " << gpu << ", " << extents.m
                      << " x " << extents.n << " x " << extents.k);
    auto launches = ir::lower_all(plan, plan::at_sizes(variant, call.sizes));
    for (ir::Kernel& launch : launches) std::erase_if(launch.assumptions, agreement::is_preference);
    CHECK(test::trouble(launches, call, expected, [](const auto& got, const auto& wanted) {
            return test::difference(got, wanted);
          }) == "");
    ran.insert(variant.name);
  }
}

sema::KernelPtr kernel_called(const test::Kernels& kernels, const std::string& name) {
  for (const sema::KernelPtr& each : kernels.all())
    if (each->name == name) return each;
  FAIL("no kernel " << name);
  return nullptr;
}

}  // namespace

TEST_CASE("half bytes: every variant of every kernel agrees with the reference") {
  test::Kernels kernels("tests/agreement/half_bytes.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    std::set<std::string> ran;
    for (const char* gpu : {"h200", "a100", "a40"})
      for (const Extents& sizes : {Extents{1, 1, 1}, {3, 5, 7}, {16, 32, 32}, {17, 33, 9}})
        check_variants(kernel, sizes, gpu, ran);
    INFO(kernel->name);
    CHECK(!ran.empty());
  }
}

TEST_CASE("half bytes: products beside 16 bits run on tensor cores, and agree there") {
  test::Kernels kernels("tests/agreement/half_bytes.lay");
  for (const char* name :
       {"w4a16", "first", "along_n", "batches", "beside", "scheduled", "scheduled_along"}) {
    std::set<std::string> ran;
    for (const Extents& sizes : {Extents{16, 64, 288}, {96, 32, 64}, {1, 32, 32}})
      check_variants(kernel_called(kernels, name), sizes, "h200", ran);
    INFO(name);
    CHECK(std::any_of(ran.begin(), ran.end(),
                      [](const std::string& each) { return each.starts_with("sm80_"); }));
  }
  std::set<std::string> ran;
  check_variants(kernel_called(kernels, "groups"), {16, 32, 9}, "h200", ran);
  check_variants(kernel_called(kernels, "groups"), {5, 64, 16}, "a100", ran);
  check_variants(kernel_called(kernels, "groups"), {9, 64, 16}, "a40", ran);
  for (const char* row : {"sm80_few_rows_8_long", "sm80_few_rows_8", "sm80_few_rows_16_long",
                          "sm80_few_rows_16", "sm80_few_rows_16_small", "sm80_some_rows",
                          "sm80_skinny", "sm80_skinny_128", "sm80_wide", "sm80_small"}) {
    INFO(row);
    CHECK(ran.contains(row));
  }
}

TEST_CASE("half bytes: faults planted in a product are found") {
  test::Kernels kernels("tests/agreement/half_bytes.lay");
  const sema::KernelPtr kernel = kernel_called(kernels, "w4a16");
  const plan::Plan plan = plan::make_plan(kernel, *find_target("h200"));
  const auto few = std::find_if(plan.variants.begin(), plan.variants.end(),
                                [](const auto& each) { return each.name == "sm80_some_rows"; });
  REQUIRE(few != plan.variants.end());
  const sema::KernelCall call = call_of(kernel, {3, 32, 288});
  const std::string text = ir::print(ir::lower(plan, *few));
  const std::size_t copies = text.find("copy cp_async B_shared");
  REQUIRE(copies != std::string::npos);
  test::find_planted(
      text, call, sema::run_reference(call).outputs[0],
      {{"a guard that ends too late", "< K else", "<= K else", "out-of-bounds", copies},
       {"the halves of a byte in the other order", "f32(b_stored[v,j,0])",
        "f32(b_stored[v + 1 - v % 2 * 2,j,0])", "element "},
       {"half of what an access takes", "count 32", "count 16", "uninitialised", copies}});
}

TEST_CASE("half bytes: a schedule that asks for single elements is refused") {
  const auto problems = [](const std::string& entries, const std::string& layout = "") {
    Sources sources;
    sema::Evaluator evaluator(sources, {});
    evaluator.run("half_bytes.lay", "use atoms.sm80\nkernel f<M, N, K>(X: bf16 (M,K), W: s4 (N,K)" +
                                        layout +
                                        ") -> Y: f32 (M,N)\n{ Y[m,n] = sum[k](X[m,k] * W[n,k]) }\n"
                                        "schedule f for sm80 { " +
                                        entries + " }\n");
    std::string all;
    for (const auto& each : plan::make_plan(evaluator.kernels().at(0)).problems)
      all += each.code + ": " + each.message + "\n";
    return all;
  };
  const std::string atom = "mma = sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)",
                    refused =
                        "unsupported: W has elements of s4, two to a byte, which are copied "
                        "to shared memory in vectors only\n";
  CHECK(problems(atom) == "");
  CHECK(problems(atom + "; accesses = \"elements\"") == refused);
  CHECK(problems(atom, ":(3*K,3)") == refused);
  CHECK(
      problems("mma = sm80.mma(m = 16, k = 64, ab = s4, acc = s32)").starts_with("unsupported: "));
}

TEST_CASE("half bytes: outputs and scalars of 4 bits are refused") {
  const auto problem = [](const std::string& text) {
    Sources sources;
    sema::Evaluator evaluator(sources, {});
    evaluator.run("half_bytes.lay", text);
    const auto plan = plan::make_plan(evaluator.kernels().at(0));
    return plan.problems.empty() ? "" : plan.problems[0].code + ": " + plan.problems[0].message;
  };
  CHECK(problem("kernel f<N>(X: s8 N) -> Y: s4 N { Y[n] = X[n] }") ==
        "unsupported: two elements of s4 share a byte, and the threads that write Y would race for "
        "it");
  CHECK(problem("kernel f<N>(X: s8 N) -> Y: inout u4 N { Y[n] = X[n] + Y[n] }") ==
        "unsupported: two elements of u4 share a byte, and the threads that write Y would race for "
        "it");
  CHECK(problem("kernel f<N>(X: s8 N, a: s4) -> Y: s8 N { Y[n] = X[n] + a }") ==
        "unsupported: no scalar of s4");
}

TEST_CASE("on a GPU: half bytes: they agree with the reference", "[.][gpu][half_bytes]") {
  test::Kernels kernels("tests/agreement/half_bytes.lay");
  for (const sema::KernelPtr& kernel : kernels.all())
    for (const Extents& sizes :
         {Extents{1, 1, 1}, {3, 5, 7}, {16, 64, 288}, {80, 96, 64}, {33, 70, 129}}) {
      INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
      const sema::KernelCall call = call_of(kernel, sizes);
      const auto outputs = kernels.gpu().run(call).outputs;
      const auto expected = sema::run_reference(call).outputs;
      for (std::size_t i = 0; i < outputs.size(); ++i)
        CHECK(test::difference(outputs[i], expected[i]) == "");
    }
}
