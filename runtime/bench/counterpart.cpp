#include "runtime/bench/counterpart.h"

#include "runtime/bench/steps.h"

namespace lay::bench {
namespace {

using sema::IndexId;

// A matrix over (rows, columns): column-major as it is, or transposed.
struct Oriented {
  Matrix matrix;
  bool transposed = false;
};

Oriented orient(const Problem& problem, const Steps& steps, IndexId row, IndexId column) {
  const std::int64_t rows = problem.extent(row), columns = problem.extent(column);
  const std::int64_t down = steps.of(row), along = steps.of(column);
  const Tensor& tensor = problem.tensors[static_cast<std::size_t>(steps.tensor)];
  const bool straight = (down == 1 || rows == 1) && (along >= rows || columns == 1);
  const bool transposed = (along == 1 || columns == 1) && (down >= columns || rows == 1);
  // Of a vector both hold: then as the unit stride says.
  if (transposed && (!straight || down != 1))
    return {{tensor.element, columns, rows, rows == 1 ? columns : down, 0}, true};
  if (straight) return {{tensor.element, rows, columns, columns == 1 ? rows : along, 0}, false};
  throw NoSteps{tensor.name + " has neither unit-stride rows nor columns"};
}

// "bf16 K-major": along which index neighbours in memory lie.
std::string words(const Problem& problem, const Steps& factor, IndexId k, const char* other,
                  bool tf32) {
  const ElementType element = problem.tensors[static_cast<std::size_t>(factor.tensor)].element;
  return std::string(tf32 ? "tf32" : element_name(element)) +
         (factor.of(k) == 1 ? " K-major" : other);
}

Counterpart made(const Problem& problem, const plan::GemmForm& form) {
  const auto& kernel = *problem.kernel;
  const sema::Assignment& assignment = kernel.assignments[0];
  if (kernel.assignments.size() != 1) throw NoSteps{"it has several outputs"};
  for (const IndexId index : {form.m, form.n, form.k})
    if (problem.extent(index) == 0) throw NoSteps{"it has no element"};
  Steps a = steps_of_load(problem, form.a), b = steps_of_load(problem, form.b);
  const Steps c = steps_of(problem, assignment.target, assignment.indices);
  const bool tf32 = is_tf32(problem, form.a_value) && is_tf32(problem, form.b_value);
  Counterpart result;
  result.words = words(problem, a, form.k, " M-major", tf32) + " x " +
                 words(problem, b, form.k, " N-major", tf32);
  result.swapped = orient(problem, c, form.m, form.n).transposed;
  const IndexId rows = result.swapped ? form.n : form.m, columns = result.swapped ? form.m : form.n;
  if (result.swapped) std::swap(a, b);
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
  // What is added to a product of 8-bit floats is wider than they are.
  if (is_float(d.d.element) && bits(d.d.element) == 8) d.c.element = ElementType::bf16;
  result.words += " -> " + std::string(element_name(d.d.element)) +
                  (result.swapped ? " row-major" : " column-major") +
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

std::variant<Counterpart, NoCounterpart> counterpart_of(const Problem& problem,
                                                        const plan::GemmForm& form) {
  try {
    return made(problem, form);
  } catch (const NoSteps& refused) {
    return NoCounterpart{refused.reason};
  }
}

std::variant<MatmulDescription, NoCounterpart> with_epilogue(const Problem& problem,
                                                             const Counterpart& counterpart,
                                                             const Epilogue& epilogue) {
  if (epilogue.activation == "gelu")
    return NoCounterpart{"its gelu is that by tanh, and the kernel's the one by erf"};
  MatmulDescription d = counterpart.matmul;
  d.alpha = epilogue.alpha;
  d.beta = epilogue.beta;
  d.activation = epilogue.activation == "none"   ? Activation::none
                 : epilogue.activation == "relu" ? Activation::relu
                                                 : Activation::gelu;
  const auto same_place = [&](const sema::TensorId tensor) {
    const Tensor &c = problem.tensors[static_cast<std::size_t>(tensor)],
                 &output = problem.tensors[static_cast<std::size_t>(counterpart.output)];
    if (c.element != output.element || c.modes.size() != output.modes.size()) return false;
    for (std::size_t i = 0; i < c.modes.size(); ++i)
      if (c.modes[i].size != output.modes[i].size ||
          c.modes[i].stride() != output.modes[i].stride())
        return false;
    return true;
  };
  if (epilogue.c >= 0 && !same_place(epilogue.c))
    return NoCounterpart{"what it adds is not laid out as its output"};
  if (epilogue.bias < 0) return d;
  const Tensor& bias = problem.tensors[static_cast<std::size_t>(epilogue.bias)];
  if (epilogue.bias_along_n != counterpart.swapped)
    return NoCounterpart{
        "cuBLASLt adds a bias along the rows of a row-major output, and along the columns of a "
        "column-major one, alone"};
  if (bias.modes.size() != 1 || (bias.modes[0].size > 1 && bias.modes[0].stride() != 1))
    return NoCounterpart{"its bias is no vector in one piece"};
  d.bias = bias.element;
  return d;
}

}  // namespace lay::bench
