// The entry `registers` of a schedule: what it takes, and what keeps an operand from registers.
#include <catch2/catch.hpp>
#include <string>

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

// The problem, its place in the schedule, and what it says would work.
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

// K tiles of W in registers, and the elements of an access.
std::pair<int, int> held(const std::string& entries, const std::string& w = "s8 (N,K)") {
  const plan::Plan plan = planned(entries, w);
  REQUIRE(plan.problems.empty());
  const auto gemm = plan::sm80_of(plan.variants.front());
  REQUIRE(gemm);
  const plan::Sm80Operand& operand = gemm->swap_ab ? gemm->a : gemm->b;
  return {operand.registers, operand.vector};
}

}  // namespace

TEST_CASE("registers: a lane loads the widest run that divides its slice of a K tile") {
  CHECK(held(pair + rest + "registers W = 2") == std::pair(2, 16));
  CHECK(held(pair + rest + "registers W = 16") == std::pair(16, 16));
  CHECK(held(pair + rest + "registers W = 3", "s4 (N,K)") == std::pair(3, 32));
  CHECK(held(pair + rest + "registers W = 3", "bf16 (N,K)") == std::pair(3, 8));
  // A slice of 32 has one step: 8 elements for each of four lanes.
  CHECK(held(pair + "tile = (32,8,64)\ngroups = (1,1,1,1)\nstages = 2\nswap_ab = 1\n"
                    "promotion_interval = 32\nregisters W = 2",
             "s4 (N,K)") == std::pair(2, 8));
  // Without the entry it goes through shared memory, as does the second operand beside it.
  CHECK(held(pair + rest).first == 0);
  CHECK(held(pair + "tile = (16,32,256)\nregisters W = 2\ngroups = (1,1,2,1)").first == 2);
}

TEST_CASE("registers: values and names that do not fit are refused with what would") {
  const std::string number =
      "schedule-entry: `registers` takes a number of K tiles that registers hold at once, 2 to 16";
  for (const char* value : {"1", "17", "0", "\"two\"", "(2,2)"})
    CHECK(refused(pair + rest + "registers W = " + value) == number);
  CHECK(refused(pair + rest + "registers Y = 2") ==
        "schedule-entry: `registers` takes a factor of the product: expected X or W, got Y");
  CHECK(refused(pair + rest + "registers = 2") ==
        "schedule-entry: `registers` takes a factor of the product: expected X or W, got none");
  CHECK(refused(pair + rest + "registers W = 2\nregisters X = 2") ==
        "unsupported: both operands go from global memory to registers | help: leave one of them "
        "to shared memory, from which warps share it");
  CHECK(refused(pair + rest + "registers W = 2\nsmem W = (32,256):(256,1)") ==
        "schedule-entry: an operand that goes to registers has no layout in shared memory | help: "
        "leave `smem` or `registers` out");
  CHECK(refused("registers W = 2", "s8 (N,K)", "simt") ==
        "unsupported: `registers` has no meaning for simt");
}

TEST_CASE("registers: what keeps an operand from them is said") {
  const std::string entries = pair + rest + "registers W = 2\n";
  CHECK(refused(entries, "s8 (N,K):(1,N)") ==
        "unsupported: W goes to registers in vectors along the sum only | help: a tensor that is "
        "contiguous along the index of the sum, and `accesses = \"vectors\"`");
  CHECK(refused(entries + "accesses = \"elements\"") ==
        "unsupported: W goes to registers in vectors along the sum only | help: a tensor that is "
        "contiguous along the index of the sum, and `accesses = \"vectors\"`");
  CHECK(refused(entries, "s8 (N,K):(36,1)") ==
        "unsupported: W goes to registers in vectors of 8 elements at least, and its rows do not "
        "begin with whole ones | works: strides that are multiples of 8");
  CHECK(refused(pair + "tile = (32,16,256)\ngroups = (1,2,1,1)\nswap_ab = 1\nregisters W = 2") ==
        "schedule-cover: 2 groups multiply the same of W, which each has in registers of its own | "
        "works: groups of 1 along the other operand");
  CHECK(refused("mma = sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)\n" + rest +
                "registers W = 2") ==
        "unsupported: lanes of sm80.mma(m = 16, k = 16, ab = bf16, acc = f32) hold no neighbours "
        "along k of W alone, and so load none to registers | works: mma = sm80.mma_pair(ab = bf16, "
        "acc = f32)");
  CHECK(refused(pair + "tile = (64,8,1024)\ngroups = (1,1,1,1)\nstages = 2\nswap_ab = 1\n"
                       "registers W = 16")
            .starts_with("schedule-registers: the tile takes at least "));
}

TEST_CASE("registers: a schedule without `accesses` leaves elements to the library's rows") {
  const plan::Plan plan = planned(pair + rest + "registers W = 2");
  REQUIRE(plan.problems.empty());
  REQUIRE(plan.variants.size() > 1);
  CHECK(plan.variants.front().accesses == plan::Width::vectors);
  CHECK(!plan.variants[1].schedule.known());
  const std::string text = plan::print_plan(plan);
  CHECK(text.find("registers W   = 2") != std::string::npos);
  CHECK(text.find("smem W") > text.find("registers W"));
}

}  // namespace lay::test
