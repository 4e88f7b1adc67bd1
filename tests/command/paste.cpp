// `lay plan FILE > plan; cat FILE plan` is a script whose plan is the same text.
#include <catch2/catch.hpp>

#include "generated/tests/paths.h"
#include "tests/command/process.h"
#include "tests/runtime/temporary.h"

using namespace lay::test;

TEST_CASE("a plan behind its script is planned to the same text, by every example") {
  const std::filesystem::path examples = std::filesystem::path(LAY_SOURCE_DIR) / "examples";
  TemporaryFolder folder;
  int plans = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(examples)) {
    if (entry.path().extension() != ".lay") continue;
    INFO(entry.path());
    const std::string script = slurp(entry.path());
    put(folder / "script.lay", script);
    for (const std::string gpu : {"h200", "a100"}) {
      const auto lay = [&](std::vector<std::string> arguments) {
        return run_lay(arguments, {"", folder.path().string(), {}, 60, 0});
      };
      const Finished plan = lay({"plan", "script.lay", "--all", "--gpu", gpu});
      // No kernel, or none that this GPU can run.
      if (plan.out.find("schedule ") == std::string::npos) continue;
      ++plans;
      put(folder / "pasted.lay", script + "\n" + plan.out);
      CHECK(lay({"check", "pasted.lay"}).code == 0);
      CHECK(lay({"plan", "pasted.lay", "--all", "--gpu", gpu}).out == plan.out);
    }
  }
  CHECK(plans > 8);
}
