// The divides and products of stdlib/prelude.lay against CuTe's own results (tests/conformance/vectors.jsonl): the same
// shape and stride, or a refusal with a reason; never another layout.

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/language/script.h"

namespace {

using Json = nlohmann::json;

std::string tuple_text(const Json& t) {
  if (!t.is_array()) return t.is_string() ? t.get<std::string>() : t.dump();
  std::string s = "(";
  for (std::size_t i = 0; i < t.size(); ++i) s += (i ? "," : "") + tuple_text(t[i]);
  return s + (t.size() == 1 ? ",)" : ")");
}

std::string tiler_text(const Json& t) {
  if (t.is_object()) return "(" + tuple_text(t["shape"]) + ":" + tuple_text(t["stride"]) + ")";
  if (!t.is_array()) return tuple_text(t);
  std::string s = "(";
  for (std::size_t i = 0; i < t.size(); ++i) s += (i ? "," : "") + tiler_text(t[i]);
  return s + (t.size() == 1 ? ",)" : ")");
}

const std::set<std::string> kOperations = {"logical_divide",  "zipped_divide",  "tiled_divide",  "flat_divide",
                                           "logical_product", "zipped_product", "tiled_product", "flat_product",
                                           "blocked_product", "raked_product"};

}  // namespace

TEST_CASE("divides and products of the prelude have CuTe's form") {
  std::ifstream file(std::string(LAY_SOURCE_DIR) + "/tests/conformance/vectors.jsonl");
  REQUIRE(file);
  std::string line, text;
  std::vector<Json> cases;
  while (std::getline(file, line)) {
    Json c = Json::parse(line);
    if (!kOperations.contains(c["op"]) || !c["in"][0].contains("shape") || c["in"][0].contains("swizzle")) continue;
    text += c["op"].get<std::string>() + "(" + tiler_text(c["in"][0]) + ", " + tiler_text(c["args"]["tiler"]) + ")\n";
    cases.push_back(std::move(c));
  }
  lay::sema::test::Script script(text);
  REQUIRE(script.outcomes.size() == cases.size());
  std::size_t same = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO(cases[i].dump());
    const lay::sema::Outcome& outcome = script.outcomes[i];
    if (!outcome.ok() || cases[i]["static"].contains("error")) continue;
    REQUIRE(outcome.value);
    const auto* layout = outcome.value->as<lay::Layout>();
    REQUIRE(layout);
    CHECK(layout->shape.to_string() == tuple_text(cases[i]["static"]["shape"]));
    CHECK(layout->stride.to_string() == tuple_text(cases[i]["static"]["stride"]));
    ++same;
  }
  CHECK(same > 1500);
}
