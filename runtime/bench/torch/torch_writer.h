// The translation of one problem, in parts: torch_writer.cpp (statements, tensors and outputs),
// torch_elements.cpp (functions of elements), torch_reductions.cpp and torch_products.cpp (sums of
// products). torch_text.h is what others see.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/sema/kernel/element_arithmetic.h"
#include "runtime/bench/torch/torch_forms.h"
#include "runtime/bench/torch/torch_text.h"

namespace lay::bench::torch {

using sema::IndexId;
using sema::NodeId;
using sema::Reduce;
using Axes = std::vector<IndexId>;

// The value of a node.
struct Value {
  // A name, or an expression that binds as strongly as one; a number of Python.
  std::string text;
  Axes axes;
  // The element type of the tensor `text`.
  ElementType type = ElementType::f32;
  // The type of the node. PyTorch need not convert to it where it computes in `type` anyway.
  ElementType wanted = ElementType::f32;
  // The value of a number; nothing for a tensor.
  std::optional<sema::Computed> number;
  // Was rounded to `type` by a product or a function of PyTorch.
  bool is_rounded = false;
};

// A sum of a product: factors under the sum, and those that it does not run over.
struct ProductSum {
  std::vector<Value> under, beside;
  // The type in which PyTorch multiplies.
  ElementType type = ElementType::f32;
};

// Two factors as a product of matrices: the axes that only one of them has, that the sum runs
// over, and that all three have.
struct MatrixForm {
  Axes rows, columns, summed, batch;
  // Of the factors: `left` has the rows.
  std::size_t left = 0;
};

// A node times a number.
struct Multiple {
  double number = 1;
  NodeId node = -1;
};

// Writes the function of one problem, output by output.
class Writer {
 public:
  explicit Writer(const Problem& problem)
      : problem_(problem), kernel_(*problem.kernel), forms_(problem) {}

  TorchFunction write();

 private:
  // --- statements, axes and types ---

  // Adds a statement and returns its name.
  std::string statement(const std::string& text);
  // Notes that the work is left to a function of PyTorch.
  void call(const std::string& function);
  // Returns the place of an index in the order of axes; behind the last if it was not met yet.
  std::size_t place(IndexId index) const;
  // Returns the indices in the order of axes.
  Axes in_order(const std::set<IndexId>& indices);
  // Returns the axes that the values have together.
  Axes united(const std::vector<const Value*>& values);
  static bool has(const Axes& axes, IndexId index);
  // Returns texts as the elements of a tuple: "1, 2", and "1," of one.
  static std::string listed(const std::vector<std::string>& texts);
  // Returns the value for use beside values of these axes: those that it lacks have extent 1.
  static std::string aligned(const Value& value, const Axes& axes);
  // Returns the axes' places, as PyTorch's `dim`.
  static std::vector<std::string> places(const Value& value, const Axes& axes);
  // Returns a number of Python.
  static Value number_of(ElementType type, sema::Computed number);
  // Returns the value in another type.
  Value converted(const Value& value, ElementType type);
  // Returns the value in its node's type.
  Value exact(const Value& value) { return converted(value, value.wanted); }

  // --- outputs ---

  // Writes an output, in memory as it lies there, and returns its name.
  std::string output(const sema::Assignment& assignment);
  // Returns whether functions may compute in the output's type: it is narrow, and nothing comes
  // behind this node.
  bool is_narrow_root(NodeId id, ElementType type) const;

  // --- nodes ---

  // Returns the value of a node, which is written once for each output.
  Value value(NodeId id);
  // Returns the numbers 0, 1, ... along an index.
  Value range(IndexId index);
  // Returns elements of a tensor: a view of it if the coordinates are indices and numbers.
  Value loaded(const sema::Load& load);
  // Returns elements at computed coordinates.
  Value gathered(const sema::Load& load, Value made);

  // --- functions of elements ---

  Value applied(NodeId id, const sema::Apply& apply);
  // Returns a function as an operator of elements.
  Value spelled(NodeId id, const sema::Apply& apply);
  // Returns the text of a function. `of` is the type of its operands in the kernel.
  static std::string spelling(ElementFunction function, const std::vector<Value>& values,
                              const std::vector<std::string>& operands, ElementType of);
  static bool is_number(const Value& value, int number);
  // Returns a function of numbers as a number.
  Value folded(NodeId id, const sema::Apply& apply, const std::vector<Value>& values);

  // --- functions of PyTorch's own ---

  // Each returns nothing where PyTorch's function does not take the value as it is.
  std::optional<Value> library_form(NodeId id);
  std::optional<Value> softmax(NodeId id, const SoftmaxForm& form);
  std::optional<Value> log_sum_exp(NodeId id, const LogSumExpForm& form);
  std::optional<Value> norm(NodeId id, const NormForm& form);
  std::optional<Value> activation(NodeId id, const ActivationForm& form);

  // --- reductions ---

  Value reduced(NodeId id, const Reduce& reduce);
  // Returns the value with an axis for each of the indices.
  Value with_axes(Value value, const std::vector<IndexId>& indices);

  // --- sums of products ---

  // Appends the factors of a product of products.
  void factors_of(NodeId id, std::vector<NodeId>& factors) const;
  // Returns the parts of a sum of a product whose factors have different axes, so that broadcasting
  // them would make a tensor larger than each; nothing for any other sum.
  std::optional<ProductSum> parts_of(NodeId id, const Reduce& reduce);
  // The letters of an einsum, one an index.
  std::string letters(const Axes& axes);
  // Returns the form if PyTorch's products take and give the axes in the order that they have.
  std::optional<MatrixForm> matrix_form(const std::vector<Value>& factors, const Axes& result,
                                        const Reduce& reduce);
  // Returns a sum of a product of such parts; nothing for any other sum.
  std::optional<Value> product_sum(NodeId id, const Reduce& reduce);
  // Returns the text of a product of floats.
  std::string product_text(const std::vector<Value>& factors, const std::optional<MatrixForm>& form,
                           const Axes& result);
  // Returns a product of integers or of 8-bit floats, if PyTorch has it.
  std::optional<Value> narrow_product(const ProductSum& parts,
                                      const std::optional<MatrixForm>& form, Value made,
                                      ElementType wanted);
  // Returns a node as a multiple of another one, or of itself.
  Multiple multiple(NodeId id) const;
  // Returns the branch that a condition on sizes and scalars takes, under casts.
  NodeId taken_branch(NodeId id);
  // Returns a product of matrices plus a bias along its columns or a matrix, each perhaps times a
  // number: what cuBLASLt fuses.
  std::optional<Value> product_and_bias(const sema::Apply& sum);

  const Problem& problem_;
  const sema::Kernel& kernel_;
  const TorchForms forms_;
  TorchFunction made_;
  std::map<sema::TensorId, std::string> names_;
  std::vector<std::string> lines_;
  int next_ = 0, products_ = 0, tf32_products_ = 0;
  // The text needs the tensor `one`; the kernel has conditions.
  bool uses_one_ = false, has_selects_ = false;
  std::map<IndexId, char> letters_;

  // Of the output that is written: its indices, and behind them those that were met since.
  Axes output_order_, order_;
  ElementType target_ = ElementType::f32;
  NodeId root_ = -1;
  std::map<NodeId, Value> known_;
  // By text and type: what was converted once is not converted again.
  std::map<std::pair<std::string, ElementType>, std::string> conversions_;
};

}  // namespace lay::bench::torch
