// One benchmark: a kernel at one set of sizes, checked, then timed beside its baselines.
#pragma once

#include "backend/plan/plan.h"
#include "frontend/source/source.h"
#include "runtime/bench/cublaslt.h"
#include "runtime/bench/problem/problem.h"
#include "runtime/bench/result.h"
#include "runtime/bench/torch/torch.h"
#include "runtime/bench/triton/triton.h"
#include "runtime/gpu/gpu.h"

namespace lay::bench {

// The machine, the libraries that were found on it, and how to measure. A null pointer means that
// the library is missing; its baselines are then left out.
struct Environment {
  runtime::Gpu& gpu;
  const CublasLt* library = nullptr;
  const Nvml* sensors = nullptr;
  Triton* triton = nullptr;
  Torch* torch = nullptr;
  // Asks torch.compile for its longest search too.
  bool torch_autotune = false;
  // The number of operand sets is replaced: it depends on the problem.
  Protocol protocol = {};
  // Algorithms that cuBLASLt's heuristic is asked for.
  int algorithms = 12;
  // Measures every variant that fits the sizes, not only the one that a launch takes.
  bool all_variants = false;
  // If not empty, measures these of the variants that fit.
  std::vector<std::string> variants = {};
  // Leaves out kernels of ours that compute reductions one thread an output element.
  bool skip_scalar = false;
  // Launches each candidate once, neither checked nor timed.
  bool once = false;
};

// Runs one benchmark. A failure of one candidate is kept in its row; a failure of the problem in
// the result.
Result run_benchmark(const Environment& environment, const Sources& sources, const plan::Plan& plan,
                     const Problem& problem);

}  // namespace lay::bench
