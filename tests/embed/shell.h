// Commands as a user gives them to the shell, and Lay as a user installs it.
#pragma once

#include <string>

#include "tests/runtime/temporary.h"

namespace lay::test {

// Runs a command of the shell; what it wrote, and its exit code.
struct Ran {
  int code = 0;
  std::string out;
};
Ran shell(const std::string& command);

// Checks that the command succeeds, and returns what it wrote.
std::string said_by(const std::string& command);

// Checks that the command succeeds and writes `out`.
void require_runs(const std::string& command, const std::string& out);

// Checks that `out` is what the file of the tree holds; LAY_BLESS=1 in the environment rewrites it.
void require_expected(const std::string& file, const std::string& out);

// A command in a folder where what compiles kernels is the tests' own.
std::string with_fakes(const TemporaryFolder& folder);

// Installs Lay into a folder there.
void install(const TemporaryFolder& folder, const std::string& prefix);

// Unpacks the wheel of this build to `package` in the folder, as pip does.
void unpack_package(const TemporaryFolder& folder);

// A Python that has the modules, `python3` first; nothing where there is none.
std::string python_with(const std::string& modules);

// The snippet of docs/embedding.md in that language, of `count` the one with that number from 0.
std::string snippet(const std::string& language, int number = 0, int count = 1);

// Returns whether there is such a command.
bool is_found(const std::string& command);

}  // namespace lay::test
