// The programs of tests/embed/gpu, which a GPU runs too (tests/embed/gpu/run.sh): without a driver
// they answer what they can, and on the fake one every launch is seen and every result is right.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "generated/tests/paths.h"
#include "tests/embed/shell.h"

// A build with sanitizers has no static library.
#if !defined(__SANITIZE_ADDRESS__)

namespace {

using lay::test::install;
using lay::test::require_expected;
using lay::test::said_by;
using lay::test::shell;
using lay::test::TemporaryFolder;
namespace fs = std::filesystem;

}  // namespace

TEST_CASE("programs for a GPU check guards and workspace without one, and say that there is none") {
  const TemporaryFolder folder;
  install(folder, "lay");
  // The compiler of the tests without their driver.
  fs::create_directory(folder / "compiler");
  fs::create_symlink(LAY_BINARY_DIR "/tests/fake/libnvrtc.so.13",
                     folder / "compiler/libnvrtc.so.13");
  const std::string in = "export LAY_CACHE_DIR=" + (folder / "cache") +
                         " LD_LIBRARY_PATH=" + (folder / "compiler") + " PYTHONPATH= && ",
                    run = "bash " LAY_SOURCE_DIR "/tests/embed/gpu/run.sh " + (folder / "lay");
  const std::string by_cmake = "built       by CMake\n", by_cc = "built       by cc and c++\n";
  const std::string out = said_by(in + run), same = said_by(in + "CMAKE= " + run);
  REQUIRE(out.starts_with(by_cmake));
  REQUIRE(same.starts_with(by_cc));
  require_expected("tests/embed/gpu/none.expected", out.substr(by_cmake.size()));
  CHECK(out.substr(by_cmake.size()) == same.substr(by_cc.size()));
}

TEST_CASE("programs for a GPU launch what they should in graphs, on streams and from threads") {
  const TemporaryFolder folder;
  install(folder, "lay");
  require_expected("tests/embed/gpu/fake.expected",
                   said_by("bash " LAY_SOURCE_DIR "/tests/embed/gpu/run.sh " + (folder / "lay") +
                           " " LAY_BINARY_DIR "/tests/fake"));
}

#endif
