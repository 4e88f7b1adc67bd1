#include <algorithm>
#include <stdexcept>

#include "backend/ir/lower/lower_parts.h"
#include "backend/plan/print.h"

namespace lay::ir {

namespace {

// Where a tensor lies in the variant's workspace, if it does.
const plan::WorkspaceTensor* workspace_tensor(const plan::Variant& variant,
                                              const std::string& name) {
  // Plans that write a workspace tensor and those that read it are separate kernels with separate
  // ids: the name is what they share.
  const auto found =
      std::find_if(variant.workspace_tensors.begin(), variant.workspace_tensors.end(),
                   [&](const plan::WorkspaceTensor& each) { return each.name == name; });
  return found == variant.workspace_tensors.end() ? nullptr : &*found;
}

int alignment_of(const plan::Variant& variant, sema::TensorId tensor) {
  for (const plan::Alignment& alignment : variant.aligned) {
    if (alignment.tensor == tensor) return alignment.bytes;
  }
  return 0;
}

}  // namespace

Declared::Declared(Builder& builder, const plan::Plan& plan, const plan::Variant& variant,
                   const LowerOptions& options)
    : b(builder), kernel(plan::executed(plan, variant)), options_(options), variant_(variant) {
  Kernel& made = b.kernel;
  copies = variant.programs.front().copies;
  made.name = kernel.name + "_" + variant.name;
  made.script = options.script;
  made.header = plan::schedule_lines(plan, variant);
  // The launcher has checked guards and conditions: index arithmetic is simplified with them. A
  // guard on a path holds where the path is taken: not path, or predicate.
  for (const Guard& guard : kernel.guards) {
    made.assumptions.push_back(either(negate(guard.path), guard.predicate));
  }
  made.assumptions.insert(made.assumptions.end(), variant.when.begin(), variant.when.end());
  for (const sema::Dim& dim : kernel.dims) {
    // Names of the script's dims, scalars, tensors and indices are kept as they are; lowering's own
    // names give way (`acc` becomes `acc_`).
    taken_.insert(dim.name);
    b.size(dim.name, dim.symbol);
  }
  for (const sema::Scalar& scalar : kernel.scalars) {
    taken_.insert(scalar.name);
    scalars.push_back(b.scalar(scalar.name, scalar.type));
  }
  for (size_t id = 0; id < kernel.tensors.size(); ++id) {
    const sema::Tensor& tensor = kernel.tensors[id];
    taken_.insert(tensor.name);
    from(tensor.where);
    const plan::WorkspaceTensor* inside = workspace_tensor(variant, tensor.name);
    tensors.push_back(
        b.global(tensor.name, tensor.element, tensor.memory(),
                 {.alignment = inside ? plan::workspace_alignment
                                      : alignment_of(variant, static_cast<sema::TensorId>(id)),
                  .read = tensor.access != sema::Access::output,
                  .written = tensor.access != sema::Access::input,
                  .workspace = inside != nullptr,
                  .offset = inside ? inside->offset : Int(0)}));
  }
  for (const sema::Index& index : kernel.indices) index_names_.push_back(name(index.name));
  taken_.insert(index_names_.begin(), index_names_.end());
}

BufferId Declared::workspace(const std::string& name, ElementType element, const Layout& layout) {
  const plan::WorkspaceTensor* inside = workspace_tensor(variant_, name);
  if (!inside) throw std::logic_error("internal: `" + name + "` has no place in workspace");
  taken_.insert(name);
  return b.global(name, element, layout,
                  {.alignment = plan::workspace_alignment,
                   .read = true,
                   .written = true,
                   .workspace = true,
                   .offset = inside->offset});
}

std::string Declared::name(const std::string& wish) const {
  std::string result = wish;
  while (taken_.contains(result)) result += "_";
  return result;
}

}  // namespace lay::ir
