#include "backend/plan/views/linear_coordinate.h"

#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::plan {

using namespace sema;

namespace {

LinearCoordinate number(const Int& value) {
  return {value, {}};
}

// Sums, differences and products by what has no index; 2 * (p - 1) + r is 2 * p + r - 2.
// No casts: s8(p) is p for small p alone.
std::optional<LinearCoordinate> of_function(const Kernel& kernel, const Apply& apply) {
  const auto operand = [&](std::size_t i) { return linear_coordinate(kernel, apply.operands[i]); };
  const auto a = operand(0);
  if (!a) return std::nullopt;
  if (apply.function == ElementFunction::neg) return Int(-1) * *a;
  if (apply.operands.size() != 2) return std::nullopt;
  const auto b = operand(1);
  if (!b) return std::nullopt;
  switch (apply.function) {
    case ElementFunction::add:
      return *a + *b;
    case ElementFunction::sub:
      return *a + Int(-1) * *b;
    case ElementFunction::mul:
      if (a->by.empty()) return a->constant * *b;
      if (b->by.empty()) return b->constant * *a;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// The sum that is not negative where one comparison holds, of integers.
std::optional<LinearCoordinate> of_comparison(const Kernel& kernel, const Apply& apply) {
  using enum ElementFunction;
  const ElementFunction f = apply.function;
  if (f != lt && f != le && f != gt && f != ge) return std::nullopt;
  auto a = linear_coordinate(kernel, apply.operands[0]),
       b = linear_coordinate(kernel, apply.operands[1]);
  if (!a || !b) return std::nullopt;
  // a < b is b - a - 1 >= 0, and a > b the same of b and a.
  if (f == gt || f == ge) std::swap(a, b);
  const bool strict = f == lt || f == gt;
  return *b + Int(-1) * *a + number(strict ? -1 : 0);
}

// `or` and `not` are no conjunctions, and equalities no order: a condition with them says something
// else than that a coordinate lies inside.
bool add_conjuncts(const Kernel& kernel, NodeId condition, std::vector<LinearCoordinate>& to) {
  const auto* apply = std::get_if<Apply>(&kernel.node(condition).what);
  if (!apply) return false;
  if (apply->function == ElementFunction::and_)
    return add_conjuncts(kernel, apply->operands[0], to) &&
           add_conjuncts(kernel, apply->operands[1], to);
  const auto made = of_comparison(kernel, *apply);
  if (made) to.push_back(*made);
  return made.has_value();
}

}  // namespace

// Terms that cancel are left out, so that equal sums compare equal: p + r - p is r.
LinearCoordinate operator+(const LinearCoordinate& a, const LinearCoordinate& b) {
  LinearCoordinate made = a;
  made.constant += b.constant;
  for (const auto& [index, factor] : b.by) {
    Int& here = made.by.try_emplace(index, 0).first->second;
    here += factor;
    if (here.is(0)) made.by.erase(index);
  }
  return made;
}

LinearCoordinate operator*(const Int& factor, const LinearCoordinate& of) {
  if (factor.is(0)) return {};
  LinearCoordinate made{factor * of.constant, {}};
  for (const auto& [index, by] : of.by) made.by[index] = factor * by;
  return made;
}

std::optional<LinearCoordinate> linear_coordinate(const Kernel& kernel, NodeId id) {
  const Node& node = kernel.node(id);
  if (is_float(node.type)) return std::nullopt;
  if (const auto* literal = std::get_if<Literal>(&node.what)) {
    const auto* value = std::get_if<std::int64_t>(&literal->value);
    return value ? std::optional(number(*value)) : std::nullopt;
  }
  if (const auto* size = std::get_if<SizeValue>(&node.what)) return number(size->value);
  if (const auto* index = std::get_if<IndexValue>(&node.what))
    return LinearCoordinate{0, {{index->index, 1}}};
  const auto* apply = std::get_if<Apply>(&node.what);
  return apply ? of_function(kernel, *apply) : std::nullopt;
}

std::optional<std::vector<LinearCoordinate>> not_negative_where(const Kernel& kernel,
                                                                NodeId condition) {
  std::vector<LinearCoordinate> made;
  if (!add_conjuncts(kernel, condition, made)) return std::nullopt;
  return made;
}

bool never_negative(const Kernel& kernel, const Facts& facts, const LinearCoordinate& sum) {
  // p + r of p < P and r < R is never negative; P + R - 2 - p - r neither.
  // Each index adds its least: none of it for a factor that is not negative, else the last value's.
  Int least = sum.constant;
  for (const auto& [index, factor] : sum.by) {
    if (facts.proves(less_equal(0, factor))) continue;
    if (!facts.proves(less_equal(factor, 0))) return false;
    least += factor * (kernel.index(index).extent - 1);
  }
  return facts.proves(less_equal(0, least));
}

}  // namespace lay::plan
