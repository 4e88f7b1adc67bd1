// Planned, lowered and interpreted kernels against a plain triple loop, bit for bit.
//
// Inputs are odd integers that need every bit up to their highest, and +-1, so that no sum rounds
// and a dropped, doubled or swapped element shows. Leading dimensions are larger than the rows and
// their padding is NaN on inputs and must stay as it was on outputs; outputs begin as NaN.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "backend/interpret/interpret.h"
#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "tests/plan/kernels.h"

namespace lay::test {

namespace {

struct Sizes3 {
  std::int64_t m, n, k;
};

// Pseudo-random numbers from a counter.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
template <class T>
T wide_integer(std::uint64_t i) {
  return static_cast<T>(32769 + 2 * (mix(i) % 16384));
}
template <class T>
T sign(std::uint64_t i) {
  return mix(i) % 2 ? T(1) : T(-1);
}

// A matrix in memory as the kernel's layout says: (rows, columns) : (ld, 1) or (1, ld).
template <class T>
struct Matrix {
  std::int64_t rows, columns, ld;
  bool row_major;
  std::vector<T> data;
  Matrix(std::int64_t r, std::int64_t c, std::int64_t pad, bool row)
      : rows(r), columns(c), ld((row ? c : r) + pad), row_major(row) {
    data.assign(static_cast<size_t>(ld * (row ? r : c)), std::numeric_limits<T>::quiet_NaN());
  }
  T& at(std::int64_t r, std::int64_t c) {
    return data[static_cast<size_t>(row_major ? r * ld + c : c * ld + r)];
  }
  interpret::Memory memory(bool constant) {
    return {data.data(), static_cast<std::int64_t>(data.size() * sizeof(T)), constant};
  }
};

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
struct Case {
  Matrix<T> a, b, c, expected;
  std::vector<T> bias;
  T alpha = 3, beta = -2;
  int variants = 0;
};

// Everything that one run needs; A wide and B +-1, or the other way round.
template <class T>
Case<T> make_case(const GemmWish& wish, Sizes3 s, std::int64_t pad, bool wide_a) {
  Case<T> made{{s.m, s.k, pad, wish.order[0] == 'T'},
               {s.n, s.k, pad, wish.order[1] == 'N'},
               {s.m, s.n, pad, !wish.column_major_output},
               {s.m, s.n, pad, !wish.column_major_output},
               {}};
  std::uint64_t i = static_cast<std::uint64_t>(s.m * 1000003 + s.n * 1009 + s.k);
  for (std::int64_t m = 0; m < s.m; ++m) {
    for (std::int64_t k = 0; k < s.k; ++k, ++i)
      made.a.at(m, k) = wide_a ? wide_integer<T>(i) : sign<T>(i);
  }
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t k = 0; k < s.k; ++k, ++i)
      made.b.at(n, k) = wide_a ? sign<T>(i) : wide_integer<T>(i);
  }
  for (std::int64_t n = 0; n < s.n; ++n) made.bias.push_back(static_cast<T>(n % 7 - 3));
  const bool beta = wish.epilogue == GemmWish::alpha_beta;
  for (std::int64_t m = 0; m < s.m; ++m) {
    for (std::int64_t n = 0; n < s.n; ++n, ++i) {
      T sum = 0;
      for (std::int64_t k = 0; k < s.k; ++k) sum += made.a.at(m, k) * made.b.at(n, k);
      T value = sum;
      if (beta) {
        made.c.at(m, n) = sign<T>(i);
        value = made.alpha * sum + made.beta * made.c.at(m, n);
      } else if (wish.epilogue == GemmWish::bias) {
        value = std::max(sum + made.bias[static_cast<size_t>(n)], T(0));
      } else if (wish.epilogue == GemmWish::mask) {
        value = n <= m ? sum : T(0);
      }
      made.expected.at(m, n) = value;
    }
  }
  return made;
}

template <class T>
Binding bind(const Kernel& kernel, Sizes3 s, const Case<T>& c) {
  Binding binding;
  const std::int64_t sizes[] = {s.m, s.n, s.k, c.a.ld, c.b.ld, c.c.ld};
  for (size_t i = 0; i < kernel.dims.size(); ++i)
    binding[*kernel.dims[i].symbol.dim_id()] = sizes[i];
  return binding;
}

// Runs every variant whose conditions hold and compares all of memory. Returns how many ran.
template <class T>
int check(const GemmWish& wish, Sizes3 s, std::int64_t pad, bool wide_a,
          const std::vector<ScheduleEntry>& schedule = {}) {
  auto maker = gemm(wish);
  if (!schedule.empty()) maker.kernel.schedules.push_back({"simt", {}, schedule, {}});
  const auto plan = plan::make_plan(maker.done());
  REQUIRE(plan.problems.empty());
  int ran = 0;
  for (const plan::Variant& variant : plan.variants) {
    auto c = make_case<T>(wish, s, pad, wide_a);
    const Binding binding = bind(*plan.kernel, s, c);
    bool holds = true;
    for (const Predicate& p : variant.when) holds = holds && p.evaluate(binding) == true;
    if (!holds) continue;
    const ir::Kernel kernel = ir::lower(plan, variant);
    std::vector<interpret::Argument> arguments;
    for (const auto& [dim, value] : binding) arguments.push_back(value);
    if (wish.epilogue == GemmWish::alpha_beta) {
      arguments.push_back(static_cast<double>(c.alpha));
      arguments.push_back(static_cast<double>(c.beta));
    }
    arguments.push_back(c.a.memory(true));
    arguments.push_back(c.b.memory(true));
    if (wish.epilogue == GemmWish::bias) {
      arguments.push_back(interpret::Memory{
          c.bias.data(), static_cast<std::int64_t>(c.bias.size() * sizeof(T)), true});
    }
    arguments.push_back(c.c.memory(false));
    CAPTURE(wish.order, element_name(wish.type), s.m, s.n, s.k, variant.name);
    const auto report = interpret::run(kernel, arguments, {.write_once = true});
    if (report.fault) FAIL(report.fault->message);
    size_t wrong = 0;
    for (size_t i = 0; i < c.c.data.size(); ++i)
      wrong += !same_bits(c.c.data[i], c.expected.data[i]);
    CHECK(wrong == 0);
    ++ran;
  }
  return ran;
}

template <class T>
void check_both(const GemmWish& wish, Sizes3 s, std::int64_t pad) {
  check<T>(wish, s, pad, true);
  check<T>(wish, s, pad, false);
}

}  // namespace

TEST_CASE("every operand order on ragged sizes, f32 and f64") {
  const Sizes3 sizes[] = {{1, 1, 1},    {7, 1, 64},    {1, 7, 127},  {64, 64, 64},  {64, 127, 7},
                          {127, 64, 1}, {128, 7, 128}, {129, 65, 7}, {65, 129, 129}};
  for (const std::string order : {"TN", "NN", "NT", "TT"}) {
    for (const Sizes3& s : sizes) {
      check<float>({order, ElementType::f32}, s, 3, true);
      check<double>({order, ElementType::f64}, s, 1, false);
    }
  }
}

TEST_CASE("vectors where sizes and leading dimensions allow") {
  for (const std::string order : {"TN", "NN", "NT", "TT"}) {
    CHECK(check<float>({order, ElementType::f32}, {132, 68, 20}, 4, true) >= 2);
    CHECK(check<double>({order, ElementType::f64}, {66, 70, 18}, 2, false) >= 2);
    CHECK(check<float>({order, ElementType::f32, GemmWish::plain, true}, {68, 72, 12}, 4, false) >=
          2);
  }
}

TEST_CASE("epilogues: alpha and beta, bias and max, mask by coordinates") {
  for (const auto epilogue : {GemmWish::alpha_beta, GemmWish::bias, GemmWish::mask}) {
    check_both<float>({"TN", ElementType::f32, epilogue}, {72, 68, 16}, 4);
    check_both<float>({"NT", ElementType::f32, epilogue}, {67, 33, 9}, 1);
    check_both<double>({"NN", ElementType::f64, epilogue}, {70, 66, 10}, 2);
    check_both<float>({"TT", ElementType::f32, epilogue, true}, {64, 65, 8}, 0);
  }
}

TEST_CASE("an empty sum is zero") {
  for (const auto epilogue : {GemmWish::plain, GemmWish::alpha_beta, GemmWish::bias}) {
    check<float>({"TN", ElementType::f32, epilogue}, {65, 3, 0}, 1, true);
  }
}

TEST_CASE("the tiles of schedules") {
  const auto entry = [](const char* key, Tuple value) {
    return ScheduleEntry{key, "", std::move(value), {}};
  };
  for (const Sizes3& s : {Sizes3{140, 264, 24}, Sizes3{129, 257, 9}}) {
    for (const std::string order : {"TN", "NT"}) {
      CHECK(check<float>({order, ElementType::f32}, s, 4, true,
                         {entry("tile", tuple(128, 256, 8)), entry("groups", tuple(2, 4, 1, 1))}) >=
            1);
      CHECK(check<float>({order, ElementType::f32}, s, 4, false,
                         {entry("tile", tuple(128, 128, 8))}) >= 1);
    }
  }
  CHECK(check<float>({"TN", ElementType::f32}, {70, 70, 40}, 2, true,
                     {entry("tile", tuple(32, 64, 16)), entry("groups", tuple(1, 1, 1, 1)),
                      entry("lane_tile", tuple(8, 4, 1))}) >= 1);
}

TEST_CASE("slices of a block share K") {
  const auto entry = [](const char* key, Tuple value) {
    return ScheduleEntry{key, "", std::move(value), {}};
  };
  for (const std::string order : {"TN", "NT"}) {
    for (const int slices : {2, 4}) {
      CHECK(check<float>(
                {order, ElementType::f32}, {70, 33, 37}, 1, true,
                {entry("tile", tuple(32, 32, 16)), entry("groups", tuple(1, 1, slices, 1))}) >= 1);
      CHECK(check<float>({order, ElementType::f32, GemmWish::alpha_beta}, {36, 68, 20}, 4, true,
                         {entry("tile", tuple(32, 64, 8)), entry("groups", tuple(2, 1, slices, 1)),
                          entry("lane_tile", tuple(4, 4, 1))}) >= 1);
    }
  }
  CHECK(check<double>({"TN", ElementType::f64}, {20, 40, 9}, 1, true,
                      {entry("tile", tuple(32, 32, 12)), entry("groups", tuple(1, 2, 3, 1)),
                       entry("lane_tile", tuple(4, 2, 1))}) >= 1);
}

TEST_CASE("schedules drawn at random are refused or right") {
  const auto basis = [](int value, int axis) { return Tuple::basis(value, {axis}); };
  const std::vector<Layout> lanes = {
      layout(tuple(2, 8, 2), tuple(basis(1, 0), basis(1, 1), basis(2, 0))),
      layout(tuple(8, 4), tuple(basis(1, 0), basis(1, 1))),
      layout(tuple(4, 8), tuple(basis(1, 1), basis(1, 0))),
      layout(tuple(2, 2, 8), tuple(basis(1, 1), basis(1, 0), basis(2, 1))),
      layout(tuple(32, 1), tuple(basis(1, 1), basis(1, 0))),
  };
  std::uint64_t counter = 0;
  const auto pick = [&](auto... choices) {
    const int all[] = {choices...};
    return all[mix(++counter) % sizeof...(choices)];
  };
  int right = 0, refused = 0;
  for (int i = 0; i < 120; ++i) {
    const auto entry = [](const char* key, auto value) {
      return ScheduleEntry{key, "", std::move(value), {}};
    };
    std::vector<ScheduleEntry> schedule = {
        entry("tile", tuple(pick(16, 32, 48, 64, 128), pick(32, 64, 96, 128), pick(4, 8, 16))),
        entry("lanes", lanes[mix(++counter) % lanes.size()]),
        entry("lane_tile", tuple(pick(1, 2, 4, 8), pick(1, 2, 3, 4), 1)),
    };
    if (pick(0, 1))
      schedule.push_back(entry("groups", tuple(pick(1, 2), pick(1, 2, 4), pick(1, 1, 2), 1)));
    const std::string order = std::vector<std::string>{"TN", "NN", "NT", "TT"}[mix(++counter) % 4];
    const ElementType type = pick(0, 0, 1) ? ElementType::f64 : ElementType::f32;
    const GemmWish wish{order, type, pick(0, 1) ? GemmWish::alpha_beta : GemmWish::plain,
                        pick(0, 1) == 1};
    auto maker = gemm(wish);
    maker.kernel.schedules.push_back({"simt", {}, schedule, {}});
    if (!plan::make_plan(maker.done()).problems.empty()) {
      ++refused;
      continue;
    }
    ++right;
    const Sizes3 s{pick(36, 68, 33), pick(40, 52, 35), pick(12, 20, 9)};
    if (type == ElementType::f32) {
      check<float>(wish, s, 4, true, schedule);
    } else {
      check<double>(wish, s, 4, true, schedule);
    }
  }
  CHECK(right >= 30);
  CHECK(refused >= 10);
}

}  // namespace lay::test
