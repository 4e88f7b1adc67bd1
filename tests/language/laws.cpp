// Laws of operations that the library or the evaluator makes, counted out: make_swizzle,
// domain_offset, iscan, escan.

#include <catch2/catch.hpp>

#include "tests/language/script.h"

using lay::sema::test::run;

namespace {

std::string text(const std::vector<int64_t>& numbers) {
  std::string all;
  for (const int64_t n : numbers) all += (all.empty() ? "(" : ",") + std::to_string(n);
  return all + (numbers.size() == 1 ? ",)" : ")");
}

}  // namespace

TEST_CASE("make_swizzle: the bits of one mask are XORed into those of the other, in order") {
  std::string script, expected;
  for (int count = 1; count <= 3; ++count) {
    for (int from = 0; from + count <= 7; ++from) {
      for (int to = 0; to + count <= 7; ++to) {
        if (std::abs(from - to) < count) continue;
        const int64_t ones = (1 << count) - 1;
        script += "print [make_swizzle(" + std::to_string(ones << from) + "," +
                  std::to_string(ones << to) + ")(x) for x in 0..128]\n";
        std::vector<int64_t> values;
        for (int64_t x = 0; x < 128; ++x) {
          int64_t moved = x;
          for (int k = 0; k < count; ++k) moved ^= (x >> (from + k) & 1) << (to + k);
          values.push_back(moved);
        }
        expected += text(values) + "\n";
      }
    }
  }
  CHECK(run(script) == expected);
}

TEST_CASE(
    "domain_offset: L(c + x) is what the layout gives at x and the offset together, swizzled or "
    "not") {
  struct Case {
    int64_t m, n, dm, dn;
  };
  for (const auto& [m, n, dm, dn] :
       {Case{3, 4, 5, 2}, Case{4, 8, 8, 1}, Case{2, 5, 0, -3}, Case{6, 2, 1, 7}}) {
    const std::string layout = "(" + std::to_string(m) + "," + std::to_string(n) + "):(" +
                               std::to_string(dm) + "," + std::to_string(dn) + ")";
    std::string script, expected;
    for (const std::string before : {"", "Sw<1,1,2> o 20 o "}) {
      script += "let L" + std::string(before.empty() ? "" : "s") + " = " + before + layout + "\n";
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const std::string name = before.empty() ? "L" : "Ls",
                            c = "(" + std::to_string(i) + "," + std::to_string(j) + ")";
          script += "print [domain_offset(" + c + ", " + name + ")[0](x, " +
                    std::to_string(n - 1 - j) + ") + domain_offset(" + c + ", " + name +
                    ")[1] for x in 0.." + std::to_string(m - i) + "]\n";
          std::vector<int64_t> values;
          for (int64_t x = i; x < m; ++x) {
            int64_t value = x * dm + (n - 1) * dn;
            if (!before.empty()) value += 20, value ^= (value & 8) >> 2;
            values.push_back(value);
          }
          expected += text(values) + "\n";
        }
      }
    }
    CHECK(run(script) == expected);
  }
}

TEST_CASE("iscan and escan: each prefix folded from the left, with and without its last element") {
  std::string script = "def step(a, b) = 3 * a - b\n", expected;
  for (int length = 1; length <= 6; ++length) {
    std::vector<int64_t> elements, with, without;
    int64_t running = 7;
    for (int64_t k = 0; k < length; ++k) {
      elements.push_back((k * 5 + length) % 9 - 2);
      without.push_back(running);
      running = 3 * running - elements.back();
      with.push_back(running);
    }
    script += "print iscan(" + text(elements) + ", 7, step)\nprint escan(" + text(elements) +
              ", 7, step)\n";
    expected += text(with) + "\n" + text(without) + "\n";
  }
  CHECK(run(script) == expected);
}
