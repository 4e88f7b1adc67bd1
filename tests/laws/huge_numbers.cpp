// Operations on huge literal numbers: a refusal, with its witness and its repairs, takes no longer
// than the check. Each call has the same bound, whatever the sizes.

#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <functional>
#include <string>

#include "frontend/algebra/claims/propositions.h"
#include "frontend/algebra/layouts/operations.h"
#include "tests/command/process.h"
#include "tests/laws/random_layouts.h"
#include "tests/machine_speed.h"

using namespace lay;

namespace {

// Time of this thread, so that other work on the machine does not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// 0.2 s, with room for slow machines and for builds without optimization or with sanitizers. Work
// that grows with sizes takes hours.
double most_seconds() {
  static const double most = std::max(2.0, 0.2 * test::patience) * test::slowness();
  return most;
}

int64_t huge(laws::Random& random) {
  constexpr int64_t kNumbers[] = {10000019,
                                  4294967311,
                                  999999999989,
                                  1000000000039,
                                  1000000000000000003,
                                  9223372036854775783,
                                  int64_t{1} << 40,
                                  int64_t{1} << 62,
                                  614889782588491410,
                                  720720};
  return kNumbers[random.in(0, static_cast<int64_t>(std::size(kNumbers)) - 1)];
}

int64_t number(laws::Random& random) {
  return random.once_in(2) ? huge(random) : random.in(1, 1024);
}

// One mode, a few, many, or a deep nest of them.
Layout huge_layout(laws::Random& random) {
  if (random.once_in(8)) {
    Tuple shape = random.in(1, 9), stride = number(random);
    for (int depth = 0; depth < 20; ++depth) {
      shape = tuple(shape, random.in(1, 2));
      stride = tuple(stride, number(random));
    }
    return Layout(shape, stride);
  }
  const int64_t rank = random.once_in(8) ? random.in(40, 400) : random.in(1, 4);
  std::vector<Tuple> shape, stride;
  const int64_t large = random.in(0, rank - 1);
  for (int64_t k = 0; k < rank; ++k) {
    shape.emplace_back(rank > 4 ? random.in(1, 2) : k == large ? number(random) : random.in(1, 99));
    stride.emplace_back(random.once_in(8) ? -number(random) : number(random));
  }
  return Layout(Tuple(std::move(shape)), Tuple(std::move(stride)));
}

}  // namespace

TEST_CASE("huge numbers: no operation takes longer, and no refusal longer than the check") {
  struct Operation {
    const char* name;
    std::function<void(Facts&, const Layout&, const Layout&, int64_t)> run;
  };
  const Operation operations[] = {
      {"composition", [](Facts& f, auto& a, auto& b, int64_t) { composition(f, a, b); }},
      {"complement", [](Facts& f, auto& a, auto&, int64_t n) { complement(f, a, n); }},
      {"left_inverse", [](Facts& f, auto& a, auto&, int64_t) { left_inverse(f, a); }},
      {"right_inverse", [](Facts& f, auto& a, auto&, int64_t) { right_inverse(f, a); }},
      {"logical_divide", [](Facts& f, auto& a, auto& b, int64_t) { logical_divide(f, a, b); }},
      {"divide by n", [](Facts& f, auto& a, auto&, int64_t n) { logical_divide(f, a, Int(n)); }},
      {"logical_product", [](Facts& f, auto& a, auto& b, int64_t) { logical_product(f, a, b); }},
      {"tile_to_shape", [](Facts& f, auto& a, auto& b, int64_t) { tile_to_shape(f, a, b.shape); }},
      {"upcast", [](Facts& f, auto& a, auto&, int64_t n) { upcast(f, a, n); }},
      {"downcast", [](Facts& f, auto& a, auto&, int64_t n) { downcast(f, a, n); }},
      {"max_common_layout",
       [](Facts& f, auto& a, auto& b, int64_t) { max_common_layout(f, a, b); }},
      {"with_shape", [](Facts& f, auto& a, auto&, int64_t n) { with_shape(f, a, n); }},
      {"domain_distribute",
       [](Facts& f, auto& a, auto&, int64_t n) { domain_distribute(f, a.shape, n); }},
      {"injective", [](Facts& f, auto& a, auto&, int64_t) { injective(f, a); }},
      {"inside", [](Facts& f, auto& a, auto&, int64_t n) { inside(f, AnyLayout(a), n); }},
      {"surjective", [](Facts& f, auto& a, auto&, int64_t n) { surjective(f, a, n); }},
      {"covers", [](Facts& f, auto& a, auto&, int64_t n) { covers(f, a, n); }},
      {"disjoint", [](Facts& f, auto& a, auto& b, int64_t n) { disjoint(f, a, b, n); }},
      {"aligned", [](Facts& f, auto& a, auto&, int64_t n) { aligned(f, a, n); }},
      {"same_function", [](Facts& f, auto& a, auto& b, int64_t) { same_function(f, a, b); }},
  };
  laws::Random random{2024};
  for (int round = 0; round < 60; ++round) {
    for (const Operation& operation : operations) {
      Facts facts;
      std::string text = operation.name;
      const double before = cpu_seconds();
      try {
        const Layout a = huge_layout(random), b = huge_layout(random);
        const int64_t n = number(random);
        text += " of " + a.to_string() + ", " + b.to_string() + ", " + std::to_string(n);
        operation.run(facts, a, b, n);
      } catch (const Refusal&) {
      }
      INFO(text);
      CHECK(cpu_seconds() - before < most_seconds());
    }
  }
}

TEST_CASE("huge numbers: layouts whose refusal took longer than the check") {
  const Layout spread_rows[] = {
      Layout(tuple(5, 1024), tuple(-4, 1000000000039)),
      Layout(tuple(1000, 1023), tuple(5, 2147483648)),
      Layout(tuple(1023, 6), tuple(-1000000000039, 1000000007)),
  };
  for (const Layout& a : spread_rows) {
    Facts facts;
    const double before = cpu_seconds();
    CHECK_THROWS_AS(left_inverse(facts, a), Refusal);
    INFO("left_inverse of " << a.to_string());
    CHECK(cpu_seconds() - before < most_seconds());
  }
  Facts facts;
  const Layout crowded(tuple(4, 4096, 4, 2, 5), tuple(-1048583, 6469693230, 2, 6, 8));
  const double before = cpu_seconds();
  CHECK_THROWS_AS(complement(facts, crowded), Refusal);
  CHECK(cpu_seconds() - before < most_seconds());
}
