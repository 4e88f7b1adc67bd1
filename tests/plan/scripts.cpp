// Kernels written in Lay, in every variant of their plans: the interpreter gives the bits of the
// reference. And the schedule that a plan prints is one that the planner takes back.
#include <catch2/catch.hpp>
#include <sstream>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
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

TEST_CASE("kernels with a tile, random numbers: every variant adds in the same order") {
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
    CHECK(plan::schedule_lines(again, follows) == plan::schedule_lines(made, variant));
    const auto& how = std::get<plan::SimtGemm>(variant.how);
    const auto& then = std::get<plan::SimtGemm>(follows.how);
    CHECK(to_string(then.a.shared) == to_string(how.a.shared));
    CHECK(then.accumulators == how.accumulators);
    CHECK(then.order == how.order);
  }
}

}  // namespace lay::test
