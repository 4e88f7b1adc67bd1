// lay_conformance [--symbols] [--show CLASS] [OPERATION...]: the table of the vectors by operation
// and class, with every case of one class above it. Exit status 1 if a case is different.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "generated/tests/paths.h"
#include "tests/conformance/table.h"

using namespace conformance;

int main(int count, char** arguments) {
  std::vector<std::string> operations(arguments + 1, arguments + count);
  const auto take = [&](const std::string& option, bool with_value) -> std::string {
    const auto at = std::find(operations.begin(), operations.end(), option);
    if (at == operations.end() || (with_value && at + 1 == operations.end())) return "";
    const std::string value = with_value ? *(at + 1) : option;
    operations.erase(at, at + (with_value ? 2 : 1));
    return value;
  };
  const std::string shown = take("--show", true);
  const bool symbols = !take("--symbols", false).empty();

  Lay lay;
  Table table;
  int different = 0;
  const auto enter = [&](const Case& c, const std::string& outcome, const std::string& detail) {
    ++table[c.op][outcome];
    different += outcome == "different" ? 1 : 0;
    if (outcome == "different" || outcome == shown) {
      std::printf("%s: %s\n    %s\n", outcome.c_str(), c.describe().c_str(), detail.c_str());
    }
  };
  for (const Case& c : read_cases(LAY_SOURCE_DIR "/tests/conformance/vectors.jsonl")) {
    if (!operations.empty() &&
        std::find(operations.begin(), operations.end(), c.op) == operations.end())
      continue;
    std::string detail;
    if (!symbols) {
      const std::string outcome = classify(lay, c, detail);
      enter(c, outcome, detail);
    } else if (has_symbolic_form(c)) {
      for (const bool strides : {false, true}) {
        const std::string outcome = classify_symbolic(lay, c, strides, detail);
        enter(c, outcome, detail);
      }
    }
  }
  print_table(table, symbols ? symbolic_classes() : classes());
  return different == 0 ? 0 : 1;
}
