#include "backend/plan/order.h"

#include <algorithm>
#include <array>
#include <map>

#include "backend/plan/axes.h"
#include "frontend/algebra/operations.h"

namespace lay::plan {

namespace {

const Int& extent(const sema::Kernel& kernel, sema::IndexId index) {
  return kernel.indices[static_cast<std::size_t>(index)].extent;
}

// Sizes that give tm x tn tiles where m and n range over dims of their own; all other dims are 2, leading ones large.
Binding sizes_for(const sema::Kernel& kernel, const SimtGemm& gemm, std::int64_t tm, std::int64_t tn) {
  constexpr std::int64_t batch = 2, large = std::int64_t{1} << 20;
  Binding binding;
  for (const sema::Dim& dim : kernel.dims) binding[*dim.symbol.dim_id()] = large;
  for (sema::IndexId index : gemm.batch) {
    if (auto dim = extent(kernel, index).dim_id()) binding[*dim] = batch;
  }
  if (auto dim = extent(kernel, gemm.m).dim_id()) binding[*dim] = (tm - 1) * gemm.tile[0] + 1;
  if (auto dim = extent(kernel, gemm.n).dim_id()) binding[*dim] = (tn - 1) * gemm.tile[1] + 1;
  return binding;
}

bool admitted(const sema::Kernel& kernel, const Binding& binding) {
  return std::all_of(kernel.guards.begin(), kernel.guards.end(), [&](const Guard& guard) {
    return guard.path.evaluate(binding) != true || guard.predicate.evaluate(binding) != false;
  });
}

// Visits of every real tile, tile m fastest; nothing if there are too many to count.
std::optional<std::vector<std::int64_t>> visits(const Layout& order, const std::vector<std::int64_t>& counts) {
  constexpr std::int64_t most = 1 << 16;
  std::int64_t all = 1;
  for (std::int64_t count : counts) all *= count;
  const Int blocks = size(order);
  if (all > most || !blocks.is_literal() || blocks.value() > most) return std::nullopt;
  std::vector<std::int64_t> result(static_cast<std::size_t>(all), 0);
  std::vector<std::vector<std::int64_t>> at;
  for (std::size_t axis = 0; axis < counts.size(); ++axis) at.push_back(values(along(order, static_cast<int>(axis))));
  for (std::size_t block = 0; block < at[0].size(); ++block) {
    std::int64_t tile = 0, step = 1;
    bool real = true;
    for (std::size_t axis = 0; axis < counts.size(); ++axis) {
      real = real && at[axis][block] >= 0 && at[axis][block] < counts[axis];
      tile += at[axis][block] * step;
      step *= counts[axis];
    }
    if (real) ++result[static_cast<std::size_t>(tile)];
  }
  return result;
}

std::optional<OrderFault> fault_at(const sema::Kernel& kernel, const SimtGemm& gemm, const Binding& binding) {
  std::map<DimId, Int> numbers;
  for (const auto& [dim, value] : binding) numbers.emplace(dim, value);
  std::vector<std::int64_t> counts;
  const auto add = [&](const Int& count) { counts.push_back(count.evaluate(binding).value_or(1)); };
  add(tiles(kernel, gemm.m, gemm.tile[0]));
  add(tiles(kernel, gemm.n, gemm.tile[1]));
  for (sema::IndexId index : gemm.batch) add(extent(kernel, index));
  const auto seen = visits(substitute(gemm.order, numbers), counts);
  if (!seen) return std::nullopt;
  const auto wrong = std::find_if(seen->begin(), seen->end(), [](std::int64_t n) { return n != 1; });
  if (wrong == seen->end()) return std::nullopt;
  OrderFault fault;
  for (const sema::Dim& dim : kernel.dims) {
    const bool matters = [&] {
      std::map<DimId, std::string> used;
      for (sema::IndexId index : gemm.batch) extent(kernel, index).collect_dims(used);
      extent(kernel, gemm.m).collect_dims(used);
      extent(kernel, gemm.n).collect_dims(used);
      return used.contains(*dim.symbol.dim_id());
    }();
    if (matters) fault.sizes.emplace_back(dim.name, binding.at(*dim.symbol.dim_id()));
  }
  std::int64_t rest = wrong - seen->begin();
  for (std::int64_t count : counts) {
    fault.tile.push_back(rest % count);
    rest /= count;
  }
  fault.visits = *wrong;
  return fault;
}

}  // namespace

Int tiles(const sema::Kernel& kernel, sema::IndexId index, int tile) {
  return ceil_div(extent(kernel, index), tile);
}

Layout default_order(const sema::Kernel& kernel, const SimtGemm& gemm) {
  constexpr int rows = 8;
  const Int tiles_m = tiles(kernel, gemm.m, gemm.tile[0]), tiles_n = tiles(kernel, gemm.n, gemm.tile[1]);
  const Int group = tiles_m.is_literal() && tiles_m.value() < rows ? tiles_m : Int(rows);
  std::vector<Tuple> shape{group, tiles_n, ceil_div(tiles_m, group)};
  std::vector<Tuple> stride{Tuple::basis(1, {0}), Tuple::basis(1, {1}), Tuple::basis(group, {0})};
  for (std::size_t i = 0; i < gemm.batch.size(); ++i) {
    shape.emplace_back(extent(kernel, gemm.batch[i]));
    stride.push_back(Tuple::basis(1, {static_cast<int>(i) + 2}));
  }
  return Layout(Tuple(shape), Tuple(stride));
}

std::optional<OrderFault> order_fault(const sema::Kernel& kernel, const SimtGemm& gemm) {
  constexpr std::array<std::int64_t, 7> sides{1, 2, 3, 5, 8, 9, 17};
  for (std::int64_t tm : sides) {
    for (std::int64_t tn : sides) {
      const Binding binding = sizes_for(kernel, gemm, tm, tn);
      if (!admitted(kernel, binding)) continue;
      if (auto fault = fault_at(kernel, gemm, binding)) return fault;
    }
  }
  return std::nullopt;
}

}  // namespace lay::plan
