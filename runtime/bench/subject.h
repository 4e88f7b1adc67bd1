// What is measured, on the device: sets of operands, and kernels of ours bound to them.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "frontend/source/source.h"
#include "runtime/bench/data.h"
#include "runtime/bench/problem.h"
#include "runtime/gpu/gpu.h"

namespace lay::bench {

// Why a kernel could not be measured: it does not compile, or the device refused it.
struct NotMeasured : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The tensors of a problem on the device, several times over, each between two guards that nobody
// may write to.
class DeviceSets {
 public:
  DeviceSets(const Problem& problem, int sets);

  int count() const { return static_cast<int>(sets_.size()); }
  runtime::Region region(int set, sema::TensorId tensor) const;

  void upload(int set, sema::TensorId tensor, const std::vector<std::byte>& bytes);
  // Every set: the data given, and 0xff (a NaN of every floating-point type) in outputs that are
  // only written.
  void upload(const HostData& data);
  void upload(int set, const HostData& data);
  // One tensor of a set to another of as many bytes.
  void copy(int set, sema::TensorId from, sema::TensorId to, runtime::StreamHandle stream);
  // The outputs of a set, empty for inputs; one tensor of a set. NotMeasured where a guard was
  // written to.
  HostData download(int set) const;
  std::vector<std::byte> download(int set, sema::TensorId tensor) const;

 private:
  const Problem& problem_;
  std::vector<std::vector<runtime::DeviceMemory>> sets_;
};

// A variant of a plan, or kernels in the IR with the tensors and scalars of a problem, compiled and
// loaded.
class Subject {
 public:
  Subject(runtime::Gpu& gpu, const Sources& sources, const Problem& problem, const plan::Plan& plan,
          const plan::Variant& variant);
  Subject(runtime::Gpu& gpu, const Problem& problem, runtime::Launches launches);

  // On sets of the problem, whose arguments are checked the first time. NotMeasured.
  void launch(const DeviceSets& sets, int set, runtime::StreamHandle stream) const;

  const std::string& name() const { return name_; }
  // The launch that does the work; the others copy operands for it.
  const runtime::GpuKernel& compiled() const { return *prepared_.back(); }
  double compile_seconds() const;  // of all launches

 private:
  runtime::BoundLaunches bind(const DeviceSets& sets, int set) const;

  runtime::Gpu& gpu_;
  std::string name_;
  runtime::Launches launches_;
  std::vector<const runtime::GpuKernel*> prepared_;
  runtime::NamedArguments arguments_;              // without the tensors' regions
  std::map<std::string, sema::TensorId> tensors_;  // by name, those of the launches
  runtime::DeviceMemory workspace_;
  mutable std::map<std::vector<runtime::Address>, runtime::BoundLaunches>
      bound_;  // by the tensors' addresses
};

// The kernel as its definition says, one thread an output element: for what is compared bit by bit.
plan::Variant plain_variant();

// K elements whose products tensor cores add up by themselves, 0: all of them.
int accumulate_of(const plan::Variant& variant);

}  // namespace lay::bench
