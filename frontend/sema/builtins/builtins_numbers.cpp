// Numbers: integers known or not, reals, arrays element by element, and the element functions of
// kernels. `max` is the greatest of its arguments, or of all numbers in its one argument.

#include <algorithm>
#include <cmath>

#include "frontend/algebra/memory/convert.h"
#include "frontend/sema/builtins/array_operations.h"
#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/kernel/element_arithmetic.h"
#include "frontend/sema/kernel/kernel_builder.h"

namespace lay::sema {
namespace {

bool any_element(const Arguments& a) {
  return std::any_of(a.list().begin(), a.list().end(),
                     [](const CallArgument& x) { return x.value.as<Element>(); });
}

Value element_call(Arguments& a, ElementFunction function) {
  std::vector<Operand> operands;
  for (const CallArgument& x : a.list()) operands.push_back({x.value, x.span});
  return a.session.kernel->apply(function, operands, a.whole());
}

// A function of one real: of a number, an array, or an element in a kernel.
template <ElementFunction F>
Value real_(Arguments& a) {
  if (any_element(a)) return element_call(a, F);
  if (const Array* array = a.as<Array>(0)) {
    Array result =
        Array::make(is_float(array->element) ? array->element : ElementType::f64, array->shape);
    for (std::int64_t i = 0, n = array->size(); i < n; ++i)
      result.set_real(i, function_of_f64(F, array->real(i)));
    return Value(std::move(result));
  }
  if (auto x = real_of(a[0].value)) return Value(function_of_f64(F, *x));
  if (a.session.kernel && a[0].value.is_int()) return element_call(a, F);
  a.wrong_kind(0, "a number");
}

Value abs_(Arguments& a) {
  if (any_element(a)) return element_call(a, ElementFunction::abs);
  if (const Array* array = a.as<Array>(0)) {
    Array result = Array::make(array->element, array->shape);
    for (std::int64_t i = 0, n = array->size(); i < n; ++i) {
      if (is_float(array->element)) {
        result.set_real(i, std::abs(array->real(i)));
      } else {
        std::int64_t x = array->integer(i);
        result.set_integer(i, is_signed(array->element) && x < 0 ? checked_sub(0, x) : x);
      }
    }
    return Value(std::move(result));
  }
  if (const double* x = a.as<double>(0)) return Value(std::abs(*x));
  Int n = a.integer(0);
  return Value(a.facts().max(n, -n));
}

Value extreme_of_array(const Array& array, bool greatest, Arguments& a) {
  if (array.size() == 0) throw refusal("empty", std::string(a.callee()) + " of an empty array");
  std::int64_t best = 0;
  for (std::int64_t i = 1, n = array.size(); i < n; ++i) {
    if (is_float(array.element)) {
      double x = array.real(i), y = array.real(best);
      if (std::isnan(y)) break;
      if (std::isnan(x) || (greatest ? x > y : x < y)) best = i;
    } else if (greatest ? array.integer(i) > array.integer(best)
                        : array.integer(i) < array.integer(best)) {
      best = i;
    }
  }
  return is_float(array.element) ? Value(array.real(best)) : Value(Int(array.integer(best)));
}

// The greatest or least of arrays and numbers, element by element; numbers and shapes broadcast.
Value extreme_of_arrays(Arguments& a, bool greatest) {
  Value best = a[0].value;
  for (std::size_t i = 1; i < a.count(); ++i) {
    charge_array_pair(a.session, best, a[i].value, a.whole());
    auto next = array_extreme(greatest, best, a[i].value);
    if (!next) a.wrong_kind(real_of(best) || best.as<Array>() ? i : 0, "an array or a number");
    best = Value(std::move(*next));
  }
  return best;
}

template <bool Greatest>
Value extreme(Arguments& a) {
  if (any_element(a)) {
    if (a.count() < 2) a.wrong_kind(1, "a number");
    std::vector<Operand> operands{{a[0].value, a[0].span}};
    for (std::size_t i = 1; i < a.count(); ++i) {
      operands.push_back({a[i].value, a[i].span});
      Value v = a.session.kernel->apply(Greatest ? ElementFunction::max : ElementFunction::min,
                                        operands, a.whole());
      operands = {{v, a.whole()}};
    }
    return operands[0].value;
  }
  if (a.count() == 1) {
    if (const Array* array = a.as<Array>(0)) return extreme_of_array(*array, Greatest, a);
    const Tuple& t = a.tuple(0);
    return Value(Greatest ? maximum(a.facts(), t) : minimum(a.facts(), t));
  }
  const bool arrays = std::any_of(a.list().begin(), a.list().end(),
                                  [](const CallArgument& x) { return x.value.as<Array>(); });
  if (arrays) return extreme_of_arrays(a, Greatest);
  bool integers = true;
  for (const CallArgument& x : a.list()) integers = integers && x.value.is_int();
  if (integers) {
    Int best = a.integer(0);
    for (std::size_t i = 1; i < a.count(); ++i) {
      best = Greatest ? a.facts().max(best, a.integer(i)) : a.facts().min(best, a.integer(i));
    }
    return Value(best);
  }
  std::optional<double> best;
  for (std::size_t i = 0; i < a.count(); ++i) {
    auto x = real_of(a[i].value);
    if (!x) a.wrong_kind(i, "a number");
    if (!best || (Greatest ? *x > *best : *x < *best)) best = x;
  }
  return Value(*best);
}

// Returns the number of tiles that reach over the shape: for a layout the shape of its complement,
// for a tuple mode by mode.
Tuple tiles_over(Facts& facts, const Tuple& shape, const Tiler& tiler) {
  if (const Layout* tile = std::get_if<Layout>(&tiler.value))
    return complement(facts, *tile, shape).shape;
  if (const Int* n = std::get_if<Int>(&tiler.value)) return ceil_div(facts, shape, *n);
  const auto* modes = std::get_if<std::vector<Tiler>>(&tiler.value);
  if (!modes) throw refusal("underscore", "ceil_div by `_`: no tile is given there");
  if (static_cast<int>(modes->size()) > shape.rank()) {
    throw refusal("rank",
                  "ceil_div: " + tiler.to_string() + " has more modes than " + shape.to_string());
  }
  std::vector<Tuple> counts;
  for (int i = 0; i < shape.rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    counts.push_back(k < modes->size() ? tiles_over(facts, shape[i], (*modes)[k]) : shape[i]);
  }
  return Tuple(std::move(counts));
}

Value ceil_div_(Arguments& a) {
  if (!a.as<Tuple>(1)) return Value(tiles_over(a.facts(), a.tuple(0), a.tiler(1)));
  return Value(ceil_div(a.facts(), a.tuple(0), a.tuple(1)));
}
Value shape_div_(Arguments& a) {
  return Value(shape_div(a.facts(), a.tuple(0), a.tuple(1)));
}
Value round_up_(Arguments& a) {
  return Value(round_up(a.facts(), a.tuple(0), a.tuple(1)));
}

Value fma_(Arguments& a) {
  if (any_element(a)) return element_call(a, ElementFunction::fma);
  double x[3];
  for (std::size_t i = 0; i < 3; ++i) {
    auto number = real_of(a[i].value);
    if (!number) a.wrong_kind(i, "a number");
    x[i] = *number;
  }
  return Value(std::fma(x[0], x[1], x[2]));
}

Value cast_(Arguments& a) {
  ElementType to = a.type(1);
  if (a.session.kernel && (any_element(a) || a[0].value.as<double>() || a[0].value.is_int())) {
    return a.session.kernel->cast({a[0].value, a[0].span}, to);
  }
  if (const Array* array = a.as<Array>(0)) return Value(array->cast(to));
  auto x = real_of(a[0].value);
  if (!x) a.wrong_kind(0, "a number or an array");
  if (a[0].value.is_int())
    return is_float(to) ? Value(from_integer(to, a.literal(0)))
                        : Value(Int(saturate(to, a.literal(0))));
  return is_float(to) ? Value(round_to(to, *x)) : Value(Int(round_to_integer(to, *x)));
}

Value extent_(Arguments& a) {
  if (!a.session.kernel) {
    fail("kernel-only", "extent(n) is allowed only in the body of a kernel", a.whole(), {},
         {{"help", "size(L) counts the elements of a layout or a shape"}});
  }
  const auto index = a.session.kernel->index_of(a.integer(0));
  if (!index) a.wrong_kind(0, "an index");
  return Value(a.session.kernel->kernel.index(*index).extent);
}

constexpr std::size_t kLongestText = 1'000'000;

Value text_(Arguments& a) {
  std::string all;
  for (const CallArgument& argument : a.list()) {
    const auto* string = argument.value.as<std::string>();
    all += string ? *string : text(argument.value);
    if (all.size() > kLongestText) {
      fail("limit", "a string holds at most " + std::to_string(kLongestText) + " characters",
           a.whole());
    }
  }
  return Value(std::move(all));
}

constexpr Builtin kNumbersRows[] = {
    {"ceil_div", "ceil_div(a, b)", "a / b rounded up; tuples mode by mode", 2, 2, ceil_div_},
    {"shape_div", "shape_div(a, b)", "ceil_div where one divides the other", 2, 2, shape_div_},
    {"round_up", "round_up(a, b)", "the least multiple of b that is at least a", 2, 2, round_up_},
    {"max", "max(a, b, ...) or max(X)", "the greatest; arrays of several element by element", 1,
     kMany, extreme<true>},
    {"min", "min(a, b, ...) or min(X)", "the least; arrays of several element by element", 1, kMany,
     extreme<false>},
    {"abs", "abs(x)", "the absolute value", 1, 1, abs_},
    {"exp", "exp(x)", "e to the power x", 1, 1, real_<ElementFunction::exp>},
    {"log", "log(x)", "the natural logarithm", 1, 1, real_<ElementFunction::log>},
    {"sqrt", "sqrt(x)", "the square root", 1, 1, real_<ElementFunction::sqrt>},
    {"rsqrt", "rsqrt(x)", "1 / sqrt(x)", 1, 1, real_<ElementFunction::rsqrt>},
    {"tanh", "tanh(x)", "the hyperbolic tangent", 1, 1, real_<ElementFunction::tanh>},
    {"erf", "erf(x)", "the error function", 1, 1, real_<ElementFunction::erf>},
    {"sigmoid", "sigmoid(x)", "1 / (1 + exp(-x))", 1, 1, real_<ElementFunction::sigmoid>},
    {"normcdf", "normcdf(x)", "the normal distribution up to x, (1 + erf(x / sqrt(2))) / 2", 1, 1,
     real_<ElementFunction::normcdf>},
    {"sin", "sin(x)", "the sine", 1, 1, real_<ElementFunction::sin>},
    {"cos", "cos(x)", "the cosine", 1, 1, real_<ElementFunction::cos>},
    {"floor", "floor(x)", "the greatest integer that is at most x", 1, 1,
     real_<ElementFunction::floor>},
    {"fma", "fma(a, b, c)", "a * b + c, rounded once", 3, 3, fma_},
    {"cast", "cast(x, T)", "x rounded to the element type T; T(x) is the same", 2, 2, cast_},
    {"extent", "extent(n)", "in a kernel: the number of values that the index n takes", 1, 1,
     extent_},
    {"text", "text(x, ...)", "what print writes of each, side by side, as a string", 1, kMany,
     text_},
};

}  // namespace

std::span<const Builtin> number_builtins() {
  return kNumbersRows;
}

}  // namespace lay::sema
