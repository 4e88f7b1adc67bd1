// Kernel statements: what they become, what they guard, what they refuse, and what they compute.

#include <catch2/catch.hpp>

#include "frontend/sema/kernel/kernel_call.h"
#include "tests/language/script.h"

using namespace lay;
using namespace lay::sema;
using lay::sema::test::errors;
using lay::sema::test::Script;

namespace {

std::string guards_of(const std::string& text) {
  Script script(text);
  CHECK(script.messages == "");
  std::string all;
  for (const KernelPtr& kernel : script.evaluator.kernels()) {
    for (const Guard& guard : kernel->guards) all += (all.empty() ? "" : ", ") + guard.to_string();
  }
  return all;
}

KernelPtr kernel_of(const std::string& text) {
  Script script(text);
  CHECK(script.messages == "");
  REQUIRE(!script.evaluator.kernels().empty());
  return script.evaluator.kernels().back();
}

std::string in_kernel(const std::string& body) {
  return "kernel f<M, N>(A: f32 (M,N):(N,1), B: f32 (N,M):(M,1), s: f32) -> C: f32 (M,N):(N,1) "
         "{\n" +
         body + "\n}";
}

const char* kLinear =
    "kernel linear<M, N, K>(A: f32 (M,K):(K,1), W: f32 (N,K):(K,1), bias: f32 N:1) -> C: f32 "
    "(M,N):(N,1) {\n"
    "  let acc = sum[k](A[m,k] * W[n,k])\n"
    "  C[m,n] = relu(acc + bias[n])\n"
    "}\n";

}  // namespace

TEST_CASE("a linear layer has its dims, tensors and indices") {
  KernelPtr k = kernel_of(kLinear);
  CHECK(k->dims.size() == 3);
  CHECK(k->tensors.size() == 4);
  CHECK(k->tensors[3].access == Access::output);
  REQUIRE(k->indices.size() == 3);
  CHECK(k->indices[0].name == "m");
  CHECK(k->indices[2].summed);
  CHECK(k->indices[2].extent.to_string() == "K");
  CHECK(k->assignments.size() == 1);
  CHECK(guards_of(kLinear) == "");
}

TEST_CASE("operands of a node have smaller ids") {
  KernelPtr k = kernel_of(kLinear);
  for (std::size_t id = 0; id < k->nodes.size(); ++id) {
    const auto* apply = std::get_if<Apply>(&k->nodes[id].what);
    for (NodeId operand : apply ? apply->operands : std::vector<NodeId>{})
      CHECK(operand < static_cast<NodeId>(id));
  }
}

TEST_CASE("a linear layer computes the plain loops' numbers") {
  Script script(std::string(kLinear) +
                "let X = random(f32, (5,7), 1, -3, 4)\n"
                "let V = random(f32, (4,7), 2, -3, 4)\n"
                "let b = random(f32, (4,), 3, -3, 4)\n"
                "let Y = linear(X, V, b)\n"
                "save(\"x\", X)\nsave(\"v\", V)\nsave(\"b\", b)\nsave(\"y\", Y)");
  REQUIRE(script.messages == "");
  const Array &x = script.arrays["x"], &v = script.arrays["v"], &b = script.arrays["b"],
              &y = script.arrays["y"];
  for (std::int64_t m = 0; m < 5; ++m) {
    for (std::int64_t n = 0; n < 4; ++n) {
      double sum = b.real(n);
      for (std::int64_t k = 0; k < 7; ++k) sum += x.real(m * 7 + k) * v.real(n * 7 + k);
      CHECK(y.real(m * 4 + n) == std::max(sum, 0.0));
    }
  }
}

TEST_CASE("outputs are injective, or guarded, or refused") {
  CHECK(guards_of(
            "kernel f<M,N,ldc>(A: f32 (M,N):(N,1)) -> C: f32 (M,N):(ldc,1) { C[m,n] = A[m,n] }") ==
        "N <= ldc");
  CHECK(guards_of("kernel f<M,N,L>(A: f32 (M,N,L):(N,1,M*N)) -> C: f32 (M,N,L):(1,M,M*N) { "
                  "C[m,n,l] = A[m,n,l] }") == "");
  CHECK(guards_of("kernel f<M,N,ldc>(A: f32 (M,N):(N,1)) -> C: f32 (M,N):(ldc,1) where ldc >= N { "
                  "C[m,n] = A[m,n] }") == "N <= ldc");
  CHECK(errors("kernel f(A: f32 (4,4):(4,1)) -> C: f32 (4,4):(2,1) { C[m,n] = A[m,n] }") ==
        "not-injective");
  CHECK(errors("kernel f<M>(A: f32 (M,4):(4,1)) -> C: f32 (M,4):(0,1) { C[m,n] = A[m,n] }") ==
        "not-injective");
}

TEST_CASE("extents of an index are equal, guarded, or refused") {
  CHECK(guards_of("kernel f<M,K,L>(A: f32 (M,K):(K,1), B: f32 L:1) -> C: f32 M:1 { C[m] = "
                  "sum[k](A[m,k] * B[k]) }") == "K == L");
  CHECK(errors("kernel f<M>(A: f32 (M,64):(64,1), B: f32 128:1) -> C: f32 M:1 { C[m] = "
               "sum[k](A[m,k] * B[k]) }") == "extent-mismatch");
  CHECK(errors("kernel f<M>(A: f32 M:1) -> C: f32 M:1 { C[m] = sum[k](A[m]) }") == "index-extent");
}

TEST_CASE("a sum runs over an index of its own") {
  const std::string head = "kernel f<M,N>(A: f32 (M,N):(N,1)) -> ";
  CHECK(errors(head + "C: f32 M:1 { C[m] = sum[m](A[m,m]) }") == "duplicate-name");
  CHECK(errors(head + "C: f32 M:1 { C[m] = sum[k,k](A[m,k]) }") == "duplicate-name");
  CHECK(errors(head + "C: f32 M:1 { C[m] = sum[k](A[m,k] * sum[k](A[m,k])) }") == "duplicate-name");
  CHECK(errors(head + "C: f32 M:1 { C[m] = relu[k](A[m,k]) }") == "not-indexable");
  // Not an index of another output's left side, of a sum beside it, or of one that a def makes.
  Script script(
      "def square(X, m) = sum[k](X[m,k] * X[m,k])\n"
      "kernel f<M,N>(A: f32 (M,N):(N,1)) -> (R: f32 M:1, C: f32 N:1, S: f32 M:1) {\n"
      "  let all = sum[i](sum[j](A[i,j]))\n"
      "  R[i] = sum[j](A[i,j]) / all\n  C[j] = sum[i](A[i,j]) + sum[i](A[i,j])\n  S[i] = "
      "sum[k](square(A, i) + "
      "A[i,k])\n}\n"
      "let r = f(random(f32, (3,2), 1, 1, 5))\nsave(\"a\", random(f32, (3,2), 1, 1, 5))\n"
      "save(\"r\", r[0])\nsave(\"c\", r[1])\nsave(\"s\", r[2])");
  REQUIRE(script.messages == "");
  const Array& a = script.arrays["a"];
  double all = 0;
  for (std::int64_t i = 0; i < 6; ++i) all += a.real(i);
  for (std::int64_t i = 0; i < 3; ++i) {
    const double x = a.real(2 * i), y = a.real(2 * i + 1);
    CHECK(script.arrays["r"].real(i) == Approx((x + y) / all));
    CHECK(script.arrays["s"].real(i) == Approx(2 * (x * x + y * y) + x + y));
  }
  for (std::int64_t j = 0; j < 2; ++j) {
    CHECK(script.arrays["c"].real(j) == 2 * (a.real(j) + a.real(2 + j) + a.real(4 + j)));
  }
}

TEST_CASE("indices that are not bare stay inside, by proof, path or guard") {
  CHECK(errors("kernel f<M>(A: f32 M:1) -> C: f32 M:1 { C[m] = A[m - 1] }") == "bounds");
  CHECK(guards_of(
            "kernel f<M>(A: f32 M:1) -> C: f32 M:1 { C[m] = if m >= 1 then A[m - 1] else 0 }") ==
        "");
  CHECK(guards_of("kernel f<M,N>(A: f32 N:1) -> C: f32 M:1 { C[m] = A[2 * m + 1] }") == "2*M <= N");
  CHECK(guards_of("kernel f<M>(A: f32 M:1) -> C: f32 M:1 { C[m] = A[M - 1 - m] }") == "");
}

TEST_CASE("a mask is ordinary code") {
  Script script(
      "kernel mask<M,N>(A: f32 (M,N):(N,1)) -> C: f32 (M,N):(N,1) { C[m,n] = if n <= m then A[m,n] "
      "else 0 }\n"
      "let X = random(f32, (4,5), 1, 1, 10)\nsave(\"x\", X)\nsave(\"y\", mask(X))");
  REQUIRE(script.messages == "");
  for (std::int64_t i = 0; i < 20; ++i) {
    CHECK(script.arrays["y"].real(i) == (i % 5 <= i / 5 ? script.arrays["x"].real(i) : 0));
  }
}

TEST_CASE("integer arithmetic on indices is exact, remainders too") {
  Script script(
      "kernel f<M>(A: f32 M:1) -> (C: s32 M:1, D: f32 M:1) {\n"
      "  C[m] = (m // 3) * 100 + m % 3\n  D[m] = if m % 4 == 1 or m > 6 then A[m] else -1 }\n"
      "let r = f(random(f32, (9,), 1, 1, 10))\nsave(\"c\", r[0])\nsave(\"d\", r[1])");
  REQUIRE(script.messages == "");
  for (std::int64_t m = 0; m < 9; ++m) {
    CHECK(script.arrays["c"].integer(m) == m / 3 * 100 + m % 3);
    CHECK((script.arrays["d"].real(m) > 0) == (m % 4 == 1 || m > 6));
  }
}

TEST_CASE("beta == 0 does not read the output") {
  Script script(
      "kernel axpby<M>(X: f32 M:1, alpha: f32, beta: f32) -> Y: inout f32 M:1 { Y[m] = alpha * "
      "X[m] + beta * Y[m] }\n"
      "let nan = zeros(f32, (3,)) / 0.0\nlet X = random(f32, (3,), 1, 1, 10)\n"
      "save(\"x\", X)\nsave(\"y\", axpby(X, 2.0, 0, nan))\nsave(\"z\", axpby(X, 2, 0.5, X))");
  REQUIRE(script.messages == "");
  for (std::int64_t m = 0; m < 3; ++m) {
    CHECK(script.arrays["y"].real(m) == 2 * script.arrays["x"].real(m));
    CHECK(script.arrays["z"].real(m) == 2.5 * script.arrays["x"].real(m));
  }
}

TEST_CASE("leading dimensions and orders of memory do not change the numbers") {
  Script script(
      "kernel copy<M,N,lda,ldc>(A: f32 (M,N):(1,lda)) -> C: f32 (M,N):(ldc,1) where lda >= M { "
      "C[m,n] = A[m,n] }\n"
      "let X = random(f32, (3,4), 5)\nassert max(abs(copy(X) - X)) == 0");
  CHECK(script.messages == "");
}

TEST_CASE("pack and unpack are inverse, by the layout") {
  KernelPtr k =
      kernel_of("kernel copy<M,N>(A: f32 (M,N):(1,M)) -> C: f32 (M,N):(N,1) { C[m,n] = A[m,n] }");
  Binding sizes = solve_sizes(*k, {std::vector<std::int64_t>{2, 3}, std::nullopt}, {});
  Array a = Array::make(ElementType::f32, {2, 3});
  for (std::int64_t i = 0; i < 6; ++i) a.set_real(i, static_cast<double>(i));
  std::vector<std::byte> memory = pack(k->tensors[0], sizes, a);
  const auto* floats = reinterpret_cast<const float*>(memory.data());
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 3; ++n) CHECK(floats[m + 2 * n] == static_cast<float>(m * 3 + n));
  }
  Array back = unpack(k->tensors[0], sizes, memory);
  for (std::int64_t i = 0; i < 6; ++i) CHECK(back.real(i) == a.real(i));
}

TEST_CASE("elements of an array that share a place have one value") {
  const std::string add =
      "kernel add<M,N>(A: f32 (M,N):(N,1), b: f32 (M,N):(0,1)) -> C: f32 (M,N):(N,1) { C[m,n] = "
      "A[m,n] + b[m,n] }\n"
      "let X = random(f32, (2,3))\n";
  CHECK(errors(add + "add(X, X)") == "shared-place");
  CHECK(errors(add + "reference(add, X, X)") == "shared-place");
  CHECK(errors(add + "assert max(abs(add(X, zeros(f32, (2,3))) - X)) == 0") == "");
  CHECK(errors("kernel f<N>(a: f32 (N,2):(1,1)) -> C: f32 N:1 { C[n] = a[n,0] }\nf(random(f32, "
               "(3,2)))") == "shared-place");
}

TEST_CASE("K = 0 gives 0, an empty output is no error") {
  Script script(
      std::string(kLinear) +
      "let Y = linear(zeros(f32, (2,0)), zeros(f32, (3,0)), zeros(f32, 3))\nassert max(abs(Y)) == "
      "0\n"
      "let Z = linear(zeros(f32, (0,4)), zeros(f32, (3,4)), zeros(f32, 3))\nassert size(Z) == 0");
  CHECK(script.messages == "");
}

TEST_CASE("calls are checked against shapes, types and guards") {
  std::string linear = kLinear;
  CHECK(errors(linear + "linear(zeros(f32, (2,3)), zeros(f32, (4,5)), zeros(f32, 4))") ==
        "shape-mismatch");
  CHECK(errors(linear + "linear(zeros(f32, (2,3)), zeros(f32, (4,3)))") == "argument-count");
  CHECK(errors(linear + "linear(zeros(f64, (2,3)), zeros(f32, (4,3)), zeros(f32, 4))") ==
        "argument-kind");
  CHECK(errors(linear + "linear(zeros(f32, (2,3)), zeros(f32, (4,3)), bais = zeros(f32, 4))") ==
        "argument-name");
  CHECK(errors(linear + "linear(zeros(f32, (2,3)), zeros(f32, (4,3)), 7)") == "argument-kind");
  CHECK(errors("kernel f<M>(A: f32 M:1) -> C: f32 M:1 where M % 4 == 0 { C[m] = A[m] "
               "}\nf(zeros(f32, 6))") == "guard");
  CHECK(
      errors(
          "kernel f<M,Z>(A: f32 M:1) -> C: f32 (M,Z):(Z,1) { C[m,z] = A[m] }\nf(zeros(f32, 6))") ==
      "unknown-size");
}

TEST_CASE("a parameter with a shape alone is row-major") {
  const auto layouts = [](const std::string& parameter) {
    const KernelPtr kernel = kernel_of("kernel f<B,M,K>(X: " + parameter +
                                       ") -> Y: f16 (B,M,K) { Y[b,m,k] = X[b,m,k] }");
    return kernel->tensors.front().layout.to_string() + " " +
           kernel->tensors.back().layout.to_string();
  };
  CHECK(layouts("f16 (B,M,K)") == layouts("f16 (B,M,K):(M*K,K,1)"));
  CHECK(layouts("f16 (B,M,K)") != layouts("f16 layout((B,M,K))"));
  CHECK(kernel_of("kernel f<N>(x: f32 N) -> y: f32 N { y[n] = x[n] }")
            ->tensors.front()
            .layout.to_string() == "N:1");
}

TEST_CASE("type parameters follow the arrays") {
  std::string text = "kernel twice<T: type, M>(A: T M:1) -> C: T M:1 { C[m] = A[m] + A[m] }\n";
  Script script(text +
                "print element_type(twice(zeros(f64, 3))), element_type(twice(zeros(s32, 3)))");
  CHECK(script.printed == "f64 s32\n");
  CHECK(script.messages == "");
}

TEST_CASE("a kernel's dims are its own: only its where reaches the guards") {
  const std::string assumed = "dim K\nassume K % 8 == 0\n";
  CHECK(
      guards_of(assumed + "kernel f<K>(A: f32 K:1) -> C: f32 K:1 where K >= 16 { C[k] = A[k] }") ==
      "16 <= K");
  const std::string copied = "kernel f<K>(A: f32 K:1) -> C: f32 K:1 { C[k] = A[k] }\n";
  Script called(assumed + copied + "print f(zeros(f32, 3))");
  CHECK(called.messages == "");
  CHECK(called.printed == "f32 (3,) [0.0, 0.0, 0.0]\n");
  CHECK_THAT(
      Script("dim K\nlet L = K:1\nkernel f<K>(A: f32 L) -> C: f32 K:1 { C[k] = A[k] }").messages,
      Catch::Contains("the K of kernel f is another size"));
}

TEST_CASE("mistakes in a kernel are named") {
  CHECK(errors(in_kernel("D[m,n] = A[m,n]")) == "unknown-name");
  CHECK(errors(in_kernel("A[m,n] = 1")) == "input-assigned");
  CHECK(errors(in_kernel("C[m,m] = 1")) == "left-index");
  CHECK(errors(in_kernel("C[m,n+1] = 1")) == "left-index");
  CHECK(errors(in_kernel("C[m] = 1")) == "coordinate-rank");
  CHECK(errors(in_kernel("C[m,n] = A[m]")) == "coordinate-rank");
  CHECK(errors(in_kernel("C[m,n] = A[m,j]")) == "unknown-name");
  CHECK(errors(in_kernel("C[m,n] = C[m,n] + 1")) == "output-read");
  CHECK(errors(in_kernel("C[m,n] = 1\nC[m,n] = 2")) == "output-twice");
  CHECK(errors(in_kernel("let x = 1")) == "output-unassigned");
  CHECK(errors(in_kernel("C[m,n] = m < n")) == "operand-kind");
  CHECK(errors(in_kernel("C[s,n] = 1")) == "duplicate-name");
  CHECK(errors("kernel f<M>(A: f99 M:1) -> C: f32 M:1 { C[m] = 1 }") == "unknown-name");
  CHECK(errors("kernel f<M>(A: f32 M:1@0) -> C: f32 M:1 { C[m] = 1 }") == "parameter-layout");
  CHECK(errors("kernel f<M>(A: f32 \"M\") -> C: f32 M:1 { C[m] = 1 }") == "parameter-layout");
  CHECK(errors("kernel f<M>(A: f32 M:(-1)) -> C: f32 M:1 { C[m] = 1 }") == "negative-stride");
  CHECK(errors("dim N\nkernel f<M>(A: f32 (M,N):(N,1)) -> C: f32 M:1 { C[m] = 1 }") ==
        "dim-not-listed");
  CHECK(errors("kernel f<M>(A: f32 M:1) -> C: inout f32 M:1 { C[m] = C[M-1-m] }") ==
        "inout-elsewhere");
  CHECK(errors("print sum[k](1)") == "kernel-only");
}

TEST_CASE("schedules are evaluated and kept with their kernel") {
  KernelPtr k =
      kernel_of(std::string(kLinear) +
                "schedule linear for simt when M >= 256 and K % 8 == 0 {\n"
                "  tile = (128, 128, 8)\n  lanes = row_major_interleaved((4,8), 2)\n"
                "  smem A = (128,8):(1,132)\n"
                "  rasterization = (8, tiles_n, ceil_div(tiles_m, 8)) : (1@0, 1@1, 8@0)\n}");
  REQUIRE(k->schedules.size() == 1);
  const Schedule& s = k->schedules[0];
  CHECK(s.target == "simt");
  CHECK(s.when.size() == 2);
  REQUIRE(s.entries.size() == 4);
  CHECK(std::get<Tuple>(s.entries[0].value).to_string() == "(128,128,8)");
  CHECK(std::get<Layout>(s.entries[1].value).to_string() == "(2,8,2):(1@0,1@1,2@0)");
  CHECK(s.entries[2].argument == "A");
  CHECK(std::get<Layout>(s.entries[3].value).to_string() ==
        "(8,ceil_div(N,128),ceil_div(M,1024)):(1@0,1@1,8@0)");
  CHECK(errors("schedule nothing for simt { tile = (1,1,1) }") == "unknown-kernel");
  CHECK(errors(std::string(kLinear) + "schedule linear for simt { smem Q = (1,1):(1,1) }") ==
        "unknown-name");
}

TEST_CASE("checking does not run") {
  Script script(std::string(kLinear) +
                    "let X = load(\"nothing.npy\")\nlet Y = linear(X, X, X)\nprint mean(Y)\nassert "
                    "size(Y) > 3",
                Mode::check);
  CHECK(script.messages == "");
  CHECK(script.printed == "");
  CHECK(script.evaluator.kernel_calls() == 1);
}

TEST_CASE("an inout tensor is read only where it is written, by any output") {
  std::string head =
      "kernel f<M,N>(A: f32 (M,N):(N,1)) -> (C: inout f32 (M,N):(N,1), D: f32 M:1) {\n  C[m,n] = "
      "C[m,n] + A[m,n]\n";
  CHECK(errors(head + "  D[m] = sum[j](C[m,j])\n}") == "inout-elsewhere");
}

TEST_CASE("both sides of `and` are computed in a kernel") {
  CHECK(errors("kernel f<M>(A: f32 M:1) -> C: f32 M:1 { C[m] = if m >= 1 and A[m - 1] > 0 then 1 "
               "else 0 }") == "bounds");
  CHECK(errors("kernel f<M>(A: f32 M:1) -> C: f32 M:1 {\n"
               "  C[m] = if m >= 1 then (if A[m - 1] > 0 then 1 else 0) else 0 }") == "");
}

TEST_CASE("a size is never negative") {
  KernelPtr k = kernel_of("kernel f<M,Z>(A: f32 M:1) -> C: f32 (M,Z):(Z,1) { C[m,z] = A[m] }");
  CHECK_THROWS_AS(solve_sizes(*k, {std::vector<std::int64_t>{3}, std::nullopt}, {{"Z", -5}}),
                  Refusal);
  CHECK(solve_sizes(*k, {std::vector<std::int64_t>{3}, std::nullopt}, {{"Z", 5}}).size() == 2);
}

TEST_CASE("every mistake in a kernel is reported, none twice") {
  CHECK(errors(
            in_kernel("let a = A[m]\nlet b = a + 1\nlet c = nothing\nC[m,n] = b + c + A[m,n,n]")) ==
        "coordinate-rank unknown-name coordinate-rank");
  CHECK(errors(in_kernel("let a = A[m]\nC[m,n] = if m < n then a else sum[k](a * B[k,m])")) ==
        "coordinate-rank");
}

TEST_CASE("a check finds arguments of the wrong kind") {
  std::string text = std::string(kLinear) + "let X = load(\"x\")\nlet Y = linear(X, 8:1, X)";
  CHECK(Script(text, Mode::check).errors == "argument-kind");
}

TEST_CASE("a sum in another type multiplies in that type") {
  KernelPtr k =
      kernel_of("kernel f<K>(A: f32 K:1) -> C: f64 1:1 { C[i] = sum[k : f64](A[k] * A[k]) }");
  Array a = Array::make(ElementType::f32, {1});
  a.set_real(0, 1 + 0x1p-20);
  KernelCall call{k,
                  solve_sizes(*k, {std::vector<std::int64_t>{1}, std::nullopt}, {}),
                  {a, Array::make(ElementType::f64, {1})},
                  {}};
  CHECK(run_reference(call).outputs[0].real(0) == (1 + 0x1p-20) * (1 + 0x1p-20));
  for (const Node& node : k->nodes) {
    if (const auto* apply = std::get_if<Apply>(&node.what);
        apply && apply->function == ElementFunction::mul) {
      bool used = false;
      for (const Node& other : k->nodes) {
        const auto* sum = std::get_if<Reduce>(&other.what);
        used = used || (sum && &k->nodes[static_cast<std::size_t>(sum->body)] == &node);
      }
      CHECK((!used || node.type == ElementType::f64));
    }
  }
}
