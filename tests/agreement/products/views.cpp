// Operands that lie in memory by views: every kernel of views.lay and drawn convolutions on
// Hopper's tensor cores, with all checks of the host interpreter, against the reference, bit for
// bit on small integers over outputs of NaN; and kernels that have no view.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <stdexcept>

#include "backend/plan/make.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/views/recognise_views.h"
#include "frontend/sema/evaluator.h"
#include "frontend/source/diagnostic.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/products/drawn_variants.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;

std::optional<plan::Sm90Gemm> with_view(const plan::Variant& variant) {
  const auto gemm = plan::sm90_of(variant);
  return gemm && (gemm->a.view || gemm->b.view) ? gemm : std::nullopt;
}

// Runs some of the variants that have views, each of another tile or cluster; returns what is wrong
// and counts them. All kernels here meet the conditions of im2col mode.
std::string trouble(const plan::Plan& plan, const sema::KernelCall& call, std::mt19937& random,
                    std::size_t most, int& count) {
  const auto kind_of = [](const plan::Variant& variant) -> std::optional<std::string> {
    const auto gemm = with_view(variant);
    if (!gemm) return std::nullopt;
    return (gemm->swap_ab ? "swapped" : "") + test::numbers_of_tile(*gemm);
  };
  return test::trouble_of_drawn(plan, call, random, most, count, kind_of);
}

// The kernel of a script.
sema::KernelPtr kernel_of(const std::string& text) {
  Sources sources;
  sema::Evaluator evaluator(sources, {});
  for (const sema::Outcome& outcome : evaluator.run("drawn.lay", text))
    if (!outcome.ok()) throw std::runtime_error(text + render(sources, outcome.diagnostics));
  return evaluator.kernels().at(0);
}

// A convolution of one to three dimensions with a drawn window, border, step and gap along each,
// any number of results along it, and the sum's indices in any order.
std::string drawn_convolution(std::mt19937& random) {
  const auto draw = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  const int dimensions = draw(1, 3);
  std::string x = "2,", at_x = "b,", w, at_w, y = "2,", at_y = "b,", inside;
  std::vector<std::string> summed{"c"};
  for (int d = 0; d < dimensions; ++d) {
    const int extent = draw(2, 9 - 2 * dimensions), taps = draw(2, 3), step = draw(1, 3),
              gap = draw(1, 2), border = draw(0, (taps - 1) * gap),
              results = draw(2, 8 - 2 * dimensions);
    const bool backwards = draw(0, 3) == 0;
    const std::string p = "p" + std::to_string(d), r = "r" + std::to_string(d),
                      place = std::to_string(step) + " * " + p + (backwards ? " - " : " + ") +
                              std::to_string(gap) + " * " + r +
                              (backwards ? " + " + std::to_string((taps - 1) * gap - border)
                                         : " - " + std::to_string(border));
    const std::string end = std::to_string(extent);
    x += end + ",";
    at_x += place + ",";
    y += std::to_string(results) + ",";
    at_y += p + ",";
    w += std::to_string(taps) + ",";
    at_w += r + ",";
    inside += (d > 0 ? " and " : "") + place + " >= 0 and " + place + " < " + end;
    summed.push_back(r);
  }
  std::shuffle(summed.begin(), summed.end(), random);
  std::string sum;
  for (const std::string& index : summed) sum += (sum.empty() ? "" : ",") + index;
  const bool last = draw(0, 1) == 0;
  const std::string weights = last ? "(" + w + "64,N)" : "(N," + w + "64)",
                    weight = last ? "[" + at_w + "c,n]" : "[n," + at_w + "c]";
  return "kernel drawn<N>(X: bf16 (" + x + "64), W: bf16 " + weights + ") -> Y: f32 (" + y +
         "N)\n{ Y[" + at_y + "n] = sum[" + sum + "]((if " + inside + " then X[" + at_x +
         "c] else 0) * W" + weight + ") }\n";
}

}  // namespace

TEST_CASE("views: kernels agree with the reference in tiles of every kind") {
  test::Kernels kernels("tests/agreement/products/views.lay");
  std::mt19937 random(20261126);
  for (const sema::KernelPtr& kernel : kernels.all()) {
    INFO(kernel->name);
    const plan::Plan plan = plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    REQUIRE(with_view(plan.variants.front()));
    int count = 0;
    for (const auto& [m, n] : {std::pair{1, 8}, {4, 24}, {6, 72}}) {
      const sema::KernelCall call = test::integer_call(kernel, {m, n, 1});
      CHECK(trouble(plan, call, random, 2, count) == "");
    }
    CHECK(count == 6);
  }
}

TEST_CASE("views: drawn convolutions agree with the reference") {
  constexpr int kernels = 12;
  std::mt19937 random(26 + Catch::rngSeed());
  int count = 0;
  for (int i = 0; i < kernels; ++i) {
    const std::string text = drawn_convolution(random);
    INFO(text);
    const sema::KernelPtr kernel = kernel_of(text);
    const plan::Plan plan = plan::make_plan(kernel);
    REQUIRE(plan.problems.empty());
    REQUIRE(with_view(plan.variants.front()));
    const sema::KernelCall call = test::integer_call(kernel, {1, 16, 1});
    CHECK(trouble(plan, call, random, 1, count) == "");
  }
  CHECK(count == kernels);
}

TEST_CASE("views: no view where memory says no, or where the kernel reads other numbers") {
  const auto is_viewed = [](const std::string& signature, const std::string& body) {
    const sema::KernelPtr kernel =
        kernel_of("kernel k<M, N>(" + signature + ")\n{ " + body + " }\n");
    const Facts facts = plan::facts_of(*kernel);
    return plan::recognise_viewed(kernel, facts).has_value();
  };
  const std::string of_rows = "X: f16 (2,M,64), W: f16 (N,3,64)) -> Y: f16 (2,M,N",
                    inside = "0 <= p + r - 1 and p + r - 1 < M", x = "X[b,p+r-1,c]";
  const auto convolved = [](const std::string& condition, const std::string& element,
                            const std::string& other = "0") {
    return "Y[b,p,n] = sum[r,c]((if " + condition + " then " + element + " else " + other +
           ") * W[n,r,c])";
  };
  CHECK(is_viewed(of_rows, convolved(inside, x)));
  // Zeros in the tensor too, other numbers than zero outside, another zero.
  CHECK(!is_viewed(of_rows, convolved(inside + " and p < 4", x)));
  CHECK(!is_viewed(of_rows, convolved("1 <= p + r - 1 and p + r - 1 < M", x)));
  CHECK(!is_viewed(of_rows, convolved(inside, x, "1")));
  CHECK(!is_viewed(of_rows, convolved(inside, x, "-0.0")));
  CHECK(!is_viewed(of_rows, convolved(inside, "2 * " + x)));
  // Channels that are not side by side, or more than a window.
  CHECK(!is_viewed("X: f16 (2,64,M), W: f16 (N,3,64)) -> Y: f16 (2,M,N",
                   convolved(inside, "X[b,c,p+r-1]")));
  CHECK(!is_viewed("X: f16 (2,M,64), W: f16 (N,64,3)) -> Y: f16 (2,M,N",
                   "Y[b,p,n] = sum[r,c]((if " + inside + " then " + x + " else 0) * W[n,c,r])"));
  CHECK(!is_viewed("X: f16 (2,M,66), W: f16 (N,3,64)) -> Y: f16 (2,M,N",
                   convolved(inside, "X[b,p+r-1,c+r]")));
  // A coordinate that wraps where p does not.
  CHECK(!is_viewed("X: f16 (2,M,64), W: f16 (N,3,64)) -> Y: f16 (2,M,N",
                   convolved("0 <= s8(p) + r - 1 and s8(p) + r - 1 < M", "X[b,s8(p)+r-1,c]")));
  // Steps that im2col mode does not take, products of indices, a window of both factors.
  CHECK(!is_viewed("X: f16 (2,9*M+3,64), W: f16 (N,3,64)) -> Y: f16 (2,M,N",
                   "Y[b,p,n] = sum[r,c](X[b,9*p+r,c] * W[n,r,c])"));
  CHECK(is_viewed("X: f16 (2,8*M+3,64), W: f16 (N,3,64)) -> Y: f16 (2,M,N",
                  "Y[b,p,n] = sum[r,c](X[b,8*p+r,c] * W[n,r,c])"));
  CHECK(!is_viewed("X: f16 (2,M*N,64), W: f16 (N,3,64)) -> Y: f16 (2,M,N",
                   "Y[b,p,n] = sum[r,c](X[b,p*n,c] * W[n,r,c])"));
  CHECK(!is_viewed("X: f16 (2,M+2,64), W: f16 (N+2,3,64)) -> Y: f16 (2,M,N",
                   "Y[b,p,n] = sum[r,c](X[b,p+r,c] * W[n+r,r,c])"));
  // One sum, of two tensors.
  CHECK(!is_viewed("A: f16 (M,64), B: f16 (N,64)) -> C: f16 (M,N",
                   "C[m,n] = sum[k](A[m,k] * B[n,k])"));
}
