#include "backend/cuda/helpers.h"

#include <algorithm>
#include <array>

#include "backend/cuda/types.h"

namespace lay::cuda {
namespace {

// In the order in which a text defines them.
constexpr std::array helper_rows = {
    Helper{"f32_from_f16",
           R"(static __device__ __forceinline__ float f32_from_f16(unsigned short x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
)"},
    Helper{"f16_from_f32",
           R"(static __device__ __forceinline__ unsigned short f16_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
)"},
    Helper{"f16_from_f64",
           R"(static __device__ __forceinline__ unsigned short f16_from_f64(double x) {
  unsigned short y;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y) : "d"(x));
  return y;
}
)"},
    Helper{"f32_from_bf16",
           R"(static __device__ __forceinline__ float f32_from_bf16(unsigned short x) {
  return __uint_as_float((unsigned)x << 16);
}
)"},
    Helper{"bf16_from_f32",
           R"(static __device__ __forceinline__ unsigned short bf16_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
)"},
    Helper{"f32_from_e4m3",
           R"(static __device__ __forceinline__ float f32_from_e4m3(unsigned char x) {
  float y;
  asm("{ .reg .b32 pair; .reg .b16 low, high; cvt.rn.f16x2.e4m3x2 pair, %1; "
      "mov.b32 {low, high}, pair; cvt.f32.f16 %0, low; }"
      : "=f"(y) : "h"((unsigned short)x));
  return y;
}
)",
           89},
    Helper{"e4m3_from_f32",
           R"(static __device__ __forceinline__ unsigned char e4m3_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(y) : "f"(0.0f), "f"(x));
  return (unsigned char)y;
}
)",
           89},
    Helper{"f32_from_e5m2",
           R"(static __device__ __forceinline__ float f32_from_e5m2(unsigned char x) {
  float y;
  asm("{ .reg .b32 pair; .reg .b16 low, high; cvt.rn.f16x2.e5m2x2 pair, %1; "
      "mov.b32 {low, high}, pair; cvt.f32.f16 %0, low; }"
      : "=f"(y) : "h"((unsigned short)x));
  return y;
}
)",
           89},
    Helper{"e5m2_from_f32",
           R"(static __device__ __forceinline__ unsigned char e5m2_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(y) : "f"(0.0f), "f"(x));
  return (unsigned char)y;
}
)",
           89},
    // An SM converts 16 bytes a clock by I2F. A byte placed behind the exponent of 2^23 is 2^23 +
    // x, and 2^23 goes by a subtraction, which is exact.
    Helper{"f32_from_s8", R"(static __device__ __forceinline__ float f32_from_s8(signed char x) {
  return __uint_as_float((unsigned char)x ^ 0x4b000080u) - 8388736.0f;
}
)"},
    Helper{"f32_from_u8", R"(static __device__ __forceinline__ float f32_from_u8(unsigned char x) {
  return __uint_as_float(x | 0x4b000000u) - 8388608.0f;
}
)"},
    Helper{"s4_at",
           R"(// Two to a byte, the one of even offset in the low bits.
static __device__ __forceinline__ signed char s4_at(const unsigned char* x, long long i) {
  return (signed char)((signed char)(x[i >> 1] << (i & 1 ? 0 : 4)) >> 4);
}
)"},
    Helper{"u4_at",
           R"(// Two to a byte, the one of even offset in the low bits.
static __device__ __forceinline__ unsigned char u4_at(const unsigned char* x, long long i) {
  return (unsigned char)(x[i >> 1] >> (i & 1 ? 4 : 0) & 15);
}
)"},
    Helper{"set_half_byte",
           R"(static __device__ __forceinline__ void set_half_byte(unsigned char* x, int i, int y) {
  const int up = i & 1 ? 4 : 0;
  x[i >> 1] = (unsigned char)((x[i >> 1] & 240 >> up) | (y & 15) << up);
}
)"},
    // Four at once, of bytes that lie side by side. A byte's 7 low bits behind the exponent of 2^7
    // are 128 + bits in bf16, and its sign bit there, the lowest of the exponent, makes -128 or
    // -256 of a negative one of it: their sum is the number, exactly. PTX has no sum of bf16 before
    // 9.0, but a product and a sum.
    Helper{"bf16x2_from_s8x2",
           R"(// Of the low byte of each half.
static __device__ __forceinline__ unsigned bf16x2_from_s8x2(unsigned x) {
  unsigned low, sign, y;  // (x & mask) | exponents, as one instruction
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(low) : "r"(x), "r"(0x007f007fu), "r"(0x43004300u));
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(sign) : "r"(x), "r"(0x00800080u), "r"(0xc300c300u));
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(low), "r"(0x3f803f80u), "r"(sign));
  return y;
}
)"},
    Helper{"bf16x4_from_s8x4",
           R"(static __device__ __forceinline__ uint2 bf16x4_from_s8x4(unsigned x) {
  return make_uint2(bf16x2_from_s8x2(__byte_perm(x, x, 0x1100)),
      bf16x2_from_s8x2(__byte_perm(x, x, 0x3322)));
}
)"},
    // As s8, whose sign bit is the other one, and 128 more.
    Helper{"bf16x2_from_u8x2",
           R"(// Of the low byte of each half.
static __device__ __forceinline__ unsigned bf16x2_from_u8x2(unsigned x) {
  unsigned low, top, y;  // (x & mask) | exponents and (~x & mask) | exponents
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(low) : "r"(x), "r"(0x007f007fu), "r"(0x43004300u));
  asm("lop3.b32 %0, %1, %2, %3, 0xae;" : "=r"(top) : "r"(x), "r"(0x00800080u), "r"(0xc300c300u));
  asm("{ .reg .b32 part; fma.rn.bf16x2 part, %1, %2, %3; fma.rn.bf16x2 %0, part, %2, %4; }"
      : "=r"(y) : "r"(low), "r"(0x3f803f80u), "r"(top), "r"(0x43004300u));
  return y;
}
)"},
    Helper{"bf16x4_from_u8x4",
           R"(static __device__ __forceinline__ uint2 bf16x4_from_u8x4(unsigned x) {
  return make_uint2(bf16x2_from_u8x2(__byte_perm(x, x, 0x1100)),
      bf16x2_from_u8x2(__byte_perm(x, x, 0x3322)));
}
)"},
    // A byte behind the exponent of 2^10 is 1024 + byte in f16.
    Helper{"f16x4_from_s8x4",
           R"(static __device__ __forceinline__ uint2 f16x4_from_s8x4(unsigned x) {
  const unsigned above = x ^ 0x80808080u;  // 128 more
  uint2 y;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(y.x) : "r"(__byte_perm(above, 0x64646464u, 0x4140)),
      "r"(0x64806480u));
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(y.y) : "r"(__byte_perm(above, 0x64646464u, 0x4342)),
      "r"(0x64806480u));
  return y;
}
)"},
    Helper{"f16x4_from_u8x4",
           R"(static __device__ __forceinline__ uint2 f16x4_from_u8x4(unsigned x) {
  uint2 y;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(y.x) : "r"(__byte_perm(x, 0x64646464u, 0x4140)),
      "r"(0x64006400u));
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(y.y) : "r"(__byte_perm(x, 0x64646464u, 0x4342)),
      "r"(0x64006400u));
  return y;
}
)"},
    // Four bits behind the exponent of 2^7, or of 2^10 in f16, are 128 or 1024 more than they are,
    // and those of an s4 with the sign turned over 8 more again: a sum takes that away, exactly.
    // Neighbours share a byte: its copies in both halves of a word, the upper one of the word that
    // is shifted by four, have them as their low bits.
    Helper{"bf16x2_from_s4x2",
           R"(// Of the low four bits of each half.
static __device__ __forceinline__ unsigned bf16x2_from_s4x2(unsigned x) {
  unsigned y;  // (x & 0x000f000f) ^ 0x43084308, as one instruction
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(y) : "r"(x), "r"(0x000f000fu), "r"(0x43084308u));
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(y), "r"(0x3f803f80u), "r"(0xc308c308u));
  return y;
}
)"},
    Helper{"bf16x4_from_s4x4",
           R"(static __device__ __forceinline__ uint2 bf16x4_from_s4x4(unsigned x) {
  const unsigned odd = x >> 4;
  return make_uint2(bf16x2_from_s4x2(__byte_perm(x, odd, 0x4400)),
      bf16x2_from_s4x2(__byte_perm(x, odd, 0x5511)));
}
)"},
    Helper{"bf16x8_from_s4x8",
           R"(static __device__ __forceinline__ uint4 bf16x8_from_s4x8(unsigned x) {
  const unsigned odd = x >> 4;
  return make_uint4(bf16x2_from_s4x2(__byte_perm(x, odd, 0x4400)),
      bf16x2_from_s4x2(__byte_perm(x, odd, 0x5511)),
      bf16x2_from_s4x2(__byte_perm(x, odd, 0x6622)),
      bf16x2_from_s4x2(__byte_perm(x, odd, 0x7733)));
}
)"},
    Helper{"bf16x2_from_u4x2",
           R"(// Of the low four bits of each half.
static __device__ __forceinline__ unsigned bf16x2_from_u4x2(unsigned x) {
  unsigned y;  // (x & 0x000f000f) ^ 0x43004300, as one instruction
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(y) : "r"(x), "r"(0x000f000fu), "r"(0x43004300u));
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(y), "r"(0x3f803f80u), "r"(0xc300c300u));
  return y;
}
)"},
    Helper{"bf16x4_from_u4x4",
           R"(static __device__ __forceinline__ uint2 bf16x4_from_u4x4(unsigned x) {
  const unsigned odd = x >> 4;
  return make_uint2(bf16x2_from_u4x2(__byte_perm(x, odd, 0x4400)),
      bf16x2_from_u4x2(__byte_perm(x, odd, 0x5511)));
}
)"},
    Helper{"bf16x8_from_u4x8",
           R"(static __device__ __forceinline__ uint4 bf16x8_from_u4x8(unsigned x) {
  const unsigned odd = x >> 4;
  return make_uint4(bf16x2_from_u4x2(__byte_perm(x, odd, 0x4400)),
      bf16x2_from_u4x2(__byte_perm(x, odd, 0x5511)),
      bf16x2_from_u4x2(__byte_perm(x, odd, 0x6622)),
      bf16x2_from_u4x2(__byte_perm(x, odd, 0x7733)));
}
)"},
    Helper{"f16x2_from_s4x2",
           R"(// Of the low four bits of each half.
static __device__ __forceinline__ unsigned f16x2_from_s4x2(unsigned x) {
  unsigned y;  // (x & 0x000f000f) ^ 0x64086408, as one instruction
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(y) : "r"(x), "r"(0x000f000fu), "r"(0x64086408u));
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(y) : "r"(y), "r"(0x64086408u));
  return y;
}
)"},
    Helper{"f16x4_from_s4x4",
           R"(static __device__ __forceinline__ uint2 f16x4_from_s4x4(unsigned x) {
  const unsigned odd = x >> 4;
  return make_uint2(f16x2_from_s4x2(__byte_perm(x, odd, 0x4400)),
      f16x2_from_s4x2(__byte_perm(x, odd, 0x5511)));
}
)"},
    Helper{"f16x8_from_s4x8",
           R"(static __device__ __forceinline__ uint4 f16x8_from_s4x8(unsigned x) {
  const unsigned odd = x >> 4;
  return make_uint4(f16x2_from_s4x2(__byte_perm(x, odd, 0x4400)),
      f16x2_from_s4x2(__byte_perm(x, odd, 0x5511)),
      f16x2_from_s4x2(__byte_perm(x, odd, 0x6622)),
      f16x2_from_s4x2(__byte_perm(x, odd, 0x7733)));
}
)"},
    Helper{"f16x2_from_u4x2",
           R"(// Of the low four bits of each half.
static __device__ __forceinline__ unsigned f16x2_from_u4x2(unsigned x) {
  unsigned y;  // (x & 0x000f000f) ^ 0x64006400, as one instruction
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(y) : "r"(x), "r"(0x000f000fu), "r"(0x64006400u));
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(y) : "r"(y), "r"(0x64006400u));
  return y;
}
)"},
    Helper{"f16x4_from_u4x4",
           R"(static __device__ __forceinline__ uint2 f16x4_from_u4x4(unsigned x) {
  const unsigned odd = x >> 4;
  return make_uint2(f16x2_from_u4x2(__byte_perm(x, odd, 0x4400)),
      f16x2_from_u4x2(__byte_perm(x, odd, 0x5511)));
}
)"},
    Helper{"f16x8_from_u4x8",
           R"(static __device__ __forceinline__ uint4 f16x8_from_u4x8(unsigned x) {
  const unsigned odd = x >> 4;
  return make_uint4(f16x2_from_u4x2(__byte_perm(x, odd, 0x4400)),
      f16x2_from_u4x2(__byte_perm(x, odd, 0x5511)),
      f16x2_from_u4x2(__byte_perm(x, odd, 0x6622)),
      f16x2_from_u4x2(__byte_perm(x, odd, 0x7733)));
}
)"},
    Helper{"s8_from_f32", R"(static __device__ __forceinline__ signed char s8_from_f32(float x) {
  int y;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(y) : "f"(x));
  return (signed char)y;
}
)"},
    Helper{"u8_from_f32", R"(static __device__ __forceinline__ unsigned char u8_from_f32(float x) {
  unsigned y;
  asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(y) : "f"(x));
  return (unsigned char)y;
}
)"},
    Helper{"tf32_from_f32", R"(// To nearest even.
static __device__ __forceinline__ float tf32_from_f32(float x) {
  unsigned y = __float_as_uint(x);
  return __uint_as_float(x == x ? (y + 0xfffu + (y >> 13 & 1)) & 0xffffe000u : 0x7fffe000u);
}
)"},
    Helper{"f64_odd_from_s64",
           R"(// Towards zero, to an odd significand where that is not exact: rounding the result on
// is rounding x.
static __device__ __forceinline__ double f64_odd_from_s64(long long x) {
  const double y = __ll2double_rz(x);
  return (long long)y == x ? y : __longlong_as_double(__double_as_longlong(y) | 1);
}
)"},
    Helper{"f64_odd_from_u64",
           R"(// Towards zero, to an odd significand where that is not exact: rounding the result on
// is rounding x.
static __device__ __forceinline__ double f64_odd_from_u64(unsigned long long x) {
  const double y = __ull2double_rz(x);
  return (unsigned long long)y == x ? y : __longlong_as_double(__double_as_longlong(y) | 1);
}
)"},
    // 24 bits are more than twice a narrow type's, so that its rounding sees of what was cut off
    // all it needs.
    Helper{"f32_odd_from_f64",
           R"(// Towards zero, to an odd significand where that is not exact: rounding the result on
// is rounding x.
static __device__ __forceinline__ float f32_odd_from_f64(double x) {
  float y = __double2float_rz(x);
  return (double)y == x ? y : __uint_as_float(__float_as_uint(y) | 1);
}
)"},
    // The instructions make 0 of a NaN only where the source is no f64 and the destination has no
    // 64 bits.
    Helper{"s8_from_f64", R"(static __device__ __forceinline__ signed char s8_from_f64(double x) {
  return (signed char)(x == x ? max(min(__double2int_rn(x), 127), -128) : 0);
}
)"},
    Helper{"u8_from_f64", R"(static __device__ __forceinline__ unsigned char u8_from_f64(double x) {
  return (unsigned char)(x == x ? max(min(__double2int_rn(x), 255), 0) : 0);
}
)"},
    Helper{"s32_from_f64", R"(static __device__ __forceinline__ int s32_from_f64(double x) {
  return x == x ? __double2int_rn(x) : 0;
}
)"},
    Helper{"u32_from_f64", R"(static __device__ __forceinline__ unsigned u32_from_f64(double x) {
  return x == x ? __double2uint_rn(x) : 0;
}
)"},
    Helper{"s64_from_f32", R"(static __device__ __forceinline__ long long s64_from_f32(float x) {
  return x == x ? __float2ll_rn(x) : 0;
}
)"},
    Helper{"u64_from_f32",
           R"(static __device__ __forceinline__ unsigned long long u64_from_f32(float x) {
  return x == x ? __float2ull_rn(x) : 0;
}
)"},
    Helper{"s64_from_f64", R"(static __device__ __forceinline__ long long s64_from_f64(double x) {
  return x == x ? __double2ll_rn(x) : 0;
}
)"},
    Helper{"u64_from_f64",
           R"(static __device__ __forceinline__ unsigned long long u64_from_f64(double x) {
  return x == x ? __double2ull_rn(x) : 0;
}
)"},
    Helper{"exp_fma_f32", R"(// exp(a * b + c), within (2 + 1.5 (|a * b| + |c|)) * 2^-24 of itself.
static __device__ __forceinline__ float exp_fma_f32(float a, float b, float c) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(fmaf(a, 1.44269504f * b, 1.44269504f * c)));
  return y;
}
)"},
    Helper{"exp_fma_f64",
           R"(static __device__ __forceinline__ double exp_fma_f64(double a, double b, double c) {
  return exp(fma(a, b, c));
}
)"},
    Helper{"sigmoid_f32", R"(// 1 / (1 + exp(-x)), within (7 + 1.3 |x|) * 2^-24 of itself.
static __device__ __forceinline__ float sigmoid_f32(float x) {
  float e, y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(-1.44269504f * x));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(1.0f + e));
  return y;
}
)"},
    Helper{"sigmoid_f64", R"(static __device__ __forceinline__ double sigmoid_f64(double x) {
  return 1.0 / (1.0 + exp(-x));
}
)"},
    Helper{"min_nan_f32", R"(static __device__ __forceinline__ float min_nan_f32(float x, float y) {
  float z;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
)"},
    Helper{"max_nan_f32", R"(static __device__ __forceinline__ float max_nan_f32(float x, float y) {
  float z;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
)"},
    Helper{"min_nan_f64",
           R"(static __device__ __forceinline__ double min_nan_f64(double x, double y) {
  return x != x || y != y ? x + y : fmin(x, y);
}
)"},
    Helper{"max_nan_f64",
           R"(static __device__ __forceinline__ double max_nan_f64(double x, double y) {
  return x != x || y != y ? x + y : fmax(x, y);
}
)"},
    // The tail left of -|x| is 2 to the power of a polynomial of degree 8 in |x|, whose weighted
    // error in [0, 5.8] is the least; further left both are below 2^-26.
    Helper{"normcdf_f32", R"(// The normal distribution up to x, within 2^-22.
static __device__ __forceinline__ float normcdf_f32(float x) {
  float t = fabsf(x), e, tail;
  e = fmaf(-2.83489525e-6f, t, 3.93773640e-5f);
  e = fmaf(e, t, -1.86178257e-4f);
  e = fmaf(e, t, -1.36941912e-4f);
  e = fmaf(e, t, 7.06342799e-3f);
  e = fmaf(e, t, -5.24961840e-2f);
  e = fmaf(e, t, -4.59208195e-1f);
  e = fmaf(e, t, -1.15110521f);
  e = fmaf(e, t, -1.0f);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(tail) : "f"(e));
  return x < 0.0f ? tail : 1.0f - tail;
}
)"},
    Helper{"floor_div", R"(// Rounds towards minus infinity; b > 0.
static __device__ __forceinline__ long long floor_div(long long a, long long b) {
  return a / b - (a % b < 0);
}
)"},
};

}  // namespace

const Helper* most_demanding(const Helpers& helpers) {
  const Helper* most = nullptr;
  for (const std::span<const Helper> rows :
       {std::span<const Helper>(helper_rows), machine_helpers()})
    for (const Helper& row : rows)
      if (helpers.names.contains(row.name) && (!most || row.capability > most->capability))
        most = &row;
  return most;
}

std::string helper_definitions(const Helpers& helpers) {
  std::string text;
  const auto used = [&](std::span<const Helper> rows) {
    for (const Helper& row : rows)
      if (helpers.names.contains(row.name)) text += std::string(row.definition) + "\n";
  };
  used(helper_rows);
  for (const auto& [bytes, definition] : helpers.copies) text += definition + "\n";
  used(machine_helpers());
  for (const auto& [name, definition] : helpers.atoms) text += definition + "\n";
  const auto define = [&](const std::string& name, const Swizzle& swizzle,
                          const std::string& type) {
    const bool down = swizzle.s >= 0;
    text += "// " + swizzle.to_string() + "\n";
    text += "static __device__ __forceinline__ " + type + " " + name + "(" + type + " x) {\n";
    text += "  return x ^ ((x " + std::string(down ? ">> " : "<< ") +
            std::to_string(down ? swizzle.s : -swizzle.s) + ") & " +
            std::to_string(swizzle.target_mask()) + ");\n}\n\n";
  };
  for (const auto& [name, swizzle] : helpers.swizzles) define(name, swizzle, "int");
  for (const auto& [name, swizzle] : helpers.wide_swizzles) define(name, swizzle, "long long");
  return text;
}

}  // namespace lay::cuda
