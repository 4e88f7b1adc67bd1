#include "backend/plan/model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/plan/order.h"
#include "frontend/algebra/operations.h"

namespace lay::plan {
namespace {

// Of Hopper: multiply-adds of a multiprocessor a clock, bytes that the second-level cache delivers a clock, to all
// (measured by others: arXiv 2402.13499), and seconds of a launch that does nothing.
constexpr double multiply_adds = 128, cache_bytes = 4200, launch = 2.5e-6;

double value(const Int& amount, const Binding& sizes) {
  const auto known = amount.evaluate(sizes);
  return known ? static_cast<double>(*known) : std::numeric_limits<double>::infinity();
}

// The part of the issue slots that multiply-adds get: of a step of K a thread issues its products, the vector reads of
// its fragments, each as often as its bank conflicts say, and a few more.
double issue_share(const SimtGemm& gemm, const Prediction& prediction) {
  const auto repeats = gemm.repeats();
  const double m = repeats[0] * gemm.lane_tile[0], n = repeats[1] * gemm.lane_tile[1];
  double conflicts = 1;
  for (const BankConflicts& access : prediction.conflicts)
    if (access.access.starts_with("read") && access.least > 0)
      conflicts = std::max(conflicts, static_cast<double>(access.wavefronts) / access.least);
  const double staged = (gemm.tile[0] + gemm.tile[1]) / static_cast<double>(gemm.threads());
  constexpr double others = 2.5, instructions_a_staged_element = 1.5;
  return m * n / (m * n + (m + n) / 4 * conflicts + others + staged * instructions_a_staged_element);
}

double compute_seconds(const sema::Kernel& kernel, const SimtGemm& gemm, const Prediction& prediction,
                       const Binding& sizes, const Target& target) {
  const auto extent = [&](sema::IndexId index) {
    return value(kernel.indices[static_cast<std::size_t>(index)].extent, sizes);
  };
  double count = value(tiles(kernel, gemm.m, gemm.tile[0]), sizes) * value(tiles(kernel, gemm.n, gemm.tile[1]), sizes);
  for (const sema::IndexId index : gemm.batch) count *= extent(index);
  // Blocks of one multiprocessor share it; with few warps in flight latencies show.
  const double blocks = std::ceil(count / target.multiprocessors);
  const double warps = gemm.threads() / 32.0 * std::min<double>(gemm.blocks_per_multiprocessor, blocks);
  const double hidden = std::min(1.0, 0.55 + 0.45 * warps / 8);
  const double rate = gemm.accumulator == ElementType::f64 ? multiply_adds / 2 : multiply_adds;
  const double steps = std::ceil(extent(gemm.k) / gemm.tile[2]) * gemm.tile[2];
  // Filling the pipeline and storing the tile are not hidden by other blocks.
  const double alone = 1500 + gemm.tile[0] * gemm.tile[1] / 16.0;
  const double clocks = gemm.tile[0] * gemm.tile[1] * steps / rate / issue_share(gemm, prediction) / hidden;
  return blocks * (clocks + alone / std::max(1, gemm.blocks_per_multiprocessor)) / target.hertz;
}

}  // namespace

double predicted_seconds(const sema::Kernel& kernel, const Variant& variant, const Binding& sizes,
                         const Target& target) {
  const Prediction& prediction = variant.prediction;
  const double loaded = value(prediction.global_bytes, sizes) / (cache_bytes * target.hertz);
  double needed = 0;
  for (const sema::Tensor& tensor : kernel.tensors)
    needed += value(size(tensor.layout), sizes) * bits(tensor.element) / 8;
  double seconds = std::max(loaded, needed / target.bytes_per_second);
  if (const auto* gemm = std::get_if<SimtGemm>(&variant.how))
    seconds = std::max(seconds, compute_seconds(kernel, *gemm, prediction, sizes, target));
  return launch + seconds;
}

}  // namespace lay::plan
