// Emitted text -> an image that a GPU loads, by NVRTC or nvcc, through the cache.
//
//   Compilation made = compile(emitted, target);
//   made.image            the cubin; empty if it failed
//   made.messages         the compiler's errors and warnings
//
// A message of the CUDA compiler is about a line of the emitted text; it is mapped to the script's
// line, which is what a user can change.
#pragma once

#include <string>
#include <vector>

#include "backend/cuda/emit.h"
#include "runtime/compile/cache.h"
#include "runtime/compile/nvrtc.h"
#include "runtime/compile/ptxas.h"

namespace lay::runtime {

// One message of the CUDA compiler.
struct CompilerMessage {
  bool is_error = false;
  int text_line = 0;    // of the emitted text; 0: none
  int script_line = 0;  // where that line comes from; 0: unknown
  std::string text;
};

// The image that a compiler made of a text, or the reason why it made none.
struct Compilation {
  std::string image;
  ImageKind kind = ImageKind::cubin;
  std::string log;  // of the compiler, as it came
  // "NVRTC 13.0", "nvcc"; empty where there is none.
  std::string compiler;
  bool from_cache = false;
  double seconds = 0;
  Resources resources;
  // Errors and warnings.
  std::vector<CompilerMessage> messages;
  std::vector<std::string> remarks;  // of ptxas, about slow code
  // About the cache.
  std::string warning;

  bool ok() const { return !image.empty(); }
};

// `file`: the name that the compiler shows in its messages.
struct CompileOptions {
  ImageKind kind = ImageKind::cubin;
  const Cache* cache = nullptr;  // none: compile in memory
  std::string file = "kernel.cu";
};

// Returns true if there is a compiler here; if not, `why_not` says why.
bool can_compile(std::string* why_not = nullptr);

// Compiles, or returns what the cache has of the same text, target and compiler.
Compilation compile(const cuda::Emitted& emitted, const Target& target,
                    const CompileOptions& options = {});

// The part of `compile` that reads the compiler's words.
std::vector<CompilerMessage> messages_in(const std::string& log,
                                         const std::vector<int>& script_lines);

}  // namespace lay::runtime
