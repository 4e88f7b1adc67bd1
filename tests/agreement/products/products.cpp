// Kernels that are products once their indices are joined or split, or once other launches have
// computed what they multiply: every variant that takes the sizes against the reference.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>

#include "backend/ir/lower/lower.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/make.h"
#include "backend/plan/schedule/fitting.h"
#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/reference.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;

// Small numbers, of which sums and products of bf16 are exact enough to be compared closely.
sema::KernelCall call_of(const sema::KernelPtr& kernel, std::int64_t m, std::int64_t n,
                         std::int64_t k, std::uint32_t seed) {
  std::mt19937 random(seed);
  return test::drawn_call(kernel, {{"M", m}, {"N", n}, {"K", k}},
                          [&] { return static_cast<int>(random() % 15) * 0.125 - 0.875; });
}

// A result in 16 bits, and values between launches that are rounded to 16.
std::string difference(const sema::Array& got, const sema::Array& expected) {
  return test::difference(got, expected, bits(expected.element) <= 16 ? 0x1p-7 : 0x1p-18);
}

// Runs the launches with their faults looked for; returns what is wrong.
std::string trouble(const plan::Plan& plan, const plan::Variant& variant,
                    const sema::KernelCall& call, const sema::KernelResult& expected) {
  return test::trouble(ir::lower_all(plan, plan::at_sizes(variant, call.sizes)), call, expected,
                       difference);
}

bool is_scalar(const plan::Variant& variant) {
  return plan::runs_each_element(variant);
}

}  // namespace

TEST_CASE("products of several launches: every variant agrees with the reference") {
  test::Kernels kernels("tests/agreement/products/products.lay");
  std::uint32_t seed = 0;
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const plan::Plan plan = plan::make_plan(kernel);
    INFO(kernel->name);
    REQUIRE(plan.problems.empty());
    CHECK(!is_scalar(plan.variants.front()));
    for (const auto& [m, n, k] : {std::tuple{1, 1, 1}, {5, 7, 3}, {17, 24, 16}, {40, 8, 72}}) {
      const sema::KernelCall call = call_of(kernel, m, n, k, ++seed);
      const sema::KernelResult expected = sema::run_reference(call);
      std::set<std::string> tried;
      for (const plan::Variant* variant : plan::fitting_variants(plan, call.sizes)) {
        // Tries one row of the library that takes vectors and one that does not, for each kind.
        const std::string kind = std::to_string(plan::runs_each_element(*variant)) +
                                 (variant->aligned.empty() ? " any" : "") +
                                 std::to_string(variant->before.size());
        if (!tried.insert(kind).second) continue;
        INFO(variant->name << " at " << m << ", " << n << ", " << k);
        CHECK(trouble(plan, *variant, call, expected) == "");
      }
    }
  }
}

TEST_CASE("products of several launches: which there are") {
  test::Kernels kernels("tests/agreement/products/products.lay");
  const std::map<std::string, std::vector<std::string>> expected{
      {"linear", {}},
      {"batched", {}},
      {"grouped_heads", {}},
      {"swiglu", {}},  // in one launch, and in two behind it
      {"split_outputs", {"split_outputs_outputs1"}},
      {"attention", {}},  // in one launch, and in three behind it
      {"mlp", {}},
      {"normed", {"normed_factor"}},
      {"transposed", {"transposed_factor"}},
      {"scaled", {"scaled_factor", "scaled_factor_"}},
      {"convolution", {}},  // where it lies, and stored behind that
      {"normed_result", {"normed_result_product"}},
      {"twice", {"twice_product"}},
      {"of_f32", {"of_f32_factor"}},
      {"of_known_sizes", {"of_known_sizes_factor"}},
  };
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name);
    const plan::Plan plan = plan::make_plan(kernel);
    std::vector<std::string> names;
    for (const auto& before : plan.variants.front().before)
      if (before->kernel->name != kernel->name) names.push_back(before->kernel->name);
    CHECK(names == expected.at(kernel->name));
  }
}
