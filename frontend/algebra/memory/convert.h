#pragma once

// Numbers as the bits of a narrow floating-point type, and back: what a store, a cast and an array
// on disk do.
//
//     f32_to_f16(1.0f) == 0x3c00        e4m3_to_f32(f32_to_e4m3(1000.0f)) == 448
//
// Law: decoding is exact; encoding gives the nearest value, ties to the even significand, so that
// encode(decode(b)) == b for every b that is no NaN. Beyond the largest finite value f16, bf16 and
// tf32 give an infinity; e4m3 and e5m2 saturate, infinities included (PTX ISA, cvt.rn.satfinite). A
// NaN stays a NaN: the one with all significand bits set. tf32 is a 32-bit word whose low 13 bits
// are 0.

#include <cstdint>

#include "frontend/algebra/memory/element.h"

namespace lay {

float f16_to_f32(std::uint16_t bits);
float bf16_to_f32(std::uint16_t bits);
float e4m3_to_f32(std::uint8_t bits);
float e5m2_to_f32(std::uint8_t bits);

std::uint16_t f32_to_f16(float value);
std::uint16_t f32_to_bf16(float value);
std::uint8_t f32_to_e4m3(float value);
std::uint8_t f32_to_e5m2(float value);
float f32_to_tf32(float value);

// Any type of 8 to 64 bits, floating-point or integer (integers of up to 53 bits are exact).
double decode(ElementType type, std::uint64_t bits);
// In one rounding. Integers: to nearest even, saturating, NaN gives 0 (PTX ISA, cvt.rni).
std::uint64_t encode(ElementType type, double value);
// The integer as a double that every narrower type rounds as it would the integer: towards zero, to
// an odd significand where that is not exact.
double to_odd(std::int64_t value);
double to_odd(std::uint64_t value);
// The integer as a number of a floating-point type: the nearest one, ties to the even significand.
double from_integer(ElementType type, std::int64_t value);
double from_integer(ElementType type, std::uint64_t value);
// The integer that `encode` rounds to; `type` is an integer type.
std::int64_t round_to_integer(ElementType type, double value);
// The integer, or the nearest bound of the type.
std::int64_t saturate(ElementType type, std::int64_t value);

}  // namespace lay
