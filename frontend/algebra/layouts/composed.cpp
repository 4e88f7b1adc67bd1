#include <algorithm>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

constexpr int64_t kMaxValues = int64_t{1} << 20;

Int integer_of(const Tuple& value) {
  if (!value.is_int())
    throw refusal("not-integer",
                  "a swizzle takes an integer, not the coordinate " + value.to_string());
  return value.value();
}

Refusal below_zero(const Swizzle& swizzle, int64_t x) {
  return refusal(
      "swizzle-negative", swizzle.to_string() + " is applied to " + std::to_string(x),
      "a swizzle permutes the integers from 0 on: take an offset that keeps the values there");
}

// A swizzle of a literal below 0 has no meaning; of a symbol, being at least 0 is an obligation.
// Bits of a negative number go on for ever to the left: a swizzle is defined from 0 up.
Int apply(Facts& facts, const Swizzle& swizzle, const Int& x) {
  if (x.is_literal() && x.value() < 0) throw below_zero(swizzle, x.value());
  facts.require(less_equal(0, x), "a swizzle");
  return swizzle(x);
}

Int known_size(const Tuple& shape) {
  const Int n = size(shape);
  if (!n.is_literal()) {
    throw refusal("symbolic",
                  "the values of a layout of symbolic size " + n.to_string() + " cannot be listed");
  }
  if (n.value() > kMaxValues) {
    throw refusal("too-many", "this layout has " + n.to_string() + " values, and at most " +
                                  std::to_string(kMaxValues) + " are listed");
  }
  return n;
}

// All values by doubling: the values with one more mode are those so far, once for each of its
// steps with the step added. One addition a value.
std::vector<int64_t> values_of(const Layout& a) {
  const Int n = known_size(a.shape);
  if (!a.is_known()) throw refusal("symbolic", "the values of " + a.to_string() + " are not known");
  if (a.has_basis())
    throw refusal("not-integer", "the values of " + a.to_string() + " are coordinates");
  const std::vector<Tuple> extents = leaves(a.shape), strides = leaves(a.stride);
  int64_t low = 0, high = 0;  // of all sums: below, they cannot overflow
  for (size_t k = 0; k < extents.size(); ++k) {
    const int64_t span = checked_mul(extents[k].value().value() - 1, strides[k].value().value());
    // The least and the greatest sum are checked once; all others lie between.
    (span < 0 ? low : high) = checked_add(span < 0 ? low : high, span);
  }
  std::vector<int64_t> values(static_cast<size_t>(n.value()));
  size_t count = 1;
  for (size_t k = 0; k < extents.size(); ++k) {
    const int64_t extent = extents[k].value().value(), stride = strides[k].value().value();
    const int64_t* from = values.data();
    for (int64_t i = 1; i < extent; ++i) {
      int64_t* to = values.data() + static_cast<size_t>(i) * count;
      const int64_t step = i * stride;
      for (size_t j = 0; j < count; ++j) to[j] = from[j] + step;
    }
    count *= static_cast<size_t>(extent);
  }
  return values;
}

int64_t apply_known(const Swizzle& swizzle, int64_t x) {
  if (x < 0) throw below_zero(swizzle, x);
  return swizzle(x);
}

}  // namespace

const Layout& Composed::layout() const {
  if (const Layout* a = std::get_if<Layout>(&inner)) return *a;
  throw refusal("no-shape", to_string() + " has no shape: its inner function is a swizzle");
}

std::string Composed::to_string() const {
  const auto text = [](const auto& part) { return part.to_string(); };
  return std::visit(text, outer) + " o " + offset.to_string() + " o " + std::visit(text, inner);
}

std::string to_string(const AnyLayout& a) {
  return std::visit([](const auto& layout) { return layout.to_string(); }, a);
}

AnyLayout simplified(AnyLayout a) {
  const Composed* composed = std::get_if<Composed>(&a);
  const Swizzle* swizzle = composed ? std::get_if<Swizzle>(&composed->outer) : nullptr;
  const Layout* inner = composed ? std::get_if<Layout>(&composed->inner) : nullptr;
  if (!swizzle || !inner || swizzle->b != 0 || !composed->offset.is_literal(0)) return a;
  return Layout(*inner);
}

// outer(offset + inner(coordinate)), as CuTe defines a composed layout.
Tuple evaluate(Facts& facts, const Composed& a, const Tuple& coordinate) {
  const Tuple middle =
      std::visit(Overloaded{
                     [&](const Layout& inner) { return evaluate(facts, inner, coordinate); },
                     [&](const Swizzle& inner) -> Tuple {
                       return apply(facts, inner, integer_of(coordinate));
                     },
                 },
                 a.inner);
  const Tuple moved = add(a.offset, middle);
  return std::visit(
      Overloaded{
          [&](const Layout& outer) { return evaluate(facts, outer, moved); },
          [&](const Swizzle& outer) -> Tuple { return apply(facts, outer, integer_of(moved)); },
      },
      a.outer);
}

Tuple evaluate(Facts& facts, const AnyLayout& a, const Tuple& coordinate) {
  return std::visit([&](const auto& layout) { return evaluate(facts, layout, coordinate); }, a);
}

std::vector<int64_t> values(const AnyLayout& a) {
  if (const Layout* layout = std::get_if<Layout>(&a)) return values_of(*layout);
  const Composed& composed = std::get<Composed>(a);
  const Layout& inner = composed.layout();
  const Swizzle* swizzle = std::get_if<Swizzle>(&composed.outer);
  if (swizzle && composed.offset.is_int() && composed.offset.is_known() && !inner.has_basis()) {
    std::vector<int64_t> all = values_of(inner);
    for (int64_t& x : all)
      x = apply_known(*swizzle, checked_add(x, composed.offset.value().value()));
    return all;
  }
  Facts facts;
  std::vector<int64_t> all;
  for (int64_t i = 0; i < known_size(inner.shape).value(); ++i) {
    const Int value = integer_of(evaluate(facts, composed, i));
    if (!value.is_literal())
      throw refusal("symbolic", "the values of " + composed.to_string() + " are not known");
    all.push_back(value.value());
  }
  return all;
}

Tuple value_tuple(Facts& facts, const AnyLayout& a) {
  const Layout* layout = std::get_if<Layout>(&a);
  const Tuple& shape = layout ? layout->shape : std::get<Composed>(a).layout().shape;
  std::vector<Tuple> all;
  for (int64_t i = 0; i < known_size(shape).value(); ++i) all.push_back(evaluate(facts, a, i));
  return Tuple(std::move(all));
}

Composed substitute(const Composed& a, const std::map<DimId, Int>& replacement) {
  const auto in_layout =
      [&](const std::variant<Layout, Swizzle>& part) -> std::variant<Layout, Swizzle> {
    if (const Layout* layout = std::get_if<Layout>(&part)) return substitute(*layout, replacement);
    return part;
  };
  const auto in_outer =
      [&](const std::variant<Swizzle, Layout>& part) -> std::variant<Swizzle, Layout> {
    if (const Layout* layout = std::get_if<Layout>(&part)) return substitute(*layout, replacement);
    return part;
  };
  return {in_outer(a.outer), substitute(a.offset, replacement), in_layout(a.inner)};
}

}  // namespace lay
