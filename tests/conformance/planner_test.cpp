// Divides and products stand twice: as defs of stdlib/prelude.lay, and in C++ for the planner,
// which tiles without a script. Both give the same layouts, or both refuse.

#include <catch2/catch.hpp>
#include <map>

#include "generated/tests/paths.h"
#include "tests/conformance/answer.h"

using namespace lay;

namespace {

using Tile = Layout (*)(Facts&, const Layout&, const Tiler&);

const std::map<std::string, Tile> kTilings = {
    {"logical_divide", logical_divide},   {"zipped_divide", zipped_divide},
    {"tiled_divide", tiled_divide},       {"flat_divide", flat_divide},
    {"logical_product", logical_product}, {"zipped_product", zipped_product},
    {"tiled_product", tiled_product},     {"flat_product", flat_product}};

std::optional<Layout> tiled(const conformance::Case& c) {
  Facts facts;
  const Layout a = conformance::as_layout(c.in.at(0));
  const Tiler tiler = conformance::as_tiler(c.args.at("tiler"));
  try {
    if (c.op == "blocked_product") return blocked_product(facts, a, std::get<Layout>(tiler.value));
    if (c.op == "raked_product") return raked_product(facts, a, std::get<Layout>(tiler.value));
    return kTilings.at(c.op)(facts, a, tiler);
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("the planner's divides and products are those of the language") {
  conformance::Lay lay;
  int count = 0;
  for (const auto& c : conformance::read_cases(LAY_SOURCE_DIR "/tests/conformance/vectors.jsonl")) {
    if (!kTilings.contains(c.op) && c.op != "blocked_product" && c.op != "raked_product") continue;
    INFO(c.describe());
    const auto ours = tiled(c);
    const auto answer = lay.ask(c);
    REQUIRE(ours.has_value() == answer.outcome.has_value());
    if (ours) CHECK(std::get<AnyLayout>(answer.outcome->result) == AnyLayout(*ours));
    ++count;
  }
  CHECK(count > 1500);
}
