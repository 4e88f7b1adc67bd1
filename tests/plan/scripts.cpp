// Kernels written in Lay, in every variant of their plans: the interpreter gives the bits of the
// reference. And the schedule that a plan prints is one that the planner takes back.
#include <catch2/catch.hpp>
#include <sstream>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/simt/bind_simt.h"
#include "tests/plan/script_calls.h"

namespace lay::test {

namespace {

const char* const kArrays = R"(
let X = random(f32, (70, 45))
let Y = random(f32, (70, 44))
let B = random(f32, (33, 45))
let D = random(f32, (36, 44))
let u = random(f32, 70)
let v = random(f32, 45)
)";

}  // namespace

TEST_CASE("kernels with a tile, random numbers: every variant gives the sums of the reference") {
  CHECK(messages(std::string(kArrays) + R"(
kernel mask<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(1,N)) -> C: f32 (M,N):(1,M) {
  C[m,n] = if n <= m and m < 50 then 2 * sum[k](A[m,k] * B[n,k]) else -1
}
kernel batched<M, N, K, L>(A: f32 (L,M,K):(M*K,K,1), B: f32 (N,K):(K,1)) -> C: f32 (L,M,N):(M*N,N,1) {
  C[l,m,n] = sum[k](A[l,m,k] * B[n,k])
}
kernel two<M, N, K>(A: f64 (M,K):(K,1), B: f64 (N,K):(K,1)) -> (C: f64 (M,N):(N,1), D: f64 (N,M):(M,1)) {
  let acc = sum[k](A[m,k] * B[n,k])
  C[m,n] = acc
  D[n,m] = max(acc, 0)
}
kernel half<M, N, K>(A: f16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: f16 (M,N):(N,1) {
  C[m,n] = sum[k](A[m,k] * B[n,k])
}
kernel update<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1), a: f32, b: f32) -> C: inout f32 (M,N):(N,1) {
  C[m,n] = a * sum[k](A[m,k] * B[n,k]) + b * C[m,n]
}
mask(X, B)
mask(Y, D)
batched(random(f32, (3,70,45)), B)
two(random(f64, (70,44)), random(f64, (36,44)))
half(X, B)
half(Y, D)
update(X, B, 2, 0.5, random(f32, (70,33)))
update(Y, D, 2, 0, random(f32, (70,36)))
)") == "");
}

TEST_CASE("kernels without a tile, random numbers") {
  CHECK(messages(std::string(kArrays) + R"(
kernel pointwise<M, N>(X: f32 (M,N):(N,1), Y: f32 (M,N):(1,M)) -> Z: f32 (M,N):(N,1) {
  Z[i,j] = X[i,j] * Y[i,j] + f32(i) - f32(j)
}
kernel transpose<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[i,j] = X[j,i] }
kernel gemv<M, K>(A: f32 (M,K):(K,1), x: f32 K:1) -> y: f32 M:1 { y[m] = sum[k](A[m,k] * x[k]) }
kernel sums<M, N>(X: f32 (M,N):(N,1)) -> (s: f32 M:1, t: f32 N:1) {
  s[i] = sum[j](X[i,j])
  t[j] = sum[i](X[i,j] * X[i,j])
}
kernel share<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (M,N):(N,1) { Y[i,j] = X[i,j] / (1 + sum[l](abs(X[i,l]))) }
kernel shift<M>(x: f32 M:1) -> y: f32 M:1 where M >= 2 { y[i] = if i > 0 then x[i-1] else 0 }
kernel convolution<N, K>(x: f32 (N+K-1):1, w: f32 K:1) -> y: f32 N:1 { y[i] = sum[k](x[i+k] * w[k]) }
kernel integers<M, N, K>(A: s8 (M,K):(K,1), B: s8 (N,K):(K,1)) -> C: s32 (M,N):(N,1) {
  C[m,n] = sum[k](A[m,k] * B[n,k])
}
kernel distance<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1)) -> C: f32 (M,N):(N,1) {
  C[m,n] = sum[k]((A[m,k] - B[n,k]) * (A[m,k] - B[n,k]))
}
kernel covariance<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1)) -> C: f32 (M,N):(N,1) {
  C[m,n] = sum[k](A[m,k] * B[n,k]) - sum[k](A[m,k]) * sum[k](B[n,k])
}
kernel running<M>(x: f32 M:1) -> y: f32 M:1 { y[i] = sum[j](if j <= i then x[j] else 0) }
pointwise(X, random(f32, (70, 45)))
transpose(X)
gemv(X, v)
sums(X)
share(X)
shift(u)
distance(X, B)
covariance(X, B)
running(u)
)") == "");
}

// Parts that do not divide the K tiles, more parts than K tiles, more parts than a thread has rows
// of accumulators; slices, rings, vectors along m, several outputs.
TEST_CASE("K is split over the blocks of a cluster") {
  struct Split {
    const char *a, *b, *c, *entries;
    int k;
  };
  for (const Split& split :
       {Split{"(K,1)", "(K,1)", "(N,1)", "tile = (32,32,16), groups = (1,1,2,1), cluster = (1,1,3)",
              72},
        Split{"(1,M)", "(1,N)", "(1,M)", "tile = (64,32,8), groups = (1,1,1,1), cluster = (1,1,8)",
              40},
        Split{"(1,M)", "(K,1)", "(N,1)", "tile = (32,32,16), groups = (1,1,1,1), cluster = (1,1,5)",
              20},
        Split{"(K,1)", "(1,N)", "(1,M)", "tile = (64,64,8), groups = (2,2,1,1), cluster = (1,1,3)",
              0},
        Split{"(K,1)", "(1,N)", "(N,1)",
              "tile = (64,64,8), groups = (2,2,1,1), stages = 3, cluster = (1,1,4)", 72},
        Split{"(1,M)", "(1,N)", "(N,1)",
              "tile = (64,64,16), groups = (2,2,1,1), stages = 4, cluster = (1,1,7)", 40}}) {
    for (const char* type : {"f32", "f64"}) {
      const std::string t = type, k = std::to_string(split.k), m = "40", n = "36";
      CAPTURE(split.entries, type, split.a, split.b, split.c);
      if (t == "f64" && std::string(split.entries).find("stages") != std::string::npos) continue;
      CHECK(messages("kernel f<M, N, K>(A: " + t + " (M,K):" + split.a + ", B: " + t +
                     " (N,K):" + split.b + ", v: " + t + " N) -> C: " + t + " (M,N):" + split.c +
                     " { C[m,n] = 2 * sum[k](A[m,k] * B[n,k]) + v[n] }\n" +
                     "schedule f for simt { lane_tile = (4,4,1), " + split.entries + " }\n" +
                     "f(random(" + t + ", (" + m + "," + k + ")), random(" + t + ", (" + n + "," +
                     k + ")), random(" + t + ", " + n + "))\n") == "");
    }
  }
  CHECK(messages(R"(
kernel two<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1)) -> (C: f32 (M,N):(N,1), D: f32 (N,M):(M,1)) {
  let acc = sum[k](A[m,k] * B[n,k])
  C[m,n] = acc
  D[n,m] = max(acc, 0)
}
schedule two for simt { tile = (32,32,8), groups = (1,1,1,1), cluster = (1,1,5) }
two(random(f32, (33,45)), random(f32, (35,45)))
)") == "");
}

TEST_CASE("a cluster on CUDA cores shares K alone, on GPUs that have clusters") {
  const auto problem = [](const std::string& cluster, const char* target) {
    sema::test::Script script(
        "kernel f<M, N, K>(A: f32 (M,K), B: f32 (N,K)) -> C: f32 (M,N) "
        "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\nschedule f for simt { tile = (64,64,8), cluster = " +
        cluster + " }\n");
    REQUIRE(script.messages == "");
    const auto plan = plan::make_plan(script.evaluator.kernels().back(), *find_target(target));
    return plan.problems.empty() ? std::string() : plan.problems[0].code;
  };
  CHECK(problem("(1,1)", "h200") == "");
  CHECK(problem("(1,1,8)", "h200") == "");
  CHECK(problem("(2,1)", "h200") == "schedule-entry");
  CHECK(problem("(1,1,9)", "h200") == "schedule-cluster");
  CHECK(problem("(1,1,2)", "a100") == "schedule-capability");
  CHECK(problem("(1,1)", "a100") == "");
}

// Without the number of the portfolio, which a schedule on its own does not need.
std::vector<std::string> lines_alone(const plan::Plan& plan, const plan::Variant& variant) {
  auto lines = plan::schedule_lines(plan, variant);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("  portfolio "); });
  return lines;
}

TEST_CASE("the printed plan is a script") {
  const std::string kernel =
      R"(kernel gemm<M, N, K, lda>(A: f32 (M,K):(lda,1), B: f32 (N,K):(1,N)) -> C: f32 (M,N):(N,1)
  where lda >= K
{
  C[m,n] = sum[k](A[m,k] * B[n,k])
}
)";
  sema::test::Script first(kernel);
  REQUIRE(first.messages == "");
  const auto made = plan::make_plan(first.evaluator.kernels().back());
  REQUIRE(made.problems.empty());
  for (const plan::Variant& variant : made.variants) {
    std::string pasted = kernel;
    for (const std::string& line : plan::schedule_lines(made, variant)) pasted += line + "\n";
    sema::test::Script second(pasted);
    CAPTURE(pasted);
    REQUIRE(second.messages == "");
    const auto again = plan::make_plan(second.evaluator.kernels().back());
    REQUIRE(again.problems.empty());
    const auto& follows = again.variants.front();
    CHECK(lines_alone(again, follows) == lines_alone(made, variant));
    const plan::SimtGemm how = *plan::simt_of(variant);
    const plan::SimtGemm then = *plan::simt_of(follows);
    CHECK(to_string(then.a.shared) == to_string(how.a.shared));
    CHECK(then.accumulators == how.accumulators);
    CHECK(then.order == how.order);
  }
}

}  // namespace lay::test
