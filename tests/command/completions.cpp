// Completions and the man page: generated from the table of commands, and tried in the shells.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <regex>
#include <set>

#include "generated/tests/paths.h"
#include "tests/command/process.h"
#include "tests/runtime/temporary.h"

using namespace lay::test;

namespace {

std::string generated(const std::vector<std::string>& arguments) {
  const Finished finished = run_lay(arguments);
  REQUIRE(finished.code == 0);
  return finished.out;
}

// The first groups of all matches.
std::set<std::string> found(const std::string& text, const std::string& pattern) {
  std::set<std::string> all;
  const std::regex expression(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) {
    all.insert((*it)[1]);
  }
  return all;
}

std::set<std::string> commands() {
  const std::string help = generated({"--help"});
  const auto list = help.find("Subcommands:");
  REQUIRE(list != std::string::npos);
  return found(help.substr(list, help.find("exit codes:") - list), "\n  ([a-z]+)");
}

std::set<std::string> options(const std::string& command) {
  return found(generated({command, "--help"}), "[ ,](--[a-z][a-z-]*)");
}

bool has_shell(const std::string& shell) {
  return std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) == 0;
}

// Returns true if the shell takes a script; a shell that is not installed takes everything.
bool parses(const std::string& shell, const std::string& script) {
  if (!has_shell(shell)) return true;
  TemporaryFolder folder;
  put(folder / "script", script);
  return std::system((shell + " -n '" + (folder / "script") + "'").c_str()) == 0;
}

}  // namespace

TEST_CASE("completions and man page have every command and every option") {
  const std::string man = generated({"man"});
  REQUIRE(commands().size() > 10);
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string script = generated({"completions", shell});
    CHECK(parses(shell, script));
    for (const std::string& command : commands()) {
      INFO(shell << " " << command);
      CHECK(std::regex_search(script, std::regex("\\b" + command + "\\b")));
      CHECK(man.find(".SS lay " + command) != std::string::npos);
      for (const std::string& option : options(command)) {
        INFO(option);
        const std::string name = shell == "fish" ? "-l " + option.substr(2) : option;
        CHECK(script.find(name) != std::string::npos);
        std::string escaped = std::regex_replace(option, std::regex("-"), "\\-");
        CHECK(man.find(escaped) != std::string::npos);
      }
    }
  }
}

TEST_CASE("bash completes commands, options and their values") {
  if (!has_shell("bash")) return;
  TemporaryFolder folder;
  put(folder / "lay.bash", generated({"completions", "bash"}));
  const auto completed = [&](const std::string& words, int at) {
    const std::string out = (folder / "out");
    put(folder / "try.bash", "source '" + (folder / "lay.bash") + "'\nCOMP_WORDS=(" + words +
                                 ")\nCOMP_CWORD=" + std::to_string(at) +
                                 "\n_lay\necho \"${COMPREPLY[@]}\" > '" + out + "'\n");
    REQUIRE(std::system(("bash '" + (folder / "try.bash") + "'").c_str()) == 0);
    return slurp(out);
  };
  CHECK(completed("lay che", 1) == "check\n");
  CHECK(completed("lay check --du", 2) == "--dump\n");
  CHECK(completed("lay check --dump c", 3) == "cuda\n");
  CHECK(completed("lay export x --to tri", 4) == "triton\n");
  CHECK(completed("lay run file", 2) == "\n");  // left to the names of files
}

TEST_CASE("a shell without completions is a wrong command line") {
  CHECK(run_lay({"completions", "tcsh"}).code == 2);
}

TEST_CASE("the man page is the one that was read") {
  std::string page =
      std::regex_replace(generated({"man"}), std::regex("\"Lay [0-9.]+\""), "\"Lay\"");
  const std::string golden = std::string(LAY_SOURCE_DIR) + "/tests/command/man.expected";
  if (std::getenv("LAY_BLESS") != nullptr) put(golden, page);
  CHECK(page == slurp(golden));
}
