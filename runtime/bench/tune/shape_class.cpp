#include "runtime/bench/tune/shape_class.h"

namespace lay::bench {

std::int64_t power_of(std::int64_t size) {
  std::int64_t power = 1;
  while (2 * size >= 3 * power) power *= 2;
  return power;
}

Range range_of(std::int64_t size) {
  const std::int64_t power = power_of(size);
  return {(3 * power + 3) / 4, (3 * power + 1) / 2};  // rounded up
}

std::string shape_class(const Problem& problem, const plan::GemmForm& form) {
  std::vector<sema::IndexId> indices{form.m, form.n, form.k};
  indices.insert(indices.end(), form.batch.begin(), form.batch.end());
  std::string text;
  for (const sema::IndexId index : indices) {
    const Int& extent = problem.kernel->indices[static_cast<std::size_t>(index)].extent;
    if (extent.is_literal()) continue;
    const Range range = range_of(problem.extent(index));
    const std::string name = extent.to_factor_string();
    const std::string condition = name + " >= " + std::to_string(range.from) + " and " + name +
                                  " < " + std::to_string(range.below);
    if (text.find(condition) == std::string::npos)
      text += (text.empty() ? "" : " and ") + condition;
  }
  return text;
}

}  // namespace lay::bench
