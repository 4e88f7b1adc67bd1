// The waits of a user: the start of the REPL, its answers and the check of a script.
#include <catch2/catch.hpp>
#include <filesystem>

#include "generated/tests/paths.h"
#include "tests/command/fast.h"
#include "tests/command/process.h"
#include "tests/command/terminal.h"

using namespace lay::test;

TEST_CASE("every example is checked in under 20 ms") {
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(LAY_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".lay") continue;
    check_fast("lay check " + entry.path().filename().string(), 20, 10, [&] {
      return run_lay({"check", entry.path().string()}).cpu_seconds;
    });
  }
}

TEST_CASE("the REPL is ready in under 50 ms") {
  check_fast("lay to the prompt", 50, 10, [] {
    Terminal terminal({});
    terminal.wait_for("lay> ");
    return terminal.seconds();
  });
}

TEST_CASE("lay eval answers a line in under 10 ms") {
  constexpr int count = 200;
  std::string lines;
  for (int i = 0; i < count; ++i) lines += "zipped_divide((128,64):(64,1), (16,8))\n";
  check_fast("lay eval, a line", 10, 3, [&] {
    return run_lay({"eval"}, {lines, ".", {}, 60, 0}).cpu_seconds / count;
  });
}

TEST_CASE("the REPL answers a line in under 10 ms") {
  constexpr const char* ready = "lay> \r\x1b[5C";  // without text, and the cursor behind it
  Terminal terminal({});
  terminal.wait_for(ready);
  for (const std::string line :
       {"zipped_divide((128,64):(64,1), (16,8))", "(6,2):(8,2) o (4,3):(3,1)",
        "explain (6,2):(8,2) o (4,3):(3,1)", "?composition"}) {
    check_fast(line, 10, 20, [&] {
      terminal.type(line);
      const double before = terminal.seconds();
      terminal.type("\r");
      terminal.wait_for(ready);
      return terminal.seconds() - before;
    });
  }
}
