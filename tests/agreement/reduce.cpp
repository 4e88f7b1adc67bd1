// The kernels of reduce.lay, and random ones, by plain loops, by the host interpreter and on a GPU.
//
//   test_agreement "reductions*"       on the host
//   test_agreement "[gpu]"             on a GPU as well
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "backend/ir/lower/lower.h"
#include "backend/plan/plan.h"
#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/reference.h"
#include "runtime/execute/executor.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;

sema::KernelCall call_of(const sema::KernelPtr& kernel, std::int64_t m, std::int64_t n,
                         std::uint32_t seed) {
  std::mt19937 random(seed);
  return test::drawn_call(kernel, {{"M", m}, {"N", n}}, [&] {
    return static_cast<double>(static_cast<std::int64_t>(random() % 63) - 31);
  });
}

// The first element that differs; empty if none does.
std::string difference(const sema::Array& got, const sema::Array& due) {
  for (std::int64_t i = 0; i < due.size(); ++i) {
    const bool real = is_float(due.element);
    const double a = real ? got.real(i) : static_cast<double>(got.integer(i));
    const double b = real ? due.real(i) : static_cast<double>(due.integer(i));
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b || std::abs(a - b) <= 1e-4 * std::max(1.0, std::abs(b))) continue;
    return "at " + std::to_string(i) + ": expected " + std::to_string(b) + ", got " +
           std::to_string(a);
  }
  return "";
}

void agree(runtime::Executor& machine, const sema::KernelCall& call) {
  const sema::KernelResult due = sema::run_reference(call);
  const sema::KernelResult got = machine.run(call);
  REQUIRE(got.outputs.size() == due.outputs.size());
  for (std::size_t i = 0; i < due.outputs.size(); ++i)
    CHECK(difference(got.outputs[i], due.outputs[i]) == "");
}

void agree_on_all(test::Kernels& kernels, bool with_gpu) {
  std::uint32_t seed = 0;
  for (const sema::KernelPtr& kernel : kernels.all()) {
    for (const auto& [m, n] : {std::pair{1, 1}, std::pair{5, 7}, std::pair{33, 9}}) {
      const sema::KernelCall call = call_of(kernel, m, n, ++seed);
      INFO(kernel->name << ", " << m << " x " << n);
      agree(kernels.host(), call);
      if (with_gpu) agree(kernels.gpu(), call);
    }
  }
}

// The text of a random kernel: elements, functions, selections and reductions over the indices in
// scope, at the kernel's level and by defs.
class RandomKernel {
 public:
  explicit RandomKernel(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    const std::string s = value(2, {"m"}, true);
    return "def both[n](x) = max[n](x) - sum[n](x * 0.125)\n"
           "kernel f<M, N>(X: f32 (M,N), Z: f32 (N,M), u: f32 M, w: f32 N) -> Y: f32 (M,N)\n{\n"
           "  let s[m] = " +
           s + "\n  Y[m,n] = " + value(3, {"m", "n"}, false) + "\n}\n";
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }

  // An element at indices in scope, whose first letter says what they run over.
  std::string element(const std::vector<std::string>& scope, bool in_let) {
    std::vector<std::string> along_m, along_n;
    for (const std::string& index : scope)
      (index[0] == 'm' || index[0] == 'i' ? along_m : along_n).push_back(index);
    const auto any = [&](const std::vector<std::string>& of) {
      return of.empty() ? std::string("0")
                        : of[static_cast<std::size_t>(pick(static_cast<int>(of.size())))];
    };
    switch (pick(in_let ? 4 : 5)) {
      case 0:
        return "X[" + any(along_m) + "," + any(along_n) + "]";
      case 1:
        return "Z[" + any(along_n) + "," + any(along_m) + "]";
      case 2:
        return "u[" + any(along_m) + "]";
      case 3:
        return "w[" + any(along_n) + "]";
      default:
        return "s[" + any(along_m) + "]";
    }
  }

  std::string value(int depth, const std::vector<std::string>& scope, bool in_let) {
    if (depth == 0) return element(scope, in_let);
    const auto part = [&] { return value(depth - 1, scope, in_let); };
    switch (pick(6)) {
      case 0:
        return "(" + part() + " + " + part() + ")";
      case 1:
        return "max(" + part() + ", " + part() + " * 0.25)";
      case 2:
        return "(if " + part() + " > " + std::to_string(pick(9) - 4) + " then " + part() +
               " else " + part() + ")";
      case 3:
        return defined(depth, scope, in_let);
      default:
        return reduced(depth, scope, in_let);
    }
  }

  std::string reduced(int depth, std::vector<std::string> scope, bool in_let) {
    static const char* functions[] = {"sum", "max", "min", "argmax"};
    const std::string index = (pick(2) ? "i" : "j") + std::to_string(depth);
    scope.push_back(index);
    // Where nothing else does, an element of a line says how far the index runs.
    const std::string line = (index[0] == 'i' ? "u[" : "w[") + index + "]";
    return std::string(functions[pick(4)]) + "[" + index + "]((" + value(depth - 1, scope, in_let) +
           " + " + line + ") * 0.125)";
  }

  std::string defined(int depth, const std::vector<std::string>& scope, bool in_let) {
    static const char* functions[] = {"both", "logsumexp", "mean", "softmax"};
    const std::string& index =
        scope[static_cast<std::size_t>(pick(static_cast<int>(scope.size())))];
    return std::string(functions[pick(4)]) + "[" + index + "](" + value(depth - 1, scope, in_let) +
           " * 0.125)";
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("reductions: interpreter and reference") {
  test::Kernels kernels("tests/agreement/reduce.lay");
  agree_on_all(kernels, false);
}

// Plans reach this variant at sizes that no other one takes; all of it is lowered for `lay plan`.
TEST_CASE("reductions, one thread an element: interpreter and reference") {
  test::Kernels kernels("tests/agreement/reduce.lay");
  std::uint32_t seed = 100;
  for (const sema::KernelPtr& kernel : kernels.all()) {
    plan::Plan plan{kernel, {}, {}};
    plan.variants.emplace_back().name = "scalar";
    plan.variants.back().programs = tile::bind_each_element(plan.kernel);
    for (const auto& [m, n] : {std::pair{1, 1}, std::pair{5, 7}}) {
      const sema::KernelCall call = call_of(kernel, m, n, ++seed);
      INFO(kernel->name << ", " << m << " x " << n);
      CHECK(test::trouble(ir::lower_all(plan, plan.variants.back()), call,
                          sema::run_reference(call), difference) == "");
    }
  }
}

TEST_CASE("random reductions: interpreter and reference") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const std::string text = RandomKernel(seed).text();
    INFO(text);
    Sources sources;
    sema::Evaluator evaluator(sources, {});
    for (const sema::Outcome& outcome : evaluator.run("random.lay", text)) {
      INFO(render(sources, outcome.diagnostics));
      REQUIRE(outcome.ok());
    }
    runtime::Executor host{sources, runtime::MachineChoice::host};
    agree(host, call_of(evaluator.kernels().back(), 4, 5, seed));
  }
}

TEST_CASE("reductions on a GPU", "[.gpu]") {
  test::Kernels kernels("tests/agreement/reduce.lay");
  agree_on_all(kernels, true);
}
