// Kernels as CUDA, for the tests of this folder.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backend/cuda/emit.h"
#include "frontend/sema/evaluator.h"
#include "generated/tests/paths.h"
#include "runtime/compile/compile.h"

namespace lay::test {

inline std::filesystem::path source(const std::string& path) {
  return std::filesystem::path(LAY_SOURCE_DIR) / path;
}

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The kernels of a script without errors, given by its text or as a file.
inline std::vector<sema::KernelPtr> kernels_in(const std::string& name, const std::string& text) {
  Sources sources;
  sema::Evaluator evaluator(sources, {}, {sema::Mode::check, {}});
  for (const sema::Outcome& outcome : evaluator.run(name, text)) {
    INFO(render(sources, outcome.diagnostics));
    REQUIRE(outcome.ok());
  }
  return evaluator.kernels();
}
inline std::vector<sema::KernelPtr> kernels_of(const std::filesystem::path& script) {
  return kernels_in(script.filename().string(), contents(script));
}

inline cuda::Emitted emitted(const ir::Kernel& kernel, std::string_view target) {
  const auto result = cuda::emit(kernel, *find_target(target));
  if (const auto* problem = std::get_if<cuda::Problem>(&result)) FAIL(problem->message);
  return std::get<cuda::Emitted>(result);
}

// How often `part` stands in a text.
inline int times(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// LAY_BLESS=1 rewrites the golden file; `git diff` is the review.
inline void check_golden(const std::string& text, const std::filesystem::path& golden) {
  INFO(golden.filename().string());
  if (std::getenv("LAY_BLESS")) std::ofstream(golden, std::ios::binary) << text;
  CHECK(text == contents(golden));
}

// Compiled without a word, and with everything in registers.
inline void check_compiled(const runtime::Compilation& made) {
  INFO(made.log);
  CHECK(made.ok());
  CHECK(made.messages.empty());
  CHECK(made.resources.registers > 0);
  CHECK(made.resources.stack_bytes == 0);
  CHECK(made.resources.spill_store_bytes == 0);
  CHECK(made.remarks.empty());
}

}  // namespace lay::test
