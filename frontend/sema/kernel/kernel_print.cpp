#include "frontend/sema/kernel/kernel_print.h"

#include "frontend/sema/kernel/reduce_function.h"
#include "frontend/sema/values/value.h"

namespace lay::sema {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string result;
  for (const auto& text : texts) result += (result.empty() ? "" : ", ") + text;
  return result;
}

template <typename T>
const auto& at(const std::vector<T>& list, int id) {
  return list.at(static_cast<std::size_t>(id));
}

std::string_view access_word(Access access) {
  switch (access) {
    case Access::input:
      return "input ";
    case Access::output:
      return "output";
    case Access::inout:
      return "inout ";
  }
  return "";
}

// Prints what a node is.
struct NodePrinter {
  const Kernel& kernel;

  static std::string name(NodeId id) { return "%" + std::to_string(id); }
  std::string index(IndexId id) const { return at(kernel.indices, id).name; }

  std::string operator()(const Literal& literal) const {
    if (const auto* integer = std::get_if<std::int64_t>(&literal.value))
      return std::to_string(*integer);
    return real_text(std::get<double>(literal.value));
  }
  std::string operator()(const IndexValue& i) const { return index(i.index); }
  std::string operator()(const SizeValue& s) const { return s.value.to_string(); }
  std::string operator()(const ScalarValue& s) const { return at(kernel.scalars, s.scalar).name; }
  std::string operator()(const Load& load) const {
    std::string text = at(kernel.tensors, load.tensor).name + "[";
    for (std::size_t i = 0; i < load.coordinate.size(); ++i) {
      const Node& node = at(kernel.nodes, load.coordinate[i]);
      const bool bare = std::holds_alternative<IndexValue>(node.what);
      text +=
          (i == 0 ? "" : ",") + (bare ? std::visit(*this, node.what) : name(load.coordinate[i]));
    }
    return text + "]";
  }
  std::string operator()(const Reduce& reduce) const {
    std::vector<std::string> names;
    for (const IndexId id : reduce.indices) names.push_back(index(id));
    return std::string(reduce_row(reduce.function).name) + "[" + joined(names) + "](" +
           name(reduce.body) + ")";
  }
  std::string operator()(const Apply& apply) const {
    std::vector<std::string> operands;
    for (const NodeId id : apply.operands) operands.push_back(name(id));
    return std::string(function_row(apply.function).name) + "(" + joined(operands) + ")";
  }
};

std::string indices_text(const Kernel& kernel) {
  std::vector<std::string> free, reduced;
  for (const Index& index : kernel.indices)
    (index.summed ? reduced : free).push_back(index.name + " < " + index.extent.to_string());
  return joined(free) + (reduced.empty() ? "" : "; reduced " + joined(reduced));
}

std::string assignment_text(const Kernel& kernel, const Assignment& assignment) {
  std::string indices;
  for (const IndexId id : assignment.indices)
    indices += (indices.empty() ? "" : ",") + at(kernel.indices, id).name;
  return at(kernel.tensors, assignment.target).name + "[" + indices +
         "] = " + NodePrinter::name(assignment.value);
}

}  // namespace

std::string print(const Kernel& kernel) {
  std::vector<std::string> dims;
  for (const Dim& dim : kernel.dims) dims.push_back(dim.name);
  std::string text = "kernel " + kernel.name + "<" + joined(dims) + ">\n";
  for (const Tensor& tensor : kernel.tensors)
    text += "  " + std::string(access_word(tensor.access)) + "  " + tensor.name + ": " +
            std::string(element_name(tensor.element)) + " " + to_string(tensor.memory()) + "\n";
  for (const Scalar& scalar : kernel.scalars)
    text += "  scalar  " + scalar.name + ": " + std::string(element_name(scalar.type)) + "\n";
  text += "  index   " + indices_text(kernel) + "\n";
  for (const Guard& guard : kernel.guards) text += "  guard   " + guard.to_string() + "\n";
  for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
    const Node& node = kernel.nodes[i];
    text += "  " + NodePrinter::name(static_cast<NodeId>(i)) + ": " +
            std::string(element_name(node.type)) + " = " +
            std::visit(NodePrinter{kernel}, node.what) + "\n";
  }
  for (const Assignment& assignment : kernel.assignments)
    text += "  " + assignment_text(kernel, assignment) + "\n";
  return text;
}

}  // namespace lay::sema
