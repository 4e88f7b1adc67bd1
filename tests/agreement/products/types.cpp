// Every type of factors by mma.sync, as the library schedules it for each GPU (types.lay):
// every variant in the host interpreter with all its checks, bit for bit on integers that need each
// bit of a significand; shared memory without bank conflicts; tile programs by plain loops.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/target/target.h"
#include "backend/tile/interpret.h"
#include "backend/tile/verify.h"
#include "frontend/sema/kernel/reference.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/products/drawn_variants.h"
#include "tests/agreement/script.h"

namespace lay::test {

namespace {

const std::string script = "tests/agreement/products/types.lay";
const std::vector<const char*> gpus{"a100", "l40s", "h200"};

// The largest odd integer that a factor of the type holds, or of f64 one of which sums of 64
// products are exact: its significand has a bit at each place.
std::int64_t largest(ElementType type) {
  switch (type) {
    case ElementType::u8:
      return 255;
    case ElementType::s8:
      return 127;
    case ElementType::f64:
      return (1 << 23) - 1;
    case ElementType::tf32:
      return (1 << 11) - 1;
    case ElementType::e4m3:
      return 15;
    case ElementType::e5m2:
      return 7;
    default:
      return 3;
  }
}

// K for which sums of products of integers that large are exact in the type of the sum.
std::int64_t exact_k(ElementType type) {
  return type == ElementType::tf32 ? 4 : 48;
}

// Factors of integers up to the largest, all other inputs small ones.
sema::KernelCall call_of(const sema::KernelPtr& kernel, std::map<std::string, std::int64_t> sizes,
                         std::int64_t most) {
  std::mt19937 random(static_cast<std::uint32_t>(sizes.at("M") * 131 + sizes.at("N")));
  const bool is_signed = kernel->tensors[0].element != ElementType::u8;
  for (const sema::Dim& dim : kernel->dims)
    if (dim.name == "L") sizes["L"] = 2;
  sema::KernelCall call = drawn_call(kernel, sizes, [&random, most, is_signed] {
    const auto drawn = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
    return static_cast<double>(is_signed && random() % 2 != 0 ? -drawn : drawn);
  });
  for (std::size_t i = 0; i < kernel->scalars.size(); ++i)
    call.scalars.emplace_back(i == 0 ? -1.0 : 2.0);
  return call;
}

ir::Kernel lowered(const plan::Plan& plan, const plan::Variant& variant) {
  ir::Kernel kernel = ir::lower(plan, variant);
  std::erase_if(kernel.assumptions, is_preference);
  return kernel;
}

// Calls f(plan, variant) for the variants by mma.sync of a kernel for the GPUs that have its types.
template <class F>
void each_variant(const sema::KernelPtr& kernel, const F& f) {
  for (const char* gpu : gpus) {
    const plan::Plan plan = plan::make_plan(kernel, *find_target(gpu));
    if (!plan.problems.empty()) continue;
    for (const plan::Variant& variant : plan.variants) {
      INFO(kernel->name << " for " << gpu << ", variant " << variant.name);
      if (plan::sm80_of(variant)) f(plan, variant);
    }
  }
}

// A call of drawn integers, up to `most`, and its result.
struct Problem {
  sema::KernelCall call;
  sema::Array expected;

  Problem(const sema::KernelPtr& kernel, const Extents& sizes, std::int64_t most)
      : call(call_of(kernel, {{"M", sizes.m}, {"N", sizes.n}, {"K", sizes.k}}, most)),
        expected(sema::run_reference(call).outputs[0]) {}
};

}  // namespace

TEST_CASE("types by mma.sync: every GPU has rows for all sizes, which meet no bank twice") {
  Kernels kernels(script);
  REQUIRE(kernels.all().size() == 17);
  int count = 0;
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const ElementType type = kernel->tensors[0].element;
    for (const char* gpu : gpus) {
      INFO(kernel->name << " for " << gpu);
      const plan::Plan plan = plan::make_plan(kernel, *find_target(gpu));
      const bool is_byte_float = type == ElementType::e4m3 || type == ElementType::e5m2;
      if (is_byte_float && std::string(gpu) == "a100") continue;
      REQUIRE(plan.problems.empty());
      for (const plan::Variant& variant : plan.variants) CHECK(!plan::runs_each_element(variant));
      // Hopper multiplies the other types by wgmma, of odd sizes on copies.
      const bool by_warps = std::string(gpu) != "h200" || type == ElementType::f64;
      int vectors = 0, elements = 0;
      for (const plan::Variant& variant : plan.variants) {
        if (!plan::sm80_of(variant)) continue;
        const bool has_vectors = variant.accesses == plan::Width::vectors;
        if (variant.cost) (has_vectors ? vectors : elements) += 1;
        if (!has_vectors) continue;
        for (const plan::BankConflicts& each : variant.prediction.conflicts)
          CHECK(each.wavefronts == each.least);
        ++count;
      }
      CHECK((vectors >= 14) == by_warps);
      CHECK((elements >= 11) == by_warps);
    }
  }
  CHECK(count > 400);
}

TEST_CASE("types by mma.sync: every variant agrees with the reference, bit for bit") {
  Kernels kernels(script);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const ElementType type = kernel->tensors[0].element;
    const std::int64_t k = exact_k(type);
    // A corner of the largest tile, ragged ends in all directions, and more of K than is in flight.
    std::vector<Problem> problems;
    for (const auto& [extents, most] : std::vector<std::pair<Extents, std::int64_t>>{
             {{48, 80, k}, largest(type)}, {{19, 35, k - 1}, largest(type)}, {{33, 17, 272}, 3}})
      problems.emplace_back(kernel, extents, most);
    std::set<std::string> met;
    each_variant(kernel, [&](const plan::Plan& plan, const plan::Variant& variant) {
      const ir::Kernel made = lowered(plan, variant);
      for (const auto& [call, expected] : problems) {
        if (!can_run(variant, call.sizes)) continue;
        // Rows are the same for several GPUs but for stages.
        const std::string rows = std::to_string(expected.shape[0]);
        if (met.insert(made.name + rows + plan::sm80_of(variant)->mma.name).second)
          CHECK(trouble(made, call, expected) == "");
      }
    });
    CHECK(met.size() > 30);
  }
}

TEST_CASE("types by mma.sync: tile programs by plain loops agree with the reference") {
  Kernels kernels(script);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const ElementType type = kernel->tensors[0].element;
    const Problem problem(kernel, {35, 19, exact_k(type) - 1}, largest(type));
    std::set<std::string> met;
    each_variant(kernel, [&](const plan::Plan&, const plan::Variant& variant) {
      const auto& program = variant.programs.front();
      CHECK(tile::verify(program).empty());
      // One width: single elements take these sizes.
      if (variant.accesses != plan::Width::elements || !met.insert(variant.name).second) return;
      CHECK(difference(tile::interpret(program, problem.call).outputs[0], problem.expected) == "");
    });
    CHECK(met.size() >= 11);
  }
}

TEST_CASE("types by mma.sync: a lane that holds another's elements is found") {
  Kernels kernels(script);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name != "s8_tn" && kernel->name != "tf32_nt" && kernel->name != "f64_tt") continue;
    const ElementType type = kernel->tensors[0].element;
    const sema::KernelCall call = call_of(kernel, {{"M", 48}, {"N", 80}, {"K", exact_k(type)}}, 3);
    const sema::Array expected = sema::run_reference(call).outputs[0];
    int count = 0;
    each_variant(kernel, [&](const plan::Plan& plan, const plan::Variant& variant) {
      if (!can_run(variant, call.sizes) || !variant.name.starts_with("sm80_64x64")) return;
      plan::Sm80Gemm gemm = *plan::sm80_of(variant);
      CHECK(trouble(lowered(plan, variant), call, expected) == "");
      // Lane 4 i + j has the values of B that lane i + 8 j has.
      ir::Kernel made = lowered(plan, variant);
      bool broken = false;
      for (ir::MmaAtom& atom : made.atoms) {
        if (!atom.b) continue;
        const Layout b = *atom.b;
        atom.b = Layout(tuple(tuple(b.shape[0][1], b.shape[0][0]), b.shape[1]),
                        tuple(tuple(b.stride[0][1], b.stride[0][0]), b.stride[1]));
        broken = true;
      }
      REQUIRE(broken);
      CHECK(trouble(made, call, expected) != "");
      ++count;
    });
    CHECK(count > 0);
  }
}

}  // namespace lay::test
