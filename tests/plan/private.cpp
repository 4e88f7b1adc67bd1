// The entry `private` of a schedule: what it takes, and what keeps lanes from copying an operand
// for themselves.
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/target/target.h"
#include "tests/language/script.h"

namespace lay::test {
namespace {

// Of `f(X, W)`, where W has that type and layout.
plan::Plan planned(const std::string& entries, const std::string& w = "s8 (N,K)",
                   const std::string& target = "sm80") {
  const std::string text =
      "use atoms.sm80\nuse atoms.sm90\n"
      "kernel f<M, N, K>(X: bf16 (M,K), W: " +
      w + ") -> Y: bf16 (M,N) { Y[m,n] = sum[k](X[m,k] * W[n,k]) }\nschedule f for " + target +
      " { " + entries + " }";
  const sema::test::Script script(text);
  INFO(text);
  REQUIRE(script.messages == "");
  return plan::make_plan(script.evaluator.kernels().back(), *find_target("h200"));
}

const std::string pair = "mma = sm80.mma_pair(ab = bf16, acc = f32)\n";
const std::string rest = "tile = (32,8,256)\ngroups = (1,1,2,1)\nstages = 2\nswap_ab = 1\n";

// The problem, which has a place in the schedule, and what it says would work.
std::string refused(const std::string& entries, const std::string& w = "s8 (N,K)",
                    const std::string& target = "sm80") {
  const plan::Plan plan = planned(entries, w, target);
  REQUIRE(plan.problems.size() == 1);
  const plan::Problem& problem = plan.problems[0];
  CHECK(problem.where.begin < problem.where.end);
  std::string words = problem.code + ": " + problem.message;
  for (const auto& [kind, note] : problem.notes) words += " | " + kind + ": " + note;
  return words;
}

// Whether lanes copy the instruction's first operand for themselves, and the elements of an access;
// of its second where that is W.
std::pair<bool, int> own(const std::string& entries, const std::string& w = "s8 (N,K)") {
  const plan::Plan plan = planned(entries, w);
  REQUIRE(plan.problems.empty());
  const auto gemm = plan::sm80_of(plan.variants.front());
  REQUIRE(gemm);
  const plan::Sm80Operand& operand = gemm->swap_ab ? gemm->a : gemm->b;
  return {operand.own, operand.vector};
}

}  // namespace

TEST_CASE("private: a lane copies the widest run that divides its slice of a K tile") {
  CHECK(own(pair + rest + "private W = 1") == std::pair(true, 16));
  CHECK(own(pair + rest + "private W = 1", "s4 (N,K)") == std::pair(true, 32));
  CHECK(own(pair + rest + "private W = 1", "bf16 (N,K)") == std::pair(true, 8));
  // A slice of 64 has runs of 16 for each of four lanes, and an interval of 32 runs of 8.
  CHECK(own(pair + "tile = (32,8,64)\ngroups = (1,1,1,1)\nstages = 2\nswap_ab = 1\n"
                   "private W = 1",
            "s4 (N,K)") == std::pair(true, 16));
  CHECK(own(pair + "tile = (32,8,64)\ngroups = (1,1,1,1)\nstages = 2\nswap_ab = 1\n"
                   "promotion_interval = 32\nprivate W = 1",
            "s4 (N,K)") == std::pair(true, 8));
  CHECK(!own(pair + rest).first);
  CHECK(!own(pair + rest + "private W = 0").first);
  CHECK(own(pair + "tile = (16,32,256)\nprivate W = 1\ngroups = (1,1,2,1)").first);
}

TEST_CASE("private: values and names that do not fit are refused with what would") {
  for (const char* value : {"2", "-1", "\"W\"", "(1,1)"})
    CHECK(refused(pair + rest + "private W = " + value) ==
          "schedule-entry: `private` takes 0 or 1");
  CHECK(refused(pair + rest + "private Y = 1") ==
        "schedule-entry: `private` takes a factor of the product: expected W or X, got Y");
  CHECK(refused(pair + rest + "private = 1") ==
        "schedule-entry: `private` takes a factor of the product: expected W or X, got none");
  CHECK(refused(pair + rest + "private W = 1\nprivate X = 1") ==
        "unsupported: lanes copy both operands for themselves | help: leave one of them to all "
        "threads of a block, which share it");
  CHECK(refused(pair + rest + "private W = 1\nsmem W = (32,256):(256,1)") ==
        "schedule-entry: what lanes copy for themselves lies in shared memory as they copy it | "
        "help: leave `smem` or `private` out");
  CHECK(refused("private W = 1", "s8 (N,K)", "simt") ==
        "unsupported: `private` has no meaning for simt");
}

TEST_CASE("private: what keeps lanes from an operand is said") {
  const std::string entries = pair + rest + "private W = 1\n";
  const std::string along_sum =
      "unsupported: lanes copy W for themselves in vectors along the sum only | help: a tensor "
      "that is contiguous along the index of the sum, and `accesses = \"vectors\"`";
  CHECK(refused(entries, "s8 (N,K):(1,N)") == along_sum);
  CHECK(refused(entries + "accesses = \"elements\"") == along_sum);
  CHECK(refused(entries, "s8 (N,K):(36,1)") ==
        "unsupported: lanes copy W for themselves in vectors of 8 elements at least, and its rows "
        "do not begin with whole ones | works: strides that are multiples of 8");
  CHECK(refused(pair + "tile = (32,16,256)\ngroups = (1,2,1,1)\nswap_ab = 1\nprivate W = 1") ==
        "schedule-cover: 2 groups multiply the same of W, which each would copy for itself | "
        "works: groups of 1 along the other operand");
  CHECK(
      refused("mma = sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)\n" + rest + "private W = 1") ==
      "unsupported: lanes of sm80.mma(m = 16, k = 16, ab = bf16, acc = f32) hold no neighbours "
      "along k of W alone, and so copy none for themselves | works: mma = sm80.mma_pair(ab = "
      "bf16, acc = f32)");
}

TEST_CASE("private: a schedule without `accesses` leaves elements to the library's rows") {
  const plan::Plan plan = planned(pair + rest + "private W = 1");
  REQUIRE(plan.problems.empty());
  REQUIRE(plan.variants.size() > 1);
  CHECK(plan.variants.front().accesses == plan::Width::vectors);
  CHECK(!plan.variants[1].schedule.known());
  const std::string text = plan::print_plan(plan);
  CHECK(text.find("private W     = 1") != std::string::npos);
}

}  // namespace lay::test
