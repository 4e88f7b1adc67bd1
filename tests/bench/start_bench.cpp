// lay_start: the time from a script's file to a cubin in the device's memory, for every kernel and
// variant of it; the cache is not used, and creating the device's context is not counted.
//
//   lay_start tests/bench/sgemm.lay --rounds 5
//
// The first line loads NVRTC too, as a fresh process does. Exits with 1 where a median reaches half
// a second.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "runtime/compile/compile.h"
#include "runtime/gpu/device.h"
#include "runtime/gpu/driver.h"
#include "runtime/gpu/gpu.h"
#include "tests/bench/kernels.h"

namespace {

using namespace lay;

constexpr double aim_seconds = 0.5;

// Seconds for one variant; the whole script is read, checked and planned for it.
// The text ends in a number, so that the compiler, which keeps what it has compiled, has not seen
// it.
double start(const std::string& script, std::size_t kernel, std::size_t variant,
             const Target& target) {
  const auto begin = std::chrono::steady_clock::now();
  const auto kernels = bench::kernels_of(script);
  const plan::Plan plan = plan::make_plan(kernels[kernel]);
  const ir::Kernel lowered = ir::lower(plan, plan.variants[variant]);
  auto emitted = cuda::emit(lowered, target);
  auto& text = std::get<cuda::Emitted>(emitted);
  text.text += "// " + std::to_string(begin.time_since_epoch().count()) + "\n";
  const runtime::Compilation made = runtime::compile(text, target);
  if (!made.ok()) throw std::runtime_error(lowered.name + " does not compile: " + made.log);
  const runtime::LoadedKernel loaded(made.image, text.function, text.dynamic_bytes);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) try {
  std::string script = "tests/bench/sgemm.lay";
  int rounds = 5;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--rounds" && i + 1 < argc)
      rounds = std::max(1, std::atoi(argv[++i]));
    else
      script = argv[i];
  }
  std::string why;
  const auto gpu = runtime::Gpu::open(&why);
  if (!gpu) {
    std::cerr << "no GPU to load on: " << why << "\n";
    return 1;
  }
  std::cout << gpu->device().name
            << ", script to loaded cubin, seconds: first, median and largest of " << rounds << "\n";
  double worst = 0;
  const auto kernels = bench::kernels_of(script);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const plan::Plan plan = plan::make_plan(kernels[k]);
    for (std::size_t v = 0; v < plan.variants.size(); ++v) {
      std::vector<double> seconds;
      for (int round = 0; round < rounds; ++round)
        seconds.push_back(start(script, k, v, gpu->target()));
      const double first = seconds.front();
      std::sort(seconds.begin(), seconds.end());
      const double median = seconds[seconds.size() / 2];
      std::printf("%-12s %-12s %6.3f %6.3f %6.3f\n", kernels[k]->name.c_str(),
                  plan.variants[v].name.c_str(), first, median, seconds.back());
      worst = std::max(worst, median);
    }
  }
  std::printf("largest median %.3f s, aim %.3f s\n", worst, aim_seconds);
  return worst < aim_seconds ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
