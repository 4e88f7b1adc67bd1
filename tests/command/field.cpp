// `lay run --field`: its report on plans that are right. The report on other plans is tested in
// tests/agreement/field_mutants.cpp.
#include <catch2/catch.hpp>
#include <string>

#include "tests/command/process.h"
#include "tests/runtime/temporary.h"

using namespace lay::test;

TEST_CASE("run holds every variant to the reference in field mode") {
  TemporaryFolder folder;
  put(folder / "soft.lay",
      "kernel soft<M, N>(X: f32 (M,N)) -> Y: bf16 (M,N) { Y[m,n] = softmax[n](X[m,n]) }\n"
      "kernel root<M>(X: f32 M) -> Y: f32 M { Y[m] = 0 * (X[m] + inf) }\n"
      "print shape(soft(random(f32, (3,5)))), shape(root(random(f32, 7)))\n");
  const Finished ran = run_lay({"run", "soft.lay", "--field", "--on", "any"},
                               {"", folder.path().string(), {}, 60, 0});
  CHECK(ran.code == 0);
  CHECK(ran.out == "(3,5) (7,)\n");
  const auto line =
      ran.error.find("soft: equal to `reference` in field mode, 15 elements, variants ");
  REQUIRE(line != std::string::npos);
  CHECK(ran.error.find("streamed_any", line) != std::string::npos);
  CHECK(ran.error.find("root: equal to `reference` in field mode, 7 elements, variants ") !=
        std::string::npos);
  CHECK(ran.error.find("(7 elements are NaN, which tells nothing)") != std::string::npos);
}
