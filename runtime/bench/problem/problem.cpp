#include "runtime/bench/problem/problem.h"

#include <algorithm>

#include "backend/plan/recognise.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/algebra/tuples/tuple_operations.h"
#include "runtime/bench/problem/segments.h"

namespace lay::bench {
namespace {

std::int64_t number(const Int& value, const Binding& sizes) {
  const auto known = value.evaluate(sizes);
  if (!known) throw refusal("overflow", value.to_string() + " has no value for these sizes");
  return *known;
}

Mode mode_of(const Layout& layout, const Binding& sizes) {
  Mode mode;
  const auto extents = leaves(layout.shape), strides = leaves(layout.stride);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const Mode::Leaf leaf{number(extents[i].value(), sizes), number(strides[i].value(), sizes)};
    mode.size *= leaf.extent;
    if (leaf.extent == 1) continue;
    if (!mode.leaves.empty() &&
        mode.leaves.back().extent * mode.leaves.back().stride == leaf.stride)
      mode.leaves.back().extent *= leaf.extent;
    else
      mode.leaves.push_back(leaf);
  }
  return mode;
}

Tensor tensor_of(const sema::Tensor& source, const Binding& sizes) {
  Tensor tensor{
      source.name, source.element, source.access, {}, sema::memory_elements(source, sizes)};
  if (!source.layout.shape.is_tuple()) tensor.modes.push_back(mode_of(source.layout, sizes));
  for (int i = 0; source.layout.shape.is_tuple() && i < source.layout.rank(); ++i)
    tensor.modes.push_back(mode_of(source.layout[i], sizes));
  return tensor;
}

// The tensor that a coordinate is an element of, converted or not; nothing if it is computed.
std::optional<sema::TensorId> position_of(const sema::Kernel& kernel, sema::NodeId coordinate) {
  const sema::Node* node = &kernel.node(coordinate);
  while (const auto* cast = std::get_if<sema::Apply>(&node->what)) {
    if (cast->function != ElementFunction::cast) return std::nullopt;
    node = &kernel.node(cast->operands[0]);
  }
  const auto* load = std::get_if<sema::Load>(&node->what);
  return load ? std::optional(load->tensor) : std::nullopt;
}

// Finds the tensor in which the segments of a coordinate begin. Returns whether it is a segment.
bool find_segments(Problem& problem, sema::NodeId coordinate, std::int64_t segments) {
  const auto found = segment_of(*problem.kernel, coordinate);
  const sema::IndexId row = found ? plan::bare_index(*problem.kernel, found->position) : -1;
  if (row < 0) return false;
  problem.tensors[static_cast<std::size_t>(found->starts)].segments =
      Tensor::Segments{segments, problem.extent(row)};
  return true;
}

// Finds the tensors that coordinates are read from. Numbers are made for those that are coordinates
// as they are.
void find_positions(Problem& problem) {
  const sema::Kernel& kernel = *problem.kernel;
  const auto live = plan::reachable(kernel);
  for (std::size_t id = 0; id < live.size(); ++id) {
    const auto* load = std::get_if<sema::Load>(&kernel.nodes[id].what);
    if (!load || !live[id]) continue;
    const Tensor& read = problem.tensors[static_cast<std::size_t>(load->tensor)];
    for (std::size_t mode = 0; mode < load->coordinate.size(); ++mode) {
      const auto from = position_of(kernel, load->coordinate[mode]);
      if (!from) {
        if (!plan::reads_memory(kernel, load->coordinate[mode])) continue;
        if (find_segments(problem, load->coordinate[mode], read.modes[mode].size)) continue;
        throw refusal("unsupported", "a coordinate of " + read.name +
                                         " is computed from memory, and no numbers are made "
                                         "for that");
      }
      std::optional<std::int64_t>& below = problem.tensors[static_cast<std::size_t>(*from)].below;
      below = std::min(below.value_or(read.modes[mode].size), read.modes[mode].size);
    }
  }
}

}  // namespace

std::int64_t Mode::offset(std::int64_t coordinate) const {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i + 1 < leaves.size(); ++i) {
    offset += coordinate % leaves[i].extent * leaves[i].stride;
    coordinate /= leaves[i].extent;
  }
  return leaves.empty() ? 0 : offset + coordinate * leaves.back().stride;
}

std::optional<std::int64_t> Mode::stride() const {
  if (leaves.empty()) return 0;
  return leaves.size() == 1 ? std::optional(leaves[0].stride) : std::nullopt;
}

std::int64_t Problem::extent(sema::IndexId index) const {
  return number(kernel->indices.at(static_cast<std::size_t>(index)).extent, sizes);
}

double Problem::real(sema::ScalarId scalar) const {
  return std::visit([](auto value) { return static_cast<double>(value); },
                    scalars.at(static_cast<std::size_t>(scalar)));
}

std::vector<std::pair<std::string, std::int64_t>> Problem::named_sizes() const {
  std::vector<std::pair<std::string, std::int64_t>> named;
  for (const sema::Dim& dim : kernel->dims) named.emplace_back(dim.name, number(dim.symbol, sizes));
  return named;
}

std::size_t Problem::bytes() const {
  std::size_t sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.device_bytes();
  return sum;
}

Problem problem_of(const sema::KernelPtr& kernel, const std::map<std::string, std::int64_t>& sizes,
                   const std::map<std::string, double>& scalars) {
  const auto has = [](const auto& list, const std::string& name) {
    for (const auto& each : list)
      if (each.name == name) return true;
    return false;
  };
  for (const auto& [name, value] : sizes)
    if (!has(kernel->dims, name)) throw refusal("no-parameter", "it has no size `" + name + "`");
  for (const auto& [name, value] : scalars)
    if (!has(kernel->scalars, name))
      throw refusal("no-parameter", "it has no scalar `" + name + "`");
  for (const sema::Tensor& tensor : kernel->tensors)
    if (tensor.is_swizzled())
      throw refusal("unsupported", "a tensor that is swizzled in global memory, " + tensor.name +
                                       ", is not measured yet");
  Problem problem;
  problem.sizes = sema::solve_sizes(*kernel, {}, sizes);
  sema::check_guards(*kernel, problem.sizes);
  for (const sema::Scalar& scalar : kernel->scalars) {
    const auto given = scalars.find(scalar.name);
    const double value = given != scalars.end() ? given->second : scalar.name == "beta" ? 0 : 1;
    problem.scalars.push_back(is_float(scalar.type)
                                  ? sema::Number(value)
                                  : sema::Number(static_cast<std::int64_t>(value)));
  }
  return with_kernel(problem, kernel);
}

Problem with_kernel(const Problem& problem, sema::KernelPtr kernel) {
  Problem made{std::move(kernel), problem.sizes, problem.scalars, {}};
  for (const sema::Tensor& tensor : made.kernel->tensors)
    made.tensors.push_back(tensor_of(tensor, made.sizes));
  find_positions(made);
  return made;
}

}  // namespace lay::bench
