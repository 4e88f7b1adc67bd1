#include "frontend/algebra/memory/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace lay {
namespace {

// A binary floating-point format: sign, exponent, significand from the top.
struct Format {
  int exponent_bits, significand_bits;
  std::uint64_t largest;   // finite, as bits without sign
  std::uint64_t infinity;  // 0: the format has none
  std::uint64_t nan;
  std::uint64_t overflow;  // what lies beyond the largest becomes
};

// IEEE 754 binary16, bfloat16, the OCP 8-bit floats (e4m3 without infinity; both saturate), and
// TF32 as its 19 significant bits.
constexpr Format kF16{5, 10, 0x7bff, 0x7c00, 0x7fff, 0x7c00};
constexpr Format kBf16{8, 7, 0x7f7f, 0x7f80, 0x7fff, 0x7f80};
constexpr Format kE4m3{4, 3, 0x7e, 0, 0x7f, 0x7e};
constexpr Format kE5m2{5, 2, 0x7b, 0x7c, 0x7f, 0x7b};
constexpr Format kTf32{8, 10, 0x3fbff, 0x3fc00, 0x3ffff, 0x3fc00};

// |value| = r * 2^(e - significand_bits) with r rounded to an integer. Adding r to the exponent
// field carries into it for normal numbers, for subnormal ones, and when r rounds up to the next
// power of two.
std::uint64_t encode(const Format& format, double value) {
  const std::uint64_t sign = std::uint64_t{std::signbit(value)}
                             << (format.exponent_bits + format.significand_bits);
  if (std::isnan(value)) return format.nan;
  if (std::isinf(value)) return sign | format.overflow;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  // The bias is 2^(E-1) - 1, and exponent field 1 is the smallest normal one: 2^(1 - bias).
  const int least =
      2 - (1 << (format.exponent_bits - 1));  // exponent of the smallest normal number
  // Below the smallest normal number the exponent stays, and the significand loses bits:
  // subnormals.
  const int exponent = std::max(std::ilogb(magnitude), least);
  // Far beyond the largest; near it the comparison of bits below decides, after rounding.
  if (exponent > -least + 2) return sign | format.overflow;
  const double rounded = std::nearbyint(std::scalbn(magnitude, format.significand_bits - exponent));
  const std::uint64_t bits =
      (static_cast<std::uint64_t>(exponent - least) << format.significand_bits) +
      static_cast<std::uint64_t>(rounded);
  return sign | (bits > format.largest ? format.overflow : bits);
}

double decode(const Format& format, std::uint64_t bits) {
  const int m = format.significand_bits;
  const bool negative = (bits >> (format.exponent_bits + m) & 1) != 0;
  const std::uint64_t magnitude = bits & ((std::uint64_t{1} << (format.exponent_bits + m)) - 1);
  const int field = static_cast<int>(magnitude >> m);
  const std::uint64_t significand = magnitude & ((std::uint64_t{1} << m) - 1);
  const int least = 2 - (1 << (format.exponent_bits - 1));
  double value = 0;
  if (magnitude > format.largest) {
    value = magnitude == format.infinity ? std::numeric_limits<double>::infinity()
                                         : std::numeric_limits<double>::quiet_NaN();
  } else if (field == 0) {
    value = std::scalbn(static_cast<double>(significand), least - m);
  } else {
    value = std::scalbn(static_cast<double>(significand + (std::uint64_t{1} << m)),
                        least + field - 1 - m);
  }
  return negative ? -value : value;
}

template <class To, class From>
To narrow(From value) {
  return static_cast<To>(value);
}

struct Range {
  std::int64_t lower, upper;
};

// Returns the range of an integer type; u64 ends where int64 does.
// Values of 64 bits are held as int64, so u64 ends at 2^63 - 1.
Range range(ElementType type) {
  const int width = std::min(bits(type), 64);
  if (width == 64) {
    return {is_signed(type) ? std::numeric_limits<std::int64_t>::min() : 0,
            std::numeric_limits<std::int64_t>::max()};
  }
  if (!is_signed(type)) return {0, (std::int64_t{1} << width) - 1};
  return {-(std::int64_t{1} << (width - 1)), (std::int64_t{1} << (width - 1)) - 1};
}

// Two's complement, cut to the type's width.
std::uint64_t low_bits(std::int64_t value, int width) {
  const auto raw = static_cast<std::uint64_t>(value);
  return width >= 64 ? raw : raw & ((std::uint64_t{1} << width) - 1);
}

}  // namespace

// Infinities and NaNs have an exponent field of ones, which 2^112 does not reach: it is set by
// hand.
float f16_to_f32(std::uint16_t bits) {
  // The fields land where f32 has them; 2^112 is the difference of the biases and makes subnormals
  // normal.
  const std::uint32_t magnitude = (bits & 0x7fffu) << 13;
  const float value = std::bit_cast<float>(magnitude) * 0x1p112f;
  const std::uint32_t raw =
      magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>(raw | (bits & 0x8000u) << 16);
}

float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

float e4m3_to_f32(std::uint8_t bits) {
  // Its largest exponent is one of numbers, so that it is no part of an f16: looked up.
  static const auto values = [] {
    std::array<float, 256> all{};
    for (std::size_t each = 0; each < all.size(); ++each)
      all.at(each) = narrow<float>(decode(kE4m3, each));
    return all;
  }();
  return values[bits];
}

float e5m2_to_f32(std::uint8_t bits) {
  // e5m2 is the upper half of an f16.
  return f16_to_f32(narrow<std::uint16_t>(bits << 8));
}

std::uint16_t f32_to_f16(float value) {
  const std::uint32_t raw = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = raw >> 16 & 0x8000u;
  const std::uint32_t magnitude = raw & 0x7fffffffu;
  // A NaN: all bits of its exponent set, and more.
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return narrow<std::uint16_t>(sign | 0x7c00u);  // 65520 and beyond
  if (magnitude <
      0x38800000u) {  // subnormal: adding 1/2 leaves the rounded significand in the low bits
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return narrow<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  // 13 bits are dropped. Adding 0xfff and the last bit kept rounds to nearest even; the carry may
  // go into the exponent, which is right. 0x38000000 is the difference of the biases.
  const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return narrow<std::uint16_t>(sign | (rounded - 0x38000000u) >> 13);
}

std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t raw = std::bit_cast<std::uint32_t>(value);
  if ((raw & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return narrow<std::uint16_t>((raw + 0x7fffu + (raw >> 16 & 1u)) >> 16);
}

std::uint8_t f32_to_e4m3(float value) {
  return narrow<std::uint8_t>(encode(kE4m3, static_cast<double>(value)));
}

std::uint8_t f32_to_e5m2(float value) {
  return narrow<std::uint8_t>(encode(kE5m2, static_cast<double>(value)));
}

// 13 bits are dropped, rounded to nearest even, as cvt.rn.tf32 does by name.
float f32_to_tf32(float value) {
  const std::uint32_t raw = std::bit_cast<std::uint32_t>(value);
  if ((raw & 0x7fffffffu) > 0x7f800000u) return std::bit_cast<float>(0x7fffe000u);
  return std::bit_cast<float>((raw + 0xfffu + (raw >> 13 & 1u)) & 0xffffe000u);
}

double decode(ElementType type, std::uint64_t bits) {
  switch (type) {
    case ElementType::f64:
      return std::bit_cast<double>(bits);
    case ElementType::f32:
    case ElementType::tf32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case ElementType::f16:
      return static_cast<double>(f16_to_f32(narrow<std::uint16_t>(bits)));
    case ElementType::bf16:
      return static_cast<double>(bf16_to_f32(narrow<std::uint16_t>(bits)));
    case ElementType::e4m3:
      return static_cast<double>(e4m3_to_f32(narrow<std::uint8_t>(bits)));
    case ElementType::e5m2:
      return static_cast<double>(e5m2_to_f32(narrow<std::uint8_t>(bits)));
    default:
      break;
  }
  // Shifted up and down again, which extends the sign.
  const int unused = 64 - std::min(lay::bits(type), 64);
  if (is_signed(type))
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
  return static_cast<double>(bits << unused >> unused);
}

std::uint64_t encode(ElementType type, double value) {
  switch (type) {
    case ElementType::f64:
      return std::bit_cast<std::uint64_t>(value);
    case ElementType::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case ElementType::tf32:
      return encode(kTf32, value) << 13;
    case ElementType::f16:
      return encode(kF16, value);
    case ElementType::bf16:
      return encode(kBf16, value);
    case ElementType::e4m3:
      return encode(kE4m3, value);
    case ElementType::e5m2:
      return encode(kE5m2, value);
    default:
      return low_bits(round_to_integer(type, value), bits(type));
  }
}

// Rounding to odd: the last bit kept is 1 if anything was dropped, so that a second rounding to a
// narrower format never meets a false tie.
double to_odd(std::uint64_t value) {
  constexpr int significand = std::numeric_limits<double>::digits;
  const int dropped = static_cast<int>(std::bit_width(value)) - significand;
  if (dropped <= 0) return static_cast<double>(value);
  const std::uint64_t kept = value >> dropped;
  return std::ldexp(static_cast<double>(kept << dropped == value ? kept : kept | 1), dropped);
}

double to_odd(std::int64_t value) {
  const auto raw = static_cast<std::uint64_t>(value);
  return value < 0 ? -to_odd(-raw) : to_odd(raw);
}

// The machine rounds once to f32 and to f64.
double from_integer(ElementType type, std::int64_t value) {
  if (type == ElementType::f64) return static_cast<double>(value);
  if (type == ElementType::f32) return static_cast<double>(static_cast<float>(value));
  return decode(type, encode(type, to_odd(value)));
}

double from_integer(ElementType type, std::uint64_t value) {
  if (type == ElementType::f64) return static_cast<double>(value);
  if (type == ElementType::f32) return static_cast<double>(static_cast<float>(value));
  return decode(type, encode(type, to_odd(value)));
}

// To nearest even, saturating; a NaN is 0.
std::int64_t round_to_integer(ElementType type, double value) {
  if (std::isnan(value)) return 0;
  const Range bounds = range(type);
  const double rounded = std::nearbyint(value);
  // As doubles the bounds are exact, but for 2^63 - 1, which is 2^63.
  if (rounded <= static_cast<double>(bounds.lower)) return bounds.lower;
  if (rounded >= static_cast<double>(bounds.upper)) return bounds.upper;
  return static_cast<std::int64_t>(rounded);
}

std::int64_t saturate(ElementType type, std::int64_t value) {
  const Range bounds = range(type);
  return std::clamp(value, bounds.lower, bounds.upper);
}

}  // namespace lay
