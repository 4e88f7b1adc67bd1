// The numbers of field mode: the laws that number.h states, on random numbers, and integers beside
// their own arithmetic.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "frontend/algebra/field/number.h"
#include "frontend/algebra/field/residues.h"

namespace {

using namespace lay;
using namespace lay::field;
using F = ElementFunction;

constexpr std::int64_t all = std::int64_t{p} * q * r;

const Number one = embed(std::int64_t{1}), infinite = embed(INFINITY), nan_number = embed(NAN);

Number of(F function, Number a) {
  return apply(function, a);
}

// Numbers with random residues, integers, and doubles.
std::vector<Number> numbers(std::uint32_t seed, int count) {
  std::mt19937_64 random(seed);
  std::vector<Number> made;
  for (int i = 0; i < count; ++i) {
    if (i % 3 == 0) made.push_back(embed(static_cast<std::int64_t>(random() % 41) - 20));
    if (i % 3 == 1)
      made.push_back(embed(std::ldexp(static_cast<double>(random() % 4001) - 2000, -9)));
    if (i % 3 == 2)
      made.push_back(number({static_cast<std::uint32_t>(random() % p),
                             static_cast<std::uint32_t>(random() % q),
                             static_cast<std::uint32_t>(random() % r)}));
  }
  return made;
}

template <class Law>
void holds(Law law) {
  const auto xs = numbers(1, 300), ys = numbers(2, 300), zs = numbers(3, 300);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    INFO(to_string(xs[i]) << ", " << to_string(ys[i]) << ", " << to_string(zs[i]));
    CHECK(law(xs[i], ys[i], zs[i]));
  }
}

bool is_prime(std::uint32_t n) {
  for (std::uint32_t d = 2; std::uint64_t{d} * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

}  // namespace

TEST_CASE("field: three primes, each with the next one in its multiplicative order") {
  CHECK((is_prime(p) && is_prime(q) && is_prime(r)));
  CHECK((p - 1) % q == 0);
  CHECK((q - 1) % r == 0);
  CHECK((p % 4 == 3 && q % 4 == 3 && r % 4 == 3));
}

TEST_CASE("field: integers and doubles have their numbers, exactly") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const auto drawn = [&] { return static_cast<std::int64_t>(random()) >> (33 + random() % 20); };
    const std::int64_t a = drawn(), b = drawn(), wide = static_cast<std::int64_t>(random()) >> 6;
    CAPTURE(a, b, wide);
    CHECK(agree(embed(a) + embed(b), embed(a + b)));
    CHECK(agree(embed(a) - embed(b), embed(a - b)));
    CHECK(agree(embed(a) * embed(b), embed(a * b)));
    CHECK(agree(embed(wide), embed(wide % all)));
    CHECK(rank(embed(wide)) == wide);
    const double eighths = std::ldexp(static_cast<double>(a), -3);
    CHECK(agree(embed(eighths) * embed(std::int64_t{8}), embed(a)));
  }
  CHECK(agree(embed(0.5) + embed(0.5), one));
  CHECK(agree(embed(0x1p-1074) * embed(0x1p1000) * embed(0x1p74), one));
  CHECK_FALSE(agree(embed(0.1), embed(static_cast<double>(0.1F))));
  CHECK(embed(-0.0).bits == 0);
}

TEST_CASE("field: a commutative ring with quotients") {
  holds([](Number a, Number b, Number c) { return agree((a + b) + c, a + (b + c)); });
  holds([](Number a, Number b, Number c) { return agree((a * b) * c, a * (b * c)); });
  holds([](Number a, Number b, Number c) { return agree(a * (b + c), a * b + a * c); });
  holds([](Number a, Number b, Number) { return agree(a + b, b + a) && agree(a * b, b * a); });
  holds([](Number a, Number b, Number) { return agree(a - b, a + -b) && agree((a - b) + b, a); });
  holds([](Number a, Number b, Number) { return agree(a / b, a * (one / b)); });
  holds([](Number a, Number b, Number) { return agree(one / (a * b), (one / a) * (one / b)); });
  holds([](Number a, Number b, Number) {
    return !compare(F::ne, b, {0}) || agree(a / b * b, a);  // 1 / 0 is 0
  });
  holds([](Number a, Number b, Number c) { return agree(apply(F::fma, a, b, c), a * b + c); });
}

TEST_CASE("field: exp takes sums to products, log products to sums") {
  holds([](Number a, Number b, Number) {
    return agree(of(F::exp, a + b), of(F::exp, a) * of(F::exp, b));
  });
  holds([](Number a, Number b, Number) {
    return compare(F::eq, a * b, {0}) || agree(of(F::log, a * b), of(F::log, a) + of(F::log, b));
  });
  holds([](Number a, Number, Number) { return agree(of(F::log, of(F::exp, a)), a); });
  // Scores against any maximum: softmax and logsumexp do not depend on it.
  holds([](Number a, Number b, Number most) {
    const Number x = of(F::exp, a - most), y = of(F::exp, b - most);
    const Number plain = of(F::exp, a) / (of(F::exp, a) + of(F::exp, b));
    return agree(x / (x + y), plain) &&
           agree(most + of(F::log, x + y), of(F::log, of(F::exp, a) + of(F::exp, b)));
  });
  // Two of them still tell arguments apart.
  CHECK_FALSE(agree(of(F::exp, of(F::exp, one)), of(F::exp, of(F::exp, embed(2.0)))));
  CHECK(of(F::exp, -infinite).bits == 0);
  CHECK(agree(of(F::exp, {0}), one));
  CHECK(of(F::log, {0}).bits == (-infinite).bits);
}

TEST_CASE("field: roots of products") {
  holds([](Number a, Number b, Number) {
    return agree(of(F::sqrt, a * b), of(F::sqrt, a) * of(F::sqrt, b));
  });
  holds([](Number a, Number, Number) { return agree(of(F::rsqrt, a), one / of(F::sqrt, a)); });
  holds([](Number a, Number, Number) {
    const Number squared = of(F::sqrt, a * a) * of(F::sqrt, a * a);
    return agree(squared, a * a);
  });
}

TEST_CASE("field: an order that negation turns round") {
  holds([](Number a, Number b, Number) {
    return compare(F::lt, a, b) == compare(F::gt, -a, -b) &&
           compare(F::lt, a, b) + compare(F::lt, b, a) + compare(F::eq, a, b) == 1;
  });
  holds([](Number a, Number b, Number c) {
    return agree(apply(F::max, a, apply(F::max, b, c)), apply(F::max, apply(F::max, c, a), b)) &&
           agree(apply(F::max, -a, -b), -apply(F::min, a, b)) &&
           agree(of(F::abs, a), apply(F::max, a, -a));
  });
  CHECK(compare(F::lt, embed(-3.0), embed(2.0)));
  CHECK(compare(F::lt, -infinite, embed(-3.0)));
  CHECK(compare(F::lt, embed(std::int64_t{1} << 58), infinite));
}

TEST_CASE("field: infinities and NaN") {
  CHECK(is_nan(infinite - infinite));
  CHECK(is_nan(infinite * Number{0}));
  CHECK(is_nan(infinite / infinite));
  CHECK((one / infinite).bits == 0);
  CHECK((embed(-2.0) * infinite).bits == (-infinite).bits);
  CHECK((-infinite * embed(0.3)).bits == (-infinite).bits);
  CHECK((-infinite + one).bits == (-infinite).bits);
  for (const F function : {F::lt, F::le, F::gt, F::ge, F::eq})
    CHECK_FALSE(compare(function, nan_number, nan_number));
  CHECK(compare(F::ne, nan_number, nan_number));
  CHECK(agree(nan_number, nan_number));
  CHECK(is_nan(apply(F::max_nan, one, nan_number)));
  CHECK(agree(apply(F::max, one, nan_number), one));
  CHECK(is_nan(Number{~std::uint64_t{0}}));  // memory that nothing has written
}

TEST_CASE("field: every function tells arguments apart and takes any bits") {
  for (const FunctionRow& row : function_rows()) {
    if (!row.floats || row.arity != 1 || row.result != ResultKind::same) continue;
    INFO(row.name);
    int same = 0;
    const auto xs = numbers(5, 200), ys = numbers(6, 200);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      if (agree(xs[i], ys[i]) || agree(xs[i], -ys[i])) continue;
      same += agree(of(row.function, xs[i]), of(row.function, ys[i]));
    }
    CHECK(same == 0);
    std::mt19937_64 random(3);
    for (int i = 0; i < 100; ++i) of(row.function, Number{random()});
  }
}

TEST_CASE("field: casts to integers") {
  CHECK(to_integer(ElementType::s8, embed(-3.0)) == -3);
  CHECK(to_integer(ElementType::s8, embed(300.0)) == 127);
  CHECK(to_integer(ElementType::u8, embed(-3.0)) == 0);
  CHECK(to_integer(ElementType::s32, nan_number) == 0);
  CHECK(to_integer(ElementType::s32, -infinite) == std::numeric_limits<std::int32_t>::min());
  for (const Number a : numbers(9, 60)) {
    const std::int64_t value = to_integer(ElementType::s8, a);
    CHECK((value >= -128 && value <= 127));
  }
}

TEST_CASE("field: numbers as they are written") {
  CHECK(to_string(embed(-3.0)) == "-3");
  CHECK(to_string(-infinite) == "-inf");
  CHECK(to_string(embed(0.5)) == "(1048344,524172,262086)");
  CHECK(to_string(of(F::log, one)) == "(_,0,0)");
}
