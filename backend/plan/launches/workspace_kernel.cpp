#include "backend/plan/launches/workspace_kernel.h"

#include <algorithm>

#include "backend/plan/recognise.h"
#include "backend/tile/rename_indices.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

using namespace sema;

Int aligned_up(const Int& bytes) {
  return ceil_div(bytes, workspace_alignment) * workspace_alignment;
}

void move_in_workspace(Variant& variant, const Int& bytes) {
  for (auto& before : variant.before) {
    Plan moved = *before;
    for (Variant& each : moved.variants) move_in_workspace(each, bytes);
    before = std::make_shared<const Plan>(std::move(moved));
  }
  for (WorkspaceTensor& tensor : variant.workspace_tensors) tensor.offset += bytes;
  variant.workspace += bytes;
}

Workspace::Workspace(const Kernel& kernel) {
  for (const Dim& dim : kernel.dims) taken_.insert(dim.name);
  for (const Tensor& tensor : kernel.tensors) taken_.insert(tensor.name);
  for (const Scalar& scalar : kernel.scalars) taken_.insert(scalar.name);
  for (const Index& index : kernel.indices) taken_.insert(index.name);
}

// Names of launches' tensors stand beside those of the user's in emitted text.
std::string Workspace::unused(std::string wish) {
  while (!taken_.insert(wish).second) wish += "_";
  return wish;
}

// Row-major and compact; each tensor begins at a multiple of what the widest access wants.
Tensor Workspace::add(const std::string& wish, ElementType element, const std::vector<Int>& extents,
                      const Span& where) {
  std::vector<Tuple> shape;
  for (const Int& extent : extents) shape.emplace_back(extent);
  const Layout layout = make_layout_right(shape.size() == 1 ? shape[0] : Tuple(shape));
  Tensor made{unused(wish), element, layout, Access::output, where};
  bytes_ = aligned_up(bytes_);
  tensors_.push_back({made.name, bytes_});
  bytes_ += size(layout) * made.element_bytes();
  return made;
}

// Nodes stand behind their operands, so that a new one is the last.
NodeId added(Kernel& kernel, Node node) {
  kernel.nodes.push_back(std::move(node));
  return static_cast<NodeId>(kernel.nodes.size()) - 1;
}

NodeId add_integer(Kernel& kernel, std::int64_t value, ElementType type, const Span& where) {
  return added(kernel, {Literal{value}, type, where});
}

namespace {

TensorId add_tensor(Kernel& kernel, Tensor tensor, Access access) {
  const auto id = static_cast<TensorId>(kernel.tensors.size());
  tensor.access = access;
  kernel.signature.push_back({false, id});
  kernel.tensors.push_back(std::move(tensor));
  return id;
}

}  // namespace

TensorId add_input(Kernel& kernel, Tensor tensor) {
  return add_tensor(kernel, std::move(tensor), Access::input);
}

NodeId add_input(Kernel& kernel, Tensor tensor, const std::vector<IndexId>& at, const Span& where) {
  const ElementType element = tensor.element;
  Load load{add_input(kernel, std::move(tensor)), {}};
  for (const IndexId index : at)
    load.coordinate.push_back(added(kernel, {IndexValue{index}, ElementType::s64, where}));
  return added(kernel, {load, element, where});
}

void add_output(Kernel& kernel, Tensor tensor, const std::vector<IndexId>& at, NodeId value,
                const Span& where) {
  const TensorId id = add_tensor(kernel, std::move(tensor), Access::output);
  kernel.assignments.push_back({id, at, value, where});
}

// The same nodes with one output, the value: what it does not need is dropped by as_launch.
Kernel storing(Kernel kernel, const Tensor& result, const std::vector<IndexId>& at, NodeId value) {
  kernel.name += "_" + result.name;
  kernel.assignments.clear();
  // An index that the kernel sums over walks an output here.
  for (const IndexId index : at) kernel.indices[static_cast<std::size_t>(index)].summed = false;
  add_output(kernel, result, at, value, kernel.node(value).where);
  return kernel;
}

// A script's schedules and sizes are of the kernel that it wrote, of which a launch is a part.
KernelPtr as_launch(Kernel kernel) {
  kernel.schedules.clear();
  kernel.stated_sizes.clear();
  kernel = tile::rename_indices(kernel, {});
  drop_unused_tensors(kernel);
  return std::make_shared<const Kernel>(std::move(kernel));
}

std::vector<char> used_tensors(const Kernel& kernel) {
  std::vector<char> used(kernel.tensors.size(), 0);
  const auto live = reachable(kernel);
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    const auto* load = std::get_if<Load>(&kernel.nodes[id].what);
    if (live[id] && load) used[static_cast<std::size_t>(load->tensor)] = 1;
  }
  for (const Assignment& assignment : kernel.assignments)
    used[static_cast<std::size_t>(assignment.target)] = 1;
  return used;
}

// A kernel that is a part of another one has its parameters under their names, but no more of them
// than it reads: a launcher passes what the signature asks for.
void drop_unused_tensors(Kernel& kernel, std::size_t kept) {
  std::vector<char> used = used_tensors(kernel);
  std::fill_n(used.begin(), std::min(kept, used.size()), 1);
  // Ids of tensors move up where one before them goes.
  std::vector<TensorId> now(kernel.tensors.size(), 0);
  std::vector<Tensor> left;
  for (std::size_t id = 0; id < used.size(); ++id) {
    now[id] = static_cast<TensorId>(left.size());
    if (used[id]) left.push_back(std::move(kernel.tensors[id]));
  }
  kernel.tensors = std::move(left);
  const auto move = [&](TensorId& id) { id = now[static_cast<std::size_t>(id)]; };
  for (Node& node : kernel.nodes)
    if (auto* load = std::get_if<Load>(&node.what)) move(load->tensor);
  for (Assignment& assignment : kernel.assignments) move(assignment.target);
  std::erase_if(kernel.signature, [&](const SignatureEntry& entry) {
    return !entry.is_scalar && !used[static_cast<std::size_t>(entry.id)];
  });
  for (SignatureEntry& entry : kernel.signature)
    if (!entry.is_scalar) move(entry.id);
}

}  // namespace lay::plan
