// Reductions by name, intermediates with indices, and defs over indices: what they compute, against
// plain loops, and what they refuse.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "frontend/sema/kernel/kernel_print.h"
#include "tests/language/script.h"

using namespace lay;
using namespace lay::sema;
using lay::sema::test::errors;
using lay::sema::test::Script;

namespace {

using Row = std::vector<double>;

const char* kInput = "let X = random(f32, (5,7), 3, -9, 9)\nsave(\"x\", X)\n";

// The rows of X and the result of a kernel of X that is called f.
struct Run {
  std::vector<Row> rows;
  Array y;
};

Run run_rows(const std::string& kernel) {
  Script script(kernel + "\n" + kInput + "save(\"y\", f(X))");
  INFO(kernel);
  REQUIRE(script.messages == "");
  const Array& x = script.arrays["x"];
  Run run{std::vector<Row>(static_cast<std::size_t>(x.shape[0])), script.arrays["y"]};
  for (std::int64_t i = 0; i < x.size(); ++i)
    run.rows[static_cast<std::size_t>(i / x.shape[1])].push_back(x.real(i));
  return run;
}

double at(const Array& array, std::int64_t i) {
  if (is_float(array.element)) return array.real(i);
  return static_cast<double>(array.integer(i));
}

std::string over_rows(const std::string& type, const std::string& value) {
  return "kernel f<M, N>(X: f32 (M,N)) -> Y: " + type + " M { Y[m] = " + value + " }";
}

std::string errors_in(const std::string& body, const std::string& parameters = "X: f32 (M,N)",
                      const std::string& output = "Y: f32 (M,N)") {
  return errors("kernel f<M, N>(" + parameters + ") -> " + output + " {\n" + body + "\n}");
}

std::string printed(const std::string& text) {
  Script script(text);
  CHECK(script.messages == "");
  REQUIRE(!script.evaluator.kernels().empty());
  return print(*script.evaluator.kernels().back());
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (auto i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("each reduction joins the values of its index") {
  struct Reduction {
    std::string type, value;
    std::function<double(const Row&)> of;
  };
  const auto best = [](const Row& row) { return std::max_element(row.begin(), row.end()); };
  const auto least = [](const Row& row) { return std::min_element(row.begin(), row.end()); };
  const std::vector<Reduction> reductions = {
      {"f32", "sum[n](X[m,n])",
       [](const Row& row) {
         double total = 0;
         for (const double x : row) total += x;
         return total;
       }},
      {"f32", "prod[n](X[m,n])",
       [](const Row& row) {
         double total = 1;
         for (const double x : row) total *= x;
         return total;
       }},
      {"f32", "max[n](X[m,n])", [&](const Row& row) { return *best(row); }},
      {"f32", "min[n](X[m,n])", [&](const Row& row) { return *least(row); }},
      {"s32", "argmax[n](X[m,n])",
       [&](const Row& row) { return static_cast<double>(best(row) - row.begin()); }},
      {"s32", "argmin[n](X[m,n])",
       [&](const Row& row) { return static_cast<double>(least(row) - row.begin()); }},
      {"f32", "if any[n](X[m,n] > 7) then 1 else 0",
       [](const Row& row) {
         return std::any_of(row.begin(), row.end(), [](double x) { return x > 7; });
       }},
      {"f32", "if all[n](X[m,n] > -9) then 1 else 0",
       [](const Row& row) {
         return std::all_of(row.begin(), row.end(), [](double x) { return x > -9; });
       }},
  };
  for (const Reduction& reduction : reductions) {
    const Run run = run_rows(over_rows(reduction.type, reduction.value));
    for (std::size_t m = 0; m < run.rows.size(); ++m)
      CHECK(at(run.y, static_cast<std::int64_t>(m)) == reduction.of(run.rows[m]));
  }
}

TEST_CASE("a reduction runs over several indices") {
  const Run run = run_rows("kernel f<M, N>(X: f32 (M,N)) -> Y: f32 1 { Y[i] = max[m,n](X[m,n]) }");
  double greatest = -1e9;
  for (const Row& row : run.rows)
    for (const double x : row) greatest = std::max(greatest, x);
  CHECK(run.y.real(0) == greatest);
}

TEST_CASE("the first of equal extremes is the position") {
  const std::string kernel = over_rows("s32", "argmax[n](min(X[m,n], 0))");
  const Run run = run_rows(kernel);
  for (std::size_t m = 0; m < run.rows.size(); ++m) {
    Row cut = run.rows[m];
    for (double& x : cut) x = std::min(x, 0.0);
    CHECK(run.y.integer(static_cast<std::int64_t>(m)) ==
          std::max_element(cut.begin(), cut.end()) - cut.begin());
  }
}

TEST_CASE("a maximum with a NaN is NaN, and its position is that of the first NaN") {
  const std::string with_nan = "if n == 2 or n == 4 then nan else X[m,n]";
  CHECK(std::isnan(run_rows(over_rows("f32", "max[n](" + with_nan + ")")).y.real(0)));
  CHECK(std::isnan(run_rows(over_rows("f32", "min[n](" + with_nan + ")")).y.real(0)));
  CHECK(run_rows(over_rows("s32", "argmax[n](" + with_nan + ")")).y.integer(0) == 2);
  CHECK(run_rows(over_rows("s32", "argmin[n](" + with_nan + ")")).y.integer(0) == 2);
}

TEST_CASE("over no values a reduction is its identity") {
  const auto none = [](const std::string& type, const std::string& value) {
    Script script("kernel f<M, N>(X: " + type + " (M,N)) -> Y: f64 M { Y[m] = f64(" + value +
                  ") }\nsave(\"y\", f(zeros(" + type + ", (1,0))))");
    REQUIRE(script.messages == "");
    return script.arrays["y"].real(0);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(none("f32", "sum[n](X[m,n])") == 0);
  CHECK(none("f32", "prod[n](X[m,n])") == 1);
  CHECK(none("f32", "max[n](X[m,n])") == -infinity);
  CHECK(none("f32", "min[n](X[m,n])") == infinity);
  CHECK(none("s8", "max[n](X[m,n])") == std::numeric_limits<std::int32_t>::min());
  CHECK(none("f32", "if any[n](X[m,n] > 0) then 1 else 0") == 0);
  CHECK(none("f32", "if all[n](X[m,n] > 0) then 1 else 0") == 1);
  CHECK(errors(over_rows("s32", "argmax[n](X[m,n])") + "\nlet Y = f(zeros(f32, (1,0)))") ==
        "guard");
}

TEST_CASE("a reduction has the type of the accumulator, and argmax s32") {
  const std::string text = printed(
      "kernel f<N>(X: bf16 N, Q: s8 N) -> (Y: f32 1, Z: s32 1) {\n"
      "  Y[i] = max[n](X[n]) + prod[n : f64](X[n])\n  Z[i] = min[n](Q[n]) + argmin[n](X[n])\n}");
  CHECK(text.find(": f32 = max[n]") != std::string::npos);
  CHECK(text.find(": f64 = prod[n]") != std::string::npos);
  CHECK(text.find(": s32 = min[n]") != std::string::npos);
  CHECK(text.find(": s32 = argmin[n]") != std::string::npos);
}

TEST_CASE("what a reduction refuses") {
  CHECK(errors_in("Y[m,n] = max[n](X[m,n])") == "duplicate-name");
  CHECK(errors_in("Y[m,n] = sum[k](max[k](X[m,k]))") == "duplicate-name");
  CHECK(errors_in("Y[m,n] = max[k,k](X[m,k])") == "duplicate-name");
  CHECK(errors_in("Y[m,n] = any[k](X[m,k])") == "operand-kind");
  CHECK(errors_in("Y[m,n] = max[k](X[m,k] > 0)") == "operand-kind");
  CHECK(errors_in("Y[m,n] = any[k : f32](X[m,k] > 0)") == "reduction-form");
  CHECK(errors_in("Y[m,n] = max[1](X[m,n])") == "reduction-form");
  CHECK(errors_in("Y[m,n] = max[k](X[m,k], 2)") == "reduction-form");
  CHECK(errors_in("Y[m,n] = argmax[k,l](X[k,l])") == "unsupported");
  CHECK(errors_in("Y[m,n] = mux[k](X[m,k])") == "unknown-name");
  CHECK(errors_in("Y[m,n] = relu[k](X[m,k])") == "not-indexable");
  CHECK(errors("let y = max[k](3)") == "kernel-only");
}

TEST_CASE("an intermediate has a value for each coordinate") {
  const Run run = run_rows(
      "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) {\n"
      "  let top[m] = max[n](X[m,n])\n"
      "  let total[m] = sum[n](exp(X[m,n] - top[m]))\n"
      "  Y[m,n] = exp(X[m,n] - top[m]) / total[m]\n"
      "}");
  for (std::size_t m = 0; m < run.rows.size(); ++m) {
    const Row& row = run.rows[m];
    const double top = *std::max_element(row.begin(), row.end());
    double total = 0;
    for (const double x : row) total += std::exp(x - top);
    for (std::size_t n = 0; n < row.size(); ++n)
      CHECK(run.y.real(static_cast<std::int64_t>(m * row.size() + n)) ==
            Approx(std::exp(row[n] - top) / total).epsilon(1e-5));
  }
}

TEST_CASE("an intermediate is used at other indices, within its extents") {
  const Run run = run_rows(
      "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 M {\n"
      "  let s[m] = sum[n](X[m,n])\n"
      "  Y[i] = s[i] + (if i >= 1 then s[i-1] else 0) + sum[m](s[m])\n"
      "}");
  std::vector<double> s;
  for (const Row& row : run.rows) {
    s.push_back(0);
    for (const double x : row) s.back() += x;
  }
  double all = 0;
  for (const double x : s) all += x;
  for (std::size_t i = 0; i < s.size(); ++i)
    CHECK(run.y.real(static_cast<std::int64_t>(i)) == s[i] + (i >= 1 ? s[i - 1] : 0) + all);
}

TEST_CASE("an index that is put in is not captured by a reduction inside") {
  // The line sums of a square: s[n] under a maximum over n, whose copy s binds as well.
  Script script(
      "kernel f<N>(X: f32 (N,N)) -> Y: f32 (N,N) {\n"
      "  let s[m] = logsumexp[n](X[m,n])\n"
      "  Y[m,n] = softmax[n](s[n] + X[m,n])\n"
      "}\n"
      "let X = random(f32, (6,6), 3, -3, 3)\nsave(\"x\", X)\nsave(\"y\", f(X))");
  REQUIRE(script.messages == "");
  const Array &x = script.arrays["x"], &y = script.arrays["y"];
  Row s;
  for (std::int64_t m = 0; m < 6; ++m) {
    double total = 0;
    for (std::int64_t n = 0; n < 6; ++n) total += std::exp(x.real(m * 6 + n));
    s.push_back(std::log(total));
  }
  for (std::int64_t m = 0; m < 6; ++m) {
    double total = 0;
    for (std::int64_t n = 0; n < 6; ++n)
      total += std::exp(s[static_cast<std::size_t>(n)] + x.real(m * 6 + n));
    for (std::int64_t n = 0; n < 6; ++n)
      CHECK(y.real(m * 6 + n) ==
            Approx(std::exp(s[static_cast<std::size_t>(n)] + x.real(m * 6 + n)) / total)
                .epsilon(1e-5));
  }
}

TEST_CASE("an intermediate may be an index or a condition") {
  const Run run = run_rows(
      "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) where N >= 2 {\n"
      "  let left[n] = max(n - 1, 0)\n"
      "  let kept[m,n] = n <= m\n"
      "  Y[m,n] = if kept[m,n] then X[m,left[n]] else 0\n"
      "}");
  for (std::size_t m = 0; m < run.rows.size(); ++m)
    for (std::size_t n = 0; n < run.rows[m].size(); ++n)
      CHECK(run.y.real(static_cast<std::int64_t>(m * run.rows[m].size() + n)) ==
            (n <= m ? run.rows[m][n > 0 ? n - 1 : 0] : 0));
}

TEST_CASE("an intermediate of an inout tensor is read where it is written") {
  const std::string inout = "Y: inout f32 (M,N)";
  CHECK(errors_in("let s[i,j] = Y[i,j] / 2\nY[m,n] = s[m,n] + X[m,n]", "X: f32 (M,N)", inout) ==
        "");
  CHECK(errors_in("let s[i] = Y[i,0] / 2\nY[m,n] = s[m] + X[m,n]", "X: f32 (M,N)", inout) ==
        "inout-elsewhere");
}

TEST_CASE("an intermediate is checked where it reads at a coordinate from memory") {
  const std::string f =
      "kernel f<M, N>(X: f32 (M,N), p: s32 M) -> Y: f32 M {\n"
      "  let s[m] = max[n](X[m,n])\n  Y[m] = s[p[m]]\n}\nlet X = random(f32, (3,4))\n";
  CHECK(Script(f + "f(X, random(s32, 3, 1, 0, 3))").errors == "");
  const Script outside(f + "f(X, random(s32, 3, 1, 3, 4))");
  CHECK(outside.errors == "bounds");
  CHECK(outside.messages.find("X is read at 3 in mode 0 of 3 elements") != std::string::npos);
}

TEST_CASE("what an intermediate refuses") {
  CHECK(errors_in("let s[m] = max[n](X[m,n])\nY[m,n] = s[m,n]") == "coordinate-rank");
  CHECK(errors_in("let s[m] = max[n](X[m,n])\nY[m,n] = s[m+1]") == "bounds");
  CHECK(errors_in("let s[m] = X[m,n]\nY[m,n] = s[m]") == "index-unbound");
  CHECK(errors_in("let s[i] = 3\nY[m,n] = s[m]") == "index-extent");
  CHECK(errors_in("let s[X] = 3\nY[m,n] = s[m]") == "duplicate-name");
  // A coordinate from memory is an integer, and has to lie inside where something is read.
  CHECK(errors_in("let s[m] = max[n](X[m,n])\nY[m,n] = s[X[m,n]]") == "operand-kind");
  CHECK(errors_in("let s[m] = max[n](X[m,n])\nY[m,n] = s[X[m,n] < 0]") == "operand-kind");
  CHECK(errors_in("let s[i,i] = X[i,i]\nY[m,n] = s[m,n]") == "duplicate-name");
  CHECK(errors_in("let s[m] = max[m](X[m,0])\nY[m,n] = s[m]") == "duplicate-name");
  CHECK(errors_in("let s[m] = max[n](X[m,n])\nY[m,n] = s + 1") == "operand-kind");
  CHECK(errors_in("let s[m] = max[n](X[m,n])\nY[m,n] = X[m,n]") == "");
  CHECK(errors("let s[m] = 3") == "kernel-only");
}

TEST_CASE("a def over indices reduces over copies of them") {
  const std::string softmax =
      "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) { Y[m,n] = softmax[n](X[m,n]) }";
  const Run run = run_rows(softmax);
  for (std::size_t m = 0; m < run.rows.size(); ++m) {
    const Row& row = run.rows[m];
    double total = 0;
    for (const double x : row) total += std::exp(x);
    for (std::size_t n = 0; n < row.size(); ++n)
      CHECK(run.y.real(static_cast<std::int64_t>(m * row.size() + n)) ==
            Approx(std::exp(row[n]) / total).epsilon(1e-5));
  }
  // One copy for both reductions: X[m,n] is read at two places.
  const std::string text = printed(softmax);
  CHECK(count(text, "= X[m,n]") == 2);
  CHECK(count(text, "= max[n]") == 1);
  CHECK(text.find("m < M, n < N; reduced n < N\n") != std::string::npos);
}

TEST_CASE("by hand or by a def, softmax is the same nodes") {
  const std::string by_hand = printed(
      "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) {\n"
      "  let top[m] = max[n](X[m,n])\n  let total[m] = sum[n](exp(X[m,n] - top[m]))\n"
      "  Y[m,n] = exp(X[m,n] - top[m]) / total[m]\n}");
  const std::string by_def =
      printed("kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) { Y[m,n] = softmax[n](X[m,n]) }");
  CHECK(count(by_hand, " = ") == count(by_def, " = "));
}

TEST_CASE("the prelude's functions of a line compute what they say") {
  const auto check = [](const std::string& value, const std::function<double(const Row&)>& of) {
    const Run run = run_rows(over_rows("f32", value));
    for (std::size_t m = 0; m < run.rows.size(); ++m)
      CHECK(run.y.real(static_cast<std::int64_t>(m)) == Approx(of(run.rows[m])).epsilon(1e-5));
  };
  const auto mean = [](const Row& row) {
    double total = 0;
    for (const double x : row) total += x;
    return total / static_cast<double>(row.size());
  };
  const auto squares = [](const Row& row, double from) {
    double total = 0;
    for (const double x : row) total += (x - from) * (x - from);
    return total;
  };
  check("mean[n](X[m,n])", mean);
  check("norm[n](X[m,n])", [&](const Row& row) { return std::sqrt(squares(row, 0)); });
  check("variance[n](X[m,n])",
        [&](const Row& row) { return squares(row, mean(row)) / static_cast<double>(row.size()); });
  check("logsumexp[n](X[m,n])", [](const Row& row) {
    double total = 0;
    for (const double x : row) total += std::exp(x);
    return std::log(total);
  });
  const auto elements = [](const std::string& value,
                           const std::function<double(const Row&, double)>& of) {
    const Run run =
        run_rows("kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) { Y[m,n] = " + value + " }");
    for (std::size_t m = 0; m < run.rows.size(); ++m)
      for (std::size_t n = 0; n < run.rows[m].size(); ++n)
        CHECK(run.y.real(static_cast<std::int64_t>(m * run.rows[m].size() + n)) ==
              Approx(of(run.rows[m], run.rows[m][n])).epsilon(1e-5).margin(1e-6));
  };
  elements("rmsnorm[n](X[m,n], 0.5)", [&](const Row& row, double x) {
    return x / std::sqrt(squares(row, 0) / static_cast<double>(row.size()) + 0.5);
  });
  elements("layernorm[n](X[m,n], 0.5)", [&](const Row& row, double x) {
    return (x - mean(row)) /
           std::sqrt(squares(row, mean(row)) / static_cast<double>(row.size()) + 0.5);
  });
  elements("log_softmax[n](X[m,n])", [](const Row& row, double x) {
    double total = 0;
    for (const double y : row) total += std::exp(y);
    return x - std::log(total);
  });
}

TEST_CASE("what is known of an index outside says nothing of its copy inside") {
  // Under n < 3 the maximum is over all of n, and n < 3 is open in it.
  const std::string def = "def top[n](x) = max[n](if n < 3 then x else 100)\n";
  const Run run = run_rows(def +
                           "kernel f<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) where N >= 4 "
                           "{ Y[m,n] = if n < 3 then top[n](X[m,n]) else 0 }");
  CHECK(run.y.real(0) == 100);
  // The argument is read for every n.
  CHECK(errors_in("Y[m,n] = if n >= 1 then softmax[n](X[m,n-1]) else 0") == "bounds");
  CHECK(errors_in("Y[m,n] = softmax[n](if n >= 1 then X[m,n-1] else 0)") == "");
}

TEST_CASE("a def over indices may call another, and pass its index on") {
  const Run run = run_rows(
      "def centred[n](x) = x - mean[n](x)\n"
      "def spread[n](x) = max[n](centred[n](x)) - min[n](centred[n](x))\n" +
      over_rows("f32", "spread[n](X[m,n])"));
  for (std::size_t m = 0; m < run.rows.size(); ++m) {
    const auto [least, most] = std::minmax_element(run.rows[m].begin(), run.rows[m].end());
    CHECK(run.y.real(static_cast<std::int64_t>(m)) == Approx(*most - *least));
  }
}

TEST_CASE("what a def over indices refuses") {
  CHECK(errors_in("Y[m,n] = softmax(X[m,n])") == "argument-count");
  CHECK(errors_in("Y[m,n] = softmax[m,n](X[m,n])") == "argument-count");
  CHECK(errors_in("Y[m,n] = softmax[k](X[m,k])") == "index-unbound");
  CHECK(errors_in("Y[m,n] = mean[k](X[m,n])") == "index-extent");
  CHECK(errors_in("Y[m,n] = mean[X](X[m,n])") == "operand-kind");
  CHECK(errors_in("Y[m,n] = mean[n : f64](X[m,n])") == "reduction-form");
  CHECK(errors("def f[n,n](x) = sum[n](x)") == "duplicate-name");
  CHECK(errors("def f[n](x) = f[n](x)") == "recursion");
  CHECK(errors("let y = softmax[n](3)") == "kernel-only");
}

TEST_CASE("the body of a reduction at equal indices is one node") {
  const std::string text = printed(
      "kernel f<M, N, K>(A: f32 (M,K), B: f32 (N,K)) -> C: f32 (M,N) {\n"
      "  C[m,n] = sum[k](A[m,k] * B[n,k]) / (1 + abs(sum[k](A[m,k] * B[n,k])))\n}");
  CHECK(count(text, "= sum[k]") == 1);
  CHECK(text.find("; reduced k < K\n") != std::string::npos);
}
