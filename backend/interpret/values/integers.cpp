#include <limits>
#include <stdexcept>

#include "backend/interpret/values/arithmetic.h"
#include "backend/interpret/warp.h"

namespace lay::interpret {
namespace {

using F = ElementFunction;

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
    if (b[i] == 0)
      stop(warp, at, Mask{1} << i, FaultCode::division_by_zero, "an integer is divided by 0");
    dst[i] = divide<function, type>(a[i], b[i]);
  });
}

template <ElementType type>
bool less(std::int64_t a, std::int64_t b) {
  if constexpr (type == ElementType::u64)
    return static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
  return a < b;
}

template <F function, ElementType type>
void integer_extremum(Warp& warp, const Instruction& at) {
  std::int64_t* dst = slot<std::int64_t>(warp, at.dst);
  const std::int64_t* a = slot<std::int64_t>(warp, at.a);
  const std::int64_t* b = slot<std::int64_t>(warp, at.b);
  for (int i = 0; i < kLanes; ++i)
    dst[i] = less<type>(a[i], b[i]) == (function == F::min) ? a[i] : b[i];
}

template <F function, ElementType type, bool checked>
void integer_unary(Warp& warp, const Instruction& at) {
  std::int64_t* dst = slot<std::int64_t>(warp, at.dst);
  const std::int64_t* a = slot<std::int64_t>(warp, at.a);
  if constexpr (checked && (type == ElementType::s32 || type == ElementType::s64)) {
    constexpr std::int64_t least = type == ElementType::s32
                                       ? std::numeric_limits<std::int32_t>::min()
                                       : std::numeric_limits<std::int64_t>::min();
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
    case F::min_nan:
      return integer_extremum<F::min, type>;
    case F::max:
    case F::max_nan:
      return integer_extremum<F::max, type>;
    case F::neg:
      return integer_unary<F::neg, type, checked>;
    case F::abs:
      return integer_unary<F::abs, type, checked>;
    default:
      throw std::logic_error("no such function of integers");
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

}  // namespace

Handler integer_arithmetic(F function, ElementType type, bool checked) {
  return checked ? integer_handler<true>(function, type) : integer_handler<false>(function, type);
}

}  // namespace lay::interpret
