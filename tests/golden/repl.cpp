#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <sstream>

#include "tests/golden/golden.h"
#include "tests/golden/transcript.h"

using namespace lay::test;

TEST_CASE("a picture has the width that the terminal has now") {
  int columns = 200;
  lay::runtime::Repl repl({true, lay::Colour::never, {}, [&columns] { return columns; }});
  const auto widest = [&] {
    std::ostringstream shown;
    auto* const before = std::cout.rdbuf(shown.rdbuf());
    repl.take("show (4,24):(24,1)");
    std::cout.rdbuf(before);
    std::istringstream lines(shown.str());
    std::size_t width = 0;
    for (std::string line; std::getline(lines, line);) width = std::max(width, line.size());
    return width;
  };
  CHECK(widest() > 80);
  columns = 60;
  CHECK(widest() <= 60);
  columns = 200;
  CHECK(widest() > 80);
}

TEST_CASE("REPL transcripts") {
  for (const auto& file : files_in("tests/repl", ".txt"))
    DYNAMIC_SECTION(file.filename().string()) {
      lay::runtime::Repl repl({true, lay::Colour::never, {}});
      check_expected(file, replay(repl, slurp(file)));
    }
}
