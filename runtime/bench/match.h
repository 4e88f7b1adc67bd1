// One kernel at one set of sizes: checked, then measured beside its opponents.
#pragma once

#include "backend/plan/plan.h"
#include "frontend/source/source.h"
#include "runtime/bench/cublaslt.h"
#include "runtime/bench/problem.h"
#include "runtime/bench/result.h"
#include "runtime/bench/triton/triton.h"
#include "runtime/gpu/gpu.h"

namespace lay::bench {

// The machine and what was found on it.
struct Arena {
  runtime::Gpu& gpu;
  const CublasLt* library = nullptr;
  const Nvml* sensors = nullptr;
  Triton* triton = nullptr;
  Protocol protocol = {};     // its sets are chosen by the problem
  int algorithms = 12;        // that are asked of the library
  bool all_variants = false;  // every variant that fits, not only the one that a launch takes
  std::vector<std::string> variants = {};  // these, where there are any, of those that fit
  bool once = false;                       // each side is launched once, neither checked nor timed
};

// What is wrong with one side stands in its row; what is wrong with the problem, in the result.
Result run_match(const Arena& arena, const Sources& sources, const plan::Plan& plan,
                 const Problem& problem);

}  // namespace lay::bench
