// A product in bf16 that kernels of the IR are run on, and mistakes that are planted in their text.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/interpret/interpret.h"
#include "frontend/algebra/memory/convert.h"

namespace lay::test {

// C = A B' of small integers in bf16, and what a triple loop says.
struct Product {
  std::int64_t m, n, k;
  std::vector<std::uint16_t> a, b, c;

  Product(std::int64_t rows, std::int64_t columns, std::int64_t depth)
      : m(rows), n(columns), k(depth), a(m * k), b(n * k), c(m * n, 0x7fc0) {
    std::uint32_t state = 12345;
    const auto next = [&] {
      return f32_to_bf16(
          static_cast<float>(static_cast<int>((state = state * 1664525 + 1013904223) >> 29) - 3));
    };
    for (auto& x : a) x = next();
    for (auto& x : b) x = next();
  }
  interpret::Report run(const ir::Kernel& kernel, interpret::Options options = {}) {
    const auto memory = [](std::vector<std::uint16_t>& v, bool constant) {
      return interpret::Memory{v.data(), static_cast<std::int64_t>(v.size() * 2), constant};
    };
    options.write_once = true;
    return interpret::run(kernel, {m, n, k, memory(a, true), memory(b, true), memory(c, false)},
                          options);
  }
  std::int64_t wrong() const {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += bf16_to_f32(a[i * k + l]) * bf16_to_f32(b[j * k + l]);
        count += c[i * n + j] != f32_to_bf16(sum);
      }
    }
    return count;
  }
};

// A mistake in the kernel: one text in place of another, the first time it stands there or every
// time.
struct Mistake {
  std::string what, from, to;
  interpret::FaultCode code;
  bool everywhere = false;
};

inline std::string with(std::string text, const Mistake& mistake) {
  size_t at = text.find(mistake.from);
  REQUIRE(at != std::string::npos);
  do {
    text.replace(at, mistake.from.size(), mistake.to);
    at = text.find(mistake.from, at + mistake.to.size());
  } while (mistake.everywhere && at != std::string::npos);
  return text;
}

inline void check_right(const interpret::Report& report, const Product& product) {
  if (report.fault) FAIL(report.fault->message);
  CHECK(product.wrong() == 0);
}

// The run ended in the fault that is expected.
inline void check_fault(const interpret::Report& report, interpret::FaultCode code) {
  if (!report.fault) FAIL("no fault");
  INFO(report.fault->message);
  CHECK(std::string(fault_name(report.fault->code)) == std::string(fault_name(code)));
}

// The run of the kernel with the mistake ended in the fault that is expected.
inline void check_found(const Mistake& mistake, const interpret::Report& report,
                        const Product& product) {
  if (!report.fault) FAIL("no fault, " << product.wrong() << " wrong elements");
  check_fault(report, mistake.code);
}

}  // namespace lay::test
