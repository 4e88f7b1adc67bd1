// The law of frontend/algebra/memory/convert.h, at every bit pattern of the narrow types.
#include "frontend/algebra/memory/convert.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace lay;

struct Case {
  ElementType type;
  int width, exponent_bits;
  bool saturates;
};
const std::vector<Case> kTypes{{ElementType::f16, 16, 5, false},
                               {ElementType::bf16, 16, 8, false},
                               {ElementType::e4m3, 8, 4, true},
                               {ElementType::e5m2, 8, 5, true}};

// The value of the bits as IEEE 754 defines it. In e4m3 the largest exponent is one of numbers, and
// NaN has all bits set.
double by_definition(const Case& c, std::uint64_t bits) {
  const int m = c.width - 1 - c.exponent_bits, bias = (1 << (c.exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>(bits >> m & ((1u << c.exponent_bits) - 1));
  const auto significand = static_cast<double>(bits & ((1ull << m) - 1)) / std::exp2(m);
  const double sign = bits >> (c.width - 1) ? -1 : 1;
  if (exponent == (1 << c.exponent_bits) - 1) {
    if (c.type == ElementType::e4m3 ? (bits & 0x7f) == 0x7f : significand != 0)
      return std::numeric_limits<double>::quiet_NaN();
    if (c.type != ElementType::e4m3) return sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * significand * std::exp2(1 - bias);
  return sign * (1 + significand) * std::exp2(exponent - bias);
}

float to_f32(ElementType type, std::uint64_t bits) {
  switch (type) {
    case ElementType::f16:
      return f16_to_f32(static_cast<std::uint16_t>(bits));
    case ElementType::bf16:
      return bf16_to_f32(static_cast<std::uint16_t>(bits));
    case ElementType::e4m3:
      return e4m3_to_f32(static_cast<std::uint8_t>(bits));
    default:
      return e5m2_to_f32(static_cast<std::uint8_t>(bits));
  }
}

std::uint64_t from_f32(ElementType type, float value) {
  switch (type) {
    case ElementType::f16:
      return f32_to_f16(value);
    case ElementType::bf16:
      return f32_to_bf16(value);
    case ElementType::e4m3:
      return f32_to_e4m3(value);
    default:
      return f32_to_e5m2(value);
  }
}

}  // namespace

TEST_CASE("decoding is exact and encoding undoes it") {
  for (const Case& c : kTypes) {
    int finite = 0;
    for (std::uint64_t bits = 0; bits < (1ull << c.width); ++bits) {
      const double value = by_definition(c, bits), decoded = decode(c.type, bits);
      const float narrow = to_f32(c.type, bits);
      REQUIRE(std::isnan(decoded) == std::isnan(value));
      if (std::isnan(value)) {
        REQUIRE(std::isnan(narrow));
        continue;
      }
      REQUIRE(decoded == value);
      REQUIRE(std::signbit(decoded) == std::signbit(value));
      REQUIRE(static_cast<double>(narrow) == value);
      if (std::isinf(value) && c.saturates) continue;
      REQUIRE(encode(c.type, value) == bits);
      REQUIRE(from_f32(c.type, narrow) == bits);
      ++finite;
    }
    REQUIRE(finite > (1 << c.width) * 9 / 10);
  }
}

TEST_CASE("between two neighbours the nearer one is taken, and the even one in the middle") {
  for (const Case& c : kTypes) {
    for (std::uint64_t bits = 0; bits + 1 < (1ull << (c.width - 1)); ++bits) {
      const double lower = decode(c.type, bits), upper = decode(c.type, bits + 1);
      if (!std::isfinite(lower) || !std::isfinite(upper)) continue;
      const double middle = (lower + upper) / 2, step = (upper - lower) / 64;
      const std::uint64_t even = bits % 2 == 0 ? bits : bits + 1;
      REQUIRE(encode(c.type, middle) == even);
      REQUIRE(encode(c.type, middle - step) == bits);
      REQUIRE(encode(c.type, middle + step) == bits + 1);
      for (const double value : {middle, middle - step, middle + step, -middle}) {
        const auto narrow = static_cast<float>(value);
        if (static_cast<double>(narrow) != value) continue;
        REQUIRE(from_f32(c.type, narrow) == encode(c.type, value));
      }
    }
  }
}

TEST_CASE("beyond the largest number: infinity, or the largest number where the type saturates") {
  REQUIRE(f32_to_f16(65519.0f) == 0x7bff);
  REQUIRE(f32_to_f16(65520.0f) == 0x7c00);
  REQUIRE(std::isinf(bf16_to_f32(f32_to_bf16(std::numeric_limits<float>::max()))));
  REQUIRE(e4m3_to_f32(f32_to_e4m3(1e30f)) == 448.0f);
  REQUIRE(e4m3_to_f32(f32_to_e4m3(-std::numeric_limits<float>::infinity())) == -448.0f);
  REQUIRE(e5m2_to_f32(f32_to_e5m2(1e30f)) == 57344.0f);
  REQUIRE(std::isnan(e4m3_to_f32(f32_to_e4m3(std::nanf("")))));
  REQUIRE(std::isnan(f16_to_f32(f32_to_f16(std::nanf("")))));
}

TEST_CASE("tf32 keeps ten bits after the point") {
  REQUIRE(f32_to_tf32(1.0f + 0x1p-10f) == 1.0f + 0x1p-10f);
  REQUIRE(f32_to_tf32(1.0f + 0x1p-11f) == 1.0f);
  REQUIRE(f32_to_tf32(1.0f + 0x1.8p-10f) == 1.0f + 0x1p-9f);
  for (const float value : {3.14159f, -1e-30f, 1e20f, 1.5e-39f}) {
    REQUIRE(std::bit_cast<std::uint32_t>(f32_to_tf32(value)) ==
            static_cast<std::uint32_t>(encode(ElementType::tf32, static_cast<double>(value))));
  }
}

TEST_CASE("integers are rounded to nearest even and saturate") {
  REQUIRE(round_to_integer(ElementType::s8, 2.5) == 2);
  REQUIRE(round_to_integer(ElementType::s8, 3.5) == 4);
  REQUIRE(round_to_integer(ElementType::s8, -2.5) == -2);
  REQUIRE(round_to_integer(ElementType::s8, 1000.0) == 127);
  REQUIRE(round_to_integer(ElementType::s8, -1000.0) == -128);
  REQUIRE(round_to_integer(ElementType::u8, -1.0) == 0);
  REQUIRE(round_to_integer(ElementType::s64, 1e300) == std::numeric_limits<std::int64_t>::max());
  REQUIRE(round_to_integer(ElementType::s32, std::nan("")) == 0);
  REQUIRE(decode(ElementType::s8, encode(ElementType::s8, -7.0)) == -7.0);
  REQUIRE(saturate(ElementType::s8, 200) == 127);
}

TEST_CASE("integers of 64 bits are rounded once") {
  // Beside the middle of two neighbours of every type, above 2^53 too, where a double is rounded
  // itself.
  std::mt19937_64 random(3);
  std::vector<std::int64_t> numbers{
      0, 1, -1, INT64_MAX, INT64_MIN, INT64_MIN + 1, (std::int64_t{1} << 60) + (1ll << 36) + 1};
  for (int i = 0; i < 100000; ++i) {
    const int width = 1 + static_cast<int>(random() % 26),
              up = static_cast<int>(random() % (63 - width));
    const auto high = static_cast<std::int64_t>(random() % (std::uint64_t{1} << width)) << up;
    const std::int64_t low = static_cast<std::int64_t>(random() % 3) - 1;
    numbers.push_back(random() % 2 ? high + low : -high - low);
  }
  // |value - x|, exact: a long double has 64 bits, and all of these types fewer than 54.
  const auto distance = [](double value, std::int64_t x) {
    return std::fabs(static_cast<long double>(value) - static_cast<long double>(x));
  };
  STATIC_REQUIRE(std::numeric_limits<long double>::digits >= 64);
  for (const ElementType type : {ElementType::f32, ElementType::tf32, ElementType::bf16}) {
    const std::uint64_t step = type == ElementType::tf32 ? 1 << 13 : 1;
    for (const std::int64_t x : numbers) {
      INFO(element_name(type) << " of " << x);
      const std::uint64_t bits = encode(type, to_odd(x));
      const double found = decode(type, bits);
      REQUIRE(found == from_integer(type, x));
      if (x == 0) continue;
      for (const std::uint64_t other : {bits - step, bits + step}) {
        const long double here = distance(found, x), there = distance(decode(type, other), x);
        REQUIRE((here < there || (here == there && bits / step % 2 == 0)));
      }
    }
  }
  for (const std::int64_t x : numbers) {
    REQUIRE(from_integer(ElementType::f64, x) == static_cast<double>(x));
    REQUIRE(from_integer(ElementType::f32, x) == static_cast<double>(static_cast<float>(x)));
    if (x < 0) continue;
    const auto twice = 2 * static_cast<std::uint64_t>(x) + 1;
    REQUIRE(from_integer(ElementType::f32, twice) ==
            static_cast<double>(static_cast<float>(twice)));
    REQUIRE(from_integer(ElementType::bf16, static_cast<std::uint64_t>(x)) ==
            from_integer(ElementType::bf16, x));
  }
}
