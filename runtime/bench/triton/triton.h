// Triton, asked at run time where Python and Triton are: another opponent. A program of ours in
// Python (runtime/bench/triton/contestant.py, embedded) compiles a few configurations of a product
// with its epilogue; their code is loaded and launched here like every other kernel's.
//
//   std::string why;
//   if (auto triton = Triton::open(seconds, &why))
//     for (TritonKernel& kernel : triton->kernels(request, gpu)) kernel.launch(problem, sets, set,
//     stream);
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bench/subject.h"
#include "runtime/bench/triton/triton_reply.h"
#include "runtime/bench/triton/triton_request.h"

namespace lay::bench {

// A configuration, in the device's memory.
class TritonKernel {
 public:
  // DriverError where the device takes neither the code nor as much memory.
  TritonKernel(const TritonCode& code, const std::string& image,
               const std::map<std::string, sema::TensorId>& tensors);

  // DriverError.
  void launch(const DeviceSets& sets, int set, runtime::StreamHandle stream) const;

  const std::string& name() const { return code_.name; }
  int registers() const { return loaded_.registers(); }
  int local_bytes() const { return loaded_.local_bytes(); }

 private:
  TritonCode code_;
  runtime::LoadedKernel loaded_;
  std::vector<sema::TensorId> tensors_;         // of the arguments; -1 for others
  std::vector<runtime::DeviceMemory> scratch_;  // of the arguments that are such, in order
};

class Triton {
 public:
  // Nothing where there is no Python, or no Triton in it that is new enough: then `why_not` says
  // so. Each question may take so long.
  static std::optional<Triton> open(std::chrono::milliseconds limit, std::string* why_not);

  const std::string& version() const { return version_; }  // "3.6.0, Python 3.12.3"

  struct Compiled {
    std::vector<std::shared_ptr<TritonKernel>> kernels;
    std::vector<std::string>
        failures;  // "pointers 128x256x64, ...: out of resources", of other configurations
  };
  // For a device whose blocks have so much shared memory. NotMeasured where Python does not answer:
  // that it took too long, ended with an error or gave something else. Who did not answer in time
  // is not asked again.
  Compiled compiled(const TritonRequest& request, std::int64_t shared_per_block);

 private:
  TritonReply ask(const std::string& folder, const std::string& request);

  std::string python_, version_;
  std::string gave_up_;  // why it is not asked any more
  std::chrono::milliseconds limit_{};
};

}  // namespace lay::bench
