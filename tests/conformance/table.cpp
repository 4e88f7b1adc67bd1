// Every vector through our operation, and a table of the outcomes:
//   same           the same shape and stride, or the same value
//   same function  another layout with the same values
//   refused        CuTe gives a result, we refuse
//   both refuse    CuTe does not compile it, and neither do we give a result
//   ours only      CuTe does not compile it, and we give a result (checked against the law where the table can)
//   corrected      CuTe's result breaks the law, and ours keeps it
//   different      none of these: must stay empty

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <map>

#include "tests/conformance/cases.h"

using namespace conformance;
using lay::AnyLayout;
using lay::Facts;
using lay::Layout;
using lay::Refusal;
using lay::Tuple;

namespace {

constexpr int64_t kMaxValues = 4096;

const Tuple& shape_of(const AnyLayout& a) {
  if (const Layout* layout = std::get_if<Layout>(&a)) return layout->shape;
  return std::get<lay::Composed>(a).layout().shape;
}

bool has_shape(const AnyLayout& a) {
  const auto* composed = std::get_if<lay::Composed>(&a);
  return !composed || std::holds_alternative<Layout>(composed->inner);
}

bool same_swizzle(const lay::Swizzle& a, const lay::Swizzle& b) {
  for (int64_t x = 0; x < kMaxValues; ++x) {
    if (a(x) != b(x)) return false;
  }
  return true;
}

bool same_function(const Outcome& ours, const Outcome& theirs) {
  const auto *s = std::get_if<lay::Swizzle>(&ours.result), *t = std::get_if<lay::Swizzle>(&theirs.result);
  if (s && t) return same_swizzle(*s, *t);
  const auto *a = std::get_if<AnyLayout>(&ours.result), *b = std::get_if<AnyLayout>(&theirs.result);
  if (!a || !b || (has_shape(*a) && !(size(shape_of(*a)) == size(shape_of(*b))))) return false;
  Facts facts;
  const int64_t n = std::min(size(shape_of(*b)).value(), kMaxValues);
  for (int64_t i = 0; i < n; ++i) {
    const Tuple x = add(ours.offset, evaluate(facts, *a, i)), y = add(theirs.offset, evaluate(facts, *b, i));
    if (!(x == y) && !equal(add(x, 0), add(y, 0)).is_always()) return false;
  }
  return true;
}

bool same(const Outcome& ours, const Outcome& theirs) {
  return ours.result == theirs.result && ours.offset == theirs.offset;
}

std::string text_of(const Outcome& outcome) {
  if (const auto* a = std::get_if<AnyLayout>(&outcome.result)) return to_string(*a);
  if (const auto* t = std::get_if<Tuple>(&outcome.result)) return t->to_string();
  return std::get<lay::Swizzle>(outcome.result).to_string();
}

const char* classify(const Case& c, std::string& detail) {
  const auto theirs = expected_of(c);
  std::optional<Outcome> ours;
  Facts facts;
  lay::GuardScope scope(facts);
  try {
    ours = run(facts, c);
    if (!ours) return "not run";
  } catch (const Refusal& refusal) {
    detail = refusal.code + ": " + refusal.message;
    return theirs ? (keeps_law(c, *theirs) == false ? "CuTe is wrong" : "refused") : "both refuse";
  }
  detail = text_of(*ours) + (theirs ? ", CuTe: " + text_of(*theirs) : "");
  if (!scope.guards().empty()) return "different";
  if (theirs && same(*ours, *theirs) && keeps_law(c, *ours) != false) return "same";
  if (keeps_law(c, *ours) == false) return "different";
  if (!theirs) return "ours only";
  if (same_function(*ours, *theirs)) return "same function";
  if (keeps_law(c, *ours) != true) return "different";
  if (keeps_law(c, *theirs) == false) return "corrected";
  // Both are left inverses: they differ only off the image, where the law says nothing.
  return c.op == "composed_left_inverse" ? "same function" : "different";
}

// One case on symbols, judged where its guards hold of the numbers.
const char* classify_lifted(const Case& c, bool strides, std::string& detail) {
  Facts facts, plain;
  Lift lift(facts, strides);
  lay::GuardScope scope(facts);
  try {
    const auto symbolic = run(facts, c, &lift);
    const auto* any = symbolic ? std::get_if<AnyLayout>(&symbolic->result) : nullptr;
    const Layout* layout = any ? std::get_if<Layout>(any) : nullptr;
    if (!layout) return "no layout";
    if (!lift.hold(scope.guards())) return "guarded out";
    detail = layout->to_string();
    for (const lay::Guard& guard : scope.guards()) detail += ", guard " + guard.to_string();
    const Outcome ours{AnyLayout(lift.lower(*layout))};
    if (const auto law = keeps_law(c, ours)) return *law ? "right" : "different";
    try {
      return same_function(ours, *run(plain, c)) ? "right" : "different";
    } catch (const Refusal&) {
      return "right where numbers are refused";
    }
  } catch (const Refusal& refusal) {
    detail = refusal.code + ": " + refusal.message;
    return "refused";
  }
}

const char* const kLifted[] = {"composition",         "composition_tiler", "coalesce",        "complement",
                               "complement_cotarget", "left_inverse",      "logical_divide",  "zipped_divide",
                               "tiled_divide",        "flat_divide",       "logical_product", "blocked_product",
                               "raked_product",       "tile_to_shape",     "upcast",          "recast_layout"};

}  // namespace

TEST_CASE("every vector of CuTe is the same, refused or corrected") {
  const char* columns[] = {"same",      "same function", "refused", "both refuse", "CuTe is wrong",
                           "ours only", "corrected",     "not run", "different"};
  std::map<std::string, std::map<std::string, int>> table;
  const char* watched = std::getenv("LAY_CONFORMANCE_SHOW");
  for (const Case& c : read_cases(LAY_SOURCE_DIR "/tests/conformance/vectors.jsonl")) {
    std::string detail;
    const std::string outcome = classify(c, detail);
    ++table[c.op][outcome];
    if (outcome == "different" || (watched && outcome == watched)) {
      std::printf("%s: %s %s %s\n    %s\n", outcome.c_str(), c.id.c_str(), Json(c.in).dump().c_str(),
                  c.args.dump().c_str(), detail.c_str());
    }
  }
  std::printf("%-28s", "");
  for (const char* column : columns) std::printf("%15s", column);
  std::printf("\n");
  int different = 0;
  for (auto& [op, counts] : table) {
    std::printf("%-28s", op.c_str());
    for (const char* column : columns) std::printf("%15d", counts[column]);
    std::printf("\n");
    different += counts["different"] + counts["not run"];
  }
  CHECK(different == 0);
}

// One vector in ten: the whole takes a minute.
TEST_CASE("vectors on symbols: right, guarded or refused") {
  const char* columns[] = {"right", "guarded out", "refused", "right where numbers are refused", "different"};
  std::map<std::string, std::map<std::string, int>> table;
  int different = 0, count = 0;
  const int step = std::getenv("LAY_CONFORMANCE_ALL") ? 1 : 10;
  for (const Case& c : read_cases(LAY_SOURCE_DIR "/tests/conformance/vectors.jsonl")) {
    if (++count % step != 0) continue;
    if (std::find(std::begin(kLifted), std::end(kLifted), c.op) == std::end(kLifted)) continue;
    for (const bool strides : {false, true}) {
      std::string detail;
      const std::string outcome = classify_lifted(c, strides, detail);
      ++table[c.op][outcome];
      if (outcome != "different") continue;
      ++different;
      std::printf("different: %s %s %s\n    %s\n", c.id.c_str(), Json(c.in).dump().c_str(), c.args.dump().c_str(),
                  detail.c_str());
    }
  }
  std::printf("%-28s", "on symbols");
  for (const char* column : columns) std::printf("  %s", column);
  std::printf("\n");
  for (auto& [op, counts] : table) {
    std::printf("%-28s", op.c_str());
    for (const char* column : columns) std::printf("%10d", counts[column]);
    std::printf("\n");
  }
  CHECK(different == 0);
}
