// The whole table on numbers, and a slice of it on symbols; build/tests/lay_conformance prints all
// of both.

#include "tests/conformance/table.h"

#include <catch2/catch.hpp>

#include "generated/tests/paths.h"

using namespace conformance;

TEST_CASE("no vector of CuTe has another answer in Lay, unless CuTe's breaks the contract") {
  Lay lay;
  for (const Case& c : read_cases(LAY_SOURCE_DIR "/tests/conformance/vectors.jsonl")) {
    std::string detail;
    const std::string outcome = classify(lay, c, detail);
    INFO(c.describe() << "\n" << detail);
    CHECK(outcome != "different");
    CHECK(outcome != "refused");
  }
}

TEST_CASE("on symbols vectors are right, guarded or refused") {
  Lay lay;
  int count = 0;
  for (const Case& c : read_cases(LAY_SOURCE_DIR "/tests/conformance/vectors.jsonl")) {
    if (!has_symbolic_form(c) || ++count % 80 != 0) continue;
    for (const bool strides : {false, true}) {
      std::string detail;
      const std::string outcome = classify_symbolic(lay, c, strides, detail);
      INFO(c.describe() << "\n" << detail);
      CHECK(outcome != "different");
    }
  }
}
