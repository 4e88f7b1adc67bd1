// The results of planning and lowering kernels, emitted and compiled: every operand order, type and
// epilogue.
#include <catch2/catch.hpp>

#include "backend/cuda/emit.h"
#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "runtime/compile/compile.h"
#include "tests/emitted/emitted.h"
#include "tests/language/script.h"
#include "tests/plan/kernels.h"

namespace {

using lay::test::GemmWish;

std::string words(const GemmWish& wish) {
  return wish.order + " " + std::string(lay::element_name(wish.type)) + " epilogue " +
         std::to_string(wish.epilogue) + (wish.column_major_output ? ", C column-major" : "");
}

std::vector<GemmWish> wishes() {
  std::vector<GemmWish> all;
  for (const char* order : {"TN", "NT", "NN", "TT"})
    all.push_back({order, lay::ElementType::f32, GemmWish::alpha_beta});
  all.push_back({"TN", lay::ElementType::f64, GemmWish::bias});
  all.push_back({"NN", lay::ElementType::f32, GemmWish::mask, true});
  return all;
}

}  // namespace

TEST_CASE("lowered kernels are emitted and compile, with everything in registers") {
  const bool compiles = lay::runtime::can_compile();
  if (!compiles) WARN("emitted, but not compiled: there is no CUDA compiler");
  const auto& target = *lay::find_target("sm_90a");
  for (const GemmWish& wish : wishes()) {
    const auto plan = lay::plan::make_plan(lay::test::gemm(wish).done());
    REQUIRE(plan.problems.empty());
    for (const auto& variant : plan.variants) {
      INFO(words(wish) << ", variant " << variant.name);
      const auto kernel = lay::ir::lower(plan, variant);
      const auto result = lay::cuda::emit(kernel, target);
      if (const auto* problem = std::get_if<lay::cuda::Problem>(&result)) FAIL(problem->message);
      const auto& emitted = std::get<lay::cuda::Emitted>(result);
      CHECK(emitted.text.find("lay_") != std::string::npos);
      if (!compiles) continue;
      const auto made = lay::runtime::compile(emitted, target);
      INFO(made.log);
      CHECK(made.ok());
      // Where two blocks share an SM, ptxas may keep a few addresses of the epilogue in
      // local memory.
      CHECK(made.resources.stack_bytes <= (kernel.launch.blocks_per_sm > 1 ? 64 : 0));
    }
  }
}

TEST_CASE("a tile whose sums lie in parts has no number of buffers that its stores do not use") {
  const lay::sema::test::Script script(
      "use atoms.sm90\n"
      "kernel f<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: bf16 (M,N)\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"
      "schedule f for sm90 { name = \"parts\"; accesses = \"vectors\"; tile = (192,40,64);\n"
      "  mma = sm90.wgmma(n = 40, ab = bf16, acc = f32); groups = (3,1,1,1); cluster = (1,4,2) "
      "}\n");
  REQUIRE(script.messages == "");
  const auto plan = lay::plan::make_plan(script.evaluator.kernels().back());
  REQUIRE(plan.problems.empty());
  REQUIRE(plan.variants.front().name == "parts");
  const auto made = lay::test::emitted(lay::ir::lower(plan, plan.variants.front()), "sm_90a");
  CHECK(made.text.find("out_slot") == std::string::npos);
  if (lay::runtime::can_compile())
    lay::test::check_compiled(lay::runtime::compile(made, *lay::find_target("sm_90a")));
}
