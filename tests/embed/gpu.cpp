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

using lay::test::said_by;
using lay::test::TemporaryFolder;
namespace fs = std::filesystem;

// Lay, installed, with the package for Python beside it; variables for run.sh.
class Installed {
 public:
  Installed() : python_(lay::test::python_with("numpy")) {
    lay::test::install(folder_, "lay");
    lay::test::unpack_package(folder_);
    // The compiler of the tests without their driver.
    fs::create_directory(folder_ / "compiler");
    fs::create_symlink(LAY_BINARY_DIR "/tests/fake/libnvrtc.so.13",
                       folder_ / "compiler/libnvrtc.so.13");
  }

  // What run.sh prints. Without a Python that has NumPy it runs two programs.
  std::string run(const std::string& variables, const std::string& arguments) const {
    return said_by("export LAY_CACHE_DIR=" + (folder_ / "cache") +
                   " PYTHONDONTWRITEBYTECODE=1 PYTHON=" + (python_.empty() ? "false" : python_) +
                   " PYTHONPATH=" + (folder_ / "package") + " " + variables +
                   " && bash " LAY_SOURCE_DIR "/tests/embed/gpu/run.sh " + (folder_ / "lay") + " " +
                   arguments);
  }
  std::string compiler() const { return folder_ / "compiler"; }

  void require_expected(const std::string& file, const std::string& out) const {
    if (!python_.empty()) return lay::test::require_expected(file, out);
    WARN("the program in Python is left out: no NumPy");
    const std::string all = lay::test::slurp(LAY_SOURCE_DIR "/" + file);
    CHECK(out == all.substr(0, all.find("== package")));
  }

 private:
  TemporaryFolder folder_;
  std::string python_;
};

}  // namespace

TEST_CASE("programs for a GPU check guards and workspace without one, and say that there is none") {
  const Installed lay;
  const std::string by_cmake = "built       by CMake\n", by_cc = "built       by cc and c++\n",
                    in = "LD_LIBRARY_PATH=" + lay.compiler();
  const std::string out = lay.run(in, ""), same = lay.run(in + " CMAKE=", "");
  REQUIRE(out.starts_with(by_cmake));
  REQUIRE(same.starts_with(by_cc));
  lay.require_expected("tests/embed/gpu/none.expected", out.substr(by_cmake.size()));
  CHECK(out.substr(by_cmake.size()) == same.substr(by_cc.size()));
}

TEST_CASE("programs for a GPU launch what they should in graphs, on streams and from threads") {
  const Installed lay;
  lay.require_expected("tests/embed/gpu/fake.expected", lay.run("", LAY_BINARY_DIR "/tests/fake"));
}

#endif
