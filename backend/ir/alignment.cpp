#include "backend/ir/alignment.h"

#include <algorithm>
#include <map>

#include "frontend/algebra/layouts/inner_layout.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/algebra/support/refusal.h"

namespace lay::ir {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 20;
constexpr std::int64_t kLongest = 32;  // elements of a vector: what symbolic sizes are asked for

std::int64_t power_of_two(std::int64_t value) {
  return value == 0 ? kMost : std::min(kMost, value & -value);
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  return a >= kMost / b ? kMost : a * b;
}

// The low bits that a composed layout's swizzle keeps, as a number of offsets.
std::int64_t kept_by_swizzle(const Buffer& buffer) {
  const auto* composed = std::get_if<Composed>(&buffer.layout);
  const auto* swizzle = composed == nullptr ? nullptr : std::get_if<Swizzle>(&composed->outer);
  if (swizzle == nullptr || swizzle->b == 0) return kMost;
  return std::int64_t{1} << std::min<std::int64_t>(20, swizzle->m);
}

// The parts of a condition that can say something of multiples and extents. Alternatives and
// comparisons of several sizes are left out: they choose among variants, and to rule out that they
// contradict the rest takes a search.
void collect_facts(const Predicate& condition, std::vector<Predicate>& facts) {
  const PredicateKind kind = condition.kind();
  if (kind == PredicateKind::both) {
    collect_facts(Predicate::of(condition.node().left), facts);
    collect_facts(Predicate::of(condition.node().right), facts);
    return;
  }
  std::map<DimId, std::string> dims;
  condition.collect_dims(dims);
  const bool compares = kind == PredicateKind::less || kind == PredicateKind::less_equal;
  if (kind != PredicateKind::either && !(compares && dims.size() > 1)) facts.push_back(condition);
}

}  // namespace

Alignment::Alignment(const Kernel& kernel)
    : kernel_(kernel), vars_(kernel.vars.size(), 1), exprs_(kernel.exprs.size(), 0) {
  std::vector<Predicate> facts;
  for (const Predicate& condition : kernel.assumptions) collect_facts(condition, facts);
  for (const Predicate& fact : facts) {
    try {
      facts_.assume(fact);
    } catch (const Refusal&) {  // it contradicts the others: no launch passes it
    }
  }
}

void Alignment::bind(VarId var, std::int64_t divisor) {
  vars_[var.index] = divisor;
}

std::int64_t Alignment::of(const Int& size) {
  if (size.is_literal()) return power_of_two(size.value());
  std::int64_t divisor = 1;
  while (divisor < kLongest && divides(size, divisor * 2)) divisor *= 2;
  return divisor;
}

std::int64_t Alignment::of(ExprId id) {
  std::int64_t& known = exprs_[id.index];
  if (known == 0) known = compute(kernel_.expr(id));
  return known;
}

std::int64_t Alignment::compute(const Expr& expr) {
  return std::visit(overloaded{
                        [](const Constant& c) {
                          const auto* integer = std::get_if<std::int64_t>(&c.value);
                          return integer == nullptr ? 1 : power_of_two(*integer);
                        },
                        [&](const Size& s) { return of(s.value); },
                        [&](const VarRef& v) { return vars_[v.var.index]; },
                        [&](const LayoutOffset& at) {
                          return mode(at.layout.shape, at.layout.stride, of(at.index));
                        },
                        [&](const Apply& a) { return apply(a); },
                        [](const Special&) { return std::int64_t{1}; },
                        [](const Scalar&) { return std::int64_t{1}; },
                        [](const RingSlot&) { return std::int64_t{1}; },
                        [](const RingPhase&) { return std::int64_t{1}; },
                        [](const Read&) { return std::int64_t{1}; },
                    },
                    expr.node);
}

std::int64_t Alignment::apply(const Apply& apply) {
  const auto operand = [&](size_t i) { return of(apply.operands[i]); };
  switch (apply.function) {
    case ElementFunction::add:
    case ElementFunction::sub:
    case ElementFunction::rem:
    case ElementFunction::min:
    case ElementFunction::max:
    case ElementFunction::min_nan:
    case ElementFunction::max_nan:
      return std::min(operand(0), operand(1));
    case ElementFunction::select:
      return std::min(operand(1), operand(2));
    case ElementFunction::mul:
      return times(operand(0), operand(1));
    case ElementFunction::fma:
      return std::min(times(operand(0), operand(1)), operand(2));
    case ElementFunction::neg:
    case ElementFunction::abs:
    case ElementFunction::cast:
      return operand(0);
    case ElementFunction::div: {
      const auto* by = std::get_if<Constant>(&kernel_.expr(apply.operands[1]).node);
      const auto* value = by == nullptr ? nullptr : std::get_if<std::int64_t>(&by->value);
      const bool exact = value != nullptr && *value > 0 && power_of_two(*value) == *value &&
                         operand(0) % *value == 0;
      return exact ? operand(0) / *value : 1;
    }
    default:
      return 1;
  }
}

// The offset that a mode gives at a coordinate of which only a divisor is known: leaf by leaf
// (those that run on as one), the coordinate is divided by the extents to the left and taken modulo
// the leaf's own.
std::int64_t Alignment::mode(const Tuple& shape, const Tuple& stride, std::int64_t coordinate) {
  const Layout merged = coalesce(facts_, Layout(shape, stride));
  const std::vector<Tuple> extents = leaves(merged.shape), strides = leaves(merged.stride);
  std::int64_t sum = kMost;
  for (size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t extent = of(extents[i].value());
    const std::int64_t here = i + 1 == extents.size() ? coordinate : std::min(coordinate, extent);
    sum = std::min(sum, times(here, of(strides[i].value())));
    const bool exact = extents[i].is_int() && extents[i].value().is_literal() &&
                       extents[i].value().value() == extent && coordinate % extent == 0;
    coordinate = exact ? coordinate / extent : 1;
  }
  return sum;
}

std::int64_t Alignment::of(const Ref& ref) {
  const Buffer& buffer = kernel_.buffer(ref.buffer);
  const Layout* layout = inner_layout(buffer.layout);
  if (layout == nullptr) return 1;
  std::int64_t sum = kept_by_swizzle(buffer);
  if (const auto* composed = std::get_if<Composed>(&buffer.layout)) {
    sum = std::min(sum, composed->offset.is_int() ? of(composed->offset.value()) : 1);
  }
  const bool tuple = layout->shape.is_tuple();
  for (size_t i = 0; i < ref.coordinate.size(); ++i) {
    const int m = static_cast<int>(i);
    sum = std::min(sum, mode(tuple ? layout->shape[m] : layout->shape,
                             tuple ? layout->stride[m] : layout->stride, of(ref.coordinate[i])));
  }
  return sum;
}

bool Alignment::contiguous(const Ref& ref, int mode, int count) {
  const Buffer& buffer = kernel_.buffer(ref.buffer);
  const Layout* layout = inner_layout(buffer.layout);
  if (layout == nullptr || kept_by_swizzle(buffer) % count != 0) return false;
  const bool tuple = layout->shape.is_tuple();
  const Layout merged = coalesce(facts_, Layout(tuple ? layout->shape[mode] : layout->shape,
                                                tuple ? layout->stride[mode] : layout->stride));
  const std::vector<Tuple> extents = leaves(merged.shape), strides = leaves(merged.stride);
  std::int64_t run = 1;
  for (size_t i = 0; i < extents.size() && run < count; ++i) {
    if (extents[i].is_literal(1)) continue;
    if (!strides[i].is_literal(run)) return false;
    if (i + 1 == extents.size()) return true;  // bounds are checked apart
    run = times(run, of(extents[i].value()));
    if (run < count && !(extents[i].value().is_literal() &&
                         of(extents[i].value()) == extents[i].value().value())) {
      return false;
    }
  }
  return run >= count;
}

}  // namespace lay::ir
