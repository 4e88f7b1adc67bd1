// lay_agreement: tests/agreement/variants.lay by a plain triple loop, the host interpreter and the
// GPU, bit for bit, for every operand order and M, N, K in {1, 7, 64, 127, 128, 129}, and 1000^3.
//
//   lay_agreement [tests/agreement/variants.lay]   both machines
//   lay_agreement --no-host                    the GPU only
#include <chrono>
#include <iostream>
#include <string_view>
#include <thread>

#include "tests/agreement/variants.h"

int main(int argc, char** argv) try {
  using namespace lay;
  agreement::Machines machines;
  machines.host_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::string script = "tests/agreement/variants.lay";
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--no-host")
      machines.host = false;
    else
      script = argv[i];
  }
  std::string why;
  const auto gpu = runtime::Gpu::open(&why);
  machines.gpu = gpu.get();
  std::cout << (gpu ? gpu->device().name : "no GPU: " + why) << std::endl;
  agreement::Tally tally;
  const auto start = std::chrono::steady_clock::now();
  for (const auto& gemm : agreement::gemms(script)) {
    for (const auto& problem : agreement::all_problems())
      agreement::check(gemm, problem, machines, tally);
    machines.checks = false;  // of the largest: they take five times as long
    agreement::check(gemm, {1000, 1000, 1000, 0, 1, 0}, machines, tally);
    machines.checks = true;
    std::cout << gemm.kernel->name << ": so far " << tally.on_host
              << " results of the interpreter and " << tally.on_gpu << " of the GPU compared, "
              << tally.failures.size() << " differ, "
              << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()
              << " s" << std::endl;
  }
  for (std::size_t i = 0; i < tally.failures.size() && i < 20; ++i)
    std::cout << tally.failures[i] << "\n";
  return tally.failures.empty() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
