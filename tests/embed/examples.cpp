// The programs of examples/embed, from an installed Lay outside the source tree: the commands that
// stand at the head of each build and run it, without a GPU, and what it prints is
// `<program>.expected` beside it (LAY_BLESS=1 rewrites that).
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "generated/tests/paths.h"
#include "tests/embed/shell.h"

// A build with sanitizers has no static library, and no wheel.
#if !defined(__SANITIZE_ADDRESS__)

namespace {

using lay::test::is_found;
using lay::test::Ran;
using lay::test::shell;
using lay::test::slurp;
using lay::test::TemporaryFolder;
namespace fs = std::filesystem;

// The commands at the head of a program: its comment, or docstring, indents them, and explains some
// behind three spaces.
std::vector<std::string> commands_of(const std::string& program) {
  std::istringstream text(slurp(program));
  std::vector<std::string> commands;
  std::string line;
  std::getline(text, line);  // the first line begins the comment
  while (std::getline(text, line) && line != " */" && line != "\"\"\"" &&
         !line.starts_with("#include"))
    for (const std::string mark : {" *   ", "//   ", "    "})
      if (line.starts_with(mark)) {
        const std::string command = line.substr(mark.size());
        commands.push_back(command.substr(0, command.find("   ")));
        break;
      }
  return commands;
}

// Lay and its examples, installed, and the examples copied to where a user works.
class Installed {
 public:
  Installed() {
    lay::test::install(folder_, "prefix");
    fs::copy(folder_ / "prefix/share/doc/lay/examples/embed", folder_ / "work",
             fs::copy_options::recursive);
    library_ = shell("dirname $(find " + (folder_ / "prefix") + " -name liblay.a)").out;
    library_.pop_back();
  }

  void add_package() const { lay::test::unpack_package(folder_); }

  // Runs a command in the folder of an example. What compiles kernels finds the tests' compiler.
  Ran run(const std::string& example, const std::string& command) const {
    const bool compiles = command.starts_with("lay build") || command.starts_with("cmake");
    return shell(
        "cd " + (folder_ / "work/") + example + " && export PATH=" + (folder_ / "prefix/bin") +
        ":$PATH PKG_CONFIG_PATH=" + library_ + "/pkgconfig LAY_CACHE_DIR=" + (folder_ / "cache") +
        " PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" + (folder_ / "package") +
        ":$PYTHONPATH LD_LIBRARY_PATH=" +
        (compiles ? LAY_BINARY_DIR "/tests/fake" : library_ + ":$LD_LIBRARY_PATH") + " && " +
        command);
  }

  // Runs the commands of a program and compares what the last one prints.
  void require_works(const std::string& example, const std::string& program) const {
    const auto commands = commands_of(folder_ / ("work/" + example + "/" + program));
    REQUIRE(!commands.empty());
    Ran last;
    for (std::string command : commands) {
      if (command.find("pip install") != std::string::npos) continue;
      if (const auto at = command.find("PREFIX_PATH=PREFIX"); at != std::string::npos)
        command.replace(at + 12, 6, folder_ / "prefix");
      last = run(example, command);
      INFO(command << "\n" << last.out);
      REQUIRE(last.code == 0);
    }
    lay::test::require_expected(
        fs::path("examples/embed/" + example + "/" + program).replace_extension(".expected"),
        last.out);
  }

 private:
  TemporaryFolder folder_;
  std::string library_;
};

const Installed& installed() {
  static const Installed made;
  return made;
}

// The same with the package for Python.
const Installed& installed_for_python() {
  static const bool has_package = (installed().add_package(), true);
  CHECK(has_package);
  return installed();
}

bool has_module(const std::string& name) {
  return shell("python3 -c 'import " + name + "'").code == 0;
}

}  // namespace

TEST_CASE("the example in C works with a bundle, and computes on the host without a GPU") {
  installed().require_works("c", "infer.c");
  const Ran refused = installed().run("c", "./infer 64 32 10");
  CHECK(refused.code == 1);
  CHECK(refused.out.ends_with("layer: the guard `K % 4 == 0` does not hold: K = 10\n"));
  CHECK(installed().run("c", "./infer 64 32").code == 2);
}

TEST_CASE("the example in C++ works with the C library") {
  if (!is_found("pkg-config")) return;
  installed().require_works("cpp", "tiles.cpp");
}

TEST_CASE("the example of CMake builds its kernels") {
  installed().require_works("cmake", "norm.c");
}

TEST_CASE("the example in Python classifies as NumPy does, and names NumPy where it is missing") {
  const Installed& lay = installed_for_python();
  if (has_module("numpy"))
    lay.require_works("python", "classify.py");
  else
    WARN("skipped: NumPy is not installed");
  const Ran missing = lay.run("python",
                              "python3 -c 'import runpy, sys; sys.modules[\"numpy\"] = None; "
                              "runpy.run_path(\"classify.py\", run_name=\"__main__\")'");
  CHECK(missing.code == 1);
  CHECK(missing.out == "this example needs NumPy: python3 -m pip install numpy\n");
}

TEST_CASE("the example of PyTorch plans its layer without PyTorch, and trains it with PyTorch") {
  const Installed& lay = installed_for_python();
  const Ran missing = lay.run("pytorch",
                              "python3 -c 'import runpy, sys; sys.modules[\"torch\"] = None; "
                              "runpy.run_path(\"train.py\", run_name=\"__main__\")'");
  INFO(missing.out);
  CHECK(missing.code == 0);
  lay::test::require_expected("examples/embed/pytorch/train.expected", missing.out);
  if (!has_module("torch")) return;
  const Ran trained = lay.run("pytorch", "python3 train.py");
  INFO(trained.out);
  CHECK(trained.code == 0);
}

#endif
