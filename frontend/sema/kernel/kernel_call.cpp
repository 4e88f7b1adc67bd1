#include "frontend/sema/kernel/kernel_call.h"

#include <algorithm>
#include <cmath>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/convert.h"
#include "frontend/algebra/support/refusal.h"

namespace lay::sema {
namespace {

struct Equation {
  Int expression;
  std::int64_t value;
  std::string what;        // "axis 0 of X"
  bool is_stride = false;  // of the axis, not its extent
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

// The sizes that the equations and `set` fix, the least that are allowed of those that nothing
// fixes; every equation holds.
Binding solved(const Kernel& kernel, const std::vector<Equation>& equations,
               const std::map<std::string, std::int64_t>& set) {
  Binding sizes;
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
    if (e.is_stride)
      throw refusal("stride-mismatch", "the stride of " + e.what + " is " +
                                           std::to_string(e.value) + ", and " + kernel.name +
                                           " wants " + wanted);
    throw refusal("shape-mismatch", e.what + " has " + std::to_string(e.value) + " elements, and " +
                                        kernel.name + " wants " + wanted);
  }
  return sizes;
}

// The one stride of an axis of several modes: how far apart neighbours lie, where all do; 0 for an
// axis of one element.
std::optional<std::int64_t> stride_of_axis(const Tensor& tensor, int k, const Binding& sizes) {
  const bool is_one = !tensor.layout.shape.is_tuple();
  const Tuple& shape = is_one ? tensor.layout.shape : tensor.layout.shape[k];
  const Tuple& stride = is_one ? tensor.layout.stride : tensor.layout.stride[k];
  const std::vector<Tuple> extents = leaves(shape), steps = leaves(stride);
  std::optional<std::int64_t> first;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto extent = extents[i].value().evaluate(sizes);
    const auto step = steps[i].is_int() ? steps[i].value().evaluate(sizes) : std::nullopt;
    if (!extent || !step) return std::nullopt;
    if (extents.size() == 1) return step;
    if (*extent == 1) continue;
    if (first && *step != next) return std::nullopt;
    if (!first) first = *step;
    if (__builtin_mul_overflow(*extent, *step, &next)) return std::nullopt;
  }
  return first.value_or(0);
}

// What the strides of a tensor's axes say of its layout, of axes of one mode.
void add_strides(const Tensor& tensor, const Lying& lying, std::vector<Equation>& equations) {
  for (int k = 0; k < axes_of(tensor); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const bool is_one = !tensor.layout.shape.is_tuple();
    const Tuple& stride = is_one ? tensor.layout.stride : tensor.layout.stride[k];
    if (stride.is_int() && lying.shape.at(i) > 1)
      equations.push_back({stride.value(), lying.strides.at(i),
                           "axis " + std::to_string(k) + " of " + tensor.name, true});
  }
}

void check_strides(const Kernel& kernel, const Tensor& tensor, const Lying& lying,
                   const Binding& sizes) {
  for (int k = 0; k < axes_of(tensor); ++k) {
    const auto i = static_cast<std::size_t>(k);
    if (lying.shape[i] <= 1) continue;
    const auto stride = tensor.is_swizzled() ? std::nullopt : stride_of_axis(tensor, k, sizes);
    if (stride == lying.strides[i]) continue;
    throw refusal("stride-mismatch",
                  "the stride of axis " + std::to_string(k) + " of " + tensor.name + " is " +
                      std::to_string(lying.strides[i]) + ", and " + kernel.name + " wants " +
                      (stride ? std::to_string(*stride) : to_string(tensor.memory())));
  }
}

}  // namespace

Binding solve_sizes(const Kernel& kernel,
                    const std::vector<std::optional<std::vector<std::int64_t>>>& shapes,
                    const std::map<std::string, std::int64_t>& set) {
  return solved(kernel, equations_of(kernel, shapes), set);
}

Binding solve_sizes_in_memory(const Kernel& kernel,
                              const std::vector<std::optional<Lying>>& tensors,
                              const std::map<std::string, std::int64_t>& set) {
  std::vector<std::optional<std::vector<std::int64_t>>> shapes;
  for (const auto& tensor : tensors)
    shapes.push_back(tensor ? std::optional(tensor->shape) : std::nullopt);
  std::vector<Equation> equations = equations_of(kernel, shapes);
  for (std::size_t id = 0; id < tensors.size(); ++id)
    if (tensors[id]) add_strides(kernel.tensors[id], *tensors[id], equations);
  const Binding sizes = solved(kernel, equations, set);
  for (std::size_t id = 0; id < tensors.size(); ++id)
    if (tensors[id]) check_strides(kernel, kernel.tensors[id], *tensors[id], sizes);
  return sizes;
}

std::optional<std::vector<std::int64_t>> array_strides(const Tensor& tensor, const Binding& sizes) {
  if (tensor.is_swizzled()) return std::nullopt;
  std::vector<std::int64_t> strides;
  for (int k = 0; k < axes_of(tensor); ++k) {
    const auto stride = stride_of_axis(tensor, k, sizes);
    if (!stride) return std::nullopt;
    strides.push_back(*stride);
  }
  return strides;
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

namespace {

// Returns true if the array's elements are integers of 4 bits in bytes of the same sign.
bool are_half_bytes(const Array& array, ElementType element) {
  using enum ElementType;
  if (!(element == s4 && array.element == s8) && !(element == u4 && array.element == u8))
    return false;
  for (std::int64_t i = 0; i < array.size(); ++i)
    if (saturate(element, array.integer(i)) != array.integer(i)) return false;
  return true;
}

}  // namespace

std::optional<Array> as_elements(const Array& array, ElementType element) {
  if (array.element == element) return array;
  if (are_half_bytes(array, element)) return Array{element, array.shape, array.bytes};
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
