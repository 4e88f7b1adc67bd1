#include "frontend/sema/kernel/element_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/values/array.h"

namespace lay::sema {
namespace {

std::int64_t add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

double function_of_f32(ElementFunction f, float x) {
  switch (f) {
    case ElementFunction::exp:
      return static_cast<double>(std::exp(x));
    case ElementFunction::log:
      return static_cast<double>(std::log(x));
    case ElementFunction::sqrt:
      return static_cast<double>(std::sqrt(x));
    case ElementFunction::rsqrt:
      return static_cast<double>(1.0f / std::sqrt(x));
    case ElementFunction::tanh:
      return static_cast<double>(std::tanh(x));
    case ElementFunction::erf:
      return static_cast<double>(std::erf(x));
    case ElementFunction::sigmoid:
      return static_cast<double>(1.0f / (1.0f + std::exp(-x)));
    case ElementFunction::normcdf:
      return static_cast<double>(0.5f * std::erfc(-x * std::numbers::sqrt2_v<float> / 2));
    case ElementFunction::sin:
      return static_cast<double>(std::sin(x));
    case ElementFunction::cos:
      return static_cast<double>(std::cos(x));
    case ElementFunction::floor:
      return static_cast<double>(std::floor(x));
    default:
      throw std::logic_error("internal: no function of one float");
  }
}

}  // namespace

double function_of_f64(ElementFunction f, double x) {
  switch (f) {
    case ElementFunction::exp:
      return std::exp(x);
    case ElementFunction::log:
      return std::log(x);
    case ElementFunction::sqrt:
      return std::sqrt(x);
    case ElementFunction::rsqrt:
      return 1 / std::sqrt(x);
    case ElementFunction::tanh:
      return std::tanh(x);
    case ElementFunction::erf:
      return std::erf(x);
    case ElementFunction::sigmoid:
      return 1 / (1 + std::exp(-x));
    case ElementFunction::normcdf:
      return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2);
    case ElementFunction::sin:
      return std::sin(x);
    case ElementFunction::cos:
      return std::cos(x);
    case ElementFunction::floor:
      return std::floor(x);
    default:
      throw std::logic_error("internal: no function of one double");
  }
}

std::int64_t wrapped(ElementType type, std::int64_t x) {
  if (bits(type) >= 64 || type == ElementType::pred) return x;
  auto low = static_cast<std::uint64_t>(x) << (64 - bits(type));
  return is_signed(type) ? static_cast<std::int64_t>(low) >> (64 - bits(type))
                         : static_cast<std::int64_t>(low >> (64 - bits(type)));
}

double rounded(ElementType type, double x) {
  if (type == ElementType::f32) return static_cast<double>(static_cast<float>(x));
  return type == ElementType::f64 ? x : round_to(type, x);
}

// a*b + c rounded once: exact in f64 for f32 operands' product, so fmaf is taken for f32.
double fused(ElementType type, double a, double b, double c) {
  if (type == ElementType::f64) return std::fma(a, b, c);
  if (type == ElementType::f32) {
    return static_cast<double>(
        std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
  }
  return rounded(type, std::fma(a, b, c));
}

std::int64_t fused(ElementType type, std::int64_t a, std::int64_t b, std::int64_t c) {
  return wrapped(type, add(multiply(a, b), c));
}

Computed on_reals(ElementFunction f, ElementType type, const Operands& v) {
  const double a = v[0].real, b = v[1].real;
  switch (f) {
    case ElementFunction::add:
      return {rounded(type, a + b), 0};
    case ElementFunction::sub:
      return {rounded(type, a - b), 0};
    case ElementFunction::mul:
      return {rounded(type, a * b), 0};
    case ElementFunction::div:
      return {rounded(type, a / b), 0};
    case ElementFunction::rem:
      return {rounded(type, std::fmod(a, b)), 0};
    case ElementFunction::neg:
      return {-a, 0};
    case ElementFunction::abs:
      return {std::abs(a), 0};
    case ElementFunction::min:
      return {std::fmin(a, b), 0};
    case ElementFunction::max:
      return {std::fmax(a, b), 0};
    case ElementFunction::min_nan:
      return {std::isnan(a) || std::isnan(b) ? a + b : std::fmin(a, b), 0};
    case ElementFunction::max_nan:
      return {std::isnan(a) || std::isnan(b) ? a + b : std::fmax(a, b), 0};
    case ElementFunction::fma:
      return {fused(type, a, b, v[2].real), 0};
    case ElementFunction::exp_fma:
      return {rounded(type, std::exp(fused(type, a, b, v[2].real))), 0};
    case ElementFunction::lt:
      return {0, a < b};
    case ElementFunction::le:
      return {0, a <= b};
    case ElementFunction::gt:
      return {0, a > b};
    case ElementFunction::ge:
      return {0, a >= b};
    case ElementFunction::eq:
      return {0, a == b};
    case ElementFunction::ne:
      return {0, a != b};
    default:
      if (type == ElementType::f64) return {function_of_f64(f, a), 0};
      return {rounded(type, function_of_f32(f, static_cast<float>(a))), 0};
  }
}

Computed on_field(ElementFunction f, const Operands& v) {
  const field::Number a = field_number(v[0]), b = field_number(v[1]);
  if (function_row(f).result == ResultKind::truth) return {0, field::compare(f, a, b)};
  return in_field(field::apply(f, a, b, field_number(v[2])));
}

Computed on_integers(ElementFunction f, ElementType type, const Operands& v) {
  const std::int64_t a = v[0].integer, b = v[1].integer;
  switch (f) {
    case ElementFunction::add:
      return {0, wrapped(type, add(a, b))};
    case ElementFunction::sub:
      return {0, wrapped(type, add(a, multiply(b, -1)))};
    case ElementFunction::mul:
      return {0, wrapped(type, multiply(a, b))};
    case ElementFunction::div:
    case ElementFunction::rem:
      if (b == 0) throw refusal("division-by-zero", "an integer is divided by 0");
      if (b == -1) return {0, f == ElementFunction::div ? multiply(a, -1) : 0};
      return {0, f == ElementFunction::div ? a / b : a % b};
    case ElementFunction::neg:
      return {0, wrapped(type, multiply(a, -1))};
    case ElementFunction::abs:
      return {0, wrapped(type, a < 0 ? multiply(a, -1) : a)};
    case ElementFunction::min:
    case ElementFunction::min_nan:
      return {0, std::min(a, b)};
    case ElementFunction::max:
    case ElementFunction::max_nan:
      return {0, std::max(a, b)};
    case ElementFunction::fma:
      return {0, fused(type, a, b, v[2].integer)};
    case ElementFunction::lt:
      return {0, a < b};
    case ElementFunction::le:
      return {0, a <= b};
    case ElementFunction::gt:
      return {0, a > b};
    case ElementFunction::ge:
      return {0, a >= b};
    case ElementFunction::eq:
      return {0, a == b};
    case ElementFunction::ne:
      return {0, a != b};
    default:
      throw std::logic_error("internal: no function of integers");
  }
}

}  // namespace lay::sema
