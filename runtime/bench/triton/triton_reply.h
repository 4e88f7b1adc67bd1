// The answer of runtime/bench/triton/candidate.py, checked before anything of it is launched.
//
//   {"missing": "no module triton"}                                         or
//   {"triton": "3.6.0", "python": "3.12.3",
//    "kernels": [{"name": "pointers 128x256x64, 3 stages, 8 warps", "failure": "..."}, or
//                {"name": "...", "function": "pointers", "file": "0.cubin", "grid": [132, 1, 1],
//                 "threads": 256, "blocks_of_cluster": 1, "shared": 147456,
//                 "arguments": [{"tensor": "a"}, {"i32": 4096}, {"i64": 4096}, {"scratch": 384}]}]}
//
// `scratch` is a pointer to that many bytes a block; 0 is a null pointer. Triton's compiler adds
// such parameters behind the kernel's own.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace lay::bench {

// Thrown for an answer that is not of this form; what() says what is wrong with it.
struct BadReply : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TritonArgument {
  enum class Kind { tensor, i32, i64, scratch } kind = Kind::tensor;
  // The tensor's name in the request.
  std::string tensor;
  // The number, or the bytes of scratch memory a block.
  std::int64_t value = 0;
};

// One configuration.
struct TritonCode {
  std::string name;
  // The reason why there is no code; nothing below holds then.
  std::string failure;
  std::string function, file;
  std::array<unsigned, 3> grid{};
  unsigned threads = 0;
  std::int64_t shared = 0;
  std::vector<TritonArgument> arguments;

  std::int64_t blocks() const { return std::int64_t{grid[0]} * grid[1] * grid[2]; }
};

struct TritonReply {
  // The reason why there is no Triton; nothing below holds then.
  std::string missing;
  std::string triton, python;
  std::vector<TritonCode> kernels;
};

// Reads an answer. Numbers must be within what a launch can have. A kernel that needs what is not
// launched here (clusters) is kept with a failure. Throws BadReply.
TritonReply read_reply(const std::string& json);

}  // namespace lay::bench
