// What runtime/bench/triton/contestant.py answers, read and held to what can be launched.
//
//   {"missing": "no module triton"}                                         or
//   {"triton": "3.6.0", "python": "3.12.3",
//    "kernels": [{"name": "pointers 128x256x64, 3 stages, 8 warps", "failure": "..."}, or
//                {"name": "...", "function": "pointers", "file": "0.cubin", "grid": [132, 1, 1],
//                "threads": 256,
//                 "blocks_of_cluster": 1, "shared": 147456,
//                 "arguments": [{"tensor": "a"}, {"i32": 4096}, {"i64": 4096}, {"scratch": 384}]}]}
//
// `scratch` is a pointer to that many bytes a block, 0: to none; the compiler adds such parameters
// behind the kernel's own.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace lay::bench {

// The answer is none that is known: `what()` says what is wrong with it.
struct BadReply : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TritonArgument {
  enum class Kind { tensor, i32, i64, scratch } kind = Kind::tensor;
  std::string tensor;      // its name in the request
  std::int64_t value = 0;  // a number, or the bytes of scratch a block
};

struct TritonCode {
  std::string name;     // the configuration, in words
  std::string failure;  // why there is no code; then nothing below holds
  std::string function, file;
  std::array<unsigned, 3> grid{};
  unsigned threads = 0;
  std::int64_t shared = 0;
  std::vector<TritonArgument> arguments;

  std::int64_t blocks() const { return std::int64_t{grid[0]} * grid[1] * grid[2]; }
};

struct TritonReply {
  std::string missing;  // why there is no Triton to ask; then nothing below holds
  std::string triton, python;
  std::vector<TritonCode> kernels;
};

// BadReply. Numbers are held to what a launch can have; what a kernel needs beyond it is that
// kernel's failure.
TritonReply read_reply(const std::string& json);

}  // namespace lay::bench
