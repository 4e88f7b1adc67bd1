// Products that share a factor, in one launch on Hopper's tensor cores: the kernels of fused.lay by
// their schedules, and kernels by rows of the library, with all checks of the host interpreter,
// against the reference, bit for bit on small integers over outputs of NaN.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "backend/ir/lower/lower.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/make.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/reference.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;

// Conditions on how large sizes are say where a variant is fast, not where it is right.
bool is_preference(const Predicate& condition) {
  return condition.kind() != PredicateKind::divides;
}

bool can_run(const plan::Variant& variant, const Binding& sizes) {
  return std::all_of(variant.when.begin(), variant.when.end(), [&](const Predicate& condition) {
    return is_preference(condition) || condition.evaluate(sizes) == true;
  });
}

// Runs some of the variants with several products, each of another tile or cluster; returns what is
// wrong and counts them.
std::string trouble(const plan::Plan& plan, const sema::KernelCall& call, std::mt19937& random,
                    std::size_t most, int& count) {
  std::vector<const plan::Variant*> variants;
  std::set<std::string> known;
  for (const plan::Variant& variant : plan.variants) {
    const auto gemm = plan::sm90_of(variant);
    if (!gemm || gemm->products() < 2 || !can_run(variant, call.sizes)) continue;
    std::string kind = variant.aligned.empty() ? "" : "vectors";
    for (const int number : gemm->tile) kind += " " + std::to_string(number);
    for (const int number : gemm->cluster) kind += " " + std::to_string(number);
    if (known.insert(kind).second) variants.push_back(&variant);
  }
  std::shuffle(variants.begin(), variants.end(), random);
  if (variants.size() > most) variants.resize(most);
  const sema::KernelResult expected = sema::run_reference(call);
  for (const plan::Variant* variant : variants) {
    auto launches = ir::lower_all(plan, plan::at_sizes(*variant, call.sizes));
    for (ir::Kernel& kernel : launches) std::erase_if(kernel.assumptions, is_preference);
    const std::string found = test::trouble(
        launches, call, expected,
        [](const sema::Array& got, const sema::Array& wanted) {
          return test::difference(got, wanted);
        },
        random());
    if (!found.empty()) return variant->name + ": " + found;
    ++count;
  }
  return "";
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
