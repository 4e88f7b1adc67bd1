#include "frontend/sema/kernel/node_values.h"

#include <cmath>
#include <limits>

#include "frontend/algebra/memory/convert.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::sema {

NodeValues::NodeValues(const KernelCall& call)
    : call_(call), kernel_(*call.kernel), at_(kernel_.indices.size(), 0) {
  for (const Index& index : kernel_.indices) extents_.push_back(size_of(index.extent));
  for (const Node& node : kernel_.nodes) constants_.push_back(constant(node));
  known_ = constants_;
  for (const std::set<IndexId>& free : free_indices(kernel_))
    memory_.push_back({{free.begin(), free.end()}, {}, {}});
}

std::int64_t NodeValues::size_of(const Int& n) const {
  auto value = n.evaluate(call_.sizes);
  if (!value) throw refusal("overflow", n.to_string() + " has no value for these sizes");
  return *value;
}

bool NodeValues::comes_first(ReduceFunction function, ElementType type, const Computed& later,
                             const Computed& before) const {
  const bool greatest = function == ReduceFunction::argmax;
  if (!is_float(type))
    return greatest ? later.integer > before.integer : later.integer < before.integer;
  if (in_field()) {
    const field::Number a = field_number(later), b = field_number(before);
    if (field::is_nan(a)) return !field::is_nan(b);
    return field::compare(greatest ? ElementFunction::gt : ElementFunction::lt, a, b);
  }
  if (std::isnan(later.real)) return !std::isnan(before.real);
  return greatest ? later.real > before.real : later.real < before.real;
}

Computed NodeValues::real(ElementType type, double value) const {
  const double held = rounded(type, value);
  return in_field() ? sema::in_field(field::embed(held)) : Computed{held, 0};
}

Computed NodeValues::literal(const Literal& x, ElementType type) const {
  if (const auto* i = std::get_if<std::int64_t>(&x.value)) {
    return in_field() && is_float(type) ? sema::in_field(field::embed(*i)) : Computed{0, *i};
  }
  return real(type, std::get<double>(x.value));
}

Computed NodeValues::value(NodeId id) {
  if (const auto& known = known_[static_cast<std::size_t>(id)]) return *known;
  const Node& n = node(id);
  if (const auto* x = std::get_if<Apply>(&n.what)) return apply(id, *x, n.type);
  if (const auto* x = std::get_if<Load>(&n.what)) return load(*x);
  if (const auto* x = std::get_if<IndexValue>(&n.what))
    return {0, at_[static_cast<std::size_t>(x->index)]};
  return reduce(id, std::get<Reduce>(n.what), n.type);
}

std::optional<Computed> NodeValues::constant(const Node& node) const {
  if (const auto* x = std::get_if<Literal>(&node.what)) return literal(*x, node.type);
  if (const auto* x = std::get_if<SizeValue>(&node.what)) return Computed{0, size_of(x->value)};
  if (const auto* x = std::get_if<ScalarValue>(&node.what)) return scalar(*x, node.type);
  return std::nullopt;
}

Computed NodeValues::scalar(const ScalarValue& x, ElementType type) const {
  const Number& number = call_.scalars[static_cast<std::size_t>(x.scalar)];
  double real = std::holds_alternative<double>(number)
                    ? std::get<double>(number)
                    : static_cast<double>(std::get<std::int64_t>(number));
  if (is_float(type)) return this->real(type, real);
  return {0, std::holds_alternative<double>(number) ? static_cast<std::int64_t>(real)
                                                    : std::get<std::int64_t>(number)};
}

Computed NodeValues::load(const Load& x) {
  const Array& array = call_.tensors[static_cast<std::size_t>(x.tensor)];
  std::int64_t at = 0;
  for (std::size_t k = 0; k < x.coordinate.size(); ++k) {
    std::int64_t i = value(x.coordinate[k]).integer;
    if (i < 0 || i >= array.shape[k]) {
      throw refusal("bounds", kernel_.tensor(x.tensor).name + " is read at " + std::to_string(i) +
                                  " in mode " + std::to_string(k) + " of " +
                                  std::to_string(array.shape[k]) + " elements");
    }
    at = at * array.shape[k] + i;
  }
  return is_float(array.element) ? Computed{array.real(at), 0} : Computed{0, array.integer(at)};
}

Computed NodeValues::reduce(NodeId id, const Reduce& x, ElementType type) {
  Memory& memory = memory_[static_cast<std::size_t>(id)];
  std::vector<std::int64_t> at;
  for (const IndexId index : memory.free) at.push_back(at_[static_cast<std::size_t>(index)]);
  if (memory.value && memory.at == at) return *memory.value;
  const std::vector<std::int64_t> outer = at_;  // an index may be bound by a reduction around
  Joined joined = start(x);
  for_each(x.indices, [&] { join(x, type, joined); });
  const Computed value = result(x, joined);
  at_ = outer;
  memory.at = std::move(at);
  memory.value = value;
  return value;
}

Joined NodeValues::start(const Reduce& reduce) const {
  const auto first = identity(reduce.function, node(reduce.body).type);
  Joined joined;
  if (const auto* real = std::get_if<double>(&first))
    joined.total = this->real(node(reduce.body).type, *real);
  if (const auto* integer = std::get_if<std::int64_t>(&first)) joined.total.integer = *integer;
  return joined;
}

void NodeValues::join(const Reduce& x, ElementType type, Joined& joined) {
  Computed& total = joined.total;
  if (x.function == ReduceFunction::sum) return add(x, type, total);
  const ElementType of_body = node(x.body).type;
  const ElementFunction function = joining(x.function);
  const Computed a = value(x.body);
  if (reduce_row(x.function).result == ReduceResult::position) {
    if (!comes_first(x.function, of_body, a, total)) return;
    total = a;
    joined.position = at(x.indices[0]);
  } else if (function == ElementFunction::or_) {
    total.integer |= a.integer;
  } else if (function == ElementFunction::and_) {
    total.integer &= a.integer;
  } else {
    total = this->function(function, of_body, of_body, {total, a});
  }
}

Computed NodeValues::result(const Reduce& reduce, const Joined& joined) {
  const bool is_position = reduce_row(reduce.function).result == ReduceResult::position;
  return is_position ? Computed{0, joined.position} : joined.total;
}

// A product is added without rounding it first.
void NodeValues::add(const Reduce& x, ElementType type, Computed& sum) {
  const auto* product = std::get_if<Apply>(&node(x.body).what);
  const bool fuse = product && product->function == ElementFunction::mul &&
                    node(x.body).type == type && !known_[static_cast<std::size_t>(x.body)];
  if (!fuse) {
    const Computed a = value(x.body);
    sum = function(ElementFunction::add, type, type, {sum, a});
    return;
  }
  const Computed a = value(product->operands[0]), b = value(product->operands[1]);
  sum = function(ElementFunction::fma, type, type, {a, b, sum});
}

// In field mode every floating-point type holds the same numbers.
Computed NodeValues::converted(const Computed& x, ElementType from, ElementType to) const {
  const bool real = is_float(from);
  if (in_field() && is_float(to)) return real ? x : sema::in_field(field::embed(x.integer));
  if (in_field() && real) return {0, field::to_integer(to, field_number(x))};
  if (is_float(to)) return {real ? rounded(to, x.real) : from_integer(to, x.integer), 0};
  return {0, real ? round_to_integer(to, x.real) : saturate(to, x.integer)};
}

Computed NodeValues::apply(NodeId id, const Apply& x, ElementType type) {
  const std::vector<NodeId>& operands = x.operands;
  switch (x.function) {
    case ElementFunction::select:
      return value(truth(operands[0]) ? operands[1] : operands[2]);
    case ElementFunction::and_:
      return {0, truth(operands[0]) && truth(operands[1])};
    case ElementFunction::or_:
      return {0, truth(operands[0]) || truth(operands[1])};
    case ElementFunction::not_:
      return {0, !truth(operands[0])};
    case ElementFunction::cast:
      return converted(value(operands[0]), node(operands[0]).type, type);
    default:
      break;
  }
  Operands v{};
  for (std::size_t i = 0; i < operands.size(); ++i) v.at(i) = value(operands[i]);
  const bool divides = x.function == ElementFunction::div || x.function == ElementFunction::rem;
  if (divides && !is_float(type) && v[1].integer == 0)
    throw refusal("division-by-zero", "an integer is divided by 0" + indices_text(id));
  return function(x.function, node(operands[0]).type, type, v);
}

// " at m = 3, n = 0", of the indices that a node depends on.
std::string NodeValues::indices_text(NodeId id) const {
  std::string text;
  for (const IndexId index : memory_[static_cast<std::size_t>(id)].free)
    text += (text.empty() ? " at " : ", ") + kernel_.index(index).name + " = " +
            std::to_string(at(index));
  return text;
}

Computed NodeValues::function(ElementFunction f, ElementType operands, ElementType type,
                              const Operands& v) const {
  if (!is_float(operands)) return on_integers(f, type, v);
  return in_field() ? on_field(f, v) : on_reals(f, type, v);
}

Computed NodeValues::product(const std::vector<NodeId>& factors, ElementType type) {
  Computed made = converted(value(factors.at(0)), node(factors[0]).type, type);
  for (std::size_t i = 1; i < factors.size(); ++i)
    made = multiplied(made, converted(value(factors[i]), node(factors[i]).type, type), type);
  return made;
}

Computed NodeValues::rescaled(const Computed& sum, const Computed& before, const Computed& after,
                              ElementType type) const {
  const auto of = [&](ElementFunction f, const Operands& v) { return function(f, type, type, v); };
  using enum ElementFunction;
  return of(mul, {sum, of(exp, {of(sub, {before, after})})});
}

bool NodeValues::is_minus_infinity(const Computed& value) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return in_field() ? field_number(value).bits == field::embed(-infinity).bits
                    : value.real == -infinity;
}

void NodeValues::write(const Tensor& tensor, Array& array, std::int64_t element,
                       const Computed& value, ElementType type) const {
  if (in_field()) {
    array.set_integer(element, converted(value, type, tensor.element).integer);
  } else if (is_float(type)) {
    array.set_real(element, value.real);
  } else {
    array.set_integer(element, value.integer);
  }
}

}  // namespace lay::sema
