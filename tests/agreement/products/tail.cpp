// Products whose last wave is cut into parts of K, on the host: the launches against the reference
// bit for bit on integers, on machines of few clusters, so that there are whole waves, none, and
// tails that are cut and that are not; the bits of sums that round against those of the tile
// program; and mistakes, which the host finds.
#include <catch2/catch.hpp>
#include <random>
#include <regex>

#include "backend/ir/lower/lower.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/make.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/tile/interpret.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/host_run.h"
#include "runtime/execute/packed_call.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using test::difference;
using test::Extents;
using test::integer_call;

const char* const file = "tests/agreement/products/tail.lay";

// A plan for a machine of so many clusters, and its first variant with a tail.
struct Tailed {
  int clusters;
  plan::Plan plan;
  const plan::Variant* variant = nullptr;
};

const plan::Variant* first_with_tail(const plan::Plan& plan) {
  for (const plan::Variant& each : plan.variants)
    if (const auto gemm = plan::sm90_of(each); gemm && gemm->tail > 1) return &each;
  return nullptr;
}

std::vector<Tailed> planned(const sema::KernelPtr& kernel, const std::vector<int>& clusters) {
  Target target = default_target();
  const plan::Plan plan = plan::make_plan(kernel, target);
  for (const auto& problem : plan.problems) FAIL(problem.message);
  const plan::Variant* first = first_with_tail(plan);
  REQUIRE(first);
  std::vector<Tailed> all;
  for (const int each : clusters) {
    target.sms = each * plan::sm90_of(*first)->blocks();
    all.push_back({each, plan::make_plan(kernel, target)});
  }
  for (Tailed& tailed : all) {
    tailed.variant = first_with_tail(tailed.plan);
    REQUIRE(tailed.variant);
  }
  return all;
}

std::vector<ir::Kernel> launches_of(const Tailed& tailed, const sema::KernelCall& call) {
  return ir::lower_all(tailed.plan, plan::at_sizes(*tailed.variant, call.sizes));
}

std::string same(const sema::Array& got, const sema::Array& expected) {
  return difference(got, expected);
}

const sema::KernelPtr& kernel_of(const test::Kernels& kernels, const std::string& name) {
  for (const sema::KernelPtr& kernel : kernels.all())
    if (kernel->name == name) return kernel;
  throw std::logic_error("no kernel " + name);
}

}  // namespace

TEST_CASE("tail: launches agree with the reference in all orders of warps", "[tail]") {
  test::Kernels kernels(file);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const std::vector<Tailed> machines = planned(kernel, {1, 2, 3, 5, 100});
    for (const Extents& sizes :
         {Extents{208, 144, 208}, {64, 64, 80}, {144, 48, 464}, {336, 80, 16}}) {
      // Multiples of 16, so that TMA takes every tensor.
      const sema::KernelCall call = integer_call(kernel, sizes);
      const sema::KernelResult expected = sema::run_reference(call);
      for (const Tailed& tailed : machines) {
        const auto launches = launches_of(tailed, call);
        for (const std::uint64_t seed : {0, 1}) {
          INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k << ", "
                            << tailed.clusters << " clusters, order " << seed);
          CHECK(test::trouble(launches, call, expected, same, seed) == "");
        }
      }
    }
  }
}

TEST_CASE("tail: the tile program gives what the launches give", "[tail]") {
  test::Kernels kernels(file);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> draw(-1, 1);
  constexpr double rounding = 2e-6;
  for (const char* name : {"plain", "exchanged", "ordered"}) {
    const sema::KernelPtr& kernel = kernel_of(kernels, name);
    const std::map<std::string, std::int64_t> sizes{{"M", 136}, {"N", 104}, {"K", 720}, {"L", 2}};
    const sema::KernelCall drawn = test::drawn_call(kernel, sizes, [&] { return draw(random); });
    const sema::KernelCall call = integer_call(kernel, {136, 104, 720});
    for (const Tailed& tailed : planned(kernel, {1, 2, 3, 7, 100})) {
      INFO(name << ", " << tailed.clusters << " clusters");
      const auto& program = tailed.variant->programs.front();
      CHECK(test::trouble(launches_of(tailed, call), call, tile::interpret(program, call, {}),
                          same) == "");
      const auto near = [](const sema::Array& got, const sema::Array& expected) {
        return difference(got, expected, rounding);
      };
      CHECK(test::trouble(launches_of(tailed, drawn), drawn, tile::interpret(program, drawn, {}),
                          near) == "");
    }
  }
}

TEST_CASE("tail: sums are added up in the order of parts, whoever comes last", "[tail]") {
  test::Kernels kernels(file);
  const sema::KernelPtr& kernel = kernel_of(kernels, "plain");
  std::mt19937 random(5);
  std::uniform_real_distribution<double> draw(-1, 1);
  constexpr std::int64_t m = 136, n = 104, k = 720, tile_k = 64, parts = 4;
  const auto call_of = [&](std::int64_t extent, const std::function<double()>& value) {
    return test::drawn_call(kernel, {{"M", m}, {"N", n}, {"K", extent}}, value);
  };
  const sema::KernelCall call = call_of(k, [&] { return draw(random); });
  // By launches for the K of each part, which are not cut on one cluster.
  sema::Array expected = call.tensors[2];
  const std::vector<Tailed> machines = planned(kernel, {1, 16, 20, 100});
  const Tailed& whole = machines.front();
  for (std::int64_t part = 0; part < parts; ++part) {
    constexpr std::int64_t tiles = (k + tile_k - 1) / tile_k;
    const std::int64_t first = tiles * part / parts * tile_k,
                       end = std::min(tiles * (part + 1) / parts * tile_k, k);
    sema::KernelCall of_part = call_of(end - first, [] { return 0; });
    for (const size_t factor : {0, 1})
      for (std::int64_t row = 0; row < (factor == 0 ? m : n); ++row)
        for (std::int64_t at = first; at < end; ++at)
          of_part.tensors[factor].set_real(
              of_part.tensors[factor].offset({row, at - first}),
              call.tensors[factor].real(call.tensors[factor].offset({row, at})));
    runtime::PackedCall packed = runtime::packed(of_part);
    const auto arguments = runtime::named_arguments(packed);
    REQUIRE(!interpret::run_all(launches_of(whole, of_part), arguments).fault);
    const sema::Array sums = runtime::unpacked_outputs(of_part, packed)[0];
    for (std::int64_t i = 0; i < m * n; ++i) {
      const auto before = static_cast<float>(expected.real(i)),
                 sum = static_cast<float>(sums.real(i));
      expected.set_real(i, part == 0 ? sum : before + sum);
    }
  }
  for (std::size_t machine = 1; machine < machines.size(); ++machine) {
    const Tailed& tailed = machines[machine];
    for (const std::uint64_t seed : {0, 1, 2, 3})
      CHECK(test::trouble(launches_of(tailed, call), call, {{expected}, {}}, same, seed) == "");
    runtime::PackedCall packed = runtime::packed(call);
    REQUIRE(!interpret::run_all(launches_of(tailed, call), runtime::named_arguments(packed),
                                {.threads = 4})
                 .fault);
    CHECK(difference(runtime::unpacked_outputs(call, packed)[0], expected) == "");
  }
}

TEST_CASE("tail: faults of parts are found", "[tail]") {
  test::Kernels kernels(file);
  static const std::regex note("  @[0-9]+( \"[^\"]*\")?\n");
  const sema::KernelPtr& kernel = kernel_of(kernels, "residual");
  const sema::KernelCall call = integer_call(kernel, {264, 136, 336});
  const sema::KernelResult expected = sema::run_reference(call);
  const std::vector<Tailed> machines = planned(kernel, {4});
  const Tailed& tailed = machines.front();
  std::vector<ir::Kernel> launches = launches_of(tailed, call);
  REQUIRE(launches.size() == 2);
  const std::string text = std::regex_replace(ir::print(launches[1]), note, "\n");
  const struct {
    const char *what, *from, *to, *found;
  } faults[] = {
      {"nothing is wrong", "", "", ""},
      {"threads count before all have written", "sync counted[consumer]\n", "",
       "races with the write"},
      {"parts of all tiles are counted together",
       "tail_counts[((place - whole) * 2 + cluster_rank)",
       "tail_counts[0 * ((place - whole) * 2 + cluster_rank)", "is read before it is written"},
      {"each part is the last", "before[0] == 2 at", "before[0] >= 0 at",
       "is read before it is written"},
      {"no part is the last", "before[0] == 2 at", "before[0] == 3 at", "element"},
      {"threads do not wait for who counts", "any is_last : pred warpgroup = before[0] == 2 at",
       "let is_last : pred warpgroup = 0 == 0\n      sync", "is read before it is written"},
      {"all blocks leave their sums in one place",
       "own_sums : s32 block = ", "own_sums : s32 block = 0 * ", "races with the write"},
      {"one part too few", "in 1..3 {", "in 1..2 {", "element"},
      {"one part twice", "other * rest", "2 * rest", "element"},
  };
  for (const auto& fault : faults) {
    INFO(fault.what << ": " << fault.from << " in\n" << text);
    const size_t at = text.find(fault.from), length = std::string(fault.from).size();
    REQUIRE(at != std::string::npos);
    const std::vector<ir::Kernel> changed{
        launches[0], ir::parse(text.substr(0, at) + fault.to + text.substr(at + length))};
    const std::string found = test::trouble(changed, call, expected, same);
    INFO(found);
    if (std::string(fault.found).empty())
      CHECK(found == "");
    else
      CHECK(found.find(fault.found) != std::string::npos);
  }
  // Numbers that nothing has set to 0.
  CHECK(test::trouble({launches[1]}, call, expected, same)
            .starts_with("`tail_counts` is read before it is written"));
}
