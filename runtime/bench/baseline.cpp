#include "runtime/bench/baseline.h"

#include "runtime/bench/problem/strides.h"

namespace lay::bench {
namespace {

using sema::IndexId;

// A matrix over (rows, columns): column-major, or the transpose of a column-major one.
struct Oriented {
  Matrix matrix;
  bool transposed = false;
};

Oriented orient(const Problem& problem, const Strides& strides, IndexId row, IndexId column) {
  const std::int64_t rows = problem.extent(row), columns = problem.extent(column);
  const std::int64_t down = strides.of(row), along = strides.of(column);
  const Tensor& tensor = problem.tensors[static_cast<std::size_t>(strides.tensor)];
  const bool straight = (down == 1 || rows == 1) && (along >= rows || columns == 1);
  const bool transposed = (along == 1 || columns == 1) && (down >= columns || rows == 1);
  // Both hold for a vector: then the unit stride decides.
  if (transposed && (!straight || down != 1))
    return {{tensor.element, columns, rows, rows == 1 ? columns : down, 0}, true};
  if (straight) return {{tensor.element, rows, columns, columns == 1 ? rows : along, 0}, false};
  throw NoStrides{tensor.name + " has neither unit-stride rows nor columns"};
}

// Returns "bf16 K-major": the type and the contiguous index.
std::string operand_text(const Problem& problem, const Strides& operand, IndexId k,
                         const char* otherwise, bool tf32) {
  const ElementType element = problem.tensors[static_cast<std::size_t>(operand.tensor)].element;
  return std::string(tf32 ? "tf32" : element_name(element)) +
         (operand.of(k) == 1 ? " K-major" : otherwise);
}

Baseline matmul_of(const Problem& problem, const plan::GemmForm& form) {
  const auto& kernel = *problem.kernel;
  const sema::Assignment& assignment = kernel.assignments[0];
  if (kernel.assignments.size() != 1) throw NoStrides{"it has several outputs"};
  for (const IndexId index : {form.m, form.n, form.k})
    if (problem.extent(index) == 0) throw NoStrides{"one of M, N and K is 0"};
  Strides a = strides_of_load(problem, form.a), b = strides_of_load(problem, form.b);
  const Strides c = strides_of(problem, assignment.target, assignment.indices);
  const bool tf32 = is_tf32(problem, form.a_value) && is_tf32(problem, form.b_value);
  Baseline result;
  result.text = operand_text(problem, a, form.k, " M-major", tf32) + " x " +
                operand_text(problem, b, form.k, " N-major", tf32);
  result.swap_ab = orient(problem, c, form.m, form.n).transposed;
  const IndexId rows = result.swap_ab ? form.n : form.m, columns = result.swap_ab ? form.m : form.n;
  if (result.swap_ab) std::swap(a, b);
  const Oriented left = orient(problem, a, rows, form.k),
                 right = orient(problem, b, form.k, columns);
  const Oriented output = orient(problem, c, rows, columns);
  const Batch batch = batch_of(problem, form.batch, {&c, &a, &b});
  MatmulDescription& d = result.matmul;
  d.a = left.matrix, d.b = right.matrix, d.d = output.matrix;
  d.d.batch_stride = batch.strides[0], d.a.batch_stride = batch.strides[1],
  d.b.batch_stride = batch.strides[2];
  d.c = d.d;
  d.transpose_a = left.transposed, d.transpose_b = right.transposed;
  d.batches = batch.count;
  d.accumulator = problem.kernel->node(form.contraction).type;
  d.tf32 = tf32;
  // cuBLASLt adds no 8-bit C to a product of 8-bit floats: C is bf16.
  if (is_float(d.d.element) && bits(d.d.element) == 8) d.c.element = ElementType::bf16;
  result.text += " -> " + std::string(element_name(d.d.element)) +
                 (result.swap_ab ? " row-major" : " column-major") +
                 (d.batches > 1 ? ", " + std::to_string(d.batches) + " batches" : "");
  result.left = a.tensor, result.right = b.tensor, result.output = c.tensor;
  return result;
}

}  // namespace

bool is_tf32(const Problem& problem, sema::NodeId value) {
  while (true) {
    if (problem.kernel->node(value).type == ElementType::tf32) return true;
    const auto* cast =
        std::get_if<sema::Apply>(&problem.kernel->nodes[static_cast<std::size_t>(value)].what);
    if (!cast || cast->function != ElementFunction::cast) return false;
    value = cast->operands[0];
  }
}

std::variant<Baseline, NoBaseline> baseline_of(const Problem& problem, const plan::GemmForm& form) {
  try {
    return matmul_of(problem, form);
  } catch (const NoStrides& refused) {
    return NoBaseline{refused.reason};
  }
}

std::variant<MatmulDescription, NoBaseline> with_epilogue(const Problem& problem,
                                                          const Baseline& baseline,
                                                          const Epilogue& epilogue) {
  if (epilogue.activation == "gelu")
    return NoBaseline{"its gelu is by tanh, the kernel's is by erf"};
  MatmulDescription d = baseline.matmul;
  d.alpha = epilogue.alpha;
  d.beta = epilogue.beta;
  d.activation = epilogue.activation == "none"   ? Activation::none
                 : epilogue.activation == "relu" ? Activation::relu
                                                 : Activation::gelu;
  const auto same_place = [&](const sema::TensorId tensor) {
    const Tensor &c = problem.tensors[static_cast<std::size_t>(tensor)],
                 &output = problem.tensors[static_cast<std::size_t>(baseline.output)];
    if (c.element != output.element || c.modes.size() != output.modes.size()) return false;
    for (std::size_t i = 0; i < c.modes.size(); ++i)
      if (c.modes[i].size != output.modes[i].size ||
          c.modes[i].stride() != output.modes[i].stride())
        return false;
    return true;
  };
  if (epilogue.c >= 0 && !same_place(epilogue.c))
    return NoBaseline{"C is not laid out as the output"};
  if (epilogue.bias < 0) return d;
  const Tensor& bias = problem.tensors[static_cast<std::size_t>(epilogue.bias)];
  if (epilogue.bias_along_n != baseline.swap_ab)
    return NoBaseline{
        "cuBLASLt adds a bias along the rows of a row-major output or along the columns of a "
        "column-major one"};
  if (bias.modes.size() != 1 || (bias.modes[0].size > 1 && bias.modes[0].stride() != 1))
    return NoBaseline{"expected a contiguous bias vector"};
  d.bias = bias.element;
  return d;
}

}  // namespace lay::bench
