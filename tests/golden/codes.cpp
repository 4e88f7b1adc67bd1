// Every error code that the sources name has a program in tests/errors that fails with it.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "runtime/commands/help.h"
#include "tests/golden/golden.h"

using namespace lay::test;

namespace {

namespace fs = std::filesystem;

// Codes of what is no script's doing alone: a test elsewhere shows each.
const std::set<std::string> shown_elsewhere = {
    "file",             // files that cannot be read or written: tests/runtime, tests/command
    "npy",              // tests/runtime/io/npy.cpp
    "csv",              // tests/runtime/io/csv.cpp
    "set",              // the command line: tests/command
    "no-kernel",        // likewise
    "no-parameter",     // likewise
    "no-input",         // likewise
    "unknown-command",  // tests/repl
    "unknown-target",   // the command line: tests/command
    "ptxas-remark",     // tests/command, where there is a compiler
    "cuda-compiler",    // what we emit is refused: no script is known that does it
    "format-refused",   // a mistake of the formatter: no text is known that shows it
    "inexact",          // a literal division inside an operation: its operands were checked before
    "internal",         // a mistake of ours: no text is known that shows it
    "interrupted",      // Ctrl-C
    "past-the-end",     // a note: tests/repl/layouts.txt
    "unavailable",      // a host without files or kernels; `lay` has both
    "use-cycle",        // takes two files: tests/command
};

// code -> the source that names it
std::map<std::string, std::string> codes_in_sources() {
  const std::regex named(
      R"rx((?:\bfail|\brefusal|\brefuse|\bcomplain|\berror|\breport)\(\s*"([a-z]+(?:-[a-z]+)*)",|\.?\bcode = "([a-z]+(?:-[a-z]+)*)")rx");
  std::map<std::string, std::string> codes;
  for (const char* folder : {"frontend", "backend", "runtime"})
    for (const auto& entry : fs::recursive_directory_iterator(source_root() / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      const std::string text = slurp(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), named), end; it != end; ++it)
        codes[(*it)[1].matched ? (*it)[1] : (*it)[2]] =
            fs::relative(entry.path(), source_root()).string();
    }
  return codes;
}

}  // namespace

TEST_CASE("every error code has a page") {
  std::set<std::string> codes;
  for (const auto& [code, where] : codes_in_sources()) codes.insert(code);
  for (const char* folder : {"tests/errors", "tests/errors/syntax"})
    for (const auto& file : files_in(folder, ".expected")) codes.insert(file.stem().string());
  CHECK(codes.size() >= 60);
  for (const std::string& code : codes) {
    INFO("docs/errors.md has no section `## " << code << "`");
    CHECK(lay::runtime::error_page(code));
  }
}

TEST_CASE("every error code has a program that fails with it") {
  std::set<std::string> shown;
  for (const char* folder : {"tests/errors", "tests/errors/syntax"})
    for (const auto& file : files_in(folder, ".lay")) {
      const std::string name = file.stem().string();
      shown.insert(name.substr(0, name.find('.')));
    }
  const auto codes = codes_in_sources();
  CHECK(codes.size() > 20);
  for (const auto& [code, where] : codes) {
    INFO(where << " names the code " << code << "; tests/errors/" << code << ".lay is missing");
    CHECK((shown.count(code) == 1 || shown_elsewhere.count(code) == 1));
  }
}
