#include "frontend/sema/builtins/array_operations.h"

#include <algorithm>
#include <cmath>

#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/values/operators.h"

namespace lay::sema {
namespace {

using syntax::BinaryOperator;
using syntax::ChainOperator;

// An array, or a number that stands for one. `weak` numbers take the array's type.
struct Side {
  Array array;
  bool weak = false;
  bool real = false;
};

std::optional<Side> side_of(const Value& v) {
  if (const Array* a = v.as<Array>()) return Side{*a, false, is_float(a->element)};
  Side side{Array::make(ElementType::f64, {}), true, true};
  if (const double* x = v.as<double>()) {
    side.array.set_real(0, *x);
    return side;
  }
  const Tuple* t = v.as<Tuple>();
  if (!t || !t->is_int() || !t->value().is_literal()) return std::nullopt;
  side = {Array::make(ElementType::s64, {}), true, false};
  side.array.set_integer(0, t->value().value());
  return side;
}

// The type that both are converted to: the wider float, else the wider integer; a number on its own
// does not widen a float.
ElementType joint_type(const Side& a, const Side& b) {
  if (a.weak && !b.weak && (b.real || !a.real))
    return b.array.element == ElementType::pred ? a.array.element : b.array.element;
  if (b.weak && !a.weak) return joint_type(b, a);
  if (a.real != b.real) return a.real ? a.array.element : b.array.element;
  if (a.array.element == b.array.element) return a.array.element;
  if (a.real)
    return bits(a.array.element) >= 64 || bits(b.array.element) >= 64 ? ElementType::f64
                                                                      : ElementType::f32;
  return ElementType::s64;
}

// For every element of the result, the elements of a and b that meet there.
template <typename F>
void for_each_pair(const std::vector<std::int64_t>& shape, const Array& a, const Array& b, F&& f) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  auto steps = [&](const Array& x) {
    std::vector<std::int64_t> result(shape.size(), 0);
    std::int64_t step = 1;
    for (std::size_t k = 0; k < x.shape.size(); ++k) {
      std::int64_t extent = x.shape[x.shape.size() - 1 - k];
      if (extent != 1) result[shape.size() - 1 - k] = step;
      step *= extent;
    }
    return result;
  };
  std::vector<std::int64_t> step_a = steps(a), step_b = steps(b), at(shape.size(), 0);
  std::int64_t total = 1, i = 0, j = 0;
  for (std::int64_t extent : shape) total *= extent;
  for (std::int64_t n = 0; n < total; ++n) {
    f(n, i, j);
    for (std::size_t k = shape.size(); k-- > 0;) {
      i += step_a[k];
      j += step_b[k];
      if (++at[k] < shape[k]) break;
      i -= step_a[k] * shape[k];
      j -= step_b[k] * shape[k];
      at[k] = 0;
    }
  }
}

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
  if (b == 0) throw refusal("division-by-zero", "division by 0");
  if (b == -1) return checked_sub(0, a);
  std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::int64_t on_integers(ChainOperator op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case ChainOperator::add:
      return checked_add(a, b);
    case ChainOperator::subtract:
      return checked_sub(a, b);
    case ChainOperator::multiply:
      return checked_mul(a, b);
    case ChainOperator::floor_divide:
      return floor_divided(a, b);
    case ChainOperator::modulo:
      return a - b * floor_divided(a, b);
    default:
      throw std::logic_error("internal: operator on integers");
  }
}

template <typename T>
bool holds(BinaryOperator op, T a, T b) {
  switch (op) {
    case BinaryOperator::equal:
      return a == b;
    case BinaryOperator::not_equal:
      return a != b;
    case BinaryOperator::less:
      return a < b;
    case BinaryOperator::less_equal:
      return a <= b;
    case BinaryOperator::greater:
      return a > b;
    case BinaryOperator::greater_equal:
      return a >= b;
    case BinaryOperator::colon:
      break;
  }
  throw std::logic_error("internal: comparison");
}

}  // namespace

std::vector<std::int64_t> joint_shape(const Array& a, const Array& b) {
  std::size_t rank = std::max(a.shape.size(), b.shape.size());
  std::vector<std::int64_t> shape(rank, 1);
  for (std::size_t k = 0; k < rank; ++k) {
    std::int64_t s = k < a.shape.size() ? a.shape[a.shape.size() - 1 - k] : 1;
    std::int64_t t = k < b.shape.size() ? b.shape[b.shape.size() - 1 - k] : 1;
    if (s != t && s != 1 && t != 1) {
      throw refusal("shape-mismatch",
                    "arrays of shapes " +
                        Tuple(std::vector<Tuple>(a.shape.begin(), a.shape.end())).to_string() +
                        " and " +
                        Tuple(std::vector<Tuple>(b.shape.begin(), b.shape.end())).to_string() +
                        " do not go together");
    }
    shape[rank - 1 - k] = s == 1 ? t : s;
  }
  return shape;
}

std::optional<Array> array_arithmetic(ChainOperator op, const Value& left, const Value& right) {
  auto a = side_of(left), b = side_of(right);
  if (!a || !b) return std::nullopt;
  ElementType type = joint_type(*a, *b);
  if (type == ElementType::pred) type = ElementType::s64;
  if (op == ChainOperator::divide && !is_float(type)) type = ElementType::f64;
  Array result = Array::make(type, joint_shape(a->array, b->array));
  for_each_pair(
      result.shape, a->array, b->array, [&](std::int64_t n, std::int64_t i, std::int64_t j) {
        if (is_float(type)) {
          result.set_real(n, on_reals(op, a->array.real(i), b->array.real(j)));
        } else {
          result.set_integer(n, on_integers(op, a->array.integer(i), b->array.integer(j)));
        }
      });
  return result;
}

std::optional<Array> array_comparison(BinaryOperator op, const Value& left, const Value& right) {
  auto a = side_of(left), b = side_of(right);
  if (!a || !b) return std::nullopt;
  Array result = Array::make(ElementType::pred, joint_shape(a->array, b->array));
  for_each_pair(
      result.shape, a->array, b->array, [&](std::int64_t n, std::int64_t i, std::int64_t j) {
        bool value = a->real || b->real ? holds(op, a->array.real(i), b->array.real(j))
                                        : holds(op, a->array.integer(i), b->array.integer(j));
        result.set_integer(n, value);
      });
  return result;
}

std::optional<Array> array_extreme(bool greatest, const Value& left, const Value& right) {
  auto a = side_of(left), b = side_of(right);
  if (!a || !b) return std::nullopt;
  const ElementType type = joint_type(*a, *b);
  Array result = Array::make(type, joint_shape(a->array, b->array));
  for_each_pair(result.shape, a->array, b->array,
                [&](std::int64_t n, std::int64_t i, std::int64_t j) {
                  if (is_float(type)) {
                    const double x = a->array.real(i), y = b->array.real(j);
                    result.set_real(n, greatest ? std::fmax(x, y) : std::fmin(x, y));
                  } else {
                    const std::int64_t x = a->array.integer(i), y = b->array.integer(j);
                    result.set_integer(n, greatest ? std::max(x, y) : std::min(x, y));
                  }
                });
  return result;
}

Array cut(const Array& array, std::size_t axis, std::int64_t begin, std::int64_t end) {
  std::int64_t extent = array.shape.at(axis);
  if (begin < 0 || end < begin || end > extent) {
    throw refusal("range", std::to_string(begin) + ".." + std::to_string(end) +
                               " does not lie in 0.." + std::to_string(extent));
  }
  std::vector<std::int64_t> shape = array.shape;
  shape[axis] = end - begin;
  Array result = Array::make(array.element, shape);
  if (result.size() == 0) return result;
  auto outer = std::int64_t{1}, inner = static_cast<std::int64_t>(element_bytes(array.element));
  for (std::size_t k = 0; k < shape.size(); ++k)
    (k < axis ? outer : inner) *= k == axis ? 1 : shape[k];
  for (std::int64_t o = 0; o < outer; ++o) {
    auto from = array.bytes->begin() + (o * extent + begin) * inner;
    std::copy(from, from + (end - begin) * inner,
              result.bytes->begin() + o * (end - begin) * inner);
  }
  return result;
}

}  // namespace lay::sema
