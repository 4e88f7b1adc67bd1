// CUDA C++ text -> cubin or PTX inside this process, by NVIDIA's NVRTC, where its library is on the
// machine. No header of the toolkit is needed to build this.
//
// Source: NVRTC user guide (the C API and its options).
#pragma once

#include <string>
#include <vector>

namespace lay::runtime {

// What a compiler made of a text: an image, or nothing; and what it said, remarks of ptxas
// included.
struct CompilerOutput {
  std::string image;  // empty: it failed
  std::string log;
};

enum class ImageKind { cubin, ptx };

// "13.0" where the library was found, else empty; and why not.
const std::string& nvrtc_version();
const std::string& nvrtc_why_not();
// What tells one build of the compiler from another: version and size of the library's file.
const std::string& nvrtc_identity();

// `target` is an architecture ("sm_90a"); `file` is the name in messages. Throws std::logic_error
// without NVRTC.
CompilerOutput nvrtc_compile(const std::string& text, const std::string& file,
                             const std::string& target, ImageKind kind,
                             const std::vector<std::string>& options);

}  // namespace lay::runtime
