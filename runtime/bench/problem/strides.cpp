#include "runtime/bench/problem/strides.h"

#include <algorithm>

#include "backend/plan/recognise.h"

namespace lay::bench {

using sema::IndexId;

std::int64_t Strides::of(IndexId index) const {
  const auto at = std::find(indices.begin(), indices.end(), index) - indices.begin();
  return at == std::ssize(indices) ? 0 : strides[static_cast<std::size_t>(at)];
}

Strides strides_of(const Problem& problem, sema::TensorId tensor,
                   const std::vector<IndexId>& indices) {
  Strides made{tensor, indices, {}};
  const Tensor& what = problem.tensors[static_cast<std::size_t>(tensor)];
  for (const Mode& mode : what.modes) {
    const auto stride = mode.stride();
    if (!stride)
      throw NoStrides{what.name + " is stored in tiles, which no leading dimension describes"};
    made.strides.push_back(*stride);
  }
  return made;
}

Strides strides_of_load(const Problem& problem, sema::NodeId load) {
  const sema::Load& what = problem.kernel->load(load);
  std::vector<IndexId> indices;
  for (const sema::NodeId coordinate : what.coordinate)
    indices.push_back(plan::bare_index(*problem.kernel, coordinate));
  return strides_of(problem, what.tensor, indices);
}

Batch batch_of(const Problem& problem, const std::vector<IndexId>& indices,
               const std::vector<const Strides*>& tensors) {
  std::vector<IndexId> order;
  for (const IndexId index : indices)
    if (problem.extent(index) != 1) order.push_back(index);
  std::sort(order.begin(), order.end(),
            [&](IndexId a, IndexId b) { return tensors.front()->of(a) < tensors.front()->of(b); });
  Batch batch{1, std::vector<std::int64_t>(tensors.size(), 0)};
  for (const IndexId index : order) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::int64_t step = tensors[i]->of(index);
      if (batch.count == 1) batch.strides[i] = step;
      if (step != batch.strides[i] * batch.count)
        throw NoStrides{"its batches are not one strided batch"};
    }
    batch.count *= problem.extent(index);
  }
  return batch;
}

}  // namespace lay::bench
