// lay_tensor_bench: bf16 GEMMs beside cublasGemmEx in one process: a kernel in the IR's text (K-major operands), or the
// kernels of a script, each in the variants of its plan that are for tensor cores, in the operand orders that their
// layouts say.
//
//   lay_tensor_bench tests/ir/hopper_persistent.ir --sizes 512x512x512,8192x8192x8192
//   lay_tensor_bench tests/bench/tensor.lay --kernel tn --sizes 4096x4096x4096
//
// First the result is compared with cuBLAS's on integers, bit for bit, over an output of NaN; then both are timed on
// random data.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <sstream>

#include "backend/ir/lower.h"
#include "backend/ir/parse.h"
#include "backend/ir/verify.h"
#include "backend/plan/make.h"
#include "frontend/algebra/convert.h"
#include "runtime/gpu.h"
#include "tests/bench/cublas.h"
#include "tests/bench/kernels.h"
#include "tests/bench/measure.h"

namespace {

using namespace lay;
using runtime::DeviceMemory;

struct Size {
  int m, n, k;
};

ir::Kernel kernel_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  ir::Kernel kernel = ir::parse(std::string{std::istreambuf_iterator<char>(in), {}});
  for (const ir::Problem& problem : ir::verify(kernel)) throw std::runtime_error(path + ": " + problem.message);
  return kernel;
}

struct Operands {
  Operands(Size size, int sets) : of(size) {
    for (int i = 0; i < sets; ++i) {
      for (const std::size_t elements : counts()) memory.emplace_back(elements * 2);
    }
  }
  std::vector<std::size_t> counts() const {
    const auto m = static_cast<std::size_t>(of.m), n = static_cast<std::size_t>(of.n),
               k = static_cast<std::size_t>(of.k);
    return {m * k, n * k, m * n};
  }
  DeviceMemory& at(int set, int which) { return memory[static_cast<std::size_t>(3 * set + which)]; }
  void fill(bool integers) {
    std::mt19937 random(20261120);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      std::vector<std::uint16_t> host(memory[i].bytes() / 2);
      for (auto& x : host) {
        x = f32_to_bf16(integers ? static_cast<float>(static_cast<int>(random() % 7) - 3)
                                 : static_cast<float>(random()) / 2147483648.0f - 1.0f);
      }
      memory[i].upload(host.data(), memory[i].bytes());
    }
  }
  std::vector<std::uint16_t> result() {
    std::vector<std::uint16_t> host(memory[2].bytes() / 2);
    memory[2].download(host.data(), memory[2].bytes());
    return host;
  }
  Size of;
  std::vector<DeviceMemory> memory;
};

// A kernel and how its operands lie: A along m in place of k, B along n in place of k.
struct Candidate {
  ir::Kernel kernel;
  bool a_across = false, b_across = false;

  bool takes(const Binding& sizes) const {
    const auto holds = [&](const Predicate& p) { return p.evaluate(sizes) == true; };
    return std::all_of(kernel.assumptions.begin(), kernel.assumptions.end(), holds);
  }
};

// A tensor (outer,k) of the script: whether neighbours in memory are neighbours along the outer index.
bool runs_across(const sema::Tensor& tensor) {
  return tensor.layout.stride[0].is_literal(1);
}

std::vector<Candidate> candidates_of(const std::string& path, const std::string& only) {
  if (path.ends_with(".ir")) return {{kernel_of(path), false, false}};
  std::vector<Candidate> all;
  for (const sema::KernelPtr& kernel : bench::kernels_of(path)) {
    if (!only.empty() && kernel->name != only) continue;
    const plan::Plan plan = plan::make_plan(kernel);
    for (const plan::Problem& problem : plan.problems) throw std::runtime_error(kernel->name + ": " + problem.message);
    for (const plan::Variant& variant : plan.variants) {
      if (variant.capability == 0) continue;
      all.push_back({ir::lower(plan, variant), runs_across(kernel->tensors[0]), runs_across(kernel->tensors[1])});
    }
  }
  return all;
}

bool compare(runtime::Gpu& gpu, const bench::Cublas& cublas, const Candidate& candidate, Size size, int rounds) {
  const ir::Kernel& kernel = candidate.kernel;
  Binding sizes;
  for (const ir::Param& param : kernel.params) {
    sizes[*param.symbol.dim_id()] = param.name == "M" ? size.m : param.name == "N" ? size.n : size.k;
  }
  if (!candidate.takes(sizes)) return true;
  runtime::Outcome outcome;
  const runtime::GpuKernel* prepared = gpu.prepare(kernel, outcome);
  if (!prepared) throw std::runtime_error(outcome.message);
  bench::Protocol protocol;
  protocol.rounds = rounds;
  const auto bytes = 2 * (static_cast<std::int64_t>(size.m) * size.k + static_cast<std::int64_t>(size.n) * size.k +
                          static_cast<std::int64_t>(size.m) * size.n);
  protocol.sets = static_cast<int>(std::clamp<std::int64_t>(120'000'000 / bytes + 1, 1, 64));
  Operands operands(size, protocol.sets);
  const auto blas = [&](int set) {
    cublas.gemm_bf16(candidate.a_across, !candidate.b_across, size.m, size.n, size.k, operands.at(set, 0).address(),
                     operands.at(set, 1).address(), operands.at(set, 2).address());
  };
  const auto ours = [&](int set) {
    runtime::LaunchArguments arguments{sizes, {}, {}};
    for (int which = 0; which < 3; ++which) {
      arguments.buffers.push_back(
          {operands.at(set, which).address(), static_cast<std::int64_t>(operands.at(set, which).bytes())});
    }
    if (const auto bad = gpu.launch(kernel, *prepared, arguments); !bad.ok()) throw std::runtime_error(bad.message);
  };
  operands.fill(true);
  blas(0);
  runtime::synchronize();
  const auto due = operands.result();
  operands.memory[2].fill(0xff);
  ours(0);
  runtime::synchronize();
  const bool right = operands.result() == due;
  operands.fill(false);
  std::vector<bench::Contestant> contestants{{"cublas", blas, {}}, {kernel.name, ours, {}}};
  bench::measure(contestants, protocol);
  const double theirs = contestants[0].median(), mine = contestants[1].median();
  const double flops = 2.0 * size.m * size.n * size.k;
  std::printf("%-24s %6d %6d %6d %9.1f us %7.1f TF/s  cublas %9.1f us  ratio %.3f  +-%4.1f%%  %3d regs %3d local  %s\n",
              kernel.name.c_str(), size.m, size.n, size.k, mine * 1e3, flops / mine / 1e9, theirs * 1e3, theirs / mine,
              contestants[1].spread() * 50, prepared->loaded.registers(), prepared->loaded.local_bytes(),
              right ? "same bits" : "WRONG");
  std::fflush(stdout);
  return right;
}

}  // namespace

int main(int argc, char** argv) try {
  std::string path = "tests/ir/hopper_persistent.ir", list = "4096x4096x4096,8192x8192x8192";
  int rounds = 7;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--sizes" && i + 1 < argc) {
      list = argv[++i];
    } else if (word == "--kernel" && i + 1 < argc) {
      only = argv[++i];
    } else if (word == "--rounds" && i + 1 < argc) {
      rounds = std::atoi(argv[++i]);
    } else {
      path = word;
    }
  }
  std::string why;
  const auto gpu = runtime::Gpu::open(&why);
  const auto cublas = gpu ? bench::Cublas::open(&why) : std::nullopt;
  if (!cublas) {
    std::cerr << "nothing to measure with: " << why << "\n";
    return 1;
  }
  const std::vector<Candidate> candidates = candidates_of(path, only);
  std::cout << gpu->device().name << ", cuBLAS " << cublas->version() << ", medians of " << rounds
            << " interleaved rounds\n";
  bool right = true;
  std::istringstream sizes(list);
  for (std::string each; std::getline(sizes, each, ',');) {
    Size size{};
    if (std::sscanf(each.c_str(), "%dx%dx%d", &size.m, &size.n, &size.k) != 3)
      throw std::runtime_error("a size is 4096x4096x4096, not " + each);
    for (const Candidate& candidate : candidates) right = compare(*gpu, *cublas, candidate, size, rounds) && right;
  }
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
