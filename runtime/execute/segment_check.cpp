#include "runtime/execute/segment_check.h"

#include "backend/plan/grouped/grouped_product.h"
#include "backend/plan/launches/workspace_kernel.h"
#include "frontend/sema/kernel/reference.h"

namespace lay::runtime {

void check_segments(const plan::Variant& variant, const sema::KernelCall& call) {
  const tile::Program* program = plan::scheduled_program(variant);
  const bool in_segments =
      program && program->is_product() && program->axis(tile::row_axis).segments;
  const auto product = in_segments ? plan::recognise_grouped(call.kernel) : std::nullopt;
  if (!product) return;
  const sema::TensorId of_parts = product->kernel->load(product->selected).tensor;
  if (call.tensors.at(static_cast<std::size_t>(of_parts)).size() == 0) return;  // K is 0
  // The first element of each row's part, by the plain loops of the kernel's definition.
  sema::Kernel reads = *product->kernel;
  const Span& where = reads.node(product->selected).where;
  sema::Load load = reads.load(product->selected);
  for (sema::NodeId& each : load.coordinate)
    if (each != product->coordinate) each = plan::add_integer(reads, 0, ElementType::s64, where);
  const sema::Tensor& parts = reads.tensor(load.tensor);
  const sema::Tensor result{"read", parts.element, Layout(reads.index(product->row).extent, 1),
                            sema::Access::output, where};
  reads.assignments.clear();
  plan::add_output(reads, result, {product->row}, plan::added(reads, {load, result.element, where}),
                   where);
  sema::KernelCall made = call;
  made.kernel = std::make_shared<const sema::Kernel>(std::move(reads));
  made.tensors.push_back(sema::Array::make(
      result.element, sema::array_shape(made.kernel->tensors.back(), call.sizes)));
  sema::run_reference(made);
}

}  // namespace lay::runtime
