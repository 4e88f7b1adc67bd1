// IR -> one readable, self-contained CUDA C++ file: no includes, no templates, one function.
//
//   auto emitted = emit(kernel, *find_target("sm_90a"));
//   std::get<Emitted>(emitted).text
//
// The function's parameters are the pointers of the global buffers in the kernel's order, then its
// sizes (int) and scalars in the kernel's order. A comment gives the layout of every buffer, the
// note and the script line of every step. Names from the script reach the text through names.h
// only. Compiled without contraction (--fmad=false) the kernel computes bit for bit what the
// interpreter does, apart from transcendental functions.
//
// The verifier has accepted the kernel. A kernel that cannot be emitted yet, or does not fit the
// target, is a Problem.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "backend/ir/ir.h"
#include "backend/target/target.h"

namespace lay::cuda {

// The text, and what launching it needs.
struct Emitted {
  std::string text;
  std::string function;    // extern "C"
  std::vector<int> lines;  // of each line of the text: the script's line it comes from; 0: none
  std::int64_t shared_bytes = 0;   // of a block, in all
  std::int64_t dynamic_bytes = 0;  // of those, what the launch must ask for
  // It may be launched before the grids ahead of it in the stream have ended, for which it waits.
  bool overlaps = false;
};

// Why a kernel cannot be emitted.
struct Problem {
  // "unsupported", "shared-memory", "threads", "text-limit", "unroll-limit"
  std::string code;
  std::string message;  // one lower-case sentence
  int line = 0;         // of the script; 0: the kernel as a whole
  std::string help = {};
};

using EmitResult = std::variant<Emitted, Problem>;

EmitResult emit(const ir::Kernel& kernel, const Target& target);

}  // namespace lay::cuda
