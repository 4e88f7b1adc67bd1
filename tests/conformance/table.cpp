#include "tests/conformance/table.h"

#include <algorithm>
#include <cstdio>

#include "tests/conformance/contract.h"

namespace conformance {
namespace {

bool same(const Outcome& ours, const Outcome& theirs) {
  return ours.result == theirs.result && ours.offset == theirs.offset && ours.table == theirs.table;
}

}  // namespace

const std::vector<std::string>& classes() {
  static const std::vector<std::string> columns = {
      "same",      "same function", "refused, as CuTe", "refused, CuTe wrong",
      "corrected", "ours only",     "refused",          "different"};
  return columns;
}

const std::vector<std::string>& symbolic_classes() {
  static const std::vector<std::string> columns = {"right", "guarded out", "refused", "different"};
  return columns;
}

std::string classify(Lay& lay, const Case& c, std::string& detail) {
  const auto theirs = expected_of(c);
  const Answer answer = lay.ask(c);
  if (!answer.outcome) {
    detail = answer.code + ": " + answer.message + (theirs ? ", CuTe: " + theirs->to_string() : "");
    if (!theirs) return "refused, as CuTe";
    return keeps_contract(c, *theirs) == false ? "refused, CuTe wrong" : "refused";
  }
  const Outcome& ours = *answer.outcome;
  detail = ours.to_string() + (theirs ? ", CuTe: " + theirs->to_string() : "");
  const std::optional<bool> kept = keeps_contract(c, ours);
  if (!answer.guards.empty() || kept == false) return "different";
  if (!theirs) return "ours only";
  if (same(ours, *theirs)) return "same";
  if (same_function(ours, *theirs)) return "same function";
  if (kept != true) return "different";
  if (keeps_contract(c, *theirs) == false) return "corrected";
  // Both are inverses, and differ only where the law says nothing.
  return c.op.ends_with("left_inverse") ? "same function" : "different";
}

std::string classify_symbolic(Lay& lay, const Case& c, bool strides, std::string& detail) {
  const Lay::Symbolic said = lay.ask_with_symbols(c, strides);
  detail = said.text;
  if (!said.answer.outcome) {
    detail += "\n    " + said.answer.code + ": " + said.answer.message;
    return "refused";
  }
  for (const lay::Guard& guard : said.answer.guards) detail += "\n    guard " + guard.to_string();
  if (!said.guards_hold) return "guarded out";
  const Outcome& ours = *said.answer.outcome;
  detail += "\n    at these numbers " + ours.to_string();
  if (const auto kept = keeps_contract(c, ours)) return *kept ? "right" : "different";
  const Answer literal = lay.ask(c);
  if (!literal.outcome)
    return "right";  // the symbols leave the numbers out that are refused; nothing to compare with
  return same(ours, *literal.outcome) || same_function(ours, *literal.outcome) ? "right"
                                                                               : "different";
}

bool has_symbolic_form(const Case& c) {
  static const char* const operations[] = {"composition",
                                           "composition_tiler",
                                           "composition_shape",
                                           "composition_basis",
                                           "with_shape",
                                           "coalesce",
                                           "coalesce_profile",
                                           "filter",
                                           "filter_zeros",
                                           "filter_profile",
                                           "complement",
                                           "complement_cotarget",
                                           "right_inverse",
                                           "left_inverse",
                                           "nullspace",
                                           "logical_divide",
                                           "zipped_divide",
                                           "tiled_divide",
                                           "flat_divide",
                                           "logical_product",
                                           "zipped_product",
                                           "tiled_product",
                                           "flat_product",
                                           "blocked_product",
                                           "raked_product",
                                           "tile_to_shape",
                                           "upcast",
                                           "downcast",
                                           "recast_layout",
                                           "max_common_layout",
                                           "make_layout_like",
                                           "make_fragment_like",
                                           "make_ordered_layout",
                                           "identity_composition",
                                           "identity_logical_divide",
                                           "identity_zipped_divide",
                                           "identity_tiled_divide",
                                           "identity_flat_divide",
                                           "composed_compose",
                                           "composed_tile_to_shape",
                                           "composed_logical_divide",
                                           "composed_zipped_divide",
                                           "composed_tiled_divide",
                                           "composed_flat_divide",
                                           "composed_upcast",
                                           "composed_downcast",
                                           "composed_recast"};
  return std::find(std::begin(operations), std::end(operations), c.op) != std::end(operations);
}

void print_table(const Table& table, const std::vector<std::string>& columns) {
  std::printf("%-28s", "");
  for (const std::string& column : columns)
    std::printf("%*s", static_cast<int>(column.size()) + 3, column.c_str());
  std::printf("\n");
  std::map<std::string, int> total;
  const auto line = [&](const std::string& name, const std::map<std::string, int>& counts) {
    std::printf("%-28s", name.c_str());
    for (const std::string& column : columns) {
      const auto at = counts.find(column);
      const int n = at == counts.end() ? 0 : at->second;
      total[column] += n;
      std::printf("%*s", static_cast<int>(column.size()) + 3, n ? std::to_string(n).c_str() : ".");
    }
    std::printf("\n");
  };
  for (const auto& [op, counts] : table) line(op, counts);
  const std::map<std::string, int> sums = total;
  line("all", sums);
}

}  // namespace conformance
