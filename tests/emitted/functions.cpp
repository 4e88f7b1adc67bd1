// The functions that emitted text defines itself: their own arithmetic, read from the text, against
// the exact values. The error that the approximate instructions add to it is documented (PTX ISA):
// ex2 is within 2^-22 of its value, rcp 2^-23.
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <regex>

#include "backend/cuda/types.h"

namespace {

using namespace lay;

constexpr double of_ex2 = 0x1p-22, of_rcp = 0x1p-23, u = 0x1p-24;

std::string definition(std::string_view name) {
  cuda::Helpers helpers;
  helpers.names.insert(name);
  return cuda::helper_definitions(helpers);
}

// The numbers that the expression finds, one a match.
std::vector<float> numbers(const std::string& text, const std::string& expression) {
  std::vector<float> found;
  const std::regex pattern(expression);
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    found.push_back(std::stof((*at)[1].str()));
  return found;
}

}  // namespace

TEST_CASE("the normal distribution's polynomial is within its bound") {
  const std::string text = definition("normcdf_f32");
  const auto first = numbers(text, "fmaf\\((-?[0-9.e-]+)f, t, "),
             others = numbers(text, ", t, (-?[0-9.e-]+)f\\)");
  REQUIRE(first.size() == 1);
  REQUIRE(others.size() == 8);
  for (float x = -40; x < 40; x += 0x1p-12f) {
    const float t = std::fabs(x);
    float e = first[0];
    for (const float each : others) e = std::fma(e, t, each);
    const double tail = std::exp2(static_cast<double>(e)),
                 exact = 0.5 * std::erfc(-x / std::numbers::sqrt2);
    const double error =
        std::abs((x < 0 ? tail : 1 - tail) - exact) + tail * of_ex2 + exact * u / 2;
    INFO(x);
    REQUIRE(error <= 0x1p-22);
  }
}

TEST_CASE("the sigmoid is within its bound") {
  const auto factor = numbers(definition("sigmoid_f32"), "(-1[0-9.e-]+)f \\* x");
  REQUIRE(factor.size() == 1);
  for (float x = -87; x < 87; x += 0x1p-12f) {
    const double e = std::exp2(static_cast<double>(factor[0] * x)),
                 exact = 1 / (1 + std::exp(-static_cast<double>(x)));
    const double added = std::abs(1 / (1 + e) - exact) / exact;
    INFO(x);
    REQUIRE(added + of_ex2 * e / (1 + e) + u + of_rcp <=
            (7 + 1.3 * std::abs(static_cast<double>(x))) * u);
  }
}
