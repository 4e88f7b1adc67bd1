// One case of the literal table: a row is drawn by weight.

#include "tests/fuzz/rows.h"

namespace fuzz {

Outcome run_literal(laws::Random& random, Report& report, const std::string& only) {
  int64_t weights = 0;
  for (const auto rows : {layout_rows(), swizzled_rows()}) {
    for (const Row& row : rows) weights += row.weight;
  }
  int64_t pick = random.in(0, weights - 1);
  for (const auto rows : {layout_rows(), swizzled_rows()}) {
    for (const Row& row : rows) {
      pick -= row.weight;
      if (only.empty() ? pick >= 0 : only != row.name) continue;
      report.operation = row.name;
      return row.run(random, report);
    }
  }
  return Outcome::wrong;
}

}  // namespace fuzz
