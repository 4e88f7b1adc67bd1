// CUDA C++ text -> cubin or PTX by the `nvcc` of a toolkit, where there is no NVRTC: a child
// process with an argument vector (never a shell) that works in a private folder which is removed
// afterwards.
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/nvrtc.h"

namespace lay::runtime {

// The full path of nvcc: in $PATH, then in the toolkit's folders. Empty where there is none.
const std::string& nvcc_path();
// Returns what tells one nvcc from another: its version text and the size of its file.
const std::string& nvcc_identity();

// As nvrtc_compile. Throws std::logic_error without nvcc; a child that takes longer than two
// minutes is ended.
CompilerOutput nvcc_compile(const std::string& text, const std::string& target, ImageKind kind,
                            const std::vector<std::string>& options);

}  // namespace lay::runtime
