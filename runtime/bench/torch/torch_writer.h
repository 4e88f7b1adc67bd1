// The translation of one problem, in parts: torch_writer.cpp (statements, tensors and outputs),
// torch_elements.cpp (functions of elements), torch_reductions.cpp and torch_products.cpp (sums of
// products), and a file for each kind of kernel that PyTorch has a function of its own for.
// torch_text.h is what others see.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/sema/kernel/element_arithmetic.h"
#include "runtime/bench/torch/torch_forms.h"
#include "runtime/bench/torch/torch_grouped.h"
#include "runtime/bench/torch/torch_scaled.h"
#include "runtime/bench/torch/torch_text.h"
#include "runtime/bench/torch/torch_words.h"

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
  // The index of the left factor, which has the rows.
  std::size_t left = 0;
};

// A sum of products as one product of matrices: the factors that each side is made of, the first
// of which has all indices of the side.
struct EqualForm {
  std::vector<NodeId> sides[2];
  Axes summed;
};

// A node times a number.
struct Multiple {
  double number = 1;
  NodeId node = -1;
};

// Which of several functions that compute the same is written.
enum class Alternative { plain, cudnn, flash, equal_gemm };

// A function of the module, and what is to say of it.
struct Written {
  // "computed", and its text, with that of the function that prepares its parameters if it has one.
  std::string name, text;
  std::vector<sema::TensorId> inputs, outputs;
  // As in TorchWay.
  std::vector<std::string> calls;
  double roundoff = 0;
  bool tf32 = false;
  // Statements of the module that stand before the functions.
  std::set<std::string> set_up;
  bool has_attention = false;
  // The kernel is one product of matrices that PyTorch has to copy or convert; this function is the
  // product alone.
  bool copies_operands = false, is_equal_gemm = false;
  // One call of a library does all the work, which torch.compile leaves as it is.
  bool is_one_call = false;
};

// Writes the function of one problem, output by output.
class Writer {
 public:
  Writer(const Problem& problem, Alternative alternative)
      : problem_(problem), kernel_(*problem.kernel), forms_(problem), alternative_(alternative) {}

  Written write();

 private:
  // --- statements, axes and types ---

  // Adds a statement and returns its name.
  std::string statement(const std::string& text);
  // Adds a statement that a library does all at once, or that only views what it made.
  std::string library_statement(const std::string& text);
  // Notes that the work is left to a function of PyTorch.
  void call(const std::string& function);
  // Returns the value of `make`, whose statements are executed once and not timed. Its text is
  // that of a statement.
  template <class Make>
  Value prepared(const Make& make);
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
  // Returns a tensor with its modes in this order; -1 stands for one more axis of extent 1.
  std::string arranged(sema::TensorId tensor, const std::vector<int>& modes) const;
  // Returns the value of a name that has these axes in this order.
  Value ordered(const std::string& name, const Axes& axes);
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

  // --- kernels that PyTorch has a function of its own for ---

  // Each returns nothing for a sum of another form.
  std::optional<Value> attention(const Reduce& reduce);
  std::optional<Value> convolution(const Reduce& reduce);
  std::optional<Value> grouped_product(const Reduce& reduce);
  std::optional<Value> scaled_product(NodeId id);
  // Returns whether a sum has one of these forms.
  bool has_own_function(NodeId id, const Reduce& reduce) const;
  // Returns the scales of an operand in the order of memory that PyTorch asks for.
  std::string scale_text(const ScaledOperand& operand);
  // Returns the ends of the groups whose starts are known.
  std::string group_ends(const GroupedForm& form, std::int64_t groups);

  // --- the product of equal size ---

  std::optional<EqualForm> equal_form(NodeId id) const;
  // Returns factors as one matrix, prepared: an axis for each group of axes.
  Value equal_operand(const std::vector<NodeId>& factors, const std::vector<Axes>& groups,
                      ElementType type);
  std::optional<Value> equal_gemm(NodeId id);

  // --- sums of products ---

  // Returns the parts of a sum of a product whose factors have different axes, so that broadcasting
  // them would make a tensor larger than each; nothing for any other sum.
  std::optional<ProductSum> parts_of(NodeId id, const Reduce& reduce);
  // Multiplies factors into others that have all of their axes, down to two factors.
  void merge_factors(ProductSum& parts);
  // The letters of an einsum, one an index.
  std::string letters(const Axes& axes);
  // Returns the form if PyTorch's products give the axes in this order, and makes matrices with
  // the summed axis last of the factors.
  std::optional<MatrixForm> matrix_form(std::vector<Value>& factors, const Axes& result,
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
  const Alternative alternative_;
  Written made_;
  std::map<sema::TensorId, std::string> names_;
  std::vector<std::string> lines_, prepared_lines_;
  // The values that are prepared, by name.
  std::vector<std::string> prepared_;
  int next_ = 0, products_ = 0, tf32_products_ = 0;
  // The numbers of lines that library_statement() and output() add.
  std::size_t library_lines_ = 0, output_lines_ = 0;
  // The kernel has conditions.
  bool has_selects_ = false;
  std::map<IndexId, char> letters_;

  // The indices of the output that is written, and behind them those that were met since.
  Axes output_order_, order_;
  ElementType target_ = ElementType::f32;
  NodeId root_ = -1;
  std::map<NodeId, Value> known_;
  // By text and type: what was converted once is not converted again.
  std::map<std::pair<std::string, ElementType>, std::string> conversions_;
};

template <class Make>
Value Writer::prepared(const Make& make) {
  // The values that the function computes are not there yet when its parameters are prepared.
  auto known = std::move(known_);
  auto conversions = std::move(conversions_);
  known_.clear(), conversions_.clear();
  std::swap(lines_, prepared_lines_);
  Value made = make();
  if (!is_computed(made.text)) made.text = statement(made.text);
  std::swap(lines_, prepared_lines_);
  known_ = std::move(known), conversions_ = std::move(conversions);
  prepared_.push_back(made.text);
  return made;
}

}  // namespace lay::bench::torch
