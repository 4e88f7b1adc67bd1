// Products of which lanes copy one operand for themselves (private.lay), in the host interpreter
// with all its checks, and on a GPU, against the kernels' reference meaning, bit for bit on
// integers; faults planted in one; and the order of k and the places against the instruction's
// layouts.
//
//   test_agreement_products "private*"            on the host
//   test_agreement_products "[gpu][private]"      on a GPU, with larger sizes
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "backend/ir/lower/lower.h"
#include "backend/ir/text/print.h"
#include "backend/plan/fragments/k_order.h"
#include "backend/plan/make.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/target/target.h"
#include "backend/tile/interpret.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/reference.h"
#include "frontend/sema/library.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/planted.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using lay::test::Extents;
using sema::Array;

const std::string script = "tests/agreement/products/private.lay";

// The sizes of a kernel whose sum is over `k` elements: kernels with scales count groups.
Extents sizes_of(const sema::KernelPtr& kernel, Extents sizes) {
  if (kernel->name == "groups") sizes.k = (sizes.k + 31) / 32;
  if (kernel->name == "long_groups") sizes.k = (sizes.k + 127) / 128;
  return sizes;
}

// The variant of the kernel's schedule: the first one.
plan::Variant of_schedule(const plan::Plan& plan) {
  for (const plan::Problem& each : plan.problems) FAIL(each.message);
  const plan::Variant& first = plan.variants.front();
  const auto gemm = plan::sm80_of(first);
  REQUIRE(gemm);
  REQUIRE(gemm->a.own != gemm->b.own);
  return first;
}

}  // namespace

TEST_CASE("private: every schedule agrees with the reference, thread by thread") {
  lay::test::Kernels kernels(script);
  for (const char* gpu : {"h200", "a100"})
    for (const sema::KernelPtr& kernel : kernels.all()) {
      const plan::Plan plan = plan::make_plan(kernel, *find_target(gpu));
      const plan::Variant variant = of_schedule(plan);
      const ir::Kernel lowered = ir::lower(plan, variant);
      // Few rows and columns, ragged ones, no whole K tile, one, and more than there are stages.
      for (const Extents& each :
           {Extents{1, 2, 32}, {7, 10, 96}, {8, 48, 256}, {9, 34, 544}, {16, 66, 1312}}) {
        const Extents sizes = sizes_of(kernel, each);
        INFO(gpu << ", " << kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
        // X runs along its rows in vectors as well.
        if (kernel->name == "across" && sizes.m % 8 != 0) continue;
        const sema::KernelCall call = lay::test::integer_call(kernel, sizes);
        const auto expected = sema::run_reference(call);
        CHECK(lay::test::trouble(lowered, call, expected.outputs[0]) == "");
        CHECK(lay::test::difference(tile::interpret(variant.programs.front(), call, {}).outputs[0],
                                    expected.outputs[0]) == "");
      }
    }
}

TEST_CASE("private: faults planted in a product are found") {
  lay::test::Kernels kernels(script);
  const sema::KernelPtr kernel = kernels.all().front();
  const plan::Plan plan = plan::make_plan(kernel, *find_target("a100"));
  const sema::KernelCall call = lay::test::integer_call(kernel, {3, 34, 1312});
  const std::string text = ir::print(ir::lower(plan, of_schedule(plan)));
  INFO(text);
  const std::size_t loop = text.find("for tile_k");
  REQUIRE(loop != std::string::npos);
  const std::size_t copy = text.find("copy cp_async A_shared", loop);
  REQUIRE(copy != std::string::npos);
  test::find_planted(
      text, call, sema::run_reference(call).outputs[0],
      {{"a guard that ends too late", "< K else", "<= K else", "out-of-bounds", copy},
       {"what it copied for the K tile before", ",next] count 32", ",stage] count 32", "element ",
        loop},
       {"what has not arrived", "pending 0", "pending 1", "in-flight", loop},
       {"a step twice in X", "at(4:8, step + 1)", "at(4:8, step)", "element ", loop}});
}

// Independent of how the planner computes it: what a lane copies in one access is what it
// multiplies in the steps of a run, and both operands have the same k at each place of a step.
TEST_CASE("private: steps take each k once, the same of both operands") {
  const sema::Atom atom = sema::library_atom(
      "atoms.sm80", "mma_pair", {{"ab", ElementType::bf16}, {"acc", ElementType::f32}});
  for (const int run : {8, 16, 32})
    for (const int side : {0, 1}) {
      const auto& own = side == 0 ? atom.a : atom.b;
      const auto& other = side == 0 ? atom.b : atom.a;
      const int rows = atom.shape[static_cast<std::size_t>(side)],
                columns = atom.shape[static_cast<std::size_t>(1 - side)];
      const auto order = plan::k_order(own, {rows, atom.shape[2]}, run);
      REQUIRE(order);
      CHECK(order->block() == 4 * run);
      const int blocks = 3, steps = blocks * order->steps_of_run();
      const auto copied = plan::copied_by_lanes(own, {rows, atom.shape[2]}, *order,
                                                {rows, blocks * order->block()}, 1, 1);
      const auto first = values(plan::steps_of(*order, steps));
      const auto held = values(plan::reordered(other, columns, *order)), of_atom = values(own),
                 of_other = values(other);
      REQUIRE(first.size() == static_cast<std::size_t>(steps));
      std::set<std::int64_t> met;
      for (int step = 0; step < steps; ++step) {
        // k of the instruction -> k of the tile, as lanes hold the operand that they read.
        std::map<std::int64_t, std::int64_t> k;
        for (std::size_t i = 0; i < held.size(); ++i) {
          const std::int64_t at = first[static_cast<std::size_t>(step)] + held[i] / columns;
          CHECK(held[i] % columns == of_other[i] % columns);
          CHECK(k.emplace(of_other[i] / columns, at).first->second == at);
        }
        for (const auto& [of_step, of_tile] : k) CHECK(met.insert(of_tile).second);
        // And as they have it of their own: value v of a row is element v of the step's part.
        const auto outer = values(lay::along(copied, 0)), along = values(lay::along(copied, 1));
        for (std::size_t i = 0; i < of_atom.size(); ++i) {
          const std::size_t lane = i % 32, value = i / 32, row = value / 8,
                            element = value % 8 + 8 * (static_cast<std::size_t>(step) %
                                                       static_cast<std::size_t>(run / 8)),
                            access = row + static_cast<std::size_t>(rows / 8) *
                                               (static_cast<std::size_t>(step) /
                                                static_cast<std::size_t>(run / 8)),
                            at = lane + 32 * (element + static_cast<std::size_t>(run) * access);
          CHECK(outer[at] == of_atom[i] % rows);
          CHECK(along[at] == k.at(of_atom[i] / rows));
        }
      }
      CHECK(met.size() == static_cast<std::size_t>(blocks * order->block()));
    }
  // m16n8k16 by itself gives a lane two neighbours and two others.
  const sema::Atom plain = sema::library_atom("atoms.sm80", "mma",
                                              {{"m", std::int64_t{16}},
                                               {"k", std::int64_t{16}},
                                               {"ab", ElementType::bf16},
                                               {"acc", ElementType::f32}});
  CHECK(!plan::k_order(plain.b, {8, 16}, 32));
}

TEST_CASE("on a GPU: private: it agrees with the reference", "[.][gpu][private]") {
  lay::test::Kernels kernels(script);
  for (const sema::KernelPtr& kernel : kernels.all())
    for (const std::int64_t m : {1, 5, 16, 40})
      for (const std::int64_t n : {8, 50, 4096})
        for (const std::int64_t k : {32, 544, 4096}) {
          const Extents sizes = sizes_of(kernel, {m, n, k});
          INFO(kernel->name << " " << sizes.m << " x " << sizes.n << " x " << sizes.k);
          const sema::KernelCall call = lay::test::integer_call(kernel, sizes);
          CHECK(lay::test::difference(kernels.gpu().run(call).outputs[0],
                                      sema::run_reference(call).outputs[0]) == "");
        }
}
