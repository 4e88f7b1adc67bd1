#include "frontend/sema/kernel/kernel_builder.h"

#include <algorithm>
#include <set>

#include "frontend/algebra/layouts/operations.h"

namespace lay::sema {
namespace {

// A name for a node's content: equal keys are equal nodes.
std::string key_of(const Node& node) {
  std::string key =
      std::to_string(node.what.index()) + "/" + std::string(element_name(node.type)) + "/";
  struct Key {
    std::string operator()(const Literal& n) const {
      if (const auto* i = std::get_if<std::int64_t>(&n.value)) return "i" + std::to_string(*i);
      return "r" + real_text(std::get<double>(n.value));
    }
    std::string operator()(const IndexValue& n) const { return std::to_string(n.index); }
    std::string operator()(const SizeValue& n) const { return n.value.to_string(); }
    std::string operator()(const ScalarValue& n) const { return std::to_string(n.scalar); }
    std::string operator()(const Load& n) const {
      return std::to_string(n.tensor) + list(n.coordinate);
    }
    std::string operator()(const Reduce& n) const {
      return std::to_string(static_cast<int>(n.function)) + list(n.indices) +
             std::to_string(n.body);
    }
    std::string operator()(const Apply& n) const {
      return std::to_string(static_cast<int>(n.function)) + list(n.operands);
    }
    static std::string list(const std::vector<int>& numbers) {
      std::string s = "[";
      for (int n : numbers) s += std::to_string(n) + ",";
      return s + "]";
    }
  };
  return key + std::visit(Key{}, node.what);
}

bool is_comparison(ElementFunction f) {
  return f == ElementFunction::lt || f == ElementFunction::le || f == ElementFunction::gt ||
         f == ElementFunction::ge || f == ElementFunction::eq || f == ElementFunction::ne;
}

bool is_logical(ElementFunction f) {
  return f == ElementFunction::and_ || f == ElementFunction::or_ || f == ElementFunction::not_;
}

}  // namespace

ElementType KernelBuilder::accumulator(ElementType type) {
  if (type == ElementType::f64 || type == ElementType::pred) return type;
  if (is_float(type)) return ElementType::f32;
  return bits(type) <= 32 && type != ElementType::u32 ? ElementType::s32 : ElementType::s64;
}

Int KernelBuilder::extent(const Tensor& tensor, int mode) {
  return tensor.layout.shape.is_tuple() ? size(tensor.layout.shape[mode])
                                        : tensor.layout.shape.value();
}

std::pair<IndexId, Int> KernelBuilder::add_index(const std::string& name, const Int& extent,
                                                 bool summed, Span where) {
  Int symbol = session_.facts.dim(name);
  std::optional<std::int64_t> last;
  if (extent.is_literal()) last = extent.value() - 1;
  session_.facts.declare(symbol, 0, last);
  if (!last) session_.facts.assume(less(symbol, extent));
  auto id = static_cast<IndexId>(kernel.indices.size());
  kernel.indices.push_back({name, extent, summed, where});
  symbols_[*symbol.dim_id()] = id;
  symbol_of_.push_back(symbol);
  return {id, symbol};
}

std::optional<IndexId> KernelBuilder::index_of(const Int& value) const {
  auto dim = value.dim_id();
  if (!dim) return std::nullopt;
  auto at = symbols_.find(*dim);
  if (at == symbols_.end()) return std::nullopt;
  return at->second;
}

NodeId KernelBuilder::add(Node node) {
  auto [at, fresh] = interned_.emplace(key_of(node), static_cast<NodeId>(kernel.nodes.size()));
  if (fresh) {
    session_.charge(10, node.where);
    if (kernel.nodes.size() >= 100'000)
      fail("limit", "the kernel has more than 100,000 operations", node.where);
    free_.push_back(sema::free_indices(node, free_));
    kernel.nodes.push_back(std::move(node));
  }
  return at->second;
}

NodeId KernelBuilder::converted(NodeId id, ElementType type, Span where) {
  const Node& node = kernel.node(id);
  if (node.type == type) return id;
  if (node.type == ElementType::pred || type == ElementType::pred) {
    fail("operand-kind",
         node.type == ElementType::pred ? "a number must stand here, not a condition"
                                        : "a condition must stand here, not a number",
         where);
  }
  return add({Apply{ElementFunction::cast, {id}}, type, where});
}

NodeId KernelBuilder::node(const Operand& operand, std::optional<ElementType> type) {
  const Value& v = operand.value;
  if (const auto* e = v.as<Element>())
    return type ? converted(e->node, *type, operand.span) : e->node;
  if (const auto* p = v.as<Predicate>()) {
    NodeId id = lower(*p, operand.span);
    return type ? converted(id, *type, operand.span) : id;
  }
  if (const double* x = v.as<double>()) {
    ElementType t = type.value_or(ElementType::f32);
    if (!is_float(t))
      fail("operand-kind", "a real number does not fit " + std::string(element_name(t)),
           operand.span);
    return add({Literal{*x}, t, operand.span});
  }
  if (!v.is_int())
    fail("operand-kind", "a number must stand here, not " + kind_name(v), operand.span);
  const Int& n = v.as<Tuple>()->value();
  if (n.is_literal() && type && *type != ElementType::pred) {
    if (is_float(*type)) return add({Literal{static_cast<double>(n.value())}, *type, operand.span});
    return add({Literal{n.value()}, *type, operand.span});
  }
  NodeId id = lower(n, operand.span);
  return type ? converted(id, *type, operand.span) : id;
}

std::optional<ElementType> KernelBuilder::own_type(const Operand& operand) const {
  if (const auto* e = operand.value.as<Element>()) return accumulator(type_of(e->node));
  return std::nullopt;
}

// Elements decide; numbers written in the text and sizes follow them.
ElementType KernelBuilder::common_type(const std::vector<Operand>& operands, std::size_t from,
                                       Span whole) const {
  std::optional<ElementType> result;
  bool real = false;
  for (std::size_t i = from; i < operands.size(); ++i) {
    real = real || operands[i].value.as<double>();
    auto type = own_type(operands[i]);
    if (!type) continue;
    if (*type == ElementType::pred)
      fail("operand-kind", "a number must stand here, not a condition", operands[i].span);
    if (!result) {
      result = type;
    } else if (is_float(*result) != is_float(*type)) {
      result = is_float(*type) ? type : result;
    } else if (bits(*type) > bits(*result)) {
      result = type;
    }
  }
  (void)whole;
  if (!result) return real ? ElementType::f32 : ElementType::s64;
  return real && !is_float(*result) ? ElementType::f32 : *result;
}

Value KernelBuilder::apply(ElementFunction function, const std::vector<Operand>& operands,
                           Span whole) {
  for (const Operand& operand : operands) {
    if (operand.value.is_unknown()) return operand.value;
  }
  const FunctionRow& row = function_row(function);
  if (static_cast<int>(operands.size()) != row.arity) {
    fail("argument-count",
         std::string(row.name) + " takes " + std::to_string(row.arity) + " numbers", whole);
  }
  std::vector<NodeId> nodes;
  if (is_logical(function)) {
    for (const Operand& operand : operands) nodes.push_back(node(operand, ElementType::pred));
    return Value(Element{add({Apply{function, nodes}, ElementType::pred, whole})});
  }
  std::size_t from = 0;
  if (function == ElementFunction::select) {
    nodes.push_back(node(operands[0], ElementType::pred));
    from = 1;
  }
  ElementType type = common_type(operands, from, whole);
  if (!row.integers && !is_float(type)) type = ElementType::f32;
  if (function == ElementFunction::div && !is_float(type)) {
    fail("operand-kind", "/ does not divide integers of a kernel exactly", whole, {},
         {{"help", "x // y rounds down, and f32(x) / y divides as real numbers"}});
  }
  for (std::size_t i = from; i < operands.size(); ++i) nodes.push_back(node(operands[i], type));
  ElementType result = is_comparison(function) ? ElementType::pred : type;
  NodeId id = add({Apply{function, nodes}, result, whole});
  if (function != ElementFunction::mul) return Value(Element{id});
  for (std::size_t i = 0; i < 2;
       ++i) {  // scalar * (what is read of an inout tensor): not read where the scalar is 0
    if (!is_scalar(nodes[i]) || !reads_inout(nodes[1 - i])) continue;
    NodeId zero = add({is_float(type) ? Literal{0.0} : Literal{std::int64_t{0}}, type, whole});
    NodeId dead = add({Apply{ElementFunction::eq, {nodes[i], zero}}, ElementType::pred, whole});
    id = add({Apply{ElementFunction::select, {dead, zero, id}}, type, whole});
    break;
  }
  return Value(Element{id});
}

bool KernelBuilder::is_scalar(NodeId id) const {
  const Node* n = &kernel.node(id);
  if (const auto* apply = std::get_if<Apply>(&n->what);
      apply && apply->function == ElementFunction::cast) {
    n = &kernel.node(apply->operands[0]);
  }
  return std::holds_alternative<ScalarValue>(n->what);
}

Value KernelBuilder::cast(const Operand& operand, ElementType to) {
  return Value(Element{node(operand, to)});
}

Value KernelBuilder::scalar(ScalarId id, Span where) {
  return Value(
      Element{add({ScalarValue{id}, kernel.scalars[static_cast<std::size_t>(id)].type, where})});
}

// A coordinate that is read from memory.
NodeId KernelBuilder::gathered(const Element& element, Span where) const {
  const ElementType type = type_of(element.node);
  if (type == ElementType::pred || is_float(type)) {
    fail("operand-kind",
         "an index is an integer, not " +
             std::string(type == ElementType::pred ? "a condition"
                                                   : "of " + std::string(element_name(type))),
         where);
  }
  return element.node;
}

Int KernelBuilder::place(const Operand& index, const Int& extent) {
  if (!index.value.is_int())
    fail("operand-kind", "an index is an integer, not " + kind_name(index.value), index.span);
  const Int& at = index.value.as<Tuple>()->value();
  if (const auto bare = index_of(at)) {
    require_extent(*bare, extent, index.span);
  } else {
    require_inside(at, extent, index);
  }
  return at;
}

Value KernelBuilder::load(TensorId id, const std::vector<Operand>& indices, Span whole) {
  const Tensor& tensor = kernel.tensor(id);
  if (tensor.access == Access::output) {
    fail("output-read", tensor.name + " is written, and may be read only if it is inout", whole,
         {{tensor.where,
           "write " + tensor.name + ": inout " + std::string(element_name(tensor.element))}});
  }
  if (static_cast<int>(indices.size()) != tensor.layout.rank()) {
    fail("coordinate-rank",
         tensor.name + " takes " + std::to_string(tensor.layout.rank()) + " indices, not " +
             std::to_string(indices.size()),
         whole, {{tensor.where, tensor.layout.to_string()}});
  }
  std::vector<NodeId> coordinate;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (const auto* element = indices[k].value.as<Element>()) {
      coordinate.push_back(gathered(*element, indices[k].span));
      continue;
    }
    coordinate.push_back(
        lower(place(indices[k], extent(tensor, static_cast<int>(k))), indices[k].span));
  }
  return Value(Element{add({Load{id, std::move(coordinate)}, tensor.element, whole})});
}

// The same arithmetic in another type from the loads on: f32 products in an f64 sum are products of
// f64.
NodeId KernelBuilder::computed_in(NodeId id, ElementType type, Span where) {
  const Node node = kernel.node(id);
  if (node.type == type) return id;
  const auto* apply = std::get_if<Apply>(&node.what);
  if (!apply) return converted(id, type, where);
  if (apply->function == ElementFunction::cast &&
      bits(type_of(apply->operands[0])) <= bits(node.type)) {
    return computed_in(apply->operands[0], type, where);  // widened on the way: nothing was rounded
  }
  bool select = apply->function == ElementFunction::select;
  bool plain = apply->function == ElementFunction::add || apply->function == ElementFunction::sub ||
               apply->function == ElementFunction::mul || apply->function == ElementFunction::neg;
  if (!plain && !select) return converted(id, type, where);
  std::vector<NodeId> operands;
  for (std::size_t i = 0; i < apply->operands.size(); ++i) {
    bool condition = select && i == 0;
    operands.push_back(condition ? apply->operands[i]
                                 : computed_in(apply->operands[i], type, where));
  }
  return add({Apply{apply->function, std::move(operands)}, type, node.where});
}

bool KernelBuilder::reads_inout(NodeId id) const {
  std::set<NodeId> seen;
  std::vector<NodeId> open{id};
  while (!open.empty()) {
    NodeId next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    const Node& n = kernel.node(next);
    if (const auto* load = std::get_if<Load>(&n.what)) {
      if (kernel.tensor(load->tensor).access == Access::inout) return true;
    }
    if (const auto* apply = std::get_if<Apply>(&n.what))
      open.insert(open.end(), apply->operands.begin(), apply->operands.end());
  }
  return false;
}

}  // namespace lay::sema
