#include "runtime/bench/tune/shape_class.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lay::bench {
namespace {

// The extents that are no numbers, each once, with the ranges of their sizes.
std::vector<std::pair<Int, SizeRange>> open_extents(const Problem& problem,
                                                    const plan::GemmForm& form, Reach reach) {
  std::vector<sema::IndexId> indices{form.m, form.n, form.k};
  indices.insert(indices.end(), form.batch.begin(), form.batch.end());
  std::vector<std::pair<Int, SizeRange>> extents;
  for (const sema::IndexId index : indices) {
    const Int& extent = problem.kernel->indices[static_cast<std::size_t>(index)].extent;
    const bool known = std::any_of(extents.begin(), extents.end(),
                                   [&](const auto& each) { return each.first == extent; });
    if (!extent.is_literal() && !known)
      extents.emplace_back(extent, range_of(problem.extent(index), reach));
  }
  return extents;
}

}  // namespace

std::int64_t power_of(std::int64_t size) {
  std::int64_t power = 1;
  while (2 * size >= 3 * power) power *= 2;
  return power;
}

SizeRange range_of(std::int64_t size) {
  const std::int64_t power = power_of(size);
  return {(3 * power + 3) / 4, (3 * power + 1) / 2};  // rounded up
}

SizeRange range_of(std::int64_t size, Reach reach) {
  return reach == Reach::of_class ? range_of(size) : SizeRange{size, size + 1};
}

std::string shape_class(const Problem& problem, const plan::GemmForm& form, Reach reach) {
  std::string text;
  for (const auto& [extent, range] : open_extents(problem, form, reach)) {
    const std::string name = extent.to_factor_string();
    text += (text.empty() ? "" : " and ") + name + " >= " + std::to_string(range.from) + " and " +
            name + " < " + std::to_string(range.below);
  }
  return text;
}

std::vector<Predicate> shape_conditions(const Problem& problem, const plan::GemmForm& form,
                                        Reach reach) {
  std::vector<Predicate> conditions;
  for (const auto& [extent, range] : open_extents(problem, form, reach)) {
    conditions.push_back(greater_equal(extent, Int(range.from)));
    conditions.push_back(less(extent, Int(range.below)));
  }
  return conditions;
}

namespace {

// The dim of an extent that is moved to change it: the one of the greatest size.
std::string moved_dim(const Problem& problem, const Int& extent,
                      const std::map<std::string, std::int64_t>& sizes) {
  std::map<DimId, std::string> dims;
  extent.collect_dims(dims);
  std::string moved;
  for (const sema::Dim& dim : problem.kernel->dims)
    if (dims.contains(*dim.symbol.dim_id()) &&
        (moved.empty() || sizes.at(dim.name) > sizes.at(moved)))
      moved = dim.name;
  return moved;
}

}  // namespace

std::vector<std::map<std::string, std::int64_t>> ends_of_class(const Problem& problem,
                                                               const plan::GemmForm& form) {
  std::map<std::string, std::int64_t> own, least, greatest;
  for (const auto& [name, size] : problem.named_sizes()) own[name] = size;
  least = greatest = own;
  for (const auto& [extent, range] : open_extents(problem, form, Reach::of_class)) {
    const std::string dim = moved_dim(problem, extent, own);
    const auto of_extent = extent.evaluate(problem.sizes);
    if (dim.empty() || !of_extent) continue;
    // Of an extent of several dims, B * M, the other dims stay what they are.
    const std::int64_t size = own.at(dim), others = std::max<std::int64_t>(1, *of_extent / size);
    const std::int64_t step = std::gcd(size, std::int64_t{8});
    least[dim] = (range.from + others * step - 1) / (others * step) * step;
    greatest[dim] = std::max(size, (range.below - 1) / (others * step) * step);
  }
  std::vector<std::map<std::string, std::int64_t>> ends;
  for (const auto& end : {least, greatest})
    if (end != own) ends.push_back(end);
  return ends;
}

}  // namespace lay::bench
