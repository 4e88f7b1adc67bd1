// The schedules that plans for known sizes are searched in (stdlib/policies/*_space.lay): any of
// them against the reference.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>

#include "backend/ir/lower/lower.h"
#include "backend/plan/gemm_variants.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/make.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/schedule/library_rows.h"
#include "backend/plan/schedule/stated_sizes.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "frontend/sema/kernel/reference.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;

using ByName = std::map<std::string, std::int64_t>;

// A tile or a few, of a sum that may be long; half of all extents are whole vectors of bf16.
ByName drawn_sizes(const sema::Kernel& kernel, std::mt19937& random) {
  const auto upto = [&](std::uint32_t most) { return static_cast<std::int64_t>(random() % most); };
  const std::int64_t step = random() % 2 == 0 ? 8 : 4;
  ByName sizes{{"M", step * (1 + upto(24))}, {"N", step * (1 + upto(24))}};
  sizes["K"] = step * (1 + upto(80));
  for (const sema::Dim& dim : kernel.dims)
    if (dim.name == "L") sizes["L"] = 1 + upto(3);
  return sizes;
}

// Small integers, of which sums are exact in f32: all orders give the same bits.
sema::KernelCall call_of(const sema::KernelPtr& kernel, const ByName& sizes, std::mt19937& random) {
  sema::KernelCall call =
      test::drawn_call(kernel, sizes, [&] { return static_cast<int>(random() % 7) - 3; });
  if (!kernel->scalars.empty()) call.scalars = {sema::Number{-1.0}, sema::Number{2.0}};
  return call;
}

std::string difference(const sema::Array& got, const sema::Array& expected) {
  return test::difference(got, expected);
}

// Runs one schedule of the space that takes the sizes, drawn; its name, empty where there is none.
std::string check_drawn(const sema::KernelPtr& kernel, const std::string& family,
                        std::mt19937& random) {
  Facts facts = plan::facts_of(*kernel);
  const auto found = plan::recognise_scaled(kernel, facts);
  const auto& gemm = std::get<plan::Gemm>(found);
  const sema::ProductKind kind =
      plan::product_kind(*gemm.kernel, gemm.form, facts, false, default_target());
  const ByName sizes = drawn_sizes(*kernel, random);
  const auto of = [&](const char* name) { return sizes.contains(name) ? sizes.at(name) : 1; };
  const auto rows =
      sema::library_space(family, kind, {of("M"), of("N"), of("K"), of("L"), default_target().sms});
  if (rows.empty()) return "";
  const auto policy = sema::space_policy(family, kind, rows[random() % rows.size()]);
  REQUIRE(policy);
  auto variant =
      plan::row_variant(gemm.kernel, gemm.form, facts, default_target(), family, *policy);
  const Binding at = sema::solve_sizes(*kernel, {}, sema::sizes_by_dim(*kernel, sizes));
  if (!variant || !plan::fits(*variant, at)) return "";
  std::string text = kernel->name + " by " + variant->name + " at";
  for (const auto& [name, size] : sizes) text += " " + name + "=" + std::to_string(size);
  INFO(text);
  if (gemm.kernel != kernel) variant->kernel = variant->rewritten = gemm.kernel;
  const plan::Plan plan{kernel, {*variant}, {}};
  const sema::KernelCall call = call_of(kernel, sizes, random);
  CHECK(test::trouble(ir::lower_all(plan, plan.variants.front()), call, sema::run_reference(call),
                      difference) == "");
  return variant->name;
}

// Runs what a plan for these sizes takes, all launches of it; its name.
std::string check_taken(const sema::KernelPtr& kernel, const plan::Plan& rows, const ByName& sizes,
                        std::mt19937& random) {
  const Binding at = sema::solve_sizes(*kernel, {}, sema::sizes_by_dim(*kernel, sizes));
  plan::Plan plan = rows;
  plan::add_for_sizes(plan, at, default_target());
  const plan::Variant& taken = plan::chosen_variant(plan, at);
  std::string text = kernel->name + " by " + taken.name + " at";
  for (const auto& [name, size] : sizes) text += " " + name + "=" + std::to_string(size);
  INFO(text);
  const sema::KernelCall call = call_of(kernel, sizes, random);
  CHECK(test::trouble(ir::lower_all(plan, plan::at_sizes(taken, at)), call,
                      sema::run_reference(call), difference) == "");
  return taken.name;
}

}  // namespace

// Rows that TMA cannot read are copied first, and outputs are stored element by element.
TEST_CASE("spaces: products of odd sizes agree with the reference") {
  std::mt19937 random(20261129);
  std::set<std::string> names;
  test::Kernels kernels("tests/bench/hopper.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (!std::set<std::string>{"tt", "tn", "nt", "nn", "to_f32", "of_tf32", "of_s8", "batched"}
             .contains(kernel->name))
      continue;
    const plan::Plan rows = plan::make_plan(kernel);
    for (int i = 0; i < 5; ++i) {
      ByName sizes = drawn_sizes(*kernel, random);
      for (const char* each : {"M", "N", "K"})
        if (random() % 4 > 0) sizes[each] += 1;
      names.insert(check_taken(kernel, rows, sizes, random));
    }
  }
  CHECK(names.size() >= 8);
}

TEST_CASE("spaces: drawn schedules agree with the reference") {
  const std::set<std::string> exact{"tt",       "tn",       "nt",      "nn",       "to_f32",
                                    "half",     "of_tf32",  "batched", "residual", "sgemm_tt",
                                    "sgemm_tn", "sgemm_nt", "sgemm_nn"};
  std::mt19937 random(20261128);
  std::set<std::string> names;
  int ran = 0;
  for (const char* file : {"tests/bench/hopper.lay", "tests/bench/sgemm.lay"}) {
    test::Kernels kernels(file);
    for (const sema::KernelPtr& kernel : kernels.all()) {
      if (!exact.contains(kernel->name)) continue;
      const std::string family = kernel->name.starts_with("sgemm") ? "simt" : "sm90";
      for (int i = 0; i < 4; ++i) {
        const std::string name = check_drawn(kernel, family, random);
        if (!name.empty()) names.insert(name);
        ran += !name.empty();
      }
    }
  }
  // Draws that no schedule takes test nothing.
  CHECK(ran >= 25);
  CHECK(names.size() >= 20);
}
