// Kernels of chained products in one launch: every such variant against the reference, in the tile
// interpreter and thread by thread, rounded and in field mode, at sizes that tiles do not divide.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>

#include "backend/ir/lower/lower.h"
#include "backend/ir/text/print.h"
#include "backend/plan/make.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/tiles/chained_variants.h"
#include "backend/tile/chained_products.h"
#include "backend/tile/interpret.h"
#include "frontend/sema/kernel/reference.h"
#include "frontend/sema/library.h"
#include "runtime/execute/field_run.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;

sema::KernelCall call_of(const sema::KernelPtr& kernel, std::int64_t m, std::int64_t n,
                         std::int64_t k, std::uint32_t seed) {
  std::mt19937 random(seed);
  sema::KernelCall call = test::drawn_call(kernel, {{"M", m}, {"N", n}, {"K", k}}, [&] {
    return static_cast<int>(random() % 33) * 0.0625 - 1;
  });
  // A maximum of scores times a negative number is not that number times a maximum.
  if (!kernel->scalars.empty()) call.scalars = {sema::Number{-0.5}};
  return call;
}

const tile::Program* chained_program(const plan::Variant& variant) {
  const tile::Program* program = plan::scheduled_program(variant);
  return program && program->is_chain() ? program : nullptr;
}

// Weights are rounded to 16 bits before or after their sum divides them: each by at most 2^-8 of
// itself in bf16, and so is a result that is stored in it.
std::string difference(const sema::Array& got, const sema::Array& expected) {
  return test::difference(got, expected, 0x1p-7);
}

std::string trouble(const plan::Plan& plan, const plan::Variant& variant,
                    const sema::KernelCall& call, const sema::KernelResult& expected) {
  return test::trouble(ir::lower_all(plan, variant), call, expected, difference);
}

// Every kernel in one launch, rounded and in field mode, and in the tile interpreter.
void check_launches(std::int64_t m, std::int64_t n, std::int64_t k) {
  test::Kernels kernels("tests/agreement/products/chained.lay");
  std::uint32_t seed = 0;
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const plan::Plan plan = plan::make_plan(kernel);
    INFO(kernel->name);
    REQUIRE(plan.problems.empty());
    REQUIRE(chained_program(plan.variants.front()));
    const sema::KernelCall call = call_of(kernel, m, n, k, ++seed);
    const sema::KernelResult expected = sema::run_reference(call);
    const runtime::FieldCheck exact(call);
    int tried = 0;
    for (const plan::Variant* variant : plan::fitting_variants(plan, call.sizes)) {
      const tile::Program* program = chained_program(*variant);
      // The classes of extents beyond the first that fits do the same with more padding.
      if (!program || ++tried > 2) continue;
      INFO(variant->name);
      CHECK(trouble(plan, *variant, call, expected) == "");
      const auto wrong = exact.trouble(ir::lower_all(plan, *variant), variant->name);
      CHECK((wrong ? wrong->message : "") == "");
      const auto tiles = tile::interpret(*program, call);
      for (std::size_t i = 0; i < tiles.outputs.size(); ++i)
        CHECK(difference(tiles.outputs[i], expected.outputs[i]) == "");
    }
    CHECK(tried > 0);
  }
}

}  // namespace

// Sizes a test, so that they run side by side.
TEST_CASE("chained products: one launch agrees with the reference in less than a tile") {
  check_launches(8, 8, 8);
}
TEST_CASE("chained products: one launch agrees with the reference in several tiles of columns") {
  check_launches(24, 152, 16);
}
TEST_CASE("chained products: one launch agrees with the reference in several tiles of rows") {
  check_launches(136, 72, 72);
}

TEST_CASE("chained products: unbound programs agree in tiles of any size") {
  test::Kernels kernels("tests/agreement/products/chained.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name);
    const auto formed = tile::form_chained_products(*kernel, plan::facts_of(*kernel));
    REQUIRE(std::holds_alternative<tile::Program>(formed));
    const sema::KernelCall call = call_of(kernel, 11, 13, 5, 7);
    const sema::KernelResult expected = sema::run_reference(call);
    for (const tile::TileSizes sizes : {tile::TileSizes{1, 1}, {3, 5}, {16, 16}}) {
      const auto got = tile::interpret(std::get<tile::Program>(formed), call, sizes);
      for (std::size_t i = 0; i < got.outputs.size(); ++i)
        CHECK(difference(got.outputs[i], expected.outputs[i]) == "");
    }
  }
}

TEST_CASE("chained products: a row that a mask leaves nothing of is NaN as in the reference") {
  test::Kernels kernels("tests/agreement/products/chained.lay");
  const auto found =
      std::find_if(kernels.all().begin(), kernels.all().end(),
                   [](const sema::KernelPtr& each) { return each->name == "causal"; });
  REQUIRE(found != kernels.all().end());
  const sema::KernelPtr causal = *found;
  const plan::Plan plan = plan::make_plan(causal);
  // More rows than columns: the first ones see no column.
  const sema::KernelCall call = call_of(causal, 88, 40, 16, 3);
  const sema::KernelResult expected = sema::run_reference(call);
  REQUIRE(std::isnan(expected.outputs[0].real(0)));
  REQUIRE(!std::isnan(expected.outputs[0].real(87 * 16)));
  const plan::Variant& variant = *plan::fitting_variants(plan, call.sizes).front();
  REQUIRE(chained_program(variant));
  CHECK(trouble(plan, variant, call, expected) == "");
}

// The first and the last rows of a batch are one place: with an even and an odd number of tiles,
// and with a batch for every block and less.
TEST_CASE("chained products: places of two tiles cover each row of a causal mask once") {
  test::Kernels kernels("tests/agreement/products/chained.lay");
  Target target = default_target();
  target.sms = 3;
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name != "causal" && kernel->name != "linear_attention") continue;
    const plan::Plan plan = plan::make_plan(kernel, target);
    const plan::Variant* variant = &plan.variants.front();
    REQUIRE(chained_program(*variant));
    const int rows = chained_program(*variant)->axis(tile::row_axis).tile;
    for (const int tiles : {2, 4, 5}) {
      const sema::KernelCall call = call_of(kernel, tiles * rows - 8, 40, 8, 5);
      variant = plan::fitting_variants(plan, call.sizes).front();
      REQUIRE(chained_program(*variant));
      INFO(kernel->name << ", " << variant->name << ", " << tiles << " tiles");
      const auto launches = ir::lower_all(plan, *variant);
      CHECK(ir::print(launches.front()).find("tiles_of_place") != std::string::npos);
      CHECK(trouble(plan, *variant, call, sema::run_reference(call)) == "");
    }
  }
}

TEST_CASE("chained products: accumulators are the operand of the second product") {
  const auto atom = [](const char* name, std::int64_t n, ElementType type) {
    return sema::library_atom("atoms.sm90", name,
                              {{"n", n}, {"ab", type}, {"acc", ElementType::f32}});
  };
  for (const std::int64_t n : {16, 80, 112, 128, 176, 256})
    for (const ElementType type : {ElementType::f16, ElementType::bf16})
      CHECK(plan::are_operands(atom("wgmma", n, type), atom("wgmma_rs", 64, type)));
  // Operands of 8 bits hold four neighbours, accumulators two.
  CHECK(!plan::are_operands(atom("wgmma", 128, ElementType::f16),
                            atom("wgmma_rs", 64, ElementType::e4m3)));
  CHECK(!plan::are_operands(atom("wgmma", 24, ElementType::f16),
                            atom("wgmma_rs", 64, ElementType::f16)));
}
