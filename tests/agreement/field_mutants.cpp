// Field mode finds what is wrong in a plan: an online softmax by hand with and without its
// rescaling, mistakes planted in the text of lowered kernels that rounding to bf16 would hide, and
// every operation of some kernels replaced by another one.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backend/ir/lower/lower.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "backend/plan/make.h"
#include "frontend/sema/evaluator.h"
#include "runtime/execute/field_run.h"
#include "runtime/execute/packed_call.h"
#include "tests/tile/calls.h"

namespace {

using namespace lay;
using runtime::FieldCheck;

// The call that a script makes.
sema::KernelCall call_in(const std::string& script) {
  std::vector<sema::KernelCall> calls;
  const std::string messages =
      test::for_each_call(script, [&](const sema::KernelCall& call) { calls.push_back(call); });
  REQUIRE(messages == "");
  REQUIRE(calls.size() == 1);
  return calls[0];
}

// Returns the error in the launch; empty if there is none.
std::string wrong(const FieldCheck& check, const ir::Kernel& kernel) {
  const auto trouble = check.trouble({kernel}, kernel.name);
  return trouble ? trouble->code + ": " + trouble->message : "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// The first variant of that name, as text.
std::string variant_text(const sema::KernelCall& call, const std::string& name) {
  const plan::Plan plan = plan::make_plan(call.kernel);
  for (const plan::Variant& variant : plan.variants)
    if (variant.name == name) return ir::print(ir::lower(plan, variant));
  FAIL("no variant " << name);
  return "";
}

struct Planted {
  const char *what, *from, *to;
};

// The text equals the reference, and with each mistake it does not.
void find_planted(const sema::KernelCall& call, const std::string& text,
                  const std::vector<Planted>& mistakes) {
  const FieldCheck check(call);
  REQUIRE(wrong(check, ir::parse(text)) == "");
  for (const Planted& mistake : mistakes) {
    INFO(mistake.what);
    const ir::Kernel kernel = ir::parse(replaced(text, mistake.from, mistake.to));
    REQUIRE(ir::verify(kernel).empty());
    CHECK(wrong(check, kernel).starts_with("field-mode: "));
  }
}

const char* const soft = R"(
kernel soft<M, N>(X: f32 (M,N)) -> Y: bf16 (M,N) { Y[m,n] = softmax[n](X[m,n] * 0.125) }
soft(random(f32, (5,256), 1, -300, 300))
)";

// A row a thread. The sum goes along with a maximum that grows: it is scaled by exp(old - new).
const char* const online = R"(kernel soft_online {
  size M, N
  global X : f32 (M,N):(N,1) read align 4
  global Y : bf16 (M,N):(N,1) write align 2
  register most : f32 1:1 align 4
  register total : f32 1:1 align 4
  launch grid (ceil_div(M,32),1,1) cluster (1,1,1) threads 32
  role all threads 0..32 {
    let row : s32 thread = block_x * 32 + thread
    if row < M {
      fill most = f32(-inf)
      fill total = 0.0
      for column : s32 grid in 0..N {
        let x : f32 thread = X[row,column] * 0.125
        let greater : f32 thread = max_nan(most[0], x)
        total[0] = total[0] * exp(most[0] - greater) + exp(x - greater)
        most[0] = greater
      }
      for column2 : s32 grid in 0..N {
        Y[row,column2] = bf16(exp(X[row,column2] * 0.125 - most[0]) / total[0])
      }
    }
  }
}
)";

// Replaces operations of the kernel, one at a time.
class Mutants {
 public:
  explicit Mutants(const ir::Kernel& kernel) : kernel_(kernel) {}

  // Calls f(what, mutant) for each.
  template <class F>
  void each(F&& f) {
    for (std::size_t i = 0; i < kernel_.exprs.size(); ++i) {
      const auto* apply = std::get_if<ir::Apply>(&kernel_.exprs[i].node);
      if (!apply || !is_float(kernel_.expr(apply->operands.back()).type)) continue;
      for (const ir::Apply& other : others(*apply)) {
        ir::Kernel mutant = kernel_;
        mutant.exprs[i].node = other;
        if (!ir::verify(mutant).empty()) continue;
        f(std::string(function_row(apply->function).name) + " " + std::to_string(i) + " as " +
              std::string(function_row(other.function).name),
          mutant);
      }
    }
  }

 private:
  static std::vector<ir::Apply> others(const ir::Apply& apply) {
    using F = ElementFunction;
    const auto& x = apply.operands;
    switch (apply.function) {
      case F::add:  // another sign, an operand twice
        return {{F::sub, x}, {F::add, {x[0], x[0]}}};
      case F::sub:  // not the other way round: what is squared would be the same
        return {{F::add, x}, {F::sub, {x[0], x[0]}}};
      case F::mul:
        return {{F::mul, {x[0], x[0]}}, {F::add, x}};
      case F::div:
        return {{F::div, {x[1], x[0]}}, {F::mul, x}};
      case F::fma:  // the sum forgotten, the operands exchanged
        return {{F::mul, {x[0], x[1]}}, {F::fma, {x[0], x[2], x[1]}}};
      case F::max:
      case F::max_nan:
        return {{F::min, x}};
      case F::exp:
      case F::rsqrt:
      case F::sqrt:
      case F::normcdf:
      case F::sigmoid:
      case F::tanh:
        return {{F::neg, x}, {F::abs, x}};
      default:
        return {};
    }
  }

  const ir::Kernel& kernel_;
};

// Every operation that is replaced changes the result.
void find_all(const std::string& script, const std::string& variant, int at_least) {
  const sema::KernelCall call = call_in(script);
  const ir::Kernel kernel = ir::parse(variant_text(call, variant));
  const FieldCheck check(call);
  REQUIRE(wrong(check, kernel) == "");
  int count = 0;
  std::string missed;
  Mutants(kernel).each([&](const std::string& what, const ir::Kernel& mutant) {
    ++count;
    if (wrong(check, mutant) == "") missed += what + "\n";
  });
  INFO(ir::print(kernel));
  CHECK(missed == "");
  CHECK(count >= at_least);
}

}  // namespace

TEST_CASE("field mode: an online softmax equals softmax, and not without its rescaling",
          "[field]") {
  find_planted(
      call_in(soft), online,
      {{"no rescaling", " * exp(most[0] - greater) + ", " + "},
       {"the wrong way", "exp(most[0] - greater)", "exp(greater - most[0])"},
       {"twice", "total[0] * exp(most[0] - greater)",
        "total[0] * exp(most[0] - greater) * exp(most[0] - greater)"},
       {"a column skipped", "for column : s32 grid in 0..N", "for column : s32 grid in 1..N"},
       {"the old maximum", "exp(x - greater)", "exp(x - most[0])"},
       {"scaled twice", "X[row,column2] * 0.125", "X[row,column2] * 0.125 * 0.125"}});
}

TEST_CASE("field mode: mistakes that bf16 hides are found", "[field]") {
  // Each is within a rounding of bf16.
  find_planted(
      call_in(soft), variant_text(call_in(soft), "rows_256"),
      {{"a constant that is not quite right", "* 0.125 - all_max", "* 0.12500001 - all_max"},
       {"a sum that begins elsewhere", "fill all_sum = 0.0", "fill all_sum = 0.0001"}});
}

TEST_CASE("field mode: an exchange or a step that is left out is found", "[field]") {
  find_planted(
      call_in(soft), variant_text(call_in(soft), "rows_256"),
      {{"the wrong lane", "= joined11 from lane xor 16", "= joined11 from lane xor 8"},
       {"an exchange of the maximum", "max_nan(joined5, theirs5)", "max_nan(joined5, joined5)"},
       {"another row's sum", "let joined7 : f32 thread = all_sum[row]",
        "let joined7 : f32 thread = all_sum[0]"}});
  const char* const sum = R"(
kernel total<M, N>(X: bf16 (M,N)) -> Y: bf16 M { Y[m] = sum[n](X[m,n]) }
total(random(bf16, (3,9000), 1, -3, 3))
)";
  find_planted(call_in(sum), variant_text(call_in(sum), "streamed_any"),
               {{"the first tile skipped", "in 0..N step", "in 8192..N step"}});
}

// 256 columns give every lane a part of the sums.
TEST_CASE("field mode: every operation of a norm counts", "[field]") {
  find_all(R"(
kernel f<M, N>(X: bf16 (M,N), w: bf16 N, eps: f32) -> Y: bf16 (M,N)
{ Y[m,n] = rmsnorm[n](X[m,n], eps) * w[n] }
f(random(bf16, (3,256), 1, -3, 3), random(bf16, 256, 2, -3, 3), 0.01)
)",
           "rows_256", 20);
  find_all(R"(
kernel f<M, N>(X: f32 (M,N), w: f32 N) -> Y: f32 (M,N)
{ Y[m,n] = layernorm[n](X[m,n], 0.01) * w[n] }
f(random(f32, (3,256), 1, -3, 3), random(f32, 256, 2, -3, 3))
)",
           "rows_256", 20);
}

// 13 products: both slices of the tile's 16 steps have some, so that their sum counts too.
TEST_CASE("field mode: every operation of an epilogue counts", "[field]") {
  find_all(R"(
kernel f<M, N, K>(A: f32 (M,K), B: f32 (N,K), b: f32 N, s: f32) -> Y: f32 (M,N)
{ Y[m,n] = silu(sum[k](A[m,k] * B[n,k]) * s + b[n]) + exp(b[n] - 1) }
f(random(f32, (9,13), 1, -3, 3), random(f32, (5,13), 2, -3, 3), random(f32, 5, 3, -3, 3), 0.3)
)",
           "simt_64x64_any", 6);
}
