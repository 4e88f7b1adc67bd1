#include "backend/interpret/arithmetic.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "backend/interpret/multiply_add.h"
#include "backend/interpret/warp.h"

namespace lay::interpret {
namespace {

using F = ElementFunction;

template <class T>
struct Operands {
  T *dst, *a, *b, *c;
};

template <class T>
T* slot(Warp& warp, int index) {
  return index < 0 ? nullptr : as<T>(warp.slots[index]);
}

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
  if constexpr (function == F::exp) return std::exp(a);
  if constexpr (function == F::log) return std::log(a);
  if constexpr (function == F::sqrt) return std::sqrt(a);
  if constexpr (function == F::rsqrt) return T(1) / std::sqrt(a);
  if constexpr (function == F::tanh) return std::tanh(a);
  if constexpr (function == F::erf) return std::erf(a);
  if constexpr (function == F::sin) return std::sin(a);
  if constexpr (function == F::cos) return std::cos(a);
  if constexpr (function == F::floor) return std::floor(a);
}

template <F function, class T>
void real(Warp& warp, const Instruction& at) {
  T* dst = slot<T>(warp, at.dst);
  const T* a = slot<T>(warp, at.a);
  const T* b = at.b < 0 ? a : slot<T>(warp, at.b);
  for (int i = 0; i < kLanes; ++i) dst[i] = apply<function>(a[i], b[i]);
}

template <class T>
void real_fma(Warp& warp, const Instruction& at) {
  fused_multiply_add(slot<T>(warp, at.dst), slot<T>(warp, at.a), slot<T>(warp, at.b), slot<T>(warp, at.c));
}

// ---- integers

// The representative of a value in its type: what 32-bit registers would hold.
template <ElementType type>
std::int64_t wrap(std::int64_t value) {
  if constexpr (type == ElementType::s32) return static_cast<std::int32_t>(value);
  if constexpr (type == ElementType::u32) return static_cast<std::uint32_t>(value);
  return value;
}

std::int64_t wrapping(F function, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (function) {
    case F::add:
      return static_cast<std::int64_t>(x + y);
    case F::sub:
      return static_cast<std::int64_t>(x - y);
    default:
      return static_cast<std::int64_t>(x * y);
  }
}

template <F function>
bool overflows(std::int64_t a, std::int64_t b) {
  std::int64_t unused;
  if constexpr (function == F::add) return __builtin_add_overflow(a, b, &unused);
  if constexpr (function == F::sub) return __builtin_sub_overflow(a, b, &unused);
  if constexpr (function == F::mul) return __builtin_mul_overflow(a, b, &unused);
  return false;
}

[[noreturn]] void overflow(Warp& warp, const Instruction& at, Mask lanes) {
  stop(warp, at, lanes, FaultCode::overflow,
       "the result of an operation does not fit " + std::string(element_name(at.type)));
}

// add, sub, mul and what is made of them.
template <F function, ElementType type, bool checked>
void integer(Warp& warp, const Instruction& at) {
  std::int64_t* dst = slot<std::int64_t>(warp, at.dst);
  const std::int64_t* a = slot<std::int64_t>(warp, at.a);
  const std::int64_t* b = slot<std::int64_t>(warp, at.b);
  constexpr bool check = checked && (type == ElementType::s32 || type == ElementType::s64);
  if constexpr (check && type == ElementType::s64) {
    for_each_lane(warp.mask, [&](int i) {
      if (overflows<function>(a[i], b[i])) overflow(warp, at, Mask{1} << i);
    });
  }
  std::int64_t outside = 0;
  std::int64_t exact[kLanes];
  for (int i = 0; i < kLanes; ++i) exact[i] = wrapping(function, a[i], b[i]);
  for (int i = 0; i < kLanes; ++i) {
    dst[i] = wrap<type>(exact[i]);
    outside |= dst[i] ^ exact[i];
  }
  if constexpr (check && type == ElementType::s32) {
    if (outside == 0) return;
    for_each_lane(warp.mask, [&](int i) {
      if (dst[i] != exact[i]) overflow(warp, at, Mask{1} << i);
    });
  }
}

template <F function, ElementType type>
std::int64_t divide(std::int64_t a, std::int64_t b) {
  if constexpr (type == ElementType::u64) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<std::int64_t>(function == F::div ? x / y : x % y);
  }
  if (b == -1) return function == F::div ? wrap<type>(wrapping(F::sub, 0, a)) : 0;
  return function == F::div ? a / b : a % b;
}

// Division by the same positive power of two in every lane is a shift where nothing is negative.
template <F function>
bool divide_by_shift(const std::int64_t* a, const std::int64_t* b, std::int64_t* dst) {
  const std::int64_t by = b[0];
  if (by <= 0 || (by & (by - 1)) != 0) return false;
  std::int64_t unlike = 0, sign = 0;
  for (int i = 0; i < kLanes; ++i) {
    unlike |= b[i] ^ by;
    sign |= a[i];
  }
  if (unlike != 0 || sign < 0) return false;
  const int shift = __builtin_ctzll(static_cast<unsigned long long>(by));
  for (int i = 0; i < kLanes; ++i) dst[i] = function == F::div ? a[i] >> shift : a[i] & (by - 1);
  return true;
}

template <F function, ElementType type>
void division(Warp& warp, const Instruction& at) {
  std::int64_t* dst = slot<std::int64_t>(warp, at.dst);
  const std::int64_t* a = slot<std::int64_t>(warp, at.a);
  const std::int64_t* b = slot<std::int64_t>(warp, at.b);
  if (divide_by_shift<function>(a, b, dst)) return;
  for_each_lane(warp.mask, [&](int i) {
    if (b[i] == 0) stop(warp, at, Mask{1} << i, FaultCode::division_by_zero, "an integer is divided by 0");
    dst[i] = divide<function, type>(a[i], b[i]);
  });
}

template <ElementType type>
bool less(std::int64_t a, std::int64_t b) {
  if constexpr (type == ElementType::u64) return static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
  return a < b;
}

template <F function, ElementType type>
void integer_extremum(Warp& warp, const Instruction& at) {
  std::int64_t* dst = slot<std::int64_t>(warp, at.dst);
  const std::int64_t* a = slot<std::int64_t>(warp, at.a);
  const std::int64_t* b = slot<std::int64_t>(warp, at.b);
  for (int i = 0; i < kLanes; ++i) dst[i] = less<type>(a[i], b[i]) == (function == F::min) ? a[i] : b[i];
}

template <F function, ElementType type, bool checked>
void integer_unary(Warp& warp, const Instruction& at) {
  std::int64_t* dst = slot<std::int64_t>(warp, at.dst);
  const std::int64_t* a = slot<std::int64_t>(warp, at.a);
  if constexpr (checked && (type == ElementType::s32 || type == ElementType::s64)) {
    constexpr std::int64_t least =
        type == ElementType::s32 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int64_t>::min();
    for_each_lane(warp.mask, [&](int i) {
      if (a[i] == least) overflow(warp, at, Mask{1} << i);
    });
  }
  constexpr bool is_unsigned = type == ElementType::u32 || type == ElementType::u64;
  for (int i = 0; i < kLanes; ++i) {
    const std::int64_t negated = wrap<type>(wrapping(F::sub, 0, a[i]));
    dst[i] = function == F::neg || (a[i] < 0 && !is_unsigned) ? negated : a[i];
  }
}

template <ElementType type, bool checked>
void integer_fma(Warp& warp, const Instruction& at) {
  Instruction product = at, sum = at;
  sum.a = at.dst;
  sum.b = at.c;
  integer<F::mul, type, checked>(warp, product);
  integer<F::add, type, checked>(warp, sum);
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

template <F function, class Held, class As = Held>
void comparison(Warp& warp, const Instruction& at) {
  std::int64_t* dst = slot<std::int64_t>(warp, at.dst);
  const Held* a = slot<Held>(warp, at.a);
  const Held* b = slot<Held>(warp, at.b);
  std::int64_t truth[kLanes];
  for (int i = 0; i < kLanes; ++i) truth[i] = compare<function>(static_cast<As>(a[i]), static_cast<As>(b[i]));
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
  const std::int64_t* condition = slot<std::int64_t>(warp, at.a);
  const T* b = slot<T>(warp, at.b);
  const T* c = slot<T>(warp, at.c);
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
    case F::sin:
      return real<F::sin, T>;
    case F::cos:
      return real<F::cos, T>;
    case F::floor:
      return real<F::floor, T>;
    case F::fma:
      return real_fma<T>;
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

template <ElementType type, bool checked>
Handler integer_handler(F function) {
  switch (function) {
    case F::add:
      return integer<F::add, type, checked>;
    case F::sub:
      return integer<F::sub, type, checked>;
    case F::mul:
      return integer<F::mul, type, checked>;
    case F::fma:
      return integer_fma<type, checked>;
    case F::div:
      return division<F::div, type>;
    case F::rem:
      return division<F::rem, type>;
    case F::min:
      return integer_extremum<F::min, type>;
    case F::max:
      return integer_extremum<F::max, type>;
    case F::neg:
      return integer_unary<F::neg, type, checked>;
    case F::abs:
      return integer_unary<F::abs, type, checked>;
    default:
      throw std::logic_error("no such function of integers");
  }
}

template <class Held, class As = Held>
Handler comparison_handler(F function) {
  switch (function) {
    case F::lt:
      return comparison<F::lt, Held, As>;
    case F::le:
      return comparison<F::le, Held, As>;
    case F::gt:
      return comparison<F::gt, Held, As>;
    case F::ge:
      return comparison<F::ge, Held, As>;
    case F::eq:
      return comparison<F::eq, Held, As>;
    case F::ne:
      return comparison<F::ne, Held, As>;
    default:
      return nullptr;
  }
}

template <bool checked>
Handler integer_handler(F function, ElementType type) {
  switch (type) {
    case ElementType::s32:
      return integer_handler<ElementType::s32, checked>(function);
    case ElementType::u32:
      return integer_handler<ElementType::u32, checked>(function);
    case ElementType::s64:
      return integer_handler<ElementType::s64, checked>(function);
    case ElementType::u64:
      return integer_handler<ElementType::u64, checked>(function);
    default:
      throw std::logic_error("integer arithmetic in a type for storage");
  }
}

Handler comparison_handler(F function, ElementType type) {
  switch (held(type)) {
    case Held::single:
      return comparison_handler<float>(function);
    case Held::real:
      return comparison_handler<double>(function);
    case Held::integer:
      break;
  }
  if (type == ElementType::u64) return comparison_handler<std::int64_t, std::uint64_t>(function);
  return comparison_handler<std::int64_t>(function);
}

}  // namespace

Handler arithmetic(F function, ElementType type, bool checked) {
  if (function == F::and_) return logic<F::and_>;
  if (function == F::or_) return logic<F::or_>;
  if (function == F::not_) return logic<F::not_>;
  if (function == F::select) {
    if (held(type) == Held::single) return selection<float>;
    return held(type) == Held::real ? selection<double> : selection<std::int64_t>;
  }
  if (Handler handler = comparison_handler(function, type)) return handler;
  if (held(type) == Held::single) return real_handler<float>(function);
  if (held(type) == Held::real) return real_handler<double>(function);
  return checked ? integer_handler<true>(function, type) : integer_handler<false>(function, type);
}

}  // namespace lay::interpret
