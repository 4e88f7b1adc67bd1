// Triton as a baseline, if the machine has Python and Triton. A program of ours in Python
// (runtime/bench/triton/candidate.py, embedded) compiles a few configurations of a GEMM with its
// epilogue. Their cubins are loaded and launched here like every other kernel's.
//
//   std::string why;
//   if (auto triton = Triton::open(limit, &why))
//     for (const auto& kernel : triton->compiled(request, shared_per_block).kernels)
//       kernel->launch(sets, set, stream);
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bench/compiled_kernel.h"
#include "runtime/bench/triton/triton_reply.h"
#include "runtime/bench/triton/triton_request.h"

namespace lay::bench {

// One configuration, loaded.
class TritonKernel {
 public:
  // Loads the cubin and allocates the scratch memory that its arguments ask for. Throws
  // DriverError, and BadReply for an argument that names no tensor of the request.
  TritonKernel(const TritonCode& code, const std::string& image,
               const std::map<std::string, sema::TensorId>& tensors);

  // Enqueues one launch on the operands of a set. Throws DriverError.
  void launch(const OperandSets& sets, int set, runtime::StreamHandle stream) const;

  // Returns the configuration in words: "pointers 128x256x64, 3 stages, 8 warps".
  const std::string& name() const { return code_.name; }
  int registers() const { return loaded_.registers(); }
  int local_bytes() const { return loaded_.local_bytes(); }

 private:
  TritonCode code_;
  runtime::LoadedKernel loaded_;
  // By argument; -1 for an argument that is not a tensor.
  std::vector<sema::TensorId> tensors_;
  // The memory of the scratch arguments, in their order.
  std::vector<runtime::DeviceMemory> scratch_;
};

class Triton {
 public:
  // Looks for Python and Triton. Returns nothing if one is missing or too old; `why_not` then says
  // which. `limit` is the time that Python has for one request.
  static std::optional<Triton> open(std::chrono::milliseconds limit, std::string* why_not);

  const std::string& version() const { return version_; }  // "3.6.0, Python 3.12.3"

  struct Compiled {
    std::vector<std::shared_ptr<TritonKernel>> kernels;
    // The other configurations with their reasons: "pointers 128x256x64, ...: out of resources".
    std::vector<std::string> failures;
  };
  // Compiles the configurations that fit into this much shared memory a block. Throws NotMeasured
  // if Python gives no answer: it took too long, ended with an error or wrote something else. After
  // an answer that took too long Python is not asked again.
  Compiled compiled(const TritonRequest& request, std::int64_t shared_per_block);

 private:
  TritonReply ask(const std::string& folder, const std::string& request);

  std::string python_, version_;
  // The reason why Python is not asked again; empty if it may be.
  std::string gave_up_;
  std::chrono::milliseconds limit_{};
};

}  // namespace lay::bench
