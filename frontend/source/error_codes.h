// The registry of error codes: every code that a diagnostic can carry, once.
//
// A code is part of what Lay promises: `lay help CODE` prints its page of docs/errors.md, and a
// program in tests/errors fails with it. tests/golden/codes.cpp holds the sources, this table, the
// pages and the programs against one another. Codes of the IR's verifier are not here: they are
// mistakes of ours, reported as `internal`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lay {

// The first stage of the compiler that reports the code.
enum class ErrorStage : std::uint8_t {
  syntax,   // text to tree
  layout,   // an operation of the layout algebra is refused
  check,    // names, types, kernels
  plan,     // a schedule or a kernel that no plan serves
  emit,     // the plan's kernel exceeds what CUDA source can say
  run,      // a launch on the host or the GPU
  command,  // the command line, files, the CUDA compiler
};

struct ErrorCode {
  std::string_view code;  // kebab-case
  ErrorStage stage;
  // Empty where tests/errors/CODE.lay fails with it. Else the test that shows it ("tests/..."), or
  // why no script can.
  std::string_view shown_elsewhere;
};

std::span<const ErrorCode> error_codes();
// Returns null for a code that is not registered.
const ErrorCode* find_error_code(std::string_view code);

}  // namespace lay
