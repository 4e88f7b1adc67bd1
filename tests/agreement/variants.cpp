#include "tests/agreement/variants.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "backend/interpret/interpret.h"
#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "tests/bench/kernels.h"

namespace lay::agreement {
namespace {

using Memory = std::vector<float>;

// The value between the elements: reading it spoils a result, writing it is seen.
const float poison = std::numeric_limits<float>::quiet_NaN();

struct View {
  std::int64_t rows, columns, row_stride, column_stride;
  std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * row_stride + j * column_stride);
  }
  std::size_t span() const { return at(rows - 1, columns - 1) + 1; }
};

Binding sizes_of(const Gemm& gemm, const Problem& p) {
  Binding sizes;
  for (const sema::Dim& dim : gemm.kernel->dims) {
    const bool transposed_a = gemm.kernel->name[5] == 't',
               transposed_b = gemm.kernel->name[6] == 't';
    std::int64_t value = dim.name == "M" ? p.m : dim.name == "N" ? p.n : p.k;
    if (dim.name == "lda") value = (transposed_a ? p.m : p.k) + p.padding;
    if (dim.name == "ldb") value = (transposed_b ? p.k : p.n) + p.padding;
    if (dim.name == "ldc") value = p.n + p.padding;
    sizes[*dim.symbol.dim_id()] = value;
  }
  return sizes;
}

View view_of(const sema::Tensor& tensor, const Binding& sizes) {
  const auto number = [&](const Tuple& leaf) { return leaf.value().evaluate(sizes).value(); };
  const Layout& l = tensor.layout;
  return {number(l.shape[0]), number(l.shape[1]), number(l.stride[0]), number(l.stride[1])};
}

// Odd, so that no product vanishes; small enough that every sum is exact.
Memory integers(const View& view, std::mt19937& random) {
  Memory memory(view.span(), poison);
  for (std::int64_t i = 0; i < view.rows; ++i)
    for (std::int64_t j = 0; j < view.columns; ++j)
      memory[view.at(i, j)] = static_cast<float>(static_cast<int>(2 * (random() % 6)) - 5);
  return memory;
}

struct Data {
  Binding sizes;
  View views[3];
  Memory memory[3];

  Data(const Gemm& gemm, const Problem& p) : sizes(sizes_of(gemm, p)) {
    std::mt19937 random(static_cast<std::uint32_t>(p.m * 1000003 + p.n * 1009 + p.k));
    for (std::size_t i = 0; i < 3; ++i) {
      views[i] = view_of(gemm.kernel->tensors[i], sizes);
      memory[i] = integers(views[i], random);
    }
    // With beta = 0 the old C must not be read.
    if (p.beta == 0) std::fill(memory[2].begin(), memory[2].end(), poison);
  }
};

Memory triple_loop(const Data& data, const Problem& p) {
  Memory c = data.memory[2];
  for (std::int64_t m = 0; m < p.m; ++m)
    for (std::int64_t n = 0; n < p.n; ++n) {
      float acc = 0;
      for (std::int64_t k = 0; k < p.k; ++k)
        acc += data.memory[0][data.views[0].at(m, k)] * data.memory[1][data.views[1].at(n, k)];
      float& out = c[data.views[2].at(m, n)];
      const auto alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
      out = beta == 0 ? alpha * acc : alpha * acc + beta * out;
    }
  return c;
}

// Empty if the two hold the same bits, else the first place where they do not.
std::string difference(const Memory& got, const Memory& expected, const View& view) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (std::memcmp(&got[i], &expected[i], sizeof(float)) != 0) {
      const auto offset = static_cast<std::int64_t>(i);
      return "C[" + std::to_string(offset / view.row_stride) + "," +
             std::to_string(offset % view.row_stride) + "] is " + std::to_string(got[i]) +
             ", expected " + std::to_string(expected[i]);
    }
  return "";
}

std::vector<std::variant<std::int64_t, double>> scalars_of(const ir::Kernel& kernel,
                                                           const Problem& p) {
  std::vector<std::variant<std::int64_t, double>> scalars;
  for (const ir::Param& param : kernel.params)
    if (!param.is_size) scalars.emplace_back(param.name == "alpha" ? p.alpha : p.beta);
  return scalars;
}

std::string on_host(const ir::Kernel& kernel, const Problem& p, Data data, const Memory& expected,
                    const Machines& machines) {
  std::vector<interpret::Argument> arguments;
  for (const ir::Param& param : kernel.params) {
    if (param.is_size)
      arguments.emplace_back(*param.symbol.evaluate(data.sizes));
    else
      arguments.emplace_back(param.name == "alpha" ? p.alpha : p.beta);
  }
  for (std::size_t i = 0; i < 3; ++i)
    arguments.emplace_back(
        interpret::Memory{data.memory[i].data(),
                          static_cast<std::int64_t>(data.memory[i].size() * sizeof(float)), i < 2});
  interpret::Options options;
  options.threads = machines.host_threads;
  options.checks = machines.checks;
  options.write_once = machines.checks;
  const auto report = interpret::run(kernel, arguments, options);
  return report.fault ? report.fault->message : difference(data.memory[2], expected, data.views[2]);
}

std::string on_gpu(const ir::Kernel& kernel, const Problem& p, const Data& data,
                   const Memory& expected, runtime::Gpu& gpu) {
  std::vector<std::vector<std::byte>> memory;
  for (const Memory& each : data.memory) {
    const auto* bytes = reinterpret_cast<const std::byte*>(each.data());
    memory.emplace_back(bytes, bytes + each.size() * sizeof(float));
  }
  const auto run = gpu.run(kernel, data.sizes, scalars_of(kernel, p), memory);
  if (!run.outcome.ok()) return run.outcome.message;
  Memory got(expected.size());
  std::memcpy(got.data(), memory[2].data(), memory[2].size());
  return difference(got, expected, data.views[2]);
}

}  // namespace

bool is_preference(const Predicate& condition) {
  return condition.kind() == PredicateKind::less_equal && condition.node().a.is_literal();
}

std::string Problem::words() const {
  return "M=" + std::to_string(m) + " N=" + std::to_string(n) + " K=" + std::to_string(k) +
         " padding=" + std::to_string(padding) + " alpha=" + std::to_string(alpha) +
         " beta=" + std::to_string(beta);
}

Gemm::Gemm(sema::KernelPtr checked) : kernel(std::move(checked)), plan(plan::make_plan(kernel)) {
  for (const plan::Variant& variant : plan.variants)
    std::erase_if(variants.emplace_back(ir::lower(plan, variant)).assumptions, is_preference);
}

void check(const Gemm& gemm, const Problem& problem, const Machines& machines, Tally& tally) {
  const Data data(gemm, problem);
  const Memory expected = triple_loop(data, problem);
  for (std::size_t i = 0; i < gemm.variants.size(); ++i) {
    const auto holds = [&](const Predicate& condition) {
      return is_preference(condition) || condition.evaluate(data.sizes) == true;
    };
    const plan::Variant& variant = gemm.plan.variants[i];
    if (!std::all_of(variant.when.begin(), variant.when.end(), holds)) continue;
    const auto fail = [&](const std::string& where, const std::string& what) {
      if (!what.empty())
        tally.failures.push_back(gemm.variants[i].name + " " + problem.words() + " " + where +
                                 ": " + what);
    };
    if (machines.host) {
      fail("host", on_host(gemm.variants[i], problem, data, expected, machines));
      ++tally.on_host;
    }
    if (machines.gpu) {
      fail("GPU", on_gpu(gemm.variants[i], problem, data, expected, *machines.gpu));
      ++tally.on_gpu;
    }
  }
}

std::vector<Gemm> gemms(const std::string& path) {
  std::vector<Gemm> all;
  for (const auto& kernel : bench::kernels_of(path)) all.emplace_back(kernel);
  return all;
}

std::vector<Problem> all_problems() {
  const std::int64_t extents[] = {1, 7, 64, 127, 128, 129};
  std::vector<Problem> all;
  for (const std::int64_t m : extents)
    for (const std::int64_t n : extents)
      for (const std::int64_t k : extents) {
        const auto count = static_cast<std::int64_t>(all.size());
        all.push_back({m, n, k,
                       count % 5 == 0   ? 0
                       : count % 5 == 1 ? 4
                                        : count % 7,
                       count % 3 == 0 ? 1.0 : -2.0, count % 2 == 0 ? 0.0 : 3.0});
      }
  return all;
}

}  // namespace lay::agreement
