// The tensors of a problem in device memory, in several copies.
#pragma once

#include <stdexcept>
#include <vector>

#include "runtime/bench/problem/data.h"
#include "runtime/bench/problem/problem.h"
#include "runtime/gpu/driver.h"
#include "runtime/gpu/launch_check.h"

namespace lay::bench {

// The reason why a kernel was not measured: it does not compile, or the device refused it.
struct NotMeasured : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Sets of operands. Launches rotate through the sets, so that no launch finds its operands in L2.
// Each tensor lies between two guard zones filled with 0xff, which no launch may write to.
class OperandSets {
 public:
  OperandSets(const Problem& problem, int sets);

  int count() const { return static_cast<int>(sets_.size()); }
  runtime::Region region(int set, sema::TensorId tensor) const;

  // Uploads one tensor of one set.
  void upload(int set, sema::TensorId tensor, const std::vector<std::byte>& bytes);
  // Uploads the inputs of one set. Outputs that are only written are filled with 0xff, which is a
  // NaN in every floating-point type.
  void upload(int set, const HostData& data);
  // Uploads the inputs of every set.
  void upload(const HostData& data);
  // Copies one tensor of a set to another one of as many bytes.
  void copy(int set, sema::TensorId from, sema::TensorId to, runtime::StreamHandle stream);
  // Copies the first bytes of one tensor of a set, as many as `to` has.
  void copy(int set, sema::TensorId from, runtime::DeviceMemory& to,
            runtime::StreamHandle stream) const;
  // Downloads the outputs of a set; entries of inputs stay empty. Throws NotMeasured if a guard
  // zone was written to.
  HostData download(int set) const;
  // Downloads one tensor of a set. Throws NotMeasured if one of its guard zones was written to.
  std::vector<std::byte> download(int set, sema::TensorId tensor) const;

 private:
  const Problem& problem_;
  // By set and TensorId, guard zones included.
  std::vector<std::vector<runtime::DeviceMemory>> sets_;
};

}  // namespace lay::bench
