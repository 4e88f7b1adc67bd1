// A slice of what `lay_agreement` checks in full.
#include <catch2/catch.hpp>

#include "generated/tests/paths.h"
#include "tests/agreement/variants.h"

TEST_CASE("interpreter and triple loop give the same bits") {
  using namespace lay::agreement;
  const auto problems = all_problems();
  Tally tally;
  std::size_t next = 0;
  for (const Gemm& gemm : gemms(LAY_SOURCE_DIR "/tests/agreement/variants.lay")) {
    INFO(gemm.kernel->name);
    REQUIRE(gemm.plan.problems.empty());
    // Every 5th problem, another set for each operand order.
    for (std::size_t i = next++; i < problems.size(); i += 5) check(gemm, problems[i], {}, tally);
  }
  for (const std::string& failure : tally.failures) UNSCOPED_INFO(failure);
  CHECK(tally.failures.empty());
  CHECK(tally.on_host >= 500);
}
