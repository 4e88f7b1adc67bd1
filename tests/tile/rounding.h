// The agreement of two results of one kernel: integers exactly, floats as far as another order of
// sums may move them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "frontend/sema/values/array.h"

namespace lay::test {

// The distance of neighbouring numbers of the type at 1.
inline double unit_in_last_place(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return 0x1p-52;
    case ElementType::f16:
      return 0x1p-10;
    case ElementType::bf16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

// Returns where the arrays differ by more than the bound, or nothing. Inputs are of about 1, and a
// sum of `terms` of them in f32, or in f64 for outputs in f64, is off by `terms` roundings of the
// accumulator; then the output is rounded once.
inline std::string difference(const sema::Array& actual, const sema::Array& expected,
                              std::int64_t terms) {
  if (actual.element != expected.element || actual.shape != expected.shape)
    return "another type or shape";
  const bool real = is_float(expected.element);
  const double step = unit_in_last_place(expected.element);
  const double summed = expected.element == ElementType::f64 ? 0x1p-52 : 0x1p-23;
  double scale = 1;
  if (real)
    for (std::int64_t i = 0; i < expected.size(); ++i)
      if (std::isfinite(expected.real(i))) scale = std::max(scale, std::abs(expected.real(i)));
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const auto report = [&](const std::string& a, const std::string& b) {
      return "element " + std::to_string(i) + " is " + a + ", expected " + b;
    };
    if (!real) {
      if (actual.integer(i) != expected.integer(i))
        return report(std::to_string(actual.integer(i)), std::to_string(expected.integer(i)));
      continue;
    }
    const double a = actual.real(i), b = expected.real(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    const double bound = step * std::abs(b) + 4 * static_cast<double>(terms + 8) * summed * scale;
    if (!(std::abs(a - b) <= bound)) return report(std::to_string(a), std::to_string(b));
  }
  return "";
}

}  // namespace lay::test
