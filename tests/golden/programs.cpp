#include <algorithm>
#include <catch2/catch.hpp>

#include "frontend/syntax/format.h"
#include "tests/golden/golden.h"

using namespace lay::test;
namespace fs = std::filesystem;

TEST_CASE("programs of the language print what they say they print") {
  for (const auto& file : files_in("tests/language", ".lay"))
    DYNAMIC_SECTION(file.filename().string()) {
      const Ran ran = run_program(file.filename().string(), slurp(file), file.parent_path());
      check_program(file, ran);
    }
}

TEST_CASE("the examples print what they say they print") {
  const auto files = files_in("examples", ".lay");
  CHECK(!files.empty());
  for (const auto& file : files) DYNAMIC_SECTION(file.filename().string()) {
      check_program(file, run_program(file.filename().string(), slurp(file), file.parent_path()));
    }
}

TEST_CASE(
    "every program of tests/errors fails with the code it is named after, and its cure does not") {
  for (const auto& file : files_in("tests/errors", ".lay"))
    DYNAMIC_SECTION(file.filename().string()) {
      const std::string name = file.filename().string(), code = name.substr(0, name.find('.'));
      if (name.ends_with(".cured.lay")) continue;
      const Ran ran = run_program(name, slurp(file), file.parent_path());
      INFO("codes: " << Catch::Detail::stringify(ran.codes));
      CHECK(std::find(ran.codes.begin(), ran.codes.end(), code) != ran.codes.end());
      check_program(file, ran);
      const auto cured = fs::path(file).replace_extension(".cured.lay");
      REQUIRE(fs::exists(cured));
      for (const auto& said :
           run_program(cured.filename().string(), slurp(cured), file.parent_path()).said) {
        INFO(said.text);
        CHECK(said.text.find("error[") == std::string::npos);
      }
    }
}

TEST_CASE("the scripts of the project have the one formatting") {
  for (const char* folder : {"examples", "stdlib", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(source_root() / folder)) {
      if (entry.path().extension() != ".lay") continue;
      // Programs that fail may fail for how they are written.
      if (entry.path().string().find("/tests/errors/") != std::string::npos) continue;
      lay::Sources sources;
      const std::string text = slurp(entry.path());
      const auto formatted =
          lay::syntax::format(sources, sources.add(entry.path().filename().string(), text));
      INFO(entry.path().string() << ": lay fmt rewrites it");
      if (blessing() && formatted.ok()) put(entry.path(), formatted.text);
      CHECK(formatted.ok());
      CHECK(formatted.text == slurp(entry.path()));
    }
}
