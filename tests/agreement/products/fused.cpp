// Products that share a factor, in one launch on Hopper's tensor cores: the kernels of fused.lay by
// their schedules, and kernels by rows of the library, with all checks of the host interpreter,
// against the reference, bit for bit on small integers over outputs of NaN.
#include <catch2/catch.hpp>
#include <random>

#include "backend/plan/make.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/sema/evaluator.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/products/drawn_variants.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;

// Runs some of the variants with several products, each of another tile or cluster; returns what is
// wrong and counts them.
std::string trouble(const plan::Plan& plan, const sema::KernelCall& call, std::mt19937& random,
                    std::size_t most, int& count) {
  const auto kind_of = [](const plan::Variant& variant) -> std::optional<std::string> {
    const auto gemm = plan::sm90_of(variant);
    if (!gemm || gemm->products() < 2) return std::nullopt;
    return (variant.aligned.empty() ? "" : "vectors") + test::numbers_of_tile(*gemm);
  };
  return test::trouble_of_drawn(plan, call, random, most, count, kind_of);
}

// Integers whose sums and products stay exact.
sema::KernelCall call_of(const sema::KernelPtr& kernel, std::int64_t m, std::int64_t n,
                         std::int64_t k, std::mt19937& random) {
  return test::drawn_call(kernel, {{"L", 2}, {"M", m}, {"N", n}, {"K", k}},
                          [&] { return static_cast<double>(random() % 5) - 2; });
}

}  // namespace

TEST_CASE("products that share a factor: every schedule agrees with the reference") {
  test::Kernels kernels("tests/agreement/products/fused.lay");
  std::mt19937 random(3);
  int count = 0;
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const plan::Plan plan = plan::make_plan(kernel);
    INFO(kernel->name);
    REQUIRE(plan.problems.empty());
    int of_kernel = 0;
    for (const auto& [m, n, k] :
         {std::tuple{1, 8, 16}, {72, 136, 80}, {136, 72, 208}, {264, 40, 16}}) {
      INFO(m << " x " << n << " x " << k);
      CHECK(trouble(plan, call_of(kernel, m, n, k, random), random, 3, of_kernel) == "");
    }
    CHECK(of_kernel >= 8);
    count += of_kernel;
  }
  CHECK(count >= 60);
}
