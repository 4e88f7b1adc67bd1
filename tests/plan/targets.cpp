// The GPUs of the library, and what a plan keeps off those that are too small or too old for it.
#include <catch2/catch.hpp>
#include <set>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/target/target.h"
#include "frontend/sema/library.h"
#include "tests/language/script.h"
#include "tests/plan/kernels.h"

using namespace lay;
using lay::sema::test::Script;

namespace {

plan::Plan planned(const std::string& text, const char* gpu) {
  const Script script(text);
  REQUIRE(script.messages == "");
  return plan::make_plan(script.evaluator.kernels().back(), *find_target(gpu));
}

const std::string kGemm =
    "use atoms.sm90\n"
    "kernel f<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";

// The text of a kernel on the tensor cores of factors of one type.
std::string product(const std::string& type, const std::string& sum) {
  const std::string cast = type == sum ? "" : sum;
  return "use atoms.sm90\n"
         "kernel f<M, N, K>(A: " +
         type + " (M,K):(K,1), B: " + type + " (N,K):(K,1)) -> C: " + sum +
         " (M,N):(N,1)\n"
         "{ C[m,n] = sum[k](" +
         cast + "(A[m,k]) * " + cast + "(B[n,k])) }\n";
}

// The first variant on Hopper's tensor cores.
std::optional<plan::Sm90Gemm> hopper(const plan::Plan& plan) {
  for (const plan::Variant& variant : plan.variants)
    if (const auto gemm = plan::sm90_of(variant)) return gemm;
  return std::nullopt;
}

bool has_sm80(const plan::Plan& plan) {
  return std::ranges::any_of(
      plan.variants, [](const plan::Variant& each) { return plan::sm80_of(each).has_value(); });
}

}  // namespace

TEST_CASE("GPUs of the library, by name, by architecture, and by what a driver says") {
  REQUIRE(find_target("h200"));
  CHECK(*find_target("h200") == default_target());
  CHECK(*find_target("sm_90a") == default_target());
  CHECK(find_target("sm_80")->name == "a100");
  CHECK(!find_target("sm_90"));  // which has no wgmma
  CHECK(default_target().block_shared == 232448);
  CHECK(find_target("a40")->block_shared == 101376);
  CHECK(default_target().multiply_adds("warpgroup", ElementType::bf16) == 2048);
  CHECK(!default_target().multiply_adds("warpgroup", ElementType::f64));
  CHECK(capability_text(90) == "9.0");

  const auto h100 = target_of("NVIDIA H100 80GB HBM3", 90, 132);
  REQUIRE(h100);
  CHECK(h100->name == "h100");
  CHECK(target_of("NVIDIA H100 PCIe", 90, 114)->name == "h100_pcie");
  const auto small = target_of("NVIDIA GeForce RTX 3060", 86, 28);  // nobody described it
  REQUIRE(small);
  CHECK(small->name == "a40");
  CHECK(small->sms == 28);
  CHECK(target_of("Orin", 87, 16)->architecture == "sm_86");
  CHECK(!target_of("NVIDIA B200", 100, 148));  // code for 9.0a runs nowhere else
  CHECK(!target_of("Tesla V100", 70, 80));
}

TEST_CASE("what every record of a GPU says is possible") {
  std::set<std::string> names;
  for (const Target& target : targets()) {
    INFO(target.name);
    CHECK(names.insert(target.name).second);
    CHECK(target.block_shared + target.reserved_shared <= target.sm_shared);
    CHECK(target.sm_threads % target.block_threads % 512 == 0);
    CHECK(target.sm_registers >= 255 * 128);
    CHECK(target.memory_rate <
          target.cache_rate * target.hertz);  // else the cache would be of no use
    CHECK(target.launch > 0);
    CHECK(target.multiply_adds("thread", ElementType::f32));
    CHECK(target.multiply_adds("warp", ElementType::bf16));
  }
}

// The cost of an atom was said for the first machine that has it: there its products take no less
// by the machine's rate.
TEST_CASE("the rates of tensor cores are those of their instructions") {
  const auto clocks = [](const char* gpu, const sema::Atom& atom) {
    const auto rate = find_target(gpu)->multiply_adds(atom.kind, atom.a_type);
    REQUIRE(rate);
    return atom.shape[0] * atom.shape[1] * atom.shape[2] / *rate;
  };
  using enum ElementType;
  for (const ElementType type : {f16, bf16, tf32, e4m3, e5m2, s8, u8}) {
    const ElementType sum = bits(type) == 8 && !is_float(type) ? s32 : f32;
    const auto atom =
        sema::library_atom("atoms.sm90", "wgmma", {{"n", 256}, {"ab", type}, {"acc", sum}});
    CHECK(clocks("h200", atom) == atom.cost);
  }
  const auto warp = [](int m, int k, ElementType type, ElementType sum) {
    return sema::library_atom("atoms.sm90", "mma",
                              {{"m", m}, {"k", k}, {"ab", type}, {"acc", sum}});
  };
  for (const sema::Atom& atom : {warp(16, 16, f16, f32), warp(16, 8, tf32, f32),
                                 warp(8, 4, f64, f64), warp(16, 32, s8, s32)})
    CHECK(clocks("a100", atom) == atom.cost);
  CHECK(clocks("l40s", warp(16, 32, e4m3, f32)) == warp(16, 32, e4m3, f32).cost);
}

TEST_CASE("shared memory is that of the GPU") {
  const std::string deep =
      kGemm +
      "schedule f for sm80 { tile = (128,128,32)\n mma = sm80.mma(m = 16, k = 16, ab = bf16, acc = "
      "f32)\n stages = 8 }\n";  // 8 * (128 + 128) * 32 * 2 = 131072 bytes
  CHECK(planned(deep, "h200").problems.empty());
  CHECK(planned(deep, "a100").problems.empty());
  for (const char* gpu : {"a40", "l40s"}) {
    const auto plan = planned(deep, gpu);
    REQUIRE(plan.problems.size() == 1);
    CHECK(plan.problems[0].code == "schedule-shared");
    CHECK(plan.problems[0].message ==
          "8 stages take 131072 bytes of shared memory, and a block has 101376");
  }
  for (const Target& target : targets()) {
    const auto plan = planned(kGemm, target.name.c_str());
    for (const plan::Variant& variant : plan.variants)
      CHECK(variant.prediction.shared_bytes <= target.block_shared);
  }
}

TEST_CASE("the library's choice has no instruction that the GPU lacks, and counts its SMs") {
  CHECK(hopper(planned(kGemm, "h200")));
  for (const char* gpu : {"a100", "a40", "l40s"}) {
    const auto plan = planned(kGemm, gpu);
    CHECK(plan.notes.empty());
    CHECK(!hopper(plan));
    REQUIRE(has_sm80(plan));
    REQUIRE(plan.variants.front().cost);
    const std::string cost = plan.variants.front().cost->value.to_string();
    CHECK(cost.find("," + std::to_string(find_target(gpu)->sms) + ")") != std::string::npos);
  }
  CHECK(hopper(planned(kGemm, "h100_pcie"))->sms == 114);
}

TEST_CASE(
    "a schedule is refused an atom that the GPU lacks, and passed over where it is for newer "
    "GPUs") {
  const std::string wide =
      product("f64", "f64") +
      "schedule f for sm80 { tile = (64,64,32)\n mma = sm90.mma(m = 16, k = 16, ab = f64, acc = "
      "f64)\n groups = (2,2,1,1) }\n";
  CHECK(planned(wide, "h200").problems.empty());
  const auto refused = planned(wide, "a100");
  REQUIRE(refused.problems.size() == 1);
  CHECK(refused.problems[0].code == "schedule-capability");
  CHECK(refused.problems[0].message ==
        "sm90.mma(m = 16, k = 16, ab = f64, acc = f64) needs compute capability 9.0, and a100 has "
        "8.0");

  const std::string eight =
      product("e4m3", "f32") +
      "schedule f for sm80 { tile = (64,64,64)\n mma = sm89.mma(m = 16, k = 32, ab = e4m3, acc = "
      "f32) }\n";
  CHECK(planned(eight, "l40s").problems.empty());
  CHECK(planned(eight, "a40").problems.at(0).code == "schedule-capability");

  const std::string newer =
      kGemm +
      "schedule f for sm90 { tile = (128,256,64)\n mma = sm90.wgmma(n = 256, ab = bf16, "
      "acc = f32) }\n";
  CHECK(planned(newer, "h200").variants.front().name == "sm90");
  const auto passed = planned(newer, "a100");
  CHECK(passed.problems.empty());
  REQUIRE(passed.notes.size() == 1);
  CHECK(passed.notes[0] == "passed over: a schedule for sm90, and a100 has compute capability 8.0");
  CHECK(plan::print_plan(passed).starts_with("// passed over: "));
  CHECK(has_sm80(passed));
}
