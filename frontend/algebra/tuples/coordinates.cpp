#include <algorithm>

#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {
namespace {

Refusal misfit(const Tuple& coordinate, const Tuple& shape) {
  return refusal(
      "coordinate-rank",
      "the coordinate " + coordinate.to_string() + " does not fit the shape " + shape.to_string(),
      "a coordinate is one index, or nests as the shape does");
}

const Int& index_of(const Tuple& coordinate) {
  if (coordinate.is_underscore()) {
    throw refusal("underscore", "expected an index, got an underscore",
                  "a call with _ slices a layout");
  }
  if (!coordinate.is_int())
    throw refusal("not-integer", coordinate.to_string() + " is not an index");
  return coordinate.value();
}

Tuple times(const Int& index, const Tuple& stride) {
  return Tuple::basis(index * stride.value(), stride.path());
}

// A basis element as the coordinate it stands for: 5@0@1 is (0,(5)) with what is missing taken as
// 0.
Tuple as_coordinate(const Tuple& t) {
  if (!t.is_basis()) return t;
  Tuple value = t.value();
  for (auto it = t.path().rbegin(); it != t.path().rend(); ++it) {
    std::vector<Tuple> modes(static_cast<size_t>(*it), Tuple(0));
    modes.push_back(value);
    value = Tuple(std::move(modes));
  }
  return value;
}

Tuple negated(const Tuple& value) {
  return transform(value,
                   [](const Tuple& leaf) { return Tuple::basis(-leaf.value(), leaf.path()); });
}

// An index below 0 is the mirror image of the one above: digits and value change their sign.
Tuple index_to_value(Facts& facts, const Int& index, const Tuple& shape, const Tuple& stride) {
  if (shape.is_leaf()) return times(index, stride);
  if (index.is_literal() && index.value() < 0)
    return negated(index_to_value(facts, -index, shape, stride));
  Tuple total = 0;
  Int rest = index;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool last = i + 1 == shape.rank();
    const Int extent = last ? Int(0) : size(shape[i]);
    total = add(total, crd2idx(facts, last ? rest : facts.mod(rest, extent), shape[i], stride[i]));
    if (!last) rest = facts.floor_div(rest, extent);
  }
  return total;
}

void check_congruent(const Tuple& shape, const Tuple& stride) {
  if (!congruent(shape, stride)) {
    throw refusal("not-congruent", "shape " + shape.to_string() + " and stride " +
                                       stride.to_string() + " nest differently");
  }
}

// Strides compact in the order of the modes, first to last or last to first. `next` is the stride
// to give.
Tuple compact(const Tuple& shape, Int& next, bool left) {
  if (shape.is_leaf()) {
    const Int stride = shape.is_literal(1) ? Int(0) : next;
    next *= size(shape);
    return stride;
  }
  std::vector<Tuple> modes(static_cast<size_t>(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) {
    const int k = left ? i : shape.rank() - 1 - i;
    modes[static_cast<size_t>(k)] = compact(shape[k], next, left);
  }
  return Tuple(std::move(modes));
}

// A mode of a shape under one leaf of an order: `key` decides which comes first, and it is compact
// left-most first inside.
struct Ordered {
  Int key;
  std::vector<int> path;
  Tuple shape;
};

void collect(const Tuple& shape, const Tuple& order, std::vector<int>& path,
             std::vector<Ordered>& found) {
  if (order.is_leaf()) {
    found.push_back({index_of(order), path, shape});
    return;
  }
  if (shape.is_leaf() || shape.rank() != order.rank()) {
    throw refusal(
        "rank", "the order " + order.to_string() + " does not fit the shape " + shape.to_string());
  }
  for (int i = 0; i < shape.rank(); ++i) {
    path.push_back(i);
    collect(shape[i], order[i], path, found);
    path.pop_back();
  }
}

Tuple place(const Tuple& at, const std::vector<int>& path, size_t depth, const Tuple& value) {
  if (depth == path.size()) return value;
  return replace(at, path[depth], place(at[path[depth]], path, depth + 1, value));
}

}  // namespace

Tuple add(const Tuple& a, const Tuple& b) {
  if (a.is_literal(0)) return as_coordinate(b);
  if (b.is_literal(0)) return as_coordinate(a);
  if (a.is_int() && b.is_int()) return a.value() + b.value();
  const Tuple x = as_coordinate(a), y = as_coordinate(b);
  if (x.is_leaf() || y.is_leaf()) {
    throw refusal("mixed-strides",
                  a.to_string() + " and " + b.to_string() +
                      " cannot be added: one is an integer, the other a coordinate");
  }
  std::vector<Tuple> modes;
  for (int i = 0; i < std::max(x.rank(), y.rank()); ++i) {
    modes.push_back(i >= x.rank() ? y[i] : i >= y.rank() ? x[i] : add(x[i], y[i]));
  }
  return Tuple(std::move(modes));
}

Tuple crd2idx(Facts& facts, const Tuple& coordinate, const Tuple& shape, const Tuple& stride) {
  check_congruent(shape, stride);
  if (coordinate.is_leaf())
    return as_coordinate(index_to_value(facts, index_of(coordinate), shape, stride));
  if (shape.is_leaf() || shape.rank() != coordinate.rank()) throw misfit(coordinate, shape);
  Tuple total = 0;
  for (int i = 0; i < shape.rank(); ++i)
    total = add(total, crd2idx(facts, coordinate[i], shape[i], stride[i]));
  return total;
}

Int crd2idx(Facts& facts, const Tuple& coordinate, const Tuple& shape) {
  if (coordinate.is_leaf()) return index_of(coordinate);
  if (shape.is_leaf() || shape.rank() != coordinate.rank()) throw misfit(coordinate, shape);
  Int index = 0;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    index = index * size(shape[i]) + crd2idx(facts, coordinate[i], shape[i]);
  }
  return index;
}

Tuple idx2crd(Facts& facts, const Int& index, const Tuple& shape) {
  if (shape.is_leaf()) return index;
  if (index.is_literal() && index.value() < 0) return negated(idx2crd(facts, -index, shape));
  std::vector<Tuple> modes;
  Int rest = index;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool last = i + 1 == shape.rank();
    const Int extent = last ? Int(1) : size(shape[i]);
    modes.push_back(idx2crd(facts, last ? rest : facts.mod(rest, extent), shape[i]));
    if (!last) rest = facts.floor_div(rest, extent);
  }
  return Tuple(std::move(modes));
}

Tuple idx2crd(Facts& facts, const Int& index, const Tuple& shape, const Tuple& stride) {
  if (shape.is_tuple() && stride.is_leaf()) {
    return idx2crd(facts, index, shape, compact_left(shape, index_of(stride)));
  }
  check_congruent(shape, stride);
  return transform(shape, stride, [&](const Tuple& s, const Tuple& d) -> Tuple {
    if (s.is_literal(1)) return 0;
    return facts.mod(facts.floor_div(index, index_of(d)), index_of(s));
  });
}

Tuple crd2crd(Facts& facts, const Tuple& coordinate, const Tuple& from, const Tuple& to) {
  if (coordinate.is_tuple() && from.is_tuple() && to.is_tuple()) {
    if (coordinate.rank() != from.rank()) throw misfit(coordinate, from);
    if (from.rank() != to.rank())
      throw refusal("coordinate-rank",
                    "a coordinate is converted mode by mode, and " + from.to_string() + " and " +
                        to.to_string() + " have different ranks",
                    "its index counts through all modes: idx2crd(crd2idx(c, S), T)");
    std::vector<Tuple> modes;
    for (int i = 0; i < from.rank(); ++i)
      modes.push_back(crd2crd(facts, coordinate[i], from[i], to[i]));
    return Tuple(std::move(modes));
  }
  return idx2crd(facts, crd2idx(facts, coordinate, from), to);
}

Tuple compact_left(const Tuple& shape, const Int& first) {
  Int next = first;
  return compact(shape, next, true);
}

Tuple compact_right(const Tuple& shape, const Int& first) {
  Int next = first;
  return compact(shape, next, false);
}

Tuple compact_order(const Tuple& shape, const Tuple& order) {
  std::vector<Ordered> modes;
  std::vector<int> path;
  collect(shape, order, path, modes);
  std::stable_sort(modes.begin(), modes.end(), [](const Ordered& a, const Ordered& b) {
    if (a.key.is_literal() != b.key.is_literal()) return a.key.is_literal();
    return a.key.is_literal() && a.key.value() < b.key.value();
  });
  Tuple stride = shape;
  Int next = 1;
  for (const Ordered& mode : modes) {
    stride = place(stride, mode.path, 0, compact(mode.shape, next, true));
  }
  return stride;
}

}  // namespace lay
