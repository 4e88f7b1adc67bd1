// The kernels of variants.lay, in every variant of their plans, on integer-valued data: by a plain
// triple loop, by the host interpreter, and on the GPU. All three must give the same bits, in every
// variant whose conditions hold, and touch nothing but the elements of C.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "frontend/sema/kernel/kernel.h"
#include "runtime/gpu/gpu.h"

namespace lay::agreement {

struct Problem {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t padding = 0;  // added to each leading dimension
  double alpha = 1, beta = 0;

  std::string words() const;
};

// One kernel, planned, with all its variants lowered.
struct Gemm {
  explicit Gemm(sema::KernelPtr checked);

  sema::KernelPtr kernel;
  plan::Plan plan;
  std::vector<ir::Kernel> variants;
};

struct Tally {
  std::int64_t on_host = 0, on_gpu = 0;  // comparisons made
  std::vector<std::string>
      failures;  // each with kernel, variant, sizes and the first element that differs
};

struct Machines {
  bool host = true;
  runtime::Gpu* gpu = nullptr;  // null: none
  int host_threads = 1;
  bool checks = true;  // the interpreter's, for races and uninitialised reads
};

// Adds to the tally.
void check(const Gemm& gemm, const Problem& problem, const Machines& machines, Tally& tally);

// A variant asks for large enough sizes because it would be slow on small ones, not because it
// would be wrong: tests run it on those too.
bool is_preference(const Predicate& condition);

// The kernels of a script like variants.lay.
std::vector<Gemm> gemms(const std::string& path);

// M, N, K in {1, 7, 64, 127, 128, 129}, each with its own padding, alpha and beta.
std::vector<Problem> all_problems();

}  // namespace lay::agreement
