// lay_bench: sgemm of a script beside cublasSgemm (f32, no TF32), in one process.
//
//   lay_bench tests/bench/sgemm.lay --sizes 1024,2048,4096,8192 --rounds 7 --json sgemm.json
//
// Every kernel of the script is C = alpha A B (+ beta C) in one of the operand orders, which its name says: sgemm_nn,
// sgemm_nt, sgemm_tn, sgemm_tt, row-major, `t` for an operand that is stored transposed. First the result is compared
// with cuBLAS's on integers, bit for bit; then both are timed on random data.
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "backend/ir/lower.h"
#include "backend/plan/make.h"
#include "runtime/gpu.h"
#include "tests/bench/cublas.h"
#include "tests/bench/kernels.h"
#include "tests/bench/measure.h"

namespace {

using namespace lay;
using bench::Contestant;
using runtime::DeviceMemory;

struct Options {
  std::string script = "tests/bench/sgemm.lay";
  std::vector<int> sizes = {1024, 2048, 4096};
  bench::Protocol protocol;
  std::string json;
  std::string only;  // one variant's name
};

struct Result {
  std::string kernel, variant;
  int size;
  bool right;
  double ours, cublas, spread;  // ms, ms, relative
  int registers, local_bytes;
  double compile_seconds;
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (word == "--sizes") {
      options.sizes.clear();
      std::istringstream list(value());
      for (std::string size; std::getline(list, size, ',');) options.sizes.push_back(std::atoi(size.c_str()));
    } else if (word == "--rounds") {
      options.protocol.rounds = std::atoi(value().c_str());
    } else if (word == "--json") {
      options.json = value();
    } else if (word == "--variant") {
      options.only = value();
    } else {
      options.script = word;
    }
  }
  return options;
}

// A, B and C, several times over.
struct Operands {
  Operands(int size, int sets) : elements(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)) {
    for (int i = 0; i < 3 * sets; ++i) memory.emplace_back(elements * sizeof(float));
  }
  runtime::Address at(int set, int which) const { return memory[static_cast<std::size_t>(3 * set + which)].address(); }
  void fill(bool integers) {
    std::mt19937 random(20261120);
    std::vector<float> host(elements);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      for (float& x : host)
        x = integers ? static_cast<float>(static_cast<int>(random() % 6) - 3) + (random() % 2 ? 1.0f : 0.5f) * 2.0f
                     : static_cast<float>(random()) / 2147483648.0f - 1.0f;
      memory[i].upload(host.data(), host.size() * sizeof(float));
    }
  }
  std::vector<float> result(int set) const {
    std::vector<float> host(elements);
    memory[static_cast<std::size_t>(3 * set + 2)].download(host.data(), host.size() * sizeof(float));
    return host;
  }
  std::size_t elements;
  std::vector<DeviceMemory> memory;
};

class Bench {
 public:
  Bench(runtime::Gpu& gpu, const bench::Cublas& cublas, const Options& options)
      : gpu_(gpu), cublas_(cublas), options_(options) {}

  // All variants of one kernel whose conditions hold at this size.
  void run(const sema::KernelPtr& kernel, int size) {
    const bool a_transposed = kernel->name.find("_t") != std::string::npos, b_transposed = kernel->name.back() == 't';
    const plan::Plan plan = plan::make_plan(kernel);
    Binding sizes;
    for (const sema::Dim& dim : kernel->dims) sizes[*dim.symbol.dim_id()] = size;
    Operands operands(size, options_.protocol.sets);
    std::vector<Contestant> contestants;
    const auto blas = [&](int set) {
      cublas_.sgemm(a_transposed, b_transposed, size, size, size, 1.0f, operands.at(set, 0), operands.at(set, 1), 0.0f,
                    operands.at(set, 2));
    };
    contestants.push_back({"cublas", blas, {}});
    std::vector<ir::Kernel> lowered;
    std::vector<Result> results;
    for (const plan::Variant& variant : plan.variants) {
      if (!options_.only.empty() && variant.name != options_.only) continue;
      const auto holds = [&](const Predicate& p) { return p.evaluate(sizes) == true; };
      if (!std::all_of(variant.when.begin(), variant.when.end(), holds)) continue;
      lowered.push_back(ir::lower(plan, variant));
      results.push_back({kernel->name, variant.name, size, false, 0, 0, 0, 0, 0, 0});
    }
    operands.fill(true);
    blas(0);
    runtime::synchronize();
    const std::vector<float> due = operands.result(0);
    for (std::size_t i = 0; i < lowered.size(); ++i) {
      runtime::Outcome outcome;
      const runtime::GpuKernel* prepared = gpu_.prepare(lowered[i], outcome);
      if (!prepared) throw std::runtime_error(outcome.message);
      results[i].registers = prepared->loaded.registers();
      results[i].local_bytes = prepared->loaded.local_bytes();
      results[i].compile_seconds = prepared->compilation.seconds;
      const auto launch = [&, i, prepared, sizes](int set) {
        runtime::LaunchArguments arguments{sizes, {}, {}};
        for (const ir::Param& param : lowered[i].params)
          if (!param.is_size) arguments.scalars.push_back(param.name == "beta" ? 0.0 : 1.0);
        const auto bytes = static_cast<std::int64_t>(operands.elements * sizeof(float));
        for (int which = 0; which < 3; ++which) arguments.buffers.push_back({operands.at(set, which), bytes});
        if (const auto bad = gpu_.launch(lowered[i], *prepared, arguments); !bad.ok())
          throw std::runtime_error(bad.message);
      };
      operands.memory[2].fill(0xff);
      launch(0);
      runtime::synchronize();
      const std::vector<float> got = operands.result(0);
      results[i].right = std::memcmp(got.data(), due.data(), got.size() * sizeof(float)) == 0;
      contestants.push_back({lowered[i].name, launch, {}});
    }
    operands.fill(false);
    bench::measure(contestants, options_.protocol);
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i].ours = contestants[i + 1].median();
      results[i].spread = contestants[i + 1].spread();
      results[i].cublas = contestants[0].median();
      report(results[i]);
    }
  }

  void write_json() const {
    if (options_.json.empty()) return;
    std::ofstream out(options_.json);
    out << "[\n";
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Result& r = all_[i];
      out << "  {\"kernel\": \"" << r.kernel << "\", \"variant\": \"" << r.variant << "\", \"size\": " << r.size
          << ", \"right\": " << (r.right ? "true" : "false") << ", \"ms\": " << r.ours
          << ", \"cublas_ms\": " << r.cublas << ", \"ratio\": " << r.cublas / r.ours << ", \"spread\": " << r.spread
          << ", \"registers\": " << r.registers << ", \"local_bytes\": " << r.local_bytes
          << ", \"compile_seconds\": " << r.compile_seconds << "}" << (i + 1 < all_.size() ? "," : "") << "\n";
    }
    out << "]\n";
  }

  bool all_right() const {
    return std::all_of(all_.begin(), all_.end(), [](const Result& r) { return r.right; });
  }

 private:
  void report(const Result& r) {
    const double flops = 2.0 * r.size * r.size * r.size;
    char line[256];
    std::snprintf(
        line, sizeof line,
        "%-10s %-12s %6d %10.1f us %6.2f TF/s  cublas %10.1f us  ratio %.3f  +-%4.1f%%  %3d regs %3d local  %s",
        r.kernel.c_str(), r.variant.c_str(), r.size, r.ours * 1e3, flops / r.ours / 1e9, r.cublas * 1e3,
        r.cublas / r.ours, r.spread * 50, r.registers, r.local_bytes, r.right ? "same bits" : "WRONG");
    std::cout << line << std::endl;
    all_.push_back(r);
  }

  runtime::Gpu& gpu_;
  const bench::Cublas& cublas_;
  const Options& options_;
  std::vector<Result> all_;
};

}  // namespace

int main(int argc, char** argv) try {
  const Options options = options_of(argc, argv);
  std::string why;
  const auto gpu = runtime::Gpu::open(&why);
  if (!gpu) {
    std::cerr << "no GPU to measure on: " << why << "\n";
    return 1;
  }
  const auto cublas = bench::Cublas::open(&why);
  if (!cublas) {
    std::cerr << why << "\n";
    return 1;
  }
  std::cout << gpu->device().name << ", cuBLAS " << cublas->version() << ", medians of " << options.protocol.rounds
            << " interleaved rounds\n";
  Bench bench(*gpu, *cublas, options);
  for (const auto& kernel : bench::kernels_of(options.script))
    for (const int size : options.sizes) bench.run(kernel, size);
  bench.write_json();
  return bench.all_right() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
