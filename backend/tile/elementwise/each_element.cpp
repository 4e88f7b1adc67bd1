#include "backend/tile/elementwise/each_element.h"

#include <algorithm>

#include "backend/tile/elementwise/elementwise.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::tile {

using Indices = std::vector<sema::IndexId>;

namespace {

constexpr int threads_of_block = 256;

// The output's indices, the one that runs along memory last: neighbouring threads write neighbours
// in memory, so that stores coalesce.
Indices by_memory(const sema::Kernel& kernel, const sema::Assignment& assignment) {
  Facts facts;
  Indices indices = assignment.indices;
  const int unit = unit_mode(facts, kernel.tensor(assignment.target).layout);
  if (unit >= 0) std::rotate(indices.begin() + unit, indices.begin() + unit + 1, indices.end());
  return indices;
}

Program program_of(const sema::KernelPtr& kernel) {
  Elementwise how;
  how.joined = by_memory(*kernel, kernel->assignments.front());
  how.tile = {threads_of_block};
  const Tuple along = Tuple::basis(1, {0});
  how.threads.layout = Layout(tuple(threads_of_block, tuple(1, 1)), tuple(along, tuple(0, 0)));
  const Int elements = extent_of_all(*kernel, *how.joined);
  how.grid.order = Layout(tuple(ceil_div(elements, threads_of_block)), tuple(along));
  how.grid.threads = threads_of_block;
  how.stores.resize(kernel->assignments.size());
  return bind_elementwise(kernel, how);
}

Indices sorted(Indices indices) {
  std::ranges::sort(indices);
  return indices;
}

}  // namespace

std::vector<Program> bind_each_element(const sema::KernelPtr& kernel) {
  std::vector<std::vector<sema::Assignment>> groups;
  for (const sema::Assignment& each : kernel->assignments) {
    const auto group = std::ranges::find_if(groups, [&](const auto& known) {
      return sorted(known.front().indices) == sorted(each.indices);
    });
    if (group == groups.end())
      groups.push_back({each});
    else
      group->push_back(each);
  }
  if (groups.size() == 1) return {program_of(kernel)};
  std::vector<Program> programs;
  for (std::vector<sema::Assignment>& group : groups)
    programs.push_back(program_of(with_assignments(*kernel, std::move(group))));
  return programs;
}

bool is_of_each_element(const Program& program) {
  return program.is_elementwise() && program.threads && program.threads->along < 0;
}

}  // namespace lay::tile
