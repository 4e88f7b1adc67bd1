// The interpreter on kernels written by hand, against plain C++.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "backend/interpret/interpret.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/verify/verify.h"

namespace {

using namespace lay;
using interpret::Argument;
using interpret::Memory;
using interpret::Options;
using interpret::Report;
using interpret::run;

template <class T>
Memory in(const std::vector<T>& v) {
  return {const_cast<T*>(v.data()), static_cast<std::int64_t>(v.size() * sizeof(T)), true};
}
template <class T>
Memory out(std::vector<T>& v) {
  return {v.data(), static_cast<std::int64_t>(v.size() * sizeof(T)), false};
}

void require_no_fault(const Report& report) {
  INFO((report.fault ? report.fault->message + "\n" + report.fault->statement : ""));
  REQUIRE(!report.fault);
}

const std::string kScale = R"(kernel scale from "scale.lay" {
  size M, N
  scalar alpha : f32
  global X : f32 (M,N):(N,1) read align 4
  global Y : f32 (M,N):(N,1) write align 4
  register x : f32 1:1
  launch grid (ceil_div(M*N,128),1,1) cluster (1,1,1) threads 128
  role all threads 0..128 {
    let i : s32 thread = block_x * 128 + thread
    let m : s32 thread = i / N
    if i < [M*N] {
      copy x[0] <- X[m,i % N]  @3
      Y[m,i % N] = alpha * x[0]  @3
    }
  }
})";

const std::string kTranspose = R"(kernel transpose from "transpose.lay" {
  size M, N
  global X : f32 (M,N):(N,1) read
  global Y : f32 (N,M):(M,1) write
  shared tile : f32 (32,32):(1,33)
  barrier all block
  launch grid (ceil_div(M,32),ceil_div(N,32),1) cluster (1,1,1) threads 256
  role all threads 0..256 {
    let m0 : s32 block = block_x * 32
    let n0 : s32 block = block_y * 32
    for r : s32 grid in 0..4 unrolled {
      let m : s32 thread = m0 + (r * 8 + warp)
      if m < M and n0 + lane < N {
        tile[r * 8 + warp,lane] = X[m,n0 + lane]
      }
    }
    sync all
    for r : s32 grid in 0..4 unrolled {
      let n : s32 thread = n0 + (r * 8 + warp)
      if n < N and m0 + lane < M {
        Y[n,m0 + lane] = tile[lane,r * 8 + warp]
      }
    }
  }
})";

// 32x32 tiles, 64 threads, 4x4 a lane, double precision or single; every access guarded.
std::string gemm(const std::string& type) {
  std::string text = R"(kernel gemm from "gemm.lay" {
  size M, N, K
  scalar beta : TYPE
  global A : TYPE (M,K):(K,1) read
  global B : TYPE (K,N):(N,1) read
  global C : TYPE (M,N):(N,1) read write
  shared sA : TYPE (32,8):(1,36) align 16
  shared sB : TYPE (32,8):(1,36) align 16
  register acc : TYPE (4,4):(1,4)
  register a : TYPE 4:1
  register b : TYPE 4:1
  barrier all block
  launch grid (ceil_div(M,32),ceil_div(N,32),1) cluster (1,1,1) threads 64
  role all threads 0..64 {
    let m0 : s32 block = block_x * 32
    let n0 : s32 block = block_y * 32
    let tm : s32 thread = thread % 8 * 4
    let tn : s32 thread = thread / 8 * 4
    fill acc = TYPE(0.0)
    for k0 : s32 grid in 0..K step 8 {
      for r : s32 grid in 0..4 unrolled {
        let e : s32 thread = r * 64 + thread
        copy sA[e % 32,e / 32] <- A[m0 + e % 32,k0 + e / 32] when m0 + e % 32 < M and k0 + e / 32 < K else zero
        copy sB[e % 32,e / 32] <- B[k0 + e / 32,n0 + e % 32] when n0 + e % 32 < N and k0 + e / 32 < K else zero
      }
      sync all
      for k : s32 grid in 0..8 unrolled {
        copy a[0] <- sA[tm,k] count VEC
        REST
        copy b[0] <- sB[tn,k] count VEC
        mma simt acc[] += a[] * b[]
      }
      sync all
    }
    for i : s32 grid in 0..4 unrolled {
      for j : s32 grid in 0..4 unrolled {
        let m : s32 thread = m0 + tm + i
        let n : s32 thread = n0 + tn + j
        if m < M and n < N {
          C[m,n] = select(beta == TYPE(0.0), acc[i,j], fma(beta, C[m,n], acc[i,j]))
        }
      }
    }
  }
})";
  const auto replace = [&](const std::string& what, const std::string& by) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
      text.replace(at, what.size(), by);
  };
  if (type == "f32") {
    replace("        REST\n", "");
    replace("VEC", "4");
  } else {
    replace(
        "        REST\n",
        "        copy a[2] <- sA[tm + 2,k] count 2\n        copy b[2] <- sB[tn + 2,k] count 2\n");
    replace("VEC", "2");
  }
  replace("TYPE", type);
  return text;
}

// Values that tell coordinates apart and whose products and sums are exact.
template <class T>
std::vector<T> numbers(int n, int seed) {
  std::vector<T> v(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) v[i] = static_cast<T>((i * 7 + seed * 13) % 11 - 5);
  return v;
}

template <class T>
void check_gemm(const std::string& type, int M, int N, int K, T beta, const Options& options) {
  const std::vector<T> a = numbers<T>(M * K, 1), b = numbers<T>(K * N, 2);
  std::vector<T> c = numbers<T>(M * N, 3), expected(c.size());
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      T sum = 0;
      for (int k = 0; k < K; ++k) sum = std::fma(a[m * K + k], b[k * N + n], sum);
      expected[m * N + n] = beta == 0 ? sum : std::fma(beta, c[m * N + n], sum);
    }
  }
  if (beta == 0) std::fill(c.begin(), c.end(), static_cast<T>(NAN));
  const Report report = run(ir::parse(gemm(type)),
                            {std::int64_t{M}, std::int64_t{N}, std::int64_t{K},
                             static_cast<double>(beta), in(a), in(b), out(c)},
                            options);
  require_no_fault(report);
  REQUIRE(c == expected);
}

}  // namespace

TEST_CASE("scale: every element once, ragged sizes") {
  const ir::Kernel kernel = ir::parse(kScale);
  for (const auto& [M, N] : {std::pair{1, 1}, {3, 7}, {128, 1}, {33, 65}}) {
    const std::vector<float> x = numbers<float>(M * N, 1);
    std::vector<float> y(x.size(), NAN);
    require_no_fault(
        run(kernel, {std::int64_t{M}, std::int64_t{N}, 2.5, in(x), out(y)}, {.write_once = true}));
    for (size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == 2.5f * x[i]);
  }
}

TEST_CASE("the last warp of a block may have fewer lanes") {
  std::string text = kScale;
  for (size_t at = text.find("128"); at != std::string::npos; at = text.find("128", at))
    text.replace(at, 3, "100");
  const std::vector<float> x = numbers<float>(33 * 7, 1);
  std::vector<float> y(x.size(), NAN);
  const Report report =
      run(ir::parse(text), {std::int64_t{33}, std::int64_t{7}, 2.5, in(x), out(y)},
          {.write_once = true});
  require_no_fault(report);
  for (size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == 2.5f * x[i]);
}

TEST_CASE("nothing to do: sizes of 0") {
  const std::vector<float> a;
  std::vector<float> c(4, 1.0f);
  const std::vector<Argument> no_k{std::int64_t{2}, std::int64_t{2}, std::int64_t{0}, 0.0,
                                   in(a),           in(a),           out(c)};
  require_no_fault(run(ir::parse(gemm("f32")), no_k));
  REQUIRE(c == std::vector<float>(4, 0.0f));
  std::vector<float> none;
  const std::vector<Argument> empty{std::int64_t{0}, std::int64_t{2}, std::int64_t{0}, 0.0,
                                    in(a),           in(a),           out(none)};
  const Report report = run(ir::parse(gemm("f32")), empty);
  require_no_fault(report);
  REQUIRE(report.blocks == 0);
}

TEST_CASE("transpose through padded shared memory, without bank conflicts") {
  const ir::Kernel kernel = ir::parse(kTranspose);
  for (const auto& [M, N] : {std::pair{1, 1}, {32, 32}, {33, 65}, {100, 31}}) {
    const std::vector<float> x = numbers<float>(M * N, 1);
    std::vector<float> y(x.size(), NAN);
    const Report report = run(kernel, {std::int64_t{M}, std::int64_t{N}, in(x), out(y)},
                              {.write_once = true, .bank_conflicts = true});
    require_no_fault(report);
    for (int m = 0; m < M; ++m) {
      for (int n = 0; n < N; ++n) REQUIRE(y[n * M + m] == x[m * N + n]);
    }
    REQUIRE(report.banks.size() == 2);
    for (const auto& banks : report.banks) REQUIRE(banks.worst == 1);
  }
}

TEST_CASE("a tile without padding has 32-way bank conflicts on one side") {
  std::string text = kTranspose;
  text.replace(text.find("(1,33)"), 6, "(1,32)");
  const std::vector<float> x = numbers<float>(32 * 32, 1);
  std::vector<float> y(x.size());
  const Report report = run(ir::parse(text), {std::int64_t{32}, std::int64_t{32}, in(x), out(y)},
                            {.bank_conflicts = true});
  require_no_fault(report);
  REQUIRE(report.banks[0].worst == 32);
  REQUIRE(report.banks[0].accesses == 32);
  REQUIRE(report.banks[0].wavefronts == 32 * 32);
  REQUIRE(report.banks[0].least == 32);
  REQUIRE(report.banks[1].worst == 1);
}

TEST_CASE("a tiled GEMM in f32 and f64 over ragged sizes equals the triple loop bit for bit") {
  for (const bool checks : {true, false}) {
    for (const int threads : {1, 3}) {
      const Options options{.checks = checks, .write_once = checks, .threads = threads};
      for (const auto& [M, N, K] :
           {std::array{1, 1, 1}, {7, 5, 3}, {32, 32, 8}, {33, 65, 17}, {64, 31, 40}}) {
        check_gemm<float>("f32", M, N, K, 0, options);
        check_gemm<double>("f64", M, N, K, 2, options);
      }
    }
  }
}

TEST_CASE("whatever the verifier accepts runs to an end or a fault") {
  const std::string whole = gemm("f32");
  std::uint32_t state = 4711;
  int ran = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    const int changes = 1 + i % 3;
    for (int c = 0; c < changes; ++c) {
      state = state * 1664525 + 1013904223;
      const size_t at = (state >> 8) % whole.size();
      if (text[at] >= '0' && text[at] <= '9') {
        text[at] = static_cast<char>('0' + (state >> 4) % 10);
      } else {
        text[at] = whole[(state >> 12) % whole.size()];
      }
    }
    ir::Kernel kernel;
    try {
      kernel = ir::parse(text);
    } catch (const ir::ParseError&) {
      continue;
    }
    if (!verify(kernel).empty() || kernel.params.size() != 4 || !kernel.params[2].is_size) continue;
    std::vector<float> a(40 * 9, 1.0f), b(9 * 35, 1.0f), c(40 * 35, 1.0f);
    const std::vector<Argument> arguments{
        std::int64_t{40}, std::int64_t{35}, std::int64_t{9}, 1.0, in(a), in(b), out(c)};
    const Report report = run(kernel, arguments, {.max_steps = 200'000, .max_memory = 1 << 26});
    REQUIRE((report.fault.has_value() || report.blocks > 0));
    ++ran;
  }
  REQUIRE(ran > 100);
}
