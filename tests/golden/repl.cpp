#include <catch2/catch.hpp>

#include "tests/golden/golden.h"
#include "tests/golden/transcript.h"

using namespace lay::test;

TEST_CASE("REPL transcripts") {
  for (const auto& file : files_in("tests/repl", ".txt"))
    DYNAMIC_SECTION(file.filename().string()) {
      lay::runtime::Repl repl({true, lay::Colour::never, {}});
      check_expected(file, replay(repl, slurp(file)));
    }
}
