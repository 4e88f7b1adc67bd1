// A folder in which `lay` runs, and the script that most of its tests need.
#pragma once

#include <string>
#include <vector>

#include "tests/command/process.h"
#include "tests/runtime/temporary.h"

namespace lay::test {

inline const std::string scale =
    "kernel scale<M, N>(X: f32 (M,N):(N,1), a: f32) -> Y: f32 (M,N):(N,1)\n"
    "{\n"
    "  Y[m,n] = X[m,n] * a\n"
    "}\n";

struct Folder : TemporaryFolder {
  Finished lay(const std::vector<std::string>& arguments, const std::string& input = "") const {
    return run_lay(arguments, {input, path().string(), {}, 60, 0});
  }
};

}  // namespace lay::test
