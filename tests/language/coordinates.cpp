// Coordinates that are computed or read from memory: what is proved of them, what is guarded, what
// is refused, and what they read.

#include <catch2/catch.hpp>

#include "tests/language/script.h"

using namespace lay;
using namespace lay::sema;
using lay::sema::test::errors;
using lay::sema::test::Script;

namespace {

// The guards of a kernel, without those of its `where`.
std::string guards_of(const std::string& kernel) {
  Script script(kernel);
  INFO(kernel);
  CHECK(script.messages == "");
  std::string all;
  if (script.evaluator.kernels().empty()) return "no kernel";
  for (const Guard& guard : script.evaluator.kernels().back()->guards) {
    if (guard.origin != "where") all += (all.empty() ? "" : ", ") + guard.to_string();
  }
  return all;
}

}  // namespace

TEST_CASE("coordinates that are proved to lie inside need no guard") {
  for (const char* kernel : {
           // Groups: of a scale along k, of heads.
           "kernel f<M, K>(A: f32 (M,K), S: f32 (M,ceil_div(K,128))) -> C: f32 M "
           "{ C[m] = sum[k](A[m,k] * S[m,k//128]) }",
           "kernel f<M, K>(A: f32 (M,K), S: f32 (M,K/128)) -> C: f32 M where K % 128 == 0 "
           "{ C[m] = sum[k](A[m,k] * S[m,k//128]) }",
           "kernel f<H, G, D>(Q: f32 (H,D), K: f32 (H/G,D)) -> C: f32 H where H % G == 0 "
           "{ C[h] = sum[d](Q[h,d] * K[h//G,d]) }",
           "kernel f<H, G, D>(Q: f32 (H*G,D), K: f32 (H,D)) -> C: f32 (H*G) "
           "{ C[h] = sum[d](Q[h,d] * K[h//G,d]) }",
           // Windows, reversals, halves and pairs.
           "kernel f<N, R>(X: f32 N, W: f32 R) -> Y: f32 N-R+1 where N >= R "
           "{ Y[p] = sum[r](X[p+r] * W[r]) }",
           "kernel f<N>(X: f32 N) -> Y: f32 N { Y[n] = X[N-1-n] }",
           "kernel f<N>(X: f32 (2*N)) -> Y: f32 N { Y[n] = X[2*n] * X[2*n+1] }",
           "kernel f<N, D>(X: f32 (N,D)) -> Y: f32 (N,D) where D % 2 == 0 "
           "{ Y[n,d] = if d < D/2 then -X[n,d+D/2] else X[n,d-D/2] }",
           "kernel f<N, D>(X: f32 (N,D)) -> Y: f32 (N,D) where D % 2 == 0 "
           "{ Y[n,d] = if d % 2 == 0 then -X[n,d+1] else X[n,d-1] }",
           // Selected by `if`.
           "kernel f<N, R>(X: f32 N, W: f32 R) -> Y: f32 N { Y[p] = sum[r]("
           "if 0 <= p + r - R//2 and p + r - R//2 < N then X[p + r - R//2] * W[r] else 0) }",
       })
    CHECK(guards_of(kernel) == "");
}

TEST_CASE("coordinates that the sizes decide are guarded") {
  CHECK(guards_of("kernel f<N, P, R>(X: f32 N, W: f32 R) -> Y: f32 P "
                  "{ Y[p] = sum[r](X[2*p+r] * W[r]) }") == "2*P + R - 2 <= N");
}

TEST_CASE("a convolution with stride and padding reads what plain loops read") {
  Script script(
      "kernel conv<H, W, C, F, R, S>(X: f32 (H,W,C), K: f32 (F,R,S,C)) "
      "-> Y: f32 ((H+1)//2,(W+1)//2,F) {\n"
      "  Y[p,q,f] = sum[r,s,c](\n"
      "    if 1 <= 2*p+r and 2*p+r <= H and 1 <= 2*q+s and 2*q+s <= W\n"
      "    then X[2*p+r-1,2*q+s-1,c] * K[f,r,s,c] else 0)\n"
      "}\n"
      "let X = random(f32, (5,6,2), 1, -3, 4)\nlet K = random(f32, (3,3,2,2), 2, -3, 4)\n"
      "save(\"x\", X)\nsave(\"k\", K)\nsave(\"y\", conv(X, K))");
  REQUIRE(script.messages == "");
  const Array &x = script.arrays["x"], &k = script.arrays["k"], &y = script.arrays["y"];
  for (std::int64_t p = 0; p < 3; ++p)
    for (std::int64_t q = 0; q < 3; ++q)
      for (std::int64_t f = 0; f < 3; ++f) {
        double total = 0;
        for (std::int64_t r = 0; r < 3; ++r)
          for (std::int64_t s = 0; s < 2; ++s)
            for (std::int64_t c = 0; c < 2; ++c) {
              const std::int64_t h = 2 * p + r - 1, w = 2 * q + s - 1;
              if (h < 0 || h >= 5 || w < 0 || w >= 6) continue;
              total += x.real((h * 6 + w) * 2 + c) * k.real(((f * 3 + r) * 2 + s) * 2 + c);
            }
        CHECK(y.real((p * 3 + q) * 3 + f) == total);
      }
}

TEST_CASE("a coordinate may be read from a tensor of integers") {
  const std::string kernel =
      "kernel rows<T, V, D>(t: s32 T, E: f32 (V,D)) -> Y: f32 (T,D) { Y[i,d] = E[t[i],d] }\n"
      "let E = random(f32, (4,3), 1, -9, 9)\nsave(\"e\", E)\n";
  Script script(kernel +
                "let t = random(s32, 5, 3, 0, 4)\nsave(\"t\", t)\nsave(\"y\", rows(t, E))");
  REQUIRE(script.messages == "");
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t d = 0; d < 3; ++d)
      CHECK(script.arrays["y"].real(i * 3 + d) ==
            script.arrays["e"].real(script.arrays["t"].integer(i) * 3 + d));
  const Script outside(kernel + "let Y = rows(zeros(s32, (2,)) + 4, E)");
  CHECK(outside.errors == "bounds");
  CHECK(outside.messages.find("E is read at 4 in mode 0 of 4 elements") != std::string::npos);
  CHECK(errors(kernel + "let Y = rows(zeros(s32, (2,)) - 1, E)") == "bounds");
}

TEST_CASE("a coordinate from memory may be computed with, and be under a reduction") {
  Script script(
      "kernel grouped<T, E, K>(X: f32 (T,K), expert: u8 T, W: f32 (E,K)) -> Y: f32 T\n"
      "{ Y[t] = sum[k](X[t,k] * W[(expert[t] + 1) % 3,k]) }\n"
      "let X = random(f32, (4,5), 1, -3, 4)\nlet W = random(f32, (3,5), 2, -3, 4)\n"
      "let e = random(u8, 4, 3, 0, 3)\n"
      "save(\"x\", X)\nsave(\"w\", W)\nsave(\"e\", e)\nsave(\"y\", grouped(X, e, W))");
  REQUIRE(script.messages == "");
  const Array &x = script.arrays["x"], &w = script.arrays["w"];
  for (std::int64_t t = 0; t < 4; ++t) {
    double total = 0;
    const std::int64_t e = (script.arrays["e"].integer(t) + 1) % 3;
    for (std::int64_t k = 0; k < 5; ++k) total += x.real(t * 5 + k) * w.real(e * 5 + k);
    CHECK(script.arrays["y"].real(t) == total);
  }
}

TEST_CASE("what coordinates refuse") {
  const auto in = [](const std::string& value) {
    return errors("kernel f<M, N>(X: f32 (M,N), t: f32 M, i: s32 M) -> Y: f32 M { Y[m] = " + value +
                  " }");
  };
  CHECK(in("X[m,t[m]]") == "operand-kind");
  CHECK(in("X[m,i[m] > 0]") == "operand-kind");
  CHECK(in("X[m,i[m]]") == "");
  CHECK(in("X[m,m+1]") == "");  // guarded
  CHECK(in("X[m+1,0]") == "bounds");
  CHECK(in("X[m,0.5]") == "operand-kind");
}

TEST_CASE("integers from memory are divided as indices are: rounded down, and not by 0") {
  const std::string f = "kernel f<M>(t: s32 M, u: s32 M) -> Y: s32 M { Y[m] = t[m] // u[m] }\n";
  CHECK(test::run(f + "let t = random(s32, 4, 1, 1, 9)\nprint f(t, t)") ==
        "s32 (4,) [1, 1, 1, 1]\n");
  const Script by_zero(f + "let t = random(s32, 4, 1, 1, 9)\nprint f(t, 0 * t)");
  CHECK(by_zero.errors == "division-by-zero");
  CHECK(by_zero.messages.find("an integer is divided by 0 at m = 0") != std::string::npos);
  CHECK(
      test::run("kernel g<M>(t: s32 M) -> Y: s32 M { Y[m] = if t[m] != 0 then 7 % t[m] else -1 }\n"
                "let t = random(s32, 3, 1, 3, 4)\nprint g(t), g(0 * t)") ==
      "s32 (3,) [1, 1, 1] s32 (3,) [-1, -1, -1]\n");
  const Script literal("kernel f<M>(t: s32 M) -> Y: s32 M { Y[m] = t[m] % 0 }");
  CHECK(literal.errors == "division-by-zero");
  for (const char* sign : {"//", "%"}) {
    const Script real("kernel f<M>(t: f32 M) -> Y: f32 M { Y[m] = t[m] " + std::string(sign) +
                      " 2 }");
    CHECK(real.errors == "operand-kind");
    CHECK(real.messages.find("takes integers in a kernel") != std::string::npos);
    CHECK(real.messages.find("floor(x / y)") != std::string::npos);
  }
}
