// Runs kernels that scripts call: plans and lowers each once, takes the first variant whose
// conditions hold for the sizes at hand, and runs it on the GPU if there is one, else in the host
// interpreter.
//
//   Executor executor(sources, MachineChoice::any, log_to_stderr);
//   KernelResult result = executor.run(call);       // says: linear: 0.12 ms on NVIDIA H200,
//   variant wide
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "backend/plan/plan.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "frontend/source/source.h"
#include "runtime/execute/host_run.h"
#include "runtime/execute/lowered_plan.h"
#include "runtime/execute/machine.h"
#include "runtime/execute/packed_call.h"
#include "runtime/gpu/gpu.h"

namespace lay::runtime {

// Takes a line about where something ran and how long it took; may be empty.
using Log = std::function<void(const std::string&)>;

// Runs kernels for a script: plans, lowers and prepares each once.
class Executor {
 public:
  explicit Executor(const Sources& sources, MachineChoice on = MachineChoice::any, Log log = {},
                    HostChoices choices = {});
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Throws Refusal, as sema::Host::call may: what the plan, the launch or the interpreter found
  // wrong. NoGpu.
  sema::KernelResult run(const sema::KernelCall& call);

 private:
  Gpu* gpu();
  LoweredPlan& prepare(const sema::KernelPtr& kernel);
  // Throws Refusal "field-mode" where a variant differs from the reference.
  void run_in_field(LoweredPlan& prepared, const sema::KernelCall& call);
  // Each runs the kernel and says how: "0.12 ms on NVIDIA H200".
  // Nothing where the kernel is not for this GPU and the host may run it.
  std::optional<std::string> run_on_gpu(const Launches& launches, PackedCall& arguments);
  std::string run_on_host(const Launches& launches, PackedCall& arguments,
                          const plan::Variant& variant);

  const Sources& sources_;
  MachineChoice on_;
  Log log_;
  HostChoices choices_;
  std::map<sema::KernelPtr, std::unique_ptr<LoweredPlan>> prepared_;
  std::unique_ptr<Gpu> gpu_;  // where there is one and it is wanted; opened for the first call
  bool looked_for_gpu_ = false;
  std::set<std::string> warned_;
};

}  // namespace lay::runtime
