// Casts between all types, and integers of 64 bits: that there is a text, that CUDA takes it, and
// what it rounds to.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "backend/cuda/types.h"
#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "frontend/algebra/memory/convert.h"
#include "tests/emitted/emitted.h"

namespace {

using namespace lay;

std::string emitted(const std::string& script) {
  const auto kernels = test::kernels_in("casts.lay", script);
  REQUIRE(kernels.size() == 1);
  const plan::Plan plan = plan::make_plan(kernels.front());
  const cuda::Emitted made = test::emitted(ir::lower(plan, plan.variants.back()), "sm_90a");
  if (runtime::can_compile()) test::check_compiled(runtime::compile(made, *find_target("sm_90a")));
  return made.text;
}

// Computes f32_odd_from_f64 in C++.
float odd(double x) {
  const auto nearest = static_cast<float>(x);
  float y = nearest;
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(x)) y = std::nextafter(nearest, 0.0f);
  return static_cast<double>(y) == x ? y
                                     : std::bit_cast<float>(std::bit_cast<std::uint32_t>(y) | 1);
}

std::string definition(std::string_view name) {
  cuda::Helpers helpers;
  helpers.names.insert(name);
  return cuda::helper_definitions(helpers);
}

}  // namespace

TEST_CASE("every type of an array is cast to every other, and CUDA takes the text") {
  const std::string types[] = {"f64",  "f32", "tf32", "f16", "bf16", "e4m3",
                               "e5m2", "s8",  "u8",   "s32", "u32",  "s64"};
  const std::string inputs[] = {"f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2",
                                "s8",  "u8",  "s32",  "u32", "s64",  "s4",   "u4"};
  for (const std::string& from : inputs) {
    INFO(from);
    std::string outputs, body;
    for (const std::string& to : types) {
      outputs += (outputs.empty() ? "Y_" : ", Y_") + to + ": " + to + " N:1";
      body += "Y_" + to + "[n] = cast(X[n], " + to + ")\n";
    }
    // Integers of 4 bits are no outputs, and casts to them are.
    for (const std::string to : {"s4", "u4"}) {
      outputs += ", Y_" + to + ": s8 N:1";
      body += "Y_" + to + "[n] = cast(X[n], " + to + ")\n";
    }
    CHECK(!emitted("kernel casts<N>(X: " + from + " N:1) -> (" + outputs + ") {\n" + body + "}\n")
               .empty());
  }
}

TEST_CASE("f64 becomes narrower types in one rounding") {
  CHECK(definition("f32_odd_from_f64")
            .find("float y = __double2float_rz(x);\n  return (double)y == x ? y : "
                  "__uint_as_float(__float_as_uint(y) | 1);") != std::string::npos);
  std::mt19937_64 random(1);
  std::vector<double> numbers{0.0,
                              -0.0,
                              1e-300,
                              -1e-300,
                              1e300,
                              -1e300,
                              0x1p-133,
                              0x1p-134,
                              0x1.000001p-134,
                              std::numeric_limits<double>::infinity(),
                              0x1.ff8p127,
                              0x1.fefffffffp127,
                              464,
                              463.99999999};
  for (int i = 0; i < 200000; ++i) {
    // Beside and on the middle of two numbers of few bits, at any exponent.
    const double middle = static_cast<double>(random() % 4096) * 0x1p-9;
    const double beside = static_cast<double>(static_cast<int>(random() % 3) - 1) * 0x1p-48;
    numbers.push_back(std::ldexp((middle + beside) * (random() % 2 ? 1 : -1),
                                 static_cast<int>(random() % 320) - 170));
  }
  for (const double x : numbers) {
    for (const ElementType to :
         {ElementType::bf16, ElementType::e4m3, ElementType::e5m2, ElementType::tf32}) {
      INFO(x << " to " << element_name(to));
      REQUIRE(encode(to, static_cast<double>(odd(x))) == encode(to, x));
    }
  }
}

// The steps of `to_odd`, whose law tests/laws/convert_test.cpp holds.
TEST_CASE("integers of 64 bits become narrow floats in one rounding") {
  const auto rounds = [](std::string_view type, std::string_view from) {
    const std::string text = definition("f64_odd_from_" + std::string(from));
    return text.find("const double y = " + std::string(type)) != std::string::npos &&
           text.find(" == x ? y : __longlong_as_double(__double_as_longlong(y) | 1);") !=
               std::string::npos;
  };
  CHECK(rounds("__ll2double_rz(x)", "s64"));
  CHECK(rounds("__ull2double_rz(x)", "u64"));
  const std::string text = emitted(
      "kernel k<N>(X: s64 N:1) -> (Y: bf16 N:1, Z: f32 N:1, W: f64 N:1) {\n"
      " Y[n] = cast(X[n], bf16)\n Z[n] = cast(X[n], f32)\n W[n] = cast(X[n], f64)\n}\n");
  CHECK(text.find("bf16_from_f32(f32_odd_from_f64(f64_odd_from_s64(") != std::string::npos);
  CHECK(test::times(text, "f64_odd_from_s64(") == 2);  // the definition, one use
}

TEST_CASE("f32 becomes tf32 by its bits") {
  CHECK(definition("tf32_from_f32")
            .find("x == x ? (y + 0xfffu + (y >> 13 & 1)) & 0xffffe000u : 0x7fffe000u") !=
        std::string::npos);
}

TEST_CASE("a NaN becomes 0 in every integer type") {
  for (const char* name : {"s8_from_f64", "u8_from_f64", "s32_from_f64", "u32_from_f64",
                           "s64_from_f32", "u64_from_f32", "s64_from_f64", "u64_from_f64"}) {
    INFO(name);
    CHECK(test::times(definition(name), "x == x ? ") == 1);
  }
}

TEST_CASE("arithmetic of s64 has 64 bits where only constants stand in it") {
  const std::string text = emitted(
      "kernel k<N>(X: s64 N:1, Z: s32 N:1) -> (Y: s64 N:1, W: s64 N:1) {\n Y[n] = max(X[n], 5)\n"
      " W[n] = (if Z[n] > 0 then 100000 else 200000) * (if Z[n] > 1 then 100000 else 300000)\n}\n");
  CHECK(text.find(", 5LL)") != std::string::npos);
  CHECK(text.find("? 100000LL : 200000") != std::string::npos);
}
