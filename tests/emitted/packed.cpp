// Conversions of several numbers at once: where they stand, and that they are exact.
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>

#include "backend/cuda/types.h"
#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "tests/emitted/emitted.h"

namespace {

using namespace lay;

// A product of X and W, whose elements have these types, for a few rows.
std::string product(const std::string& x, const std::string& w, const std::string& factor) {
  const auto kernels = test::kernels_in(
      "packed.lay", "kernel product<M, N, K>(X: " + x + " (M,K), W: " + w +
                        " (N,K)) -> Y: f32 (M,N)\n{ Y[m,n] = sum[k](X[m,k] * " + factor + ") }\n");
  const plan::Plan plan = plan::make_plan(kernels.front(), *find_target("h100"));
  for (const plan::Variant& variant : plan.variants)
    if (variant.name == "sm80_few_rows_8") {
      const cuda::Emitted made = test::emitted(ir::lower(plan, variant), "sm_90a");
      if (runtime::can_compile())
        test::check_compiled(runtime::compile(made, *find_target("sm_90a")));
      return made.text;
    }
  FAIL("no variant for a few rows");
  return "";
}

std::string definition(std::string_view name) {
  cuda::Helpers helpers;
  helpers.names.insert(name);
  return cuda::helper_definitions(helpers);
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// prmt: the four bytes that the selector names, of those of a and then those of b.
std::uint32_t byte_perm(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t all = std::uint64_t{b} << 32 | a;
  std::uint32_t made = 0;
  for (int i = 0; i < 4; ++i)
    made |= static_cast<std::uint32_t>(all >> (8 * (selector >> (4 * i) & 7)) & 255) << (8 * i);
  return made;
}

// lop3: bit 4 a + 2 b + c of the table, at each place.
std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t made = 0;
  for (int i = 0; i < 32; ++i)
    made |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
  return made;
}

std::array<float, 2> of_bf16(std::uint32_t pair) {
  return {std::bit_cast<float>(pair << 16), std::bit_cast<float>(pair & 0xffff0000u)};
}

// Of f16 that are normal and positive, as here.
std::array<float, 2> of_f16(std::uint32_t pair) {
  const auto one = [](std::uint32_t bits) {
    return std::bit_cast<float>(((bits >> 10) + 112) << 23 | (bits & 1023) << 13);
  };
  return {one(pair & 0xffff), one(pair >> 16)};
}

}  // namespace

TEST_CASE("neighbours in registers are converted four at a time, exactly, and no others") {
  const std::string bf16 = product("bf16", "s8", "W[n,k]");
  CHECK(says(bf16, " = bf16x4_from_s8x4(*(const unsigned*)&a_own_["));
  CHECK(!says(bf16, "f32_from_s8("));
  CHECK(says(product("bf16", "u8", "W[n,k]"), " = bf16x4_from_u8x4("));
  CHECK(says(product("f16", "s8", "W[n,k]"), " = f16x4_from_s8x4("));
  CHECK(says(product("f16", "u8", "W[n,k]"), " = f16x4_from_u8x4("));
  // Casts in between that hold every byte change nothing.
  CHECK(says(product("bf16", "s8", "cast(cast(W[n,k], f32), bf16)"), " = bf16x4_from_s8x4("));
  // No function is known for these.
  CHECK(!says(product("bf16", "e4m3", "W[n,k]"), "x4_from_"));
}

TEST_CASE("each byte becomes its number") {
  for (const char* name : {"bf16x2_from_s8x2", "bf16x2_from_u8x2"})
    for (const char* part :
         {"0xea;\" : \"=r\"(low) : \"r\"(x), \"r\"(0x007f007fu), \"r\"(0x43004300u)",
          "\"r\"(0x00800080u), \"r\"(0xc300c300u)", "\"r\"(0x3f803f80u)"})
      CHECK(says(definition(name), part));
  CHECK(says(definition("bf16x2_from_s8x2"), "0xea;\" : \"=r\"(sign)"));
  CHECK(says(definition("bf16x2_from_u8x2"), "0xae;\" : \"=r\"(top)"));
  CHECK(says(definition("bf16x2_from_u8x2"), "\"r\"(0x43004300u));"));
  for (const char* name : {"bf16x4_from_s8x4", "bf16x4_from_u8x4"})
    for (const char* part : {"__byte_perm(x, x, 0x1100)", "__byte_perm(x, x, 0x3322)"})
      CHECK(says(definition(name), part));
  CHECK(says(definition("f16x4_from_s8x4"), "\"r\"(0x64806480u)"));
  CHECK(says(definition("f16x4_from_u8x4"), "\"r\"(0x64006400u)"));
  for (std::uint32_t first = 0; first < 256; ++first) {
    const std::uint32_t x =
        first | (first + 101) % 256 << 8 | (first + 7) % 256 << 16 | (first ^ 0x80) << 24;
    for (const bool is_signed : {true, false}) {
      const std::uint32_t above = is_signed ? x ^ 0x80808080u : x;
      for (std::uint32_t half = 0; half < 2; ++half) {
        const std::uint32_t bytes = byte_perm(x, x, half == 0 ? 0x1100 : 0x3322);
        const auto positive = of_bf16(lop3(bytes, 0x007f007fu, 0x43004300u, 0xea)),
                   negative =
                       of_bf16(lop3(bytes, 0x00800080u, 0xc300c300u, is_signed ? 0xea : 0xae)),
                   raised = of_f16(byte_perm(above, 0x64646464u, half == 0 ? 0x4140 : 0x4342));
        for (std::uint32_t i = 0; i < 2; ++i) {
          const std::uint32_t byte = x >> (16 * half + 8 * i) & 255;
          const float number =
              is_signed ? static_cast<std::int8_t>(byte) : static_cast<float>(byte);
          // Of 8 bits: what bf16 holds, and each sum on the way as well.
          const float sum = positive[i] + negative[i];
          REQUIRE(std::abs(sum) <= 256);
          REQUIRE((is_signed ? sum : sum + 128) == number);
          REQUIRE(raised[i] - (is_signed ? 1152 : 1024) == number);
        }
      }
    }
  }
}

TEST_CASE("eight integers of 4 bits in registers are converted at once, exactly") {
  const std::string bf16 = product("bf16", "s4", "W[n,k]");
  CHECK(says(bf16, " = bf16x8_from_s4x8(*(const unsigned*)&a_own_["));
  CHECK(!says(bf16, "s4_at("));
  CHECK(says(bf16, "const unsigned char* W_"));
  CHECK(says(product("bf16", "u4", "W[n,k]"), " = bf16x8_from_u4x8("));
  CHECK(says(product("f16", "s4", "W[n,k]"), " = f16x8_from_s4x8("));
  CHECK(says(product("f16", "u4", "cast(W[n,k], f16)"), " = f16x8_from_u4x8("));
}

TEST_CASE("each half of a byte becomes its number") {
  struct Row {
    std::string to, from;
    std::uint32_t behind;  // an exponent
    float less;            // of its number and of an s4's turned sign
  };
  for (const Row& row : {Row{"bf16", "s4", 0x43084308u, 136},
                         {"bf16", "u4", 0x43004300u, 128},
                         {"f16", "s4", 0x64086408u, 1032},
                         {"f16", "u4", 0x64006400u, 1024}}) {
    const std::string text = definition(row.to + "x2_from_" + row.from + "x2");
    char number[64];
    std::snprintf(number, sizeof number,
                  "0x6a;\" : \"=r\"(y) : \"r\"(x), \"r\"(0x000f000fu), "
                  "\"r\"(0x%08xu)",
                  row.behind);
    CHECK(says(text, number));
    for (const char* part : {"x >> 4", "(x, odd, 0x4400)", "(x, odd, 0x5511)"})
      CHECK(says(definition(row.to + "x4_from_" + row.from + "x4"), part));
    for (const char* part :
         {"x >> 4", "(x, odd, 0x4400)", "(x, odd, 0x5511)", "(x, odd, 0x6622)", "(x, odd, 0x7733)"})
      CHECK(says(definition(row.to + "x8_from_" + row.from + "x8"), part));
    const auto numbers = [&](std::uint32_t pair) {
      return row.to == "bf16" ? of_bf16(pair) : of_f16(pair);
    };
    // What is taken away: the number behind the exponent, in bf16 as a sum.
    const std::uint32_t taken = row.to == "bf16" ? row.behind ^ 0x80008000u : row.behind;
    std::snprintf(number, sizeof number, "\"r\"(0x%08xu)", taken);
    CHECK(says(text, number));
    CHECK(numbers(row.behind)[0] == row.less);
    for (std::uint32_t low = 0; low < 1 << 16; ++low) {
      // The upper half has other numbers than the lower one.
      const std::uint32_t x = low | (~low & 0xffffu) << 16, odd = x >> 4;
      for (std::uint32_t pair = 0; pair < 4; ++pair) {
        const auto made =
            numbers(lop3(byte_perm(x, odd, 0x4400 + 0x1111 * pair), 0x000f000fu, row.behind, 0x6a));
        for (std::uint32_t i = 0; i < 2; ++i) {
          const auto bits = static_cast<int>(x >> (8 * pair + 4 * i) & 15);
          const int expected = row.from == "s4" && bits > 7 ? bits - 16 : bits;
          REQUIRE(made[i] - row.less == static_cast<float>(expected));
        }
      }
    }
  }
}
