// SIMT GEMMs whose K tiles come through a ring of stages (ring.lay): the host interpreter, with all
// its checks and in several orders of warps, and a GPU against the kernels' reference meaning, bit
// for bit on integers.
//
//   test_agreement "ring*"            on the host
//   test_agreement "[gpu][ring]"      on a GPU too, with larger sizes; in parts, whose names end in
//   - 0 to - 3
#include <catch2/catch.hpp>

#include "backend/ir/lower/lower.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/plan/make.h"
#include "backend/plan/simt/bind_simt.h"
#include "frontend/sema/kernel/reference.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/planted.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using test::Extents;

// The variant with a ring, which comes first, and the one that takes all sizes.
plan::Plan plan_of(const sema::KernelPtr& kernel) {
  plan::Plan plan = plan::make_plan(kernel);
  REQUIRE(plan.problems.empty());
  REQUIRE(plan.variants.size() >= 2);
  REQUIRE(plan::simt_of(plan.variants.front())->ring());
  CHECK(!plan::simt_of(plan.variants.back())->ring());
  return plan;
}

}  // namespace

TEST_CASE("ring: every schedule agrees with the reference, in any order of warps", "[ring]") {
  test::Kernels kernels("tests/agreement/ring.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const plan::Plan plan = plan_of(kernel);
    const ir::Kernel ring = ir::lower(plan, plan.variants.front());
    for (const Extents& sizes : {Extents{68, 76, 52}, {4, 8, 4}, {32, 64, 200}}) {
      const sema::KernelCall call = test::integer_call(kernel, sizes);
      const sema::Array expected = sema::run_reference(call).outputs[0];
      INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
      for (const std::uint64_t seed : {0, 1})
        CHECK(test::trouble(ring, call, expected, seed) == "");
    }
    // Rows that are no whole 16 bytes.
    const sema::KernelCall call = test::integer_call(kernel, {33, 70, 45});
    CHECK(test::difference(kernels.host().run(call).outputs[0],
                           sema::run_reference(call).outputs[0]) == "");
  }
}

TEST_CASE("ring: a sum of nothing", "[ring]") {
  test::Kernels kernels("tests/agreement/ring.lay");
  const sema::KernelPtr& kernel = kernels.all().front();
  const plan::Plan plan = plan_of(kernel);
  const sema::KernelCall call = test::integer_call(kernel, {36, 64, 0});
  CHECK(test::trouble(ir::lower(plan, plan.variants.front()), call,
                      sema::run_reference(call).outputs[0]) == "");
}

TEST_CASE("ring: faults are found", "[ring]") {
  test::Kernels kernels("tests/agreement/ring.lay");
  const sema::KernelPtr& kernel = kernels.all().at(1);
  REQUIRE(kernel->name == "nn");
  const sema::KernelCall call = test::integer_call(kernel, {32, 64, 200});
  const sema::Array expected = sema::run_reference(call).outputs[0];
  const plan::Plan plan = plan_of(kernel);
  const std::string text = ir::print(ir::lower(plan, plan.variants.front()));
  test::find_planted(
      text, call, expected,
      {
          {"nobody waits for the tile", "wait filled[slot(use)] phase phase(use)", "",
           "uninitialised"},
          {"the other phase is waited for", "phase phase(use)", "phase 1 - phase(use)",
           "uninitialised"},
          {"nobody waits until the stage is free", "wait drained[slot(load)] phase phase(load)",
           "fence warp", "in-flight"},
          {"stages are not given back", "arrive drained[slot(use)]", "", "deadlock"},
          {"a stage is given back by one warp too many", "drained mbarrier slots 4 count 4",
           "drained mbarrier slots 4 count 3", "race"},
          {"a copying warp is not waited for", "filled mbarrier slots 4 count 5",
           "filled mbarrier slots 4 count 4", "barrier-misuse"},
          {"nobody copies by TMA", "filled mbarrier slots 4 count 5",
           "filled mbarrier slots 4 count 6", "deadlock"},
          {"fewer bytes are announced", "bytes 2048", "bytes 2032", "bytes"},
          {"the place in the ring does not move", "advance use", "", "race"},
          {"a box begins a row of 16 bytes too late", "[tile_n * 64,", "[tile_n * 64 + 4,",
           "element 0 is"},
          {"a box begins between 16 bytes", "[tile_n * 64,", "[tile_n * 64 + 1,", "misaligned"},
      });
}

TEMPLATE_TEST_CASE_SIG("on a GPU: ring: every schedule agrees with the reference", "[.][gpu][ring]",
                       ((int part), part), 0, 1, 2, 3) {
  test::Kernels kernels("tests/agreement/ring.lay");
  for (const sema::KernelPtr& kernel : kernels.part(part, 4))
    for (const std::int64_t m : {4, 100, 512})
      for (const std::int64_t n : {8, 133, 260})
        for (const std::int64_t k : {4, 52, 640}) {
          const sema::KernelCall call = test::integer_call(kernel, {m, n, k});
          INFO(kernel->name << " " << m << " x " << n << " x " << k);
          CHECK(test::difference(kernels.gpu().run(call).outputs[0],
                                 sema::run_reference(call).outputs[0]) == "");
        }
}
