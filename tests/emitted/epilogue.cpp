// The code of an epilogue: when it reads the old output, and how often its code stands there.
#include <catch2/catch.hpp>

#include "backend/cuda/emit.h"
#include "backend/ir/lower/lower.h"
#include "backend/ir/lower/source_operand.h"
#include "backend/plan/make.h"
#include "frontend/sema/evaluator.h"
#include "tests/emitted/emitted.h"

namespace {

using namespace lay;
using test::times;

sema::KernelPtr gemm(const std::string& value) {
  const auto kernels = test::kernels_in("epilogue.lay",
                                        "kernel f<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1), "
                                        "beta: f32) -> C: inout f32 (M,N):(N,1) {\n"
                                        "  let acc = sum[k](A[m,k] * B[n,k])\n  C[m,n] = " +
                                            value + "\n}\n");
  REQUIRE(kernels.size() == 1);
  return kernels.front();
}

std::string emitted(const sema::KernelPtr& kernel, const std::string& variant) {
  // For an A100, where no ring of stages takes the sizes of `wide`.
  const plan::Plan plan = plan::make_plan(kernel, *find_target("a100"));
  for (const auto& each : plan.variants) {
    if (each.name != variant) continue;
    const auto made = cuda::emit(ir::lower(plan, each), *find_target("sm_90a"));
    return std::get<cuda::Emitted>(made).text;
  }
  FAIL("no variant " << variant);
  return "";
}

}  // namespace

TEST_CASE("the old output is read under one condition, however it is written") {
  const char* const values[] = {"acc + beta * C[m,n]",
                                "if beta == 0 then acc else acc + beta * C[m,n]",
                                "if beta != 0 then acc + beta * C[m,n] else acc",
                                "if not (beta == 0) then acc + beta * C[m,n] else acc"};
  for (const char* value : values) {
    INFO(value);
    const auto kernel = gemm(value);
    const auto old = ir::source_operands(*kernel, kernel->assignments[0]);
    REQUIRE(old.size() == 1);
    CHECK(old[0].condition >= 0);
    const std::string text = emitted(kernel, "simt_wide");
    CHECK(times(text, "const float4*)&C_[") == 1);
    CHECK(times(text, "beta_ * old_[") == 1);
  }
  const auto always = gemm("acc + C[m,n]");
  const auto old = ir::source_operands(*always, always->assignments[0]);
  REQUIRE(old.size() == 1);
  CHECK(old[0].condition == -1);
}

TEST_CASE("an old output whose condition depends on the element, or on two, is read one by one") {
  for (const char* value : {"if m < n then acc + C[m,n] else acc",
                            "if beta == 0 then acc else (if beta == 1 then C[m,n] else acc)"}) {
    INFO(value);
    const auto kernel = gemm(value);
    CHECK(ir::source_operands(*kernel, kernel->assignments[0]).empty());
  }
}

TEST_CASE("a condition that an arm around has settled is not asked again") {
  const std::string text =
      emitted(gemm("if beta == 0 then acc else acc + beta * C[m,n]"), "simt_wide_any");
  CHECK(times(text, "beta_ == 0.0f") == 1);
  CHECK(times(text, "beta_ != 0.0f") == 0);
}

TEST_CASE("many accumulators are stored in passes of the same code, few at once") {
  const auto kernel = gemm("acc");
  CHECK(times(emitted(kernel, "simt_wide"), "for (int pass_ = 0; pass_ < 16; pass_ += 8)") == 1);
  CHECK(times(emitted(kernel, "simt_wide_any"), "for (int pass_ = 0; pass_ < 16; pass_ += 4)") ==
        1);
  CHECK(times(emitted(kernel, "simt_small"), "pass_") == 0);
}
