// CUDA C++ text -> cubin or PTX inside this process, by NVIDIA's NVRTC, where its library is on the
// machine. No header of the toolkit is needed to build this.
//
// Source: NVRTC user guide (the C API and its options).
#pragma once

#include <string>
#include <vector>

namespace lay::runtime {

// The output of a compiler for a text: an image, or nothing; and its log, remarks of ptxas
// included.
struct CompilerOutput {
  std::string image;  // empty: it failed
  std::string log;
};

enum class ImageKind { cubin, ptx };

// "13.0" where the library was found, else empty; and why not.
const std::string& nvrtc_version();
const std::string& nvrtc_why_not();
// Returns what tells builds of the compiler apart: version and size of the library's file.
const std::string& nvrtc_identity();

// `target` is an architecture ("sm_90a"); `file` is the name in messages. Throws std::logic_error
// without NVRTC.
CompilerOutput nvrtc_compile(const std::string& text, const std::string& file,
                             const std::string& target, ImageKind kind,
                             const std::vector<std::string>& options);

}  // namespace lay::runtime
