// lay_permute_bench: permute kernels of a script beside cuMemcpyDtoD, in one process.
//
//   lay_permute_bench tests/bench/permute.lay --sizes 16384 --rounds 7 --json permute.json
//   ... --kernel transpose_f32 --variant bytes16 --every 61      one in 61 rows is checked
//
// Every kernel of the script is Y[..] = X[..] over bare indices. First every element is compared
// with what its place in X says, on integers over an output of 0xff; then every variant whose
// conditions hold is timed. The ratio is of bytes read and written a second: the kernel's to those
// of the copy of as many bytes as Y has.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "backend/plan/recognise.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/convert.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "runtime/gpu/gpu.h"
#include "tests/bench/kernels.h"
#include "tests/bench/measure.h"

namespace {

using namespace lay;
using bench::Candidate;
using runtime::DeviceMemory;

struct Options {
  std::string script = "tests/bench/permute.lay";
  std::vector<int> sizes = {16384};
  bench::Protocol protocol{.sets = 1};
  std::size_t every = 1;  // rows of Y for one that is checked
  std::string json, kernel, variant;
};

struct Result {
  std::string kernel;
  int size = 0;
  bool right = false;
  double ms = 0, gigabytes = 0, copy_gigabytes = 0, spread = 0;
  int registers = 0, local_bytes = 0, blocks = 0;
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (word == "--sizes") {
      options.sizes.clear();
      std::istringstream list(value());
      for (std::string size; std::getline(list, size, ',');)
        options.sizes.push_back(std::atoi(size.c_str()));
    } else if (word == "--rounds") {
      options.protocol.rounds = std::atoi(value().c_str());
    } else if (word == "--json") {
      options.json = value();
    } else if (word == "--kernel") {
      options.kernel = value();
    } else if (word == "--every") {
      options.every = std::max<std::size_t>(1, std::strtoul(value().c_str(), nullptr, 10));
    } else if (word == "--variant") {
      options.variant = value();
    } else {
      options.script = word;
    }
  }
  return options;
}

// Returns what each coordinate of a mode adds to the offset.
std::vector<std::int64_t> offsets(const Layout& mode, const Binding& sizes) {
  std::map<DimId, Int> numbers;
  for (const auto& [dim, value] : sizes) numbers.emplace(dim, value);
  return values(substitute(mode, numbers));
}

// The offset of a tensor's elements by the indices of the output: the sum of one number an index.
struct Places {
  std::map<sema::IndexId, std::vector<std::int64_t>> of;

  void add(const sema::Tensor& tensor, std::size_t mode, sema::IndexId index,
           const Binding& sizes) {
    of[index] = offsets(tensor.layout[static_cast<int>(mode)], sizes);
  }
  std::int64_t at(sema::IndexId first, std::size_t i, sema::IndexId second, std::size_t j) const {
    return of.at(first)[i] + of.at(second)[j];
  }
};

float decoded(const std::vector<std::byte>& memory, std::int64_t at, ElementType type) {
  if (type == ElementType::f32) {
    float value;
    std::memcpy(&value, memory.data() + at * 4, 4);
    return value;
  }
  std::uint16_t word;
  std::memcpy(&word, memory.data() + at * 2, 2);
  return bf16_to_f32(word);
}

std::vector<std::byte> integers(std::int64_t elements, ElementType type) {
  std::vector<std::byte> memory(static_cast<std::size_t>(elements * bits(type) / 8));
  std::mt19937 random(20261122);
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto value = static_cast<float>(static_cast<int>(random() % 511) - 255);
    if (type == ElementType::f32) {
      std::memcpy(memory.data() + i * 4, &value, 4);
    } else {
      const std::uint16_t word = f32_to_bf16(value);
      std::memcpy(memory.data() + i * 2, &word, 2);
    }
  }
  return memory;
}

class Bench {
 public:
  Bench(runtime::Gpu& gpu, const Options& options) : gpu_(gpu), options_(options) {}

  void run(const sema::KernelPtr& kernel, int size) {
    const plan::Plan plan = plan::make_plan(kernel);
    for (const plan::Problem& problem : plan.problems) throw std::runtime_error(problem.message);
    Binding sizes;
    for (const sema::Dim& dim : kernel->dims) sizes[*dim.symbol.dim_id()] = size;
    const sema::Assignment& assignment = kernel->assignments.at(0);
    const sema::Tensor& y = kernel->tensors[static_cast<std::size_t>(assignment.target)];
    sema::NodeId value = assignment.value;
    while (const auto* cast =
               std::get_if<sema::Apply>(&kernel->nodes[static_cast<std::size_t>(value)].what)) {
      value = cast->operands.at(0);
    }
    const auto& load = std::get<sema::Load>(kernel->nodes[static_cast<std::size_t>(value)].what);
    const sema::Tensor& x = kernel->tensors[static_cast<std::size_t>(load.tensor)];
    const auto input = integers(sema::memory_elements(x, sizes), x.element);
    std::vector<std::byte> output(
        static_cast<std::size_t>(sema::memory_elements(y, sizes) * bits(y.element) / 8));
    DeviceMemory from(input.size()), to(output.size()), copied(output.size());
    from.upload(input.data(), input.size());
    copied.fill(1);

    std::vector<Candidate> candidates{{"copy", [&](int) { to.copy(copied); }, {}}};
    std::vector<ir::Kernel> lowered;
    std::vector<Result> results;
    for (const plan::Variant& variant : plan.variants) {
      if (!options_.variant.empty() && variant.name != options_.variant) continue;
      const auto holds = [&](const Predicate& p) { return p.evaluate(sizes) == true; };
      if (std::all_of(variant.when.begin(), variant.when.end(), holds))
        lowered.push_back(ir::lower(plan, variant));
    }
    for (const ir::Kernel& each : lowered) {
      runtime::Outcome outcome;
      const runtime::GpuKernel* prepared = gpu_.prepare(each, outcome);
      if (!prepared) throw std::runtime_error(outcome.message);
      const auto launch = [&, prepared](int) {
        runtime::LaunchArguments arguments{sizes, {}, {}};
        arguments.buffers.push_back({from.address(), static_cast<std::int64_t>(from.bytes())});
        arguments.buffers.push_back({to.address(), static_cast<std::int64_t>(to.bytes())});
        if (const auto bad = gpu_.launch(each, *prepared, arguments); !bad.ok())
          throw std::runtime_error(bad.message);
      };
      to.fill(0xff);
      launch(0);
      runtime::synchronize();
      to.download(output.data(), output.size());
      Result result{each.name, size, same(*kernel, assignment, load, input, output, sizes)};
      result.registers = prepared->loaded.registers();
      result.local_bytes = prepared->loaded.local_bytes();
      result.blocks = prepared->loaded.blocks_per_sm(each.launch.threads);
      results.push_back(result);
      candidates.push_back({each.name, launch, {}});
    }
    bench::measure(candidates, options_.protocol);
    const double copy = 2.0 * static_cast<double>(output.size()) / candidates[0].median() / 1e6;
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i].ms = candidates[i + 1].median();
      results[i].spread = candidates[i + 1].spread();
      results[i].gigabytes =
          static_cast<double>(input.size() + output.size()) / results[i].ms / 1e6;
      results[i].copy_gigabytes = copy;
      report(results[i]);
    }
  }

  void write_json() const {
    if (options_.json.empty()) return;
    std::ofstream out(options_.json);
    out << "[\n";
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Result& r = all_[i];
      out << "  {\"kernel\": \"" << r.kernel << "\", \"size\": " << r.size
          << ", \"right\": " << (r.right ? "true" : "false") << ", \"ms\": " << r.ms
          << ", \"gigabytes_per_second\": " << r.gigabytes
          << ", \"copy_gigabytes_per_second\": " << r.copy_gigabytes
          << ", \"ratio\": " << r.gigabytes / r.copy_gigabytes << ", \"spread\": " << r.spread
          << ", \"registers\": " << r.registers << ", \"local_bytes\": " << r.local_bytes
          << ", \"blocks_per_sm\": " << r.blocks << "}" << (i + 1 < all_.size() ? "," : "") << "\n";
    }
    out << "]\n";
  }

  bool all_right() const {
    return !all_.empty() &&
           std::all_of(all_.begin(), all_.end(), [](const Result& r) { return r.right; });
  }

 private:
  // Every element of Y is the one of X.
  bool same(const sema::Kernel& kernel, const sema::Assignment& assignment, const sema::Load& load,
            const std::vector<std::byte>& input, const std::vector<std::byte>& output,
            const Binding& sizes) const {
    const sema::Tensor &x = kernel.tensor(load.tensor), &y = kernel.tensor(assignment.target);
    Places in, out;
    for (std::size_t mode = 0; mode < 2; ++mode) {
      out.add(y, mode, assignment.indices.at(mode), sizes);
      in.add(x, mode, plan::bare_index(kernel, load.coordinate.at(mode)), sizes);
    }
    const sema::IndexId first = assignment.indices[0], second = assignment.indices[1];
    for (std::size_t i = 0; i < out.of[first].size(); i += options_.every) {
      for (std::size_t j = 0; j < out.of[second].size(); ++j) {
        const float expected = decoded(input, in.at(first, i, second, j), x.element);
        if (decoded(output, out.at(first, i, second, j), y.element) != expected) return false;
      }
    }
    return true;
  }

  void report(const Result& r) {
    std::printf(
        "%-26s %6d %9.1f us %7.0f GB/s  copy %7.0f GB/s  ratio %.3f  +-%4.1f%%  %3d regs %3d local "
        "%2d blocks  %s\n",
        r.kernel.c_str(), r.size, r.ms * 1e3, r.gigabytes, r.copy_gigabytes,
        r.gigabytes / r.copy_gigabytes, r.spread * 50, r.registers, r.local_bytes, r.blocks,
        r.right ? "right" : "WRONG");
    std::fflush(stdout);
    all_.push_back(r);
  }

  runtime::Gpu& gpu_;
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
  std::cout << gpu->device().name << ", medians of " << options.protocol.rounds
            << " interleaved rounds" << std::endl;
  Bench bench(*gpu, options);
  for (const auto& kernel : bench::kernels_of(options.script)) {
    if (!options.kernel.empty() && kernel->name != options.kernel) continue;
    for (const int size : options.sizes) bench.run(kernel, size);
  }
  bench.write_json();
  return bench.all_right() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
