#include "frontend/sema/kernel/kernel_call.h"

#include <algorithm>
#include <cmath>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/refusal.h"

namespace lay::sema {
namespace {

struct Equation {
  Int expression;
  std::int64_t value;
  std::string what;  // "axis 0 of X"
};

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string s = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) s += (i ? "," : "") + std::to_string(shape[i]);
  return s + (shape.size() == 1 ? ",)" : ")");
}

int axes_of(const Tensor& tensor) {
  return tensor.layout.rank();
}

Int axis(const Tensor& tensor, int k) {
  return tensor.layout.shape.is_tuple() ? size(tensor.layout.shape[k])
                                        : tensor.layout.shape.value();
}

std::vector<Equation> equations_of(
    const Kernel& kernel, const std::vector<std::optional<std::vector<std::int64_t>>>& shapes) {
  std::vector<Equation> equations;
  for (std::size_t id = 0; id < kernel.tensors.size(); ++id) {
    if (id >= shapes.size() || !shapes[id]) continue;
    const Tensor& tensor = kernel.tensors[id];
    if (static_cast<int>(shapes[id]->size()) != axes_of(tensor)) {
      throw refusal("shape-mismatch", tensor.name + " has " + std::to_string(axes_of(tensor)) +
                                          " modes, and the array of shape " +
                                          shape_text(*shapes[id]) + " has " +
                                          std::to_string(shapes[id]->size()));
    }
    for (int k = 0; k < axes_of(tensor); ++k) {
      equations.push_back({axis(tensor, k), (*shapes[id])[static_cast<std::size_t>(k)],
                           "axis " + std::to_string(k) + " of " + tensor.name});
    }
  }
  return equations;
}

std::vector<DimId> open_dims(const Int& expression, const Binding& sizes) {
  std::map<DimId, std::string> dims;
  expression.collect_dims(dims);
  std::vector<DimId> open;
  for (const auto& [id, name] : dims) {
    if (!sizes.contains(id)) open.push_back(id);
  }
  return open;
}

// The value of the one open dim of an expression that is linear in it.
std::optional<std::int64_t> solve(const Equation& e, DimId dim, const Binding& sizes) {
  Binding at = sizes;
  at[dim] = 0;
  auto base = e.expression.evaluate(at);
  at[dim] = 1;
  auto next = e.expression.evaluate(at);
  if (!base || !next || *next == *base) return std::nullopt;
  std::int64_t step = *next - *base, rest = e.value - *base;
  if (rest % step != 0) return std::nullopt;
  at[dim] = rest / step;
  if (e.expression.evaluate(at) != e.value) return std::nullopt;
  return rest / step;
}

// Takes every size that the equations fix; says whether there was one.
bool solve_more(const std::vector<Equation>& equations, Binding& sizes) {
  bool found = false;
  for (const Equation& e : equations) {
    std::vector<DimId> open = open_dims(e.expression, sizes);
    if (open.size() != 1) continue;
    if (auto value = solve(e, open[0], sizes)) {
      sizes[open[0]] = *value;
      found = true;
    }
  }
  return found;
}

// The least value of a dim that the guards allow, for instance of a leading dimension.
std::optional<std::int64_t> least_allowed(const Kernel& kernel, DimId dim, const Binding& sizes) {
  std::int64_t least = 1;
  for (const Guard& guard : kernel.guards) {
    const PredicateNode& n = guard.predicate.node();
    if (n.kind != PredicateKind::less_equal && n.kind != PredicateKind::less) continue;
    if (n.b.dim_id() != dim) continue;
    auto bound = n.a.evaluate(sizes);
    if (!bound) return std::nullopt;
    least = std::max(least, n.kind == PredicateKind::less ? *bound + 1 : *bound);
  }
  return least;
}

const Dim* open_dim(const Kernel& kernel, const Binding& sizes) {
  for (const Dim& dim : kernel.dims) {
    if (!sizes.contains(*dim.symbol.dim_id())) return &dim;
  }
  return nullptr;
}

bool in_a_shape(const Kernel& kernel, DimId id) {
  for (const Tensor& tensor : kernel.tensors) {
    std::map<DimId, std::string> dims;
    for (const Tuple& leaf : leaves(tensor.layout.shape)) leaf.value().collect_dims(dims);
    if (dims.contains(id)) return true;
  }
  return false;
}

}  // namespace

Binding solve_sizes(const Kernel& kernel,
                    const std::vector<std::optional<std::vector<std::int64_t>>>& shapes,
                    const std::map<std::string, std::int64_t>& set) {
  Binding sizes;
  std::vector<Equation> equations = equations_of(kernel, shapes);
  while (solve_more(equations, sizes)) {
  }
  for (const Dim& dim : kernel.dims) {
    auto given = set.find(dim.name);
    if (given != set.end()) sizes.emplace(*dim.symbol.dim_id(), given->second);
  }
  while (solve_more(equations, sizes)) {
  }
  while (const Dim* dim = open_dim(kernel, sizes)) {
    DimId id = *dim->symbol.dim_id();
    auto least = in_a_shape(kernel, id) ? std::nullopt : least_allowed(kernel, id, sizes);
    if (!least) {
      throw refusal("unknown-size", "nothing says what " + dim->name + " of " + kernel.name + " is",
                    "--set " + dim->name + "=...");
    }
    sizes[id] = *least;
  }
  for (const Dim& dim : kernel.dims) {
    std::int64_t value = sizes.at(*dim.symbol.dim_id());
    if (value < 0)
      throw refusal("guard",
                    kernel.name + " needs " + dim.name + " >= 0, not " + std::to_string(value));
  }
  for (const Equation& e : equations) {
    auto expected = e.expression.evaluate(sizes);
    if (expected == e.value) continue;
    std::string wanted = e.expression.to_string();
    if (expected && !e.expression.is_literal()) wanted += " = " + std::to_string(*expected);
    throw refusal("shape-mismatch", e.what + " has " + std::to_string(e.value) + " elements, and " +
                                        kernel.name + " wants " + wanted);
  }
  return sizes;
}

std::map<std::string, std::int64_t> sizes_by_dim(const Kernel& kernel,
                                                 const std::map<std::string, std::int64_t>& given) {
  const auto all = given.find("");
  if (all == given.end()) return given;
  std::map<std::string, std::int64_t> sizes = given;
  sizes.erase("");
  for (const Dim& dim : kernel.dims) sizes.try_emplace(dim.name, all->second);
  return sizes;
}

void check_guards(const Kernel& kernel, const Binding& sizes) {
  for (const Guard& guard : kernel.guards) {
    auto path = guard.path.evaluate(sizes);
    if (path == false) continue;
    if (guard.predicate.evaluate(sizes) == true) continue;
    Refusal r = refusal("guard", kernel.name + " needs " + guard.to_string());
    std::map<DimId, std::string> dims;
    guard.predicate.collect_dims(dims);
    for (const auto& [id, name] : dims) {
      auto value = sizes.find(id);
      if (value != sizes.end()) r.sizes.emplace_back(name, value->second);
    }
    throw r;
  }
}

std::optional<Array> as_elements(const Array& array, ElementType element) {
  if (array.element == element) return array;
  const bool unnamed = is_float(element) && (bits(element) < 32 || element == ElementType::tf32);
  if (!unnamed) return std::nullopt;
  if (array.element == ElementType::f32) return array.cast(element);
  const bool raw =
      !is_float(array.element) && !is_signed(array.element) && array.element != ElementType::pred;
  if (raw && bits(array.element) == bits(element)) return Array{element, array.shape, array.bytes};
  return std::nullopt;
}

bool is_rounded(const Array& array, const Array& narrow) {
  if (array.element == narrow.element || !is_float(array.element)) return false;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double before = array.real(i), after = narrow.real(i);
    if (before != after && !(std::isnan(before) && std::isnan(after))) return true;
  }
  return false;
}

}  // namespace lay::sema
