#include "backend/plan/narrow/drawn_sizes.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::plan {

namespace {

constexpr double largest = 274877906944;  // 2^38: 8192 x 8192 x 4096
constexpr int tries_a_problem = 20;

// From 0 to 1.
double share(std::mt19937& random) {
  return static_cast<double>(random() % 4096) / 4095;
}

std::int64_t few(std::mt19937& random) {
  return static_cast<std::int64_t>(std::exp2(6 * share(random)));
}

// From 8 to 16384, in multiples of the step.
std::int64_t drawn_size(std::int64_t step, std::mt19937& random) {
  const double a = share(random), b = share(random);
  const auto size = static_cast<std::int64_t>(std::exp2(3 + 11 * std::max(a, b)));
  return std::max(step, size / step * step);
}

}  // namespace

std::size_t given_dims(const sema::Kernel& kernel, const GivenSizes& given) {
  const GivenSizes known = sema::sizes_by_dim(kernel, given);
  return static_cast<std::size_t>(
      std::count_if(kernel.dims.begin(), kernel.dims.end(),
                    [&](const sema::Dim& dim) { return known.count(dim.name) == 1; }));
}

std::vector<Binding> drawn_sizes(const sema::Kernel& kernel, const GivenSizes& given, int count) {
  const GivenSizes known = sema::sizes_by_dim(kernel, given);
  const std::size_t given_count = given_dims(kernel, given);
  if (given_count == kernel.dims.size()) count = 1;
  std::vector<Binding> result;
  std::mt19937 random(1);
  for (int tries = 0; tries < tries_a_problem * count; ++tries) try {
      if (static_cast<int>(result.size()) == count) break;
      // Nearly all sizes of models are multiples of 64 or 8; others keep what takes them in a
      // build.
      constexpr std::int64_t steps[] = {64, 64, 64, 8, 8, 1};
      const std::int64_t step = steps[random() % std::size(steps)];
      // Any size may be the one that is few; none where it falls behind the last.
      const bool has_few = random() % 5 == 0;
      const std::size_t at_few = random() % (kernel.dims.size() + 1);
      GivenSizes sizes;
      double product = 1;
      for (const sema::Dim& dim : kernel.dims) {
        const bool is_few = has_few && &dim == kernel.dims.data() + at_few;
        const std::int64_t size = is_few ? few(random) : drawn_size(step, random);
        const auto said = known.find(dim.name);
        sizes[dim.name] = said == known.end() ? size : said->second;
        product *= static_cast<double>(sizes[dim.name]);
      }
      if (product > largest && given_count == 0) continue;
      const Binding solved = sema::solve_sizes(kernel, {}, sema::sizes_by_dim(kernel, sizes));
      sema::check_guards(kernel, solved);
      result.push_back(solved);
    } catch (const Refusal&) {
      continue;  // no launch has these sizes
    }
  return result;
}

}  // namespace lay::plan
