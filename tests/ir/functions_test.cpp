// Element functions, conversions and control flow of the interpreter, each against the same thing
// in C++.
#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "backend/interpret/interpret.h"
#include "backend/ir/build.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/verify/verify.h"
#include "frontend/algebra/memory/convert.h"

namespace {

using namespace lay;
using interpret::Argument;
using interpret::Memory;
using interpret::Options;
using interpret::Report;
using interpret::run;
using F = ElementFunction;

template <class T>
Memory memory(std::vector<T>& v) {
  return {v.data(), static_cast<std::int64_t>(v.size() * sizeof(T)), false};
}

void require_no_fault(const Report& report) {
  INFO((report.fault ? report.fault->message : ""));
  REQUIRE(!report.fault);
}

// One warp; Y[i] = f(A[i], B[i], C[i]).
ir::Kernel pointwise(F function, ElementType type, ElementType result) {
  ir::Kernel kernel;
  ir::Builder b(kernel);
  kernel.name = "pointwise";
  kernel.launch = {{1, 1, 1}, {1, 1, 1}, 32, 1};
  const Layout lanes(32, 1);
  std::vector<ir::BufferId> in;
  for (const char* name : {"A", "B", "C"})
    in.push_back(b.global(name, type, lanes, {.written = false}));
  const bool truth = result == ElementType::pred;
  const ir::BufferId out = b.global("Y", truth ? ElementType::s32 : result, lanes, {.read = false});
  b.role("all", 0, 32, [&] {
    const ir::Term i = b.special(ir::Builtin::lane);
    std::vector<ir::Term> operands;
    for (int k = 0; k < function_row(function).arity; ++k) operands.push_back(b.read({in[k], {i}}));
    const ir::Term value = b.apply(function, operands);
    b.assign(
        {out, {i}},
        truth ? b.select(value, b.constant(std::int64_t{1}), b.constant(std::int64_t{0})) : value);
  });
  return kernel;
}

template <class T, class R>
std::vector<R> apply(F function, ElementType type, ElementType result, std::vector<T> a,
                     std::vector<T> b, std::vector<T> c) {
  std::vector<R> y(32);
  const ir::Kernel kernel = pointwise(function, type, result);
  for (const ir::Problem& p : verify(kernel)) FAIL(p.message);
  require_no_fault(run(kernel, {memory(a), memory(b), memory(c), memory(y)}, {.checks = false}));
  return y;
}

template <class T>
std::vector<T> reals(int seed) {
  std::vector<T> v(32);
  for (int i = 0; i < 32; ++i)
    v[i] = static_cast<T>(std::ldexp((i * 37 + seed * 11) % 41 - 20.3, (i + seed) % 9 - 4));
  v[0] = seed == 2 ? T(0) : T(-0.0);
  v[1] = std::numeric_limits<T>::infinity();
  v[2] = std::numeric_limits<T>::quiet_NaN();
  v[3] = std::numeric_limits<T>::denorm_min() * T(3);
  return v;
}

template <class T>
void require_same(const std::vector<T>& y, const std::vector<T>& expected, F function) {
  for (size_t i = 0; i < y.size(); ++i) {
    INFO(std::string(function_row(function).name)
         << " at " << i << ": " << y[i] << ", not " << expected[i]);
    if (std::isnan(expected[i])) {
      REQUIRE(std::isnan(y[i]));
    } else {
      REQUIRE(std::memcmp(&y[i], &expected[i], sizeof(T)) == 0);
    }
  }
}

template <class T>
void check_reals(ElementType type) {
  const std::vector<T> a = reals<T>(1), b = reals<T>(2), c = reals<T>(3);
  const std::map<F, T (*)(T, T, T)> functions{
      {F::add, [](T x, T y, T) { return x + y; }},
      {F::sub, [](T x, T y, T) { return x - y; }},
      {F::mul, [](T x, T y, T) { return x * y; }},
      {F::div, [](T x, T y, T) { return x / y; }},
      {F::neg, [](T x, T, T) { return -x; }},
      {F::abs, [](T x, T, T) { return std::fabs(x); }},
      {F::fma, [](T x, T y, T z) { return std::fma(x, y, z); }},
      {F::exp, [](T x, T, T) { return std::exp(x); }},
      {F::exp_fma, [](T x, T y, T z) { return std::exp(std::fma(x, y, z)); }},
      {F::log, [](T x, T, T) { return std::log(x); }},
      {F::sqrt, [](T x, T, T) { return std::sqrt(x); }},
      {F::rsqrt, [](T x, T, T) { return T(1) / std::sqrt(x); }},
      {F::tanh, [](T x, T, T) { return std::tanh(x); }},
      {F::erf, [](T x, T, T) { return std::erf(x); }},
      {F::sigmoid, [](T x, T, T) { return T(1) / (T(1) + std::exp(-x)); }},
      {F::normcdf,
       [](T x, T, T) { return T(0.5) * std::erfc(-x * (std::numbers::sqrt2_v<T> / 2)); }},
      {F::sin, [](T x, T, T) { return std::sin(x); }},
      {F::cos, [](T x, T, T) { return std::cos(x); }},
      {F::floor, [](T x, T, T) { return std::floor(x); }},
      {F::min,
       [](T x, T y, T) {
         return std::isnan(x)   ? y
                : std::isnan(y) ? x
                : x == y        ? (std::signbit(x) ? x : y)
                : x < y         ? x
                                : y;
       }},
      {F::max,
       [](T x, T y, T) {
         return std::isnan(x)   ? y
                : std::isnan(y) ? x
                : x == y        ? (std::signbit(x) ? y : x)
                : x > y         ? x
                                : y;
       }},
      {F::min_nan,
       [](T x, T y, T) {
         return std::isnan(x)   ? x
                : std::isnan(y) ? y
                : x == y        ? (std::signbit(x) ? x : y)
                : x < y         ? x
                                : y;
       }},
      {F::max_nan,
       [](T x, T y, T) {
         return std::isnan(x)   ? x
                : std::isnan(y) ? y
                : x == y        ? (std::signbit(x) ? y : x)
                : x > y         ? x
                                : y;
       }},
  };
  for (const FunctionRow& row : function_rows()) {
    const bool arithmetic =
        row.floats && row.result == ResultKind::same && row.function != F::select;
    REQUIRE(arithmetic == (functions.count(row.function) != 0));
    if (!arithmetic) continue;
    std::vector<T> expected(32);
    for (int i = 0; i < 32; ++i) expected[i] = functions.at(row.function)(a[i], b[i], c[i]);
    require_same(apply<T, T>(row.function, type, type, a, b, c), expected, row.function);
  }
}

template <class T>
void check_comparisons(ElementType type, const std::vector<T>& a, const std::vector<T>& b) {
  const std::map<F, bool (*)(T, T)> functions{
      {F::lt, [](T x, T y) { return x < y; }},  {F::le, [](T x, T y) { return x <= y; }},
      {F::gt, [](T x, T y) { return x > y; }},  {F::ge, [](T x, T y) { return x >= y; }},
      {F::eq, [](T x, T y) { return x == y; }}, {F::ne, [](T x, T y) { return x != y; }},
  };
  for (const auto& [function, expected] : functions) {
    const std::vector<std::int32_t> y =
        apply<T, std::int32_t>(function, type, ElementType::pred, a, b, a);
    for (int i = 0; i < 32; ++i) {
      INFO(std::string(function_row(function).name) << " at " << i);
      REQUIRE(y[i] == static_cast<int>(expected(a[i], b[i])));
    }
  }
}

template <class T>
std::vector<T> integers(int seed) {
  std::vector<T> v(32);
  for (int i = 0; i < 32; ++i)
    v[i] = static_cast<T>((i * 7919 + seed * 104729) % 1000 - (std::is_signed_v<T> ? 500 : 0));
  for (T& x : v) x = x == 0 ? T(1) : x;
  v[5] = std::numeric_limits<T>::max();
  v[6] = std::numeric_limits<T>::min() + T(seed);
  return v;
}

// Without checks arithmetic wraps, as the GPU's does.
template <class T>
void check_integers(ElementType type) {
  using U = std::make_unsigned_t<T>;
  const std::vector<T> a = integers<T>(1), b = integers<T>(2), c = integers<T>(3);
  const std::map<F, T (*)(T, T, T)> functions{
      {F::add, [](T x, T y, T) { return static_cast<T>(static_cast<U>(x) + static_cast<U>(y)); }},
      {F::sub, [](T x, T y, T) { return static_cast<T>(static_cast<U>(x) - static_cast<U>(y)); }},
      {F::mul, [](T x, T y, T) { return static_cast<T>(static_cast<U>(x) * static_cast<U>(y)); }},
      {F::div, [](T x, T y, T) { return static_cast<T>(x / y); }},
      {F::rem, [](T x, T y, T) { return static_cast<T>(x % y); }},
      {F::neg, [](T x, T, T) { return static_cast<T>(U(0) - static_cast<U>(x)); }},
      {F::abs, [](T x, T, T) { return x < T(0) ? static_cast<T>(U(0) - static_cast<U>(x)) : x; }},
      {F::min, [](T x, T y, T) { return std::min(x, y); }},
      {F::max, [](T x, T y, T) { return std::max(x, y); }},
      {F::min_nan, [](T x, T y, T) { return std::min(x, y); }},
      {F::max_nan, [](T x, T y, T) { return std::max(x, y); }},
      {F::fma,
       [](T x, T y, T z) {
         return static_cast<T>(static_cast<U>(x) * static_cast<U>(y) + static_cast<U>(z));
       }},
  };
  for (const FunctionRow& row : function_rows()) {
    const bool arithmetic =
        row.integers && row.result == ResultKind::same && row.function != F::select;
    REQUIRE(arithmetic == (functions.count(row.function) != 0));
    if (!arithmetic) continue;
    const std::vector<T> y = apply<T, T>(row.function, type, type, a, b, c);
    for (int i = 0; i < 32; ++i) {
      INFO(std::string(row.name) << " at " << i);
      REQUIRE(y[i] == functions.at(row.function)(a[i], b[i], c[i]));
    }
  }
  check_comparisons<T>(type, a, b);
}

// One warp copies X through a cast to Y; sizes in bytes by type.
std::vector<std::uint64_t> cast(ElementType from, ElementType to,
                                const std::vector<std::uint64_t>& bits_in) {
  const int from_bytes = bits(from) / 8, to_bytes = bits(to) / 8;
  std::vector<std::byte> x(static_cast<size_t>(32 * from_bytes)),
      y(static_cast<size_t>(32 * to_bytes));
  for (int i = 0; i < 32; ++i)
    std::memcpy(&x[i * from_bytes], &bits_in[i], static_cast<size_t>(from_bytes));
  ir::Kernel kernel;
  ir::Builder b(kernel);
  kernel.name = "convert";
  kernel.launch = {{1, 1, 1}, {1, 1, 1}, 32, 1};
  const ir::BufferId in = b.global("X", from, Layout(32, 1), {.written = false});
  const ir::BufferId out = b.global("Y", to, Layout(32, 1), {.read = false});
  b.role("all", 0, 32, [&] {
    const ir::Term lane = b.special(ir::Builtin::lane);
    b.assign({out, {lane}}, b.cast(b.read({in, {lane}}), to));
  });
  require_no_fault(run(kernel, {memory(x), memory(y)}));
  std::vector<std::uint64_t> made(32);
  for (int i = 0; i < 32; ++i)
    std::memcpy(&made[i], &y[i * to_bytes], static_cast<size_t>(to_bytes));
  return made;
}

}  // namespace

TEST_CASE("floating-point functions give C++'s bits") {
  check_reals<float>(ElementType::f32);
  check_reals<double>(ElementType::f64);
  check_comparisons<float>(ElementType::f32, reals<float>(1), reals<float>(2));
  check_comparisons<double>(ElementType::f64, reals<double>(1), reals<double>(1));
}

TEST_CASE("integer functions are exact and wrap") {
  check_integers<std::int32_t>(ElementType::s32);
  check_integers<std::uint32_t>(ElementType::u32);
  check_integers<std::int64_t>(ElementType::s64);
  check_integers<std::uint64_t>(ElementType::u64);
}

TEST_CASE("casts between all types round once") {
  using T = ElementType;
  const std::vector<T> types{T::f64, T::f32, T::tf32, T::f16, T::bf16, T::e4m3, T::e5m2,
                             T::s8,  T::u8,  T::s16,  T::u16, T::s32,  T::u32,  T::s64};
  const std::vector<double> numbers{
      0,    -0.0, 1,     -1,    0.5,   1.5,     2.5,  -2.5, 3.14159, 100.3,    -128.5,
      255,  256,  1000,  65504, 65520, 1e6,     -1e6, 448,  464,     57344,    61440,
      0.01, 1e-8, 1e-30, 2049,  2051,  8388609, 1e9,  3e9,  -3e9,    0x1.001p0};
  REQUIRE(numbers.size() == 32);
  for (const T from : types) {
    std::vector<std::uint64_t> given;
    for (const double x : numbers) given.push_back(encode(from, x));
    for (const T to : types) {
      const std::vector<std::uint64_t> made = cast(from, to, given);
      for (int i = 0; i < 32; ++i) {
        INFO(element_name(from) << " -> " << element_name(to) << " of " << decode(from, given[i]));
        const double value = decode(from, given[i]);
        // Integers keep their low bits in wider types and saturate in 8-bit ones; all else rounds
        // once.
        if (!is_float(from) && !is_float(to) && bits(to) > 8) {
          const std::uint64_t mask =
              bits(to) == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits(to)) - 1;
          REQUIRE(made[i] == (static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & mask));
        } else {
          REQUIRE(made[i] == encode(to, value));
        }
      }
    }
  }
}

TEST_CASE("lanes leave loops one by one, branches nest, unrolled loops index registers") {
  const std::string text = R"(kernel collatz {
  global Y : s32 64:1 write
  register best : s32 2:1
  launch grid (2,1,1) cluster (1,1,1) threads 32
  role all threads 0..32 {
    let n : s32 thread = block_x * 32 + thread
    for q : s32 grid in 0..2 unrolled {
      best[q] = q
    }
    for i : s32 thread in 0..n {
      if i % 3 == 0 {
        best[0] = best[0] + i
      } else {
        if i % 3 == 1 {
          for j : s32 thread in i..i + 4 step 3 {
            best[1] = best[1] + j
          }
        }
      }
    }
    Y[n] = best[0] * 1000 + best[1]
  }
})";
  std::vector<std::int32_t> y(64);
  const ir::Kernel kernel = ir::parse(text);
  for (const ir::Problem& p : verify(kernel)) FAIL(p.message + p.statement);
  require_no_fault(run(kernel, {memory(y)}));
  for (int n = 0; n < 64; ++n) {
    int best0 = 0, best1 = 1;
    for (int i = 0; i < n; ++i) {
      if (i % 3 == 0) best0 += i;
      if (i % 3 == 1) best1 += i + (i + 3);
    }
    REQUIRE(y[n] == best0 * 1000 + best1);
  }
}

TEST_CASE("persistent blocks take every tile once, rings walk round") {
  const std::string text = R"(kernel tiles {
  size P, Q
  global Y : s32 (P,Q):(1,P) read write
  global Z : s32 (3,64):(1,3) write
  ring r stages 3
  ring f stages 3 phase 1
  launch grid (5,1,1) cluster (1,1,1) threads 32 persistent
  role all threads 0..32 {
    tiles t : s32 block first block_x count [P*Q] stride grid_x {
      elect {
        Y[t % P,t / P] = Y[t % P,t / P] + 1
      }
    }
    for i : s32 grid in 0..64 {
      if block_x == 0 and lane == 0 {
        Z[0,i] = slot(r)
        Z[1,i] = phase(r)
        Z[2,i] = phase(f)
      }
      advance r
      advance f
    }
  }
})";
  const ir::Kernel kernel = ir::parse(text);
  for (const ir::Problem& p : verify(kernel)) FAIL(p.message + p.statement);
  for (const auto& [P, Q, resident] :
       {std::array{1, 1, 0}, {7, 3, 0}, {8, 5, 0}, {7, 3, 1}, {8, 5, 3}, {8, 5, 9}}) {
    std::vector<std::int32_t> y(static_cast<size_t>(P * Q)), z(192, -1);
    interpret::Options options;
    options.resident_clusters = resident;
    const auto report =
        run(kernel, {std::int64_t{P}, std::int64_t{Q}, memory(y), memory(z)}, options);
    require_no_fault(report);
    REQUIRE(report.blocks == (resident == 0 ? 5 : std::min(resident, 5)));
    for (const std::int32_t count : y) REQUIRE(count == 1);
    for (int i = 0; i < 64; ++i) {
      REQUIRE(z[3 * i] == i % 3);
      REQUIRE(z[3 * i + 1] == i / 3 % 2);
      REQUIRE(z[3 * i + 2] == (i / 3 + 1) % 2);
    }
  }
}

TEST_CASE("roles run their own code and meet at named barriers") {
  const std::string text = R"(kernel roles {
  global Y : s32 64:1 write
  shared s : s32 64:1 align 16
  barrier filled named count 96 id 1
  barrier pairs named slots 2 count 32 id 2
  barrier all block
  launch grid (1,1,1) cluster (1,1,1) threads 128
  role producer threads 0..64 {
    s[thread] = thread * 3
    if warp < 1 {
      arrive filled
    } else {
      sync filled
    }
    sync pairs[warp]
  }
  role consumer threads 64..96 {
    sync filled
    Y[lane] = s[lane]
    Y[32 + lane] = s[32 + lane]
  }
  epilogue {
    sync all
  }
})";
  const ir::Kernel kernel = ir::parse(text);
  for (const ir::Problem& p : verify(kernel)) FAIL(p.message + p.statement);
  std::vector<std::int32_t> y(64);
  require_no_fault(run(kernel, {memory(y)}));
  for (int i = 0; i < 64; ++i) REQUIRE(y[i] == 3 * i);
}

TEST_CASE("copies of every width through swizzled and nested layouts are the layout's function") {
  for (const auto& [type, bytes] : {std::pair{"f16", 2}, {"e4m3", 1}, {"f32", 4}, {"f64", 8}}) {
    const int count = 16 / bytes >= 8 ? 8 : 16 / bytes;
    const std::string text = std::string(R"(kernel swizzle {
  global X : TYPE (64,(8,8)):(64,(1,8)) read align 16
  global Y : TYPE (64,64):(64,1) write align 16
  shared s : TYPE Sw<3,3,3> o 0 o (64,64):(64,1) align 1024
  register r : TYPE 8:1
  barrier all block
  launch grid (1,1,1) cluster (1,1,1) threads 64
  role all threads 0..64 {
    for c : s32 grid in 0..64 step COUNT {
      copy s[thread,c] <- X[thread,c] count COUNT along 1, 1
    }
    sync all
    for c : s32 grid in 0..64 step COUNT {
      copy r[0] <- s[63 - thread,c] count COUNT along 0, 1
      copy Y[63 - thread,c] <- r[0] count COUNT along 1, 0
    }
  }
})");
    std::string made = text;
    for (const auto& [from, to] :
         {std::pair{std::string("TYPE"), std::string(type)}, {"COUNT", std::to_string(count)}}) {
      for (size_t at = made.find(from); at != std::string::npos; at = made.find(from))
        made.replace(at, from.size(), to);
    }
    const ir::Kernel kernel = ir::parse(made);
    for (const ir::Problem& p : verify(kernel)) FAIL(p.message + p.statement);
    std::vector<std::uint8_t> x(static_cast<size_t>(64 * 64 * bytes)), y(x.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
    require_no_fault(run(kernel, {memory(x), memory(y)}, {.write_once = true}));
    REQUIRE(x == y);
  }
}
