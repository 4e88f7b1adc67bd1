#include "tests/laws/random_layouts.h"

#include <algorithm>

namespace laws {

using namespace lay;

Int random_integer(Random& random, int depth, const std::function<Int()>& leaf) {
  if (depth == 0 || random.once_in(4)) return leaf();
  const Int a = random_integer(random, depth - 1, leaf),
            b = random_integer(random, depth - 1, leaf);
  switch (random.in(0, 7)) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return floor_div(a, random.in(1, 12));
    case 4:
      return ceil_div(a, random.in(1, 12));
    case 5:
      return mod(a, random.in(1, 12));
    case 6:
      return min(a, b);
    default:
      return select(less(a, b), b, a + 1);
  }
}

Predicate random_condition(Random& random, int depth, const std::function<Int()>& leaf) {
  if (depth > 0 && random.once_in(3)) {
    const Predicate a = random_condition(random, depth - 1, leaf),
                    b = random_condition(random, depth - 1, leaf);
    return random.once_in(2) ? both(a, b) : either(a, b);
  }
  const Int a = random_integer(random, 3, leaf), b = random_integer(random, 2, leaf);
  switch (random.in(0, 4)) {
    case 0:
      return equal(a, b);
    case 1:
      return less(a, b);
    case 2:
      return less_equal(a, b);
    case 3:
      return negate(equal(a, b));
    default:
      return b.is(0) ? divides(a, 2) : random.once_in(2) ? divides(a, b) : negate(divides(a, b));
  }
}

Tuple random_shape(Random& random, int depth, int64_t max_extent) {
  if (depth == 0 || random.once_in(3)) return random.in(1, max_extent);
  std::vector<Tuple> modes;
  for (int64_t i = random.in(1, 3); i > 0; --i)
    modes.push_back(random_shape(random, depth - 1, max_extent));
  return Tuple(std::move(modes));
}

Layout random_layout(Random& random, const Tuple& shape) {
  const std::vector<Tuple> extents = leaves(shape);
  std::vector<size_t> order;
  for (size_t i = 0; i < extents.size(); ++i) order.push_back(i);
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<size_t>(random.in(0, static_cast<int64_t>(i) - 1))]);
  }
  const int64_t kind = random.in(0, 3);
  std::vector<Tuple> strides(extents.size());
  int64_t next = kind == 1 ? random.in(1, 4) : 1;
  for (const size_t i : order) {
    strides[i] = kind == 3 ? random.in(0, 40) : next;
    if (kind == 2 && random.once_in(4)) strides[i] = 0;
    next *= extents[i].value().value() * (random.once_in(4) ? random.in(1, 3) : 1);
  }
  const Tuple flat = shape.is_leaf() ? strides[0] : Tuple(strides);
  return Layout(shape, unflatten(flat, shape));
}

Layout random_layout(Random& random, int depth, int64_t max_extent) {
  return random_layout(random, random_shape(random, depth, max_extent));
}

Swizzle random_swizzle(Random& random) {
  const int64_t b = random.in(0, 2), s = b + random.in(0, 2);
  return Swizzle(b, random.in(0, 2), random.once_in(4) ? -s : s);
}

Layout negated(Random& random, const Layout& a) {
  return Layout(a.shape, transform(a.stride, [&](const Tuple& d) -> Tuple {
                  return random.once_in(2) ? Tuple(-d.value()) : d;
                }));
}

Layout with_basis(Random& random, const Layout& a) {
  return Layout(a.shape, transform(a.stride, [&](const Tuple& d) {
                  return Tuple::basis(d.value(), {static_cast<int>(random.in(0, 1))});
                }));
}

Layout addressing(Random& random, const Layout& a, int rank) {
  return Layout(a.shape, transform(a.stride, [&](const Tuple& d) {
                  return Tuple::basis(d.value(), {static_cast<int>(random.in(0, rank - 1))});
                }));
}

std::vector<Layout> small_layouts(int64_t max_extent, int64_t max_stride) {
  std::vector<Layout> all;
  for (int64_t s = 1; s <= max_extent; ++s) {
    for (int64_t d = 0; d <= max_stride; ++d) {
      all.emplace_back(s, d);
      for (int64_t t = 1; t <= max_extent; ++t) {
        for (int64_t e = 0; e <= max_stride; ++e) all.emplace_back(tuple(s, t), tuple(d, e));
      }
    }
  }
  return all;
}

int64_t at(const Layout& a, int64_t index) {
  Facts facts;
  return evaluate(facts, a, index).value().value();
}

bool same_function(const Layout& a, const Layout& b) {
  return values(a) == values(b);
}

}  // namespace laws
