// Arrays on the host: files, reductions, rows, random numbers.

#include <cmath>

#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {
namespace {

Value load_(Arguments& a) {
  const std::string& path = a.string(0);
  if (!a.session.running()) return Value(Unknown{});
  if (!a.session.host.load) throw refusal("unavailable", "arrays cannot be loaded here");
  return Value(a.session.host.load(path));
}

Value save_(Arguments& a) {
  const std::string& path = a.string(0);
  const Array& array = a.array(1);
  if (!a.session.running()) return Value(Nothing{});
  if (!a.session.host.save) throw refusal("unavailable", "arrays cannot be saved here");
  a.session.host.save(path, array);
  return Value(Nothing{});
}

// An array as (outer, axis, inner): the axis counted from the end if negative.
struct Axes {
  std::int64_t outer = 1, length = 1, inner = 1;
  std::vector<std::int64_t> rest;
};

Axes axes_of(Arguments& a, const Array& array) {
  int axis = a.small(1);
  if (axis < 0) axis += array.rank();
  if (axis < 0 || axis >= array.rank()) {
    throw refusal("mode", "an array of rank " + std::to_string(array.rank()) + " has no axis " +
                              text(a[1].value));
  }
  Axes axes;
  for (int k = 0; k < array.rank(); ++k) {
    std::int64_t extent = array.shape[static_cast<std::size_t>(k)];
    if (k < axis) axes.outer *= extent;
    if (k == axis) axes.length = extent;
    if (k > axis) axes.inner *= extent;
    if (k != axis) axes.rest.push_back(extent);
  }
  return axes;
}

// Pairwise, so that the rounding error grows with the logarithm of the length.
double pairwise_sum(const Array& x, std::int64_t begin, std::int64_t step, std::int64_t n) {
  if (n <= 8) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += x.real(begin + i * step);
    return sum;
  }
  return pairwise_sum(x, begin, step, n / 2) +
         pairwise_sum(x, begin + n / 2 * step, step, n - n / 2);
}

std::int64_t integer_sum(const Array& x, std::int64_t begin, std::int64_t step, std::int64_t n) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum = checked_add(sum, x.integer(begin + i * step));
  return sum;
}

Value sum_(Arguments& a) {
  if (a.session.kernel) {
    fail("operand-kind", "a sum in a kernel names its index", a.whole(), {},
         {{"help", "write sum[k](...), where k is an index of what is summed"}});
  }
  if (const Tuple* t = a.as<Tuple>(0)) return Value(sum(*t));
  const Array& x = a.array(0);
  bool real = is_float(x.element);
  if (a.count() == 1) {
    return real ? Value(pairwise_sum(x, 0, 1, x.size()))
                : Value(Int(integer_sum(x, 0, 1, x.size())));
  }
  Axes axes = axes_of(a, x);
  Array result = Array::make(real ? ElementType::f64 : ElementType::s64, axes.rest);
  for (std::int64_t o = 0; o < axes.outer; ++o) {
    for (std::int64_t i = 0; i < axes.inner; ++i) {
      std::int64_t begin = o * axes.length * axes.inner + i, at = o * axes.inner + i;
      if (real) {
        result.set_real(at, pairwise_sum(x, begin, axes.inner, axes.length));
      } else {
        result.set_integer(at, integer_sum(x, begin, axes.inner, axes.length));
      }
    }
  }
  return Value(std::move(result));
}

Value mean_(Arguments& a) {
  const Array& x = a.array(0);
  if (a.count() == 1) {
    if (x.size() == 0) throw refusal("empty", "mean of an empty array");
    return Value(pairwise_sum(x, 0, 1, x.size()) / static_cast<double>(x.size()));
  }
  Axes axes = axes_of(a, x);
  if (axes.length == 0) throw refusal("empty", "mean over an empty axis");
  Array result = Array::make(ElementType::f64, axes.rest);
  for (std::int64_t o = 0; o < axes.outer; ++o) {
    for (std::int64_t i = 0; i < axes.inner; ++i) {
      double total = pairwise_sum(x, o * axes.length * axes.inner + i, axes.inner, axes.length);
      result.set_real(o * axes.inner + i, total / static_cast<double>(axes.length));
    }
  }
  return Value(std::move(result));
}

std::int64_t best_index(const Array& x, std::int64_t begin, std::int64_t step, std::int64_t n,
                        bool greatest) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    double now = x.real(begin + i * step), so_far = x.real(begin + best * step);
    if (greatest ? now > so_far : now < so_far) best = i;
  }
  return best;
}

template <bool Greatest>
Value arg_extreme(Arguments& a) {
  const Array& x = a.array(0);
  if (x.size() == 0) throw refusal("empty", std::string(a.callee()) + " of an empty array");
  if (a.count() == 1) return Value(Int(best_index(x, 0, 1, x.size(), Greatest)));
  Axes axes = axes_of(a, x);
  Array result = Array::make(ElementType::s64, axes.rest);
  for (std::int64_t o = 0; o < axes.outer; ++o) {
    for (std::int64_t i = 0; i < axes.inner; ++i) {
      std::int64_t begin = o * axes.length * axes.inner + i;
      result.set_integer(o * axes.inner + i,
                         best_index(x, begin, axes.inner, axes.length, Greatest));
    }
  }
  return Value(std::move(result));
}

// Tells whether an array of truth values holds everywhere, or somewhere.
template <bool ForAll>
Value quantified(Arguments& a) {
  if (const Predicate* p = a.as<Predicate>(0)) return Value(*p);
  if (const ListPtr* list = a.as<ListPtr>(0)) {
    Predicate result(ForAll);
    for (const Value& element : (*list)->elements) {
      const Predicate* p = element.as<Predicate>();
      if (!p) a.wrong_kind(0, "an array or a tuple of conditions");
      result = ForAll ? both(result, *p) : either(result, *p);
    }
    return Value(result);
  }
  const Array& x = a.array(0);
  for (std::int64_t i = 0, n = x.size(); i < n; ++i) {
    if ((x.integer(i) != 0) != ForAll) return Value(Predicate(!ForAll));
  }
  return Value(Predicate(ForAll));
}

Value transpose_(Arguments& a) {
  const Array& x = a.array(0);
  if (x.rank() != 2) throw refusal("rank", "transpose takes an array of rank 2");
  Array result = Array::make(x.element, {x.shape[1], x.shape[0]});
  if (x.size() == 0) return Value(std::move(result));
  for (std::int64_t i = 0; i < x.shape[0]; ++i) {
    for (std::int64_t j = 0; j < x.shape[1]; ++j) {
      std::int64_t from = i * x.shape[1] + j, to = j * x.shape[0] + i;
      if (is_float(x.element)) {
        result.set_real(to, x.real(from));
      } else {
        result.set_integer(to, x.integer(from));
      }
    }
  }
  return Value(std::move(result));
}

std::vector<std::int64_t> known_shape(Arguments& a, std::size_t i) {
  std::vector<std::int64_t> shape;
  for (const Tuple& extent : leaves(a.tuple(i))) {
    if (!extent.is_int() || !extent.value().is_literal())
      throw refusal("symbolic", "the shape of an array is known");
    if (extent.value().value() < 0)
      throw refusal("negative-extent", "the shape of an array is not negative");
    shape.push_back(extent.value().value());
  }
  return shape;
}

// Zeros of a shape that the call names: the limits are asked before memory is taken.
Array new_array(Arguments& a) {
  const ElementType type = a.type(0);
  const std::vector<std::int64_t> shape = known_shape(a, 1);
  require_array_steps(a.session, shape, a.whole());
  return Array::make(type, shape);
}

Value zeros_(Arguments& a) {
  return Value(new_array(a));
}

// The seed of `random`. One that is negative, or a single bound behind it, is what
// `random(T, S, low, high)` would look like: both are refused, and nothing is taken for a seed that
// was meant as a bound.
std::uint64_t seed_of(Arguments& a) {
  const auto given = [&](std::size_t i) { return text(a[i].value); };
  const std::string call = "random(" + given(0) + ", " + given(1) + ", ";
  if (a.count() == 4) {
    fail("argument-count", "random takes low and high together, behind a seed", a.whole(), {},
         {{"help", "did you mean " + call + "1, " + given(2) + ", " + given(3) + ")?"}});
  }
  if (a.count() < 3) return 0;
  const std::int64_t seed = a.literal(2);
  if (seed < 0) {
    fail("range", "expected a seed of at least 0, got " + std::to_string(seed), a[2].span, {},
         {{"help", "the bounds stand behind the seed: " + call + "1, low, high)"}});
  }
  return static_cast<std::uint64_t>(seed);
}

// SplitMix64: the i-th number depends on seed and i alone.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Reals in [-1, 1); with bounds the integers low .. high-1, also as floats.
Value random_(Arguments& a) {
  const std::uint64_t seed = seed_of(a);
  Array result = new_array(a);
  bool integers = a.count() > 3 || !is_float(result.element);
  std::int64_t low = a.count() > 3 ? a.literal(3) : is_signed(result.element) ? -3 : 0;
  std::int64_t high = a.count() > 4 ? a.literal(4) : 4;
  if (low >= high)
    throw refusal("range",
                  "no integer lies in " + std::to_string(low) + ".." + std::to_string(high));
  std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  for (std::int64_t i = 0, n = result.size(); i < n; ++i) {
    std::uint64_t r = mixed(seed, static_cast<std::uint64_t>(i));
    if (integers) {
      result.set_integer(i, static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + r % width));
    } else {
      result.set_real(i, static_cast<double>(r >> 11) * 0x1p-52 - 1.0);
    }
  }
  return Value(std::move(result));
}

// `reference` is applied where kernels are (apply.cpp).
Value reference_(Arguments&) {
  throw std::logic_error("internal: reference");
}

Value element_type_(Arguments& a) {
  return Value(a.array(0).element);
}

constexpr Builtin kArraysRows[] = {
    {"load", "load(\"x.npy\")", "the array in a file beside the script", 1, 1, load_},
    {"save", "save(\"x.npy\", X)", "writes an array to a file", 2, 2, save_},
    {"sum", "sum(X [, axis])", "all elements, or along an axis; of a tuple its leaves", 1, 2, sum_},
    {"mean", "mean(X [, axis])", "the mean; of truth values the share that holds", 1, 2, mean_},
    {"argmax", "argmax(X [, axis])", "the index of the greatest element, the first of equals", 1, 2,
     arg_extreme<true>},
    {"argmin", "argmin(X [, axis])", "the index of the least element, the first of equals", 1, 2,
     arg_extreme<false>},
    {"all", "all(X)", "whether X, an array or a tuple of conditions, holds everywhere", 1, 1,
     quantified<true>},
    {"any", "any(X)", "whether X, an array or a tuple of conditions, holds somewhere", 1, 1,
     quantified<false>},
    {"transpose", "transpose(X)", "element [j,i] is X[i,j]", 1, 1, transpose_},
    {"zeros", "zeros(T, S)", "an array of zeros of type T and shape S", 2, 2, zeros_},
    {"random", "random(T, S [, seed [, low, high]])",
     "reals in [-1, 1), or the integers low .. high-1", 2, 5, random_},
    {"reference", "reference(kernel, X, ...)",
     "the kernel by its meaning, plain loops: slow, for comparison", 1, 64, reference_},
    {"element_type", "element_type(X)", "the type of an array's elements", 1, 1, element_type_},
};

}  // namespace

std::span<const Builtin> array_builtins() {
  return kArraysRows;
}

}  // namespace lay::sema
