#include "backend/interpret/values/arithmetic.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "backend/interpret/mma/multiply_add.h"
#include "backend/interpret/warp.h"

namespace lay::interpret {
namespace {

using F = ElementFunction;

// ---- floating point

template <class T>
T minimum(T a, T b) {
  if (std::isnan(a)) return b;
  if (a == b) return std::signbit(a) ? a : b;
  return b < a ? b : a;
}

template <class T>
T maximum(T a, T b) {
  if (std::isnan(a)) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return b > a ? b : a;
}

// NaN where an operand is NaN.
template <class T>
T minimum_or_nan(T a, T b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : minimum(a, b);
}

template <class T>
T maximum_or_nan(T a, T b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : maximum(a, b);
}

template <F function, class T>
T apply(T a, [[maybe_unused]] T b) {
  if constexpr (function == F::add) return a + b;
  if constexpr (function == F::sub) return a - b;
  if constexpr (function == F::mul) return a * b;
  if constexpr (function == F::div) return a / b;
  if constexpr (function == F::neg) return -a;
  if constexpr (function == F::abs) return std::fabs(a);
  if constexpr (function == F::min) return minimum(a, b);
  if constexpr (function == F::max) return maximum(a, b);
  if constexpr (function == F::min_nan) return minimum_or_nan(a, b);
  if constexpr (function == F::max_nan) return maximum_or_nan(a, b);
  if constexpr (function == F::exp) return std::exp(a);
  if constexpr (function == F::log) return std::log(a);
  if constexpr (function == F::sqrt) return std::sqrt(a);
  if constexpr (function == F::rsqrt) return T(1) / std::sqrt(a);
  if constexpr (function == F::tanh) return std::tanh(a);
  if constexpr (function == F::erf) return std::erf(a);
  if constexpr (function == F::sigmoid) return T(1) / (T(1) + std::exp(-a));
  if constexpr (function == F::normcdf)
    return T(0.5) * std::erfc(-a * (std::numbers::sqrt2_v<T> / 2));
  if constexpr (function == F::sin) return std::sin(a);
  if constexpr (function == F::cos) return std::cos(a);
  if constexpr (function == F::floor) return std::floor(a);
}

template <F function, class T>
void real(Warp& warp, const Instruction& at) {
  T* dst = slot<T>(warp, at.dst);
  const T* a = slot<T>(warp, at.a);
  const T* b = at.b < 0 ? a : slot<T>(warp, at.b);
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (std::is_same_v<T, field::Number>) {
      dst[i] = field::apply(function, a[i], b[i]);
    } else {
      dst[i] = apply<function>(a[i], b[i]);
    }
  }
}

void number_fma(Warp& warp, const Instruction& at) {
  using field::Number;
  Number* dst = slot<Number>(warp, at.dst);
  const Number *a = slot<Number>(warp, at.a), *b = slot<Number>(warp, at.b),
               *c = slot<Number>(warp, at.c);
  for (int i = 0; i < kLanes; ++i) dst[i] = a[i] * b[i] + c[i];
}

template <class T>
void real_fma(Warp& warp, const Instruction& at) {
  fused_multiply_add(slot<T>(warp, at.dst), slot<T>(warp, at.a), slot<T>(warp, at.b),
                     slot<T>(warp, at.c));
}

void number_exp_fma(Warp& warp, const Instruction& at) {
  using field::Number;
  Number* dst = slot<Number>(warp, at.dst);
  const Number *a = slot<Number>(warp, at.a), *b = slot<Number>(warp, at.b),
               *c = slot<Number>(warp, at.c);
  for (int i = 0; i < kLanes; ++i) dst[i] = field::apply(F::exp_fma, a[i], b[i], c[i]);
}

template <class T>
void real_exp_fma(Warp& warp, const Instruction& at) {
  real_fma<T>(warp, at);
  T* dst = slot<T>(warp, at.dst);
  for (int i = 0; i < kLanes; ++i) dst[i] = std::exp(dst[i]);
}

// ---- comparisons, logic, selection

template <F function, class T>
bool compare(T a, T b) {
  if constexpr (function == F::lt) return a < b;
  if constexpr (function == F::le) return a <= b;
  if constexpr (function == F::gt) return a > b;
  if constexpr (function == F::ge) return a >= b;
  if constexpr (function == F::eq) return a == b;
  if constexpr (function == F::ne) return a != b;
}

template <F function, class Lane, class As = Lane>
void comparison(Warp& warp, const Instruction& at) {
  std::int64_t* dst = slot<std::int64_t>(warp, at.dst);
  const Lane* a = slot<Lane>(warp, at.a);
  const Lane* b = slot<Lane>(warp, at.b);
  std::int64_t truth[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (std::is_same_v<Lane, field::Number>) {
      truth[i] = field::compare(function, a[i], b[i]);
    } else {
      truth[i] = compare<function>(static_cast<As>(a[i]), static_cast<As>(b[i]));
    }
  }
  std::copy(truth, truth + kLanes, dst);
}

template <F function>
void logic(Warp& warp, const Instruction& at) {
  std::int64_t* dst = slot<std::int64_t>(warp, at.dst);
  const std::int64_t* a = slot<std::int64_t>(warp, at.a);
  const std::int64_t* b = at.b < 0 ? a : slot<std::int64_t>(warp, at.b);
  for (int i = 0; i < kLanes; ++i) {
    dst[i] = function == F::not_ ? 1 - a[i] : function == F::and_ ? a[i] & b[i] : a[i] | b[i];
  }
}

template <class T>
void selection(Warp& warp, const Instruction& at) {
  T* dst = slot<T>(warp, at.dst);
  const std::int64_t* condition = as<std::int64_t>(warp.slots[at.a]);
  const T* b = as<T>(warp.slots[at.b]);
  const T* c = as<T>(warp.slots[at.c]);
  for (int i = 0; i < kLanes; ++i) dst[i] = condition[i] != 0 ? b[i] : c[i];
}

// ---- tables

template <class T>
Handler real_handler(F function) {
  switch (function) {
    case F::add:
      return real<F::add, T>;
    case F::sub:
      return real<F::sub, T>;
    case F::mul:
      return real<F::mul, T>;
    case F::div:
      return real<F::div, T>;
    case F::neg:
      return real<F::neg, T>;
    case F::abs:
      return real<F::abs, T>;
    case F::min:
      return real<F::min, T>;
    case F::max:
      return real<F::max, T>;
    case F::min_nan:
      return real<F::min_nan, T>;
    case F::max_nan:
      return real<F::max_nan, T>;
    case F::exp:
      return real<F::exp, T>;
    case F::log:
      return real<F::log, T>;
    case F::sqrt:
      return real<F::sqrt, T>;
    case F::rsqrt:
      return real<F::rsqrt, T>;
    case F::tanh:
      return real<F::tanh, T>;
    case F::erf:
      return real<F::erf, T>;
    case F::sigmoid:
      return real<F::sigmoid, T>;
    case F::normcdf:
      return real<F::normcdf, T>;
    case F::sin:
      return real<F::sin, T>;
    case F::cos:
      return real<F::cos, T>;
    case F::floor:
      return real<F::floor, T>;
    case F::fma:
      if constexpr (std::is_same_v<T, field::Number>)
        return number_fma;
      else
        return real_fma<T>;
    case F::exp_fma:
      if constexpr (std::is_same_v<T, field::Number>)
        return number_exp_fma;
      else
        return real_exp_fma<T>;
    case F::rem:
    case F::lt:
    case F::le:
    case F::gt:
    case F::ge:
    case F::eq:
    case F::ne:
    case F::and_:
    case F::or_:
    case F::not_:
    case F::select:
    case F::cast:
      break;
  }
  throw std::logic_error("no such function of floating-point numbers");
}

Handler selection_handler(LaneType lanes) {
  switch (lanes) {
    case LaneType::single:
      return selection<float>;
    case LaneType::real:
      return selection<double>;
    case LaneType::number:
      return selection<field::Number>;
    case LaneType::integer:
      break;
  }
  return selection<std::int64_t>;
}

template <class Lane, class As = Lane>
Handler comparison_handler(F function) {
  switch (function) {
    case F::lt:
      return comparison<F::lt, Lane, As>;
    case F::le:
      return comparison<F::le, Lane, As>;
    case F::gt:
      return comparison<F::gt, Lane, As>;
    case F::ge:
      return comparison<F::ge, Lane, As>;
    case F::eq:
      return comparison<F::eq, Lane, As>;
    case F::ne:
      return comparison<F::ne, Lane, As>;
    default:
      return nullptr;
  }
}

Handler comparison_handler(F function, ElementType type, LaneType lanes) {
  switch (lanes) {
    case LaneType::single:
      return comparison_handler<float>(function);
    case LaneType::real:
      return comparison_handler<double>(function);
    case LaneType::number:
      return comparison_handler<field::Number>(function);
    case LaneType::integer:
      break;
  }
  if (type == ElementType::u64) return comparison_handler<std::int64_t, std::uint64_t>(function);
  return comparison_handler<std::int64_t>(function);
}

}  // namespace

Handler arithmetic(F function, ElementType type, Arithmetic of_floats, bool checked) {
  if (function == F::and_) return logic<F::and_>;
  if (function == F::or_) return logic<F::or_>;
  if (function == F::not_) return logic<F::not_>;
  const LaneType lanes = lane_type(type, of_floats);
  if (function == F::select) return selection_handler(lanes);
  if (Handler handler = comparison_handler(function, type, lanes)) return handler;
  switch (lanes) {
    case LaneType::single:
      return real_handler<float>(function);
    case LaneType::real:
      return real_handler<double>(function);
    case LaneType::number:
      return real_handler<field::Number>(function);
    case LaneType::integer:
      break;
  }
  return integer_arithmetic(function, type, checked);
}

}  // namespace lay::interpret
