// Schedules for tensor cores that the library completes, and sums that go on in registers.
#include <catch2/catch.hpp>
#include <set>

#include "backend/plan/conditions.h"
#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/sm90/sm90.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "tests/language/script.h"

namespace lay::test {

namespace {

// A product of 8-bit floats, of bf16 where `narrow` is bf16, under that schedule; what is assigned
// is `value` of it.
plan::Plan planned(const std::string& schedule, const std::string& narrow = "e4m3",
                   const std::string& value = "acc", const std::string& more = "") {
  sema::test::Script script("use atoms.sm90\nkernel product<M, N, K>(A: " + narrow +
                            " (M,K):(K,1), B: " + narrow + " (N,K):(K,1)" + more +
                            ") -> C: bf16 (M,N):(N,1)\n{ let acc = sum[k](A[m,k] * B[n,k])\n" +
                            "C[m,n] = " + value + " }\n" + schedule);
  REQUIRE(script.messages == "");
  return plan::make_plan(script.evaluator.kernels().back());
}

std::string problem(const std::string& schedule) {
  const plan::Plan plan = planned(schedule);
  REQUIRE(plan.problems.size() == 1);
  CHECK(plan.variants.empty());
  return plan.problems[0].code + ": " + plan.problems[0].message;
}

std::set<std::string> names_of(const plan::Plan& plan) {
  std::set<std::string> names;
  for (const plan::Variant& variant : plan.variants) names.insert(variant.name);
  return names;
}

// The variant that a launch of these sizes takes.
std::string taken(const plan::Plan& plan, int m, int n, int k) {
  const Binding sizes = sema::solve_sizes(*plan.kernel, {}, {{"M", m}, {"N", n}, {"K", k}});
  return plan::fitting_variants(plan, sizes).at(0)->name;
}

std::optional<plan::Sm90Gemm> hopper(const plan::Variant& variant) {
  return plan::sm90_of(variant);
}

}  // namespace

TEST_CASE("a schedule without an atom is completed by the rows of the library that fit") {
  const plan::Plan plain = planned(""),
                   promoted = planned("schedule product for sm90 { promotion_interval = 128 }");
  REQUIRE(promoted.problems.empty());
  std::set<std::string> names;
  int copying = 0;
  for (const plan::Variant& variant : promoted.variants) {
    CHECK(names.insert(variant.name).second);
    if (!hopper(variant)) continue;
    INFO(variant.name);
    CHECK(hopper(variant)->promotion_interval == 128);
    CHECK(variant.name.starts_with("sm90_own_"));
    CHECK(variant.schedule.known());
    copying += !variant.before.empty();
  }
  CHECK(copying > 0);
  CHECK(names.contains("sm90_own_128x128"));
  CHECK(names.contains("sm90_own_128x128_any"));
  // 128 accumulators a thread have no room for as many totals.
  CHECK(std::any_of(plain.variants.begin(), plain.variants.end(), [](const plan::Variant& variant) {
    return variant.name == "sm90_256x128_1x2";
  }));
  CHECK(!names.contains("sm90_own_256x128_1x2"));
}

TEST_CASE("a schedule without an atom that no row completes says what keeps a row from it") {
  for (const char* family : {"sm80", "sm90"}) {
    INFO(family);
    const auto first = [&](const std::string& entries, const std::string& narrow = "f16") {
      const plan::Plan plan =
          planned("schedule product for " + std::string(family) + " { " + entries + " }", narrow);
      REQUIRE(plan.problems.size() == 1);
      CHECK(plan.variants.empty());
      const auto& found = plan.problems[0];
      std::string text = found.code + ": " + found.message;
      for (const auto& [kind, note] : found.notes) text += "; " + note;
      CHECK_THAT(text, !Catch::Contains("bf16"));  // of an f16 kernel
      return text;
    };
    CHECK_THAT(first("tile = (100,128,64)"),
               Catch::StartsWith("schedule-cover: ") && Catch::Contains("the tile (100,128,64)"));
    CHECK_THAT(first("groups = (5,1,1,1)"),
               Catch::StartsWith("schedule-cover: ") && Catch::Contains("5 x 1 "));
    CHECK_THAT(first("groups = (8,8,1,1)"), Catch::StartsWith("schedule-threads: "));
    CHECK_THAT(first("tile = (128,128,64)\nstages = 12"),
               Catch::StartsWith("schedule-shared: 12 stages"));
    CHECK_THAT(first("tile = (4096,4096,64)"), Catch::StartsWith("schedule-registers: "));
    CHECK_THAT(first("tile = (128,128,32)", "f32"), Catch::Contains("none for f32 by f32"));
    // Behind a schedule for all sizes it is checked all the same.
    const plan::Plan behind =
        planned("schedule product for simt { tile = (64,64,16) }\nschedule product for " +
                    std::string(family) + " { tile = (100,128,64) }",
                "f16");
    REQUIRE(behind.problems.size() == 1);
    CHECK(behind.problems[0].code == "schedule-cover");
  }
}

TEST_CASE(
    "the library has rows for sums in parts, and rows that are taken only where TMA stores the "
    "output") {
  CHECK(names_of(planned("schedule product for sm90 { promotion_interval = 128 }"))
            .contains("sm90_own_128x176_in_parts"));
  CHECK(!names_of(planned("")).contains("sm90_128x176_in_parts"));
  const auto with_bias = names_of(planned("", "bf16", "max(acc + bias[n], 0)", ", bias: bf16 N:1"));
  CHECK(with_bias.contains("sm90_128x160"));
  CHECK(!with_bias.contains("sm90_128x160_any"));
  CHECK(with_bias.contains("sm90_128x128_2x1_any"));
  // There are no registers for these beside 160 accumulators.
  CHECK(!names_of(planned("", "bf16", "acc + R[m,n]", ", R: bf16 (M,N):(N,1)"))
             .contains("sm90_128x160"));
}

TEST_CASE("products get tiles that were measured to be fast for them") {
  const plan::Plan bare = planned("", "bf16"),
                   with_gelu = planned("", "bf16", "gelu(acc + bias[n])", ", bias: bf16 N:1"),
                   masked = planned("", "bf16", "if n <= m then acc else 0");
  CHECK(taken(bare, 4096, 4096, 4096) == "sm90_256x128_1x2");
  CHECK(taken(bare, 8192, 4096, 14336) == "sm90_256x128_1x2");
  CHECK(taken(bare, 8192, 8192, 8192) == "sm90_256x200_2x1");
  CHECK(taken(bare, 8192, 14336, 4096) == "sm90_256x176_1x2");
  CHECK(names_of(bare).contains("sm90_256x176_2x1"));
  CHECK(taken(bare, 8192, 8192, 512) == "sm90_128x176_2x1");
  CHECK(taken(bare, 2048, 2048, 2048) == "sm90_256x128_1x2");
  CHECK(taken(bare, 4095, 4097, 4096) == "sm90_128x128_2x1_any");
  // One tile for nearly every SM.
  CHECK(taken(bare, 1024, 2560, 4096) == "sm90_128x160_2x1");
  CHECK(taken(bare, 1536, 2048, 4096) == "sm90_192x128_2x1");
  CHECK(taken(bare, 3072, 1536, 4096) == "sm90_192x192_2x1");
  // Little work: small tiles, and parts of a long K.
  CHECK(taken(bare, 512, 512, 512) == "sm90_64x32");
  CHECK(taken(bare, 240, 64, 3264) == "sm90_64x16_1x2x4");
  CHECK(taken(bare, 1024, 1024, 8192) == "sm90_128x128_split_2");
  // Few rows of a large B.
  CHECK(taken(bare, 64, 4096, 4096) == "sm90_64x64_split_2");
  CHECK(taken(bare, 96, 4096, 14336) == "sm90_96x64_split_2");
  CHECK(taken(bare, 1, 4096, 4096) == "sm90_8x64_split_2");
  CHECK(taken(bare, 16, 4096, 4096) == "sm90_16x64_split_2");
  CHECK(taken(bare, 32, 2048, 8192) == "sm90_32x64_split_2");
  CHECK(taken(bare, 128, 4096, 14336) == "sm90_128x80_1x4x2");
  CHECK(taken(bare, 64, 14336, 4096) == "sm90_64x112");
  CHECK(taken(bare, 128, 14336, 4096) == "sm90_128x112_1x2");
  // Rows that begin inside lines of 128 bytes: clusters along both axes.
  CHECK(taken(bare, 2336, 864, 2728) == "sm90_128x144_2x2");
  CHECK(taken(bare, 1128, 536, 3976) == "sm90_64x96_2x2");
  CHECK(taken(with_gelu, 8192, 4096, 4096) == "sm90_128x128_2x1");
  CHECK(taken(masked, 4096, 4096, 4096) == "sm90_128x128_2x1");
  CHECK(taken(masked, 8192, 8192, 8192) == "sm90_128x256_2x1");
}

TEST_CASE("blocks with a tile each find it in groups of rows of nearly equal height") {
  const plan::Plan plan = planned("", "bf16");
  for (const char* name : {"sm90_128x160", "sm90_128x128", "sm90_128x96"}) {
    INFO(name);
    const auto found =
        std::find_if(plan.variants.begin(), plan.variants.end(),
                     [&](const plan::Variant& variant) { return variant.name == name; });
    REQUIRE(found != plan.variants.end());
    const auto gemm = hopper(*found);
    REQUIRE(gemm);
    const Int places = plan::places(*plan.kernel, gemm->order, plan::tiling_of(*gemm));
    Binding sizes;
    for (const sema::Dim& dim : plan.kernel->dims) sizes[*dim.symbol.dim_id()] = 1536;
    CHECK(places.evaluate(sizes) == 12 * ((1536 + gemm->tile[1] - 1) / gemm->tile[1]));
  }
}

TEST_CASE("an order may be a number of rows of tiles") {
  const plan::Plan plan = planned("schedule product for sm90 { group_m = 11 }", "bf16");
  REQUIRE(plan.problems.empty());
  int seen = 0;
  for (const plan::Variant& variant : plan.variants) {
    if (!hopper(variant) || !variant.schedule.known()) continue;
    INFO(variant.name);
    CHECK(hopper(variant)->order == plan::TileOrder(plan::RowGroups{11}));
    ++seen;
  }
  CHECK(seen > 10);
  for (const char* wrong : {"0", "-1", "5000", "M", "(1,2)"}) {
    INFO(wrong);
    CHECK(problem(std::string("schedule product for sm90 { group_m = ") + wrong + " }") ==
          "schedule-entry: `group_m` takes a number of rows of tiles, 1 to 4096");
  }
  CHECK(problem("schedule product for sm90 { rasterization = 8 }") ==
        "schedule-entry: `rasterization` takes a layout, block or cluster -> (tile m, tile n); a "
        "number of rows of tiles is `group_m`");
  CHECK(problem("schedule product for sm90 { group_m = 8; rasterization = 64:1@0 }") ==
        "schedule-entry: `rasterization` and `group_m` both state the order of tiles");
  for (const char* old : {"order", "swapped", "serpentine", "accumulate"}) {
    INFO(old);
    const plan::Plan refused =
        planned(std::string("schedule product for sm90 { ") + old + " = 1 }");
    REQUIRE(refused.problems.size() == 1);
    REQUIRE(!refused.problems.front().notes.empty());
    CHECK(refused.problems.front().notes.front().second.starts_with("did you mean "));
  }
  // Eleven rows of clusters where B runs along n.
  sema::test::Script across(
      "kernel f<M, N, K>(A: bf16 (M,K):(1,M), B: bf16 (N,K):(1,N)) -> C: bf16 (M,N):(N,1) "
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }");
  const plan::Plan of_across = plan::make_plan(across.evaluator.kernels().back());
  CHECK(taken(of_across, 8192, 8192, 8192) == "sm90_256x128_group_11");
  CHECK(taken(of_across, 4096, 4096, 4096) == "sm90_256x128_1x2");
}

TEST_CASE("sizes that a completed schedule leaves out have the library's own rows") {
  const plan::Plan plan = planned(
      "schedule product for sm90 when M >= 512 { promotion_interval = 128; cluster = (1,1) }");
  REQUIRE(plan.problems.empty());
  std::set<std::string> names;
  for (const plan::Variant& variant : plan.variants) CHECK(names.insert(variant.name).second);
  CHECK(names.contains("sm90_own_128x128"));
  CHECK(names.contains("sm90_128x128"));
}

TEST_CASE("what is printed of a sum in parts is taken back") {
  const plan::Plan plan = planned("schedule product for sm90 { promotion_interval = 256 }");
  REQUIRE(plan.problems.empty());
  for (const plan::Variant& variant : plan.variants) {
    if (!hopper(variant) || !variant.before.empty()) continue;
    INFO(variant.name);
    std::string pasted;
    for (const std::string& line : plan::schedule_lines(plan, variant)) pasted += line + "\n";
    const plan::Plan again = planned(pasted);
    REQUIRE(again.problems.empty());
    const auto how = hopper(again.variants.front());
    REQUIRE(how);
    CHECK(how->promotion_interval == 256);
    CHECK(how->tile == hopper(variant)->tile);
    CHECK(how->registers == hopper(variant)->registers);
  }
}

TEST_CASE("variants that no sizes reach are left out") {
  for (const char* element : {"f32", "bf16"}) {
    const std::string type = element;
    sema::test::Script script("kernel f<M, N, K>(A: " + type + " (M,K):(1,M+5), B: " + type +
                              " (N,K):(K,1)) -> C: " + type +
                              " (M,N):(1,M) { C[m,n] = sum[k](A[m,k] * B[n,k]) }");
    REQUIRE(script.messages == "");
    const plan::Plan plan = plan::make_plan(script.evaluator.kernels().back());
    REQUIRE(!plan.variants.empty());
    for (const plan::Variant& each : plan.variants)
      CHECK(!plan::contradicts(plan::facts_of(*plan.kernel), each.when));
  }
}

TEST_CASE("sums in parts that do not fit the tile, the type or the registers are refused") {
  const std::string head =
      "schedule product for sm90 { mma = sm90.wgmma(n = 128, ab = e4m3, acc = f32); ";
  CHECK(problem(head + "tile = (128,128,128); promotion_interval = 96 }") ==
        "schedule-cover: 96 elements of K are neither whole tiles of 128 nor an equal part of one "
        "in steps of 32");
  CHECK(problem(head + "tile = (128,128,128); promotion_interval = 16 }")
            .starts_with("schedule-cover"));
  CHECK(problem(head + "tile = (128,128,128); promotion_interval = 0 }")
            .starts_with("schedule-entry"));
  CHECK(problem(head + "tile = (128,128,128); groups = (1,1,1,2); promotion_interval = 128 }")
            .starts_with("schedule-registers"));
  CHECK(problem("schedule product for sm80 { alternate_k = 1 }").starts_with("unsupported"));
  CHECK(planned(head + "tile = (128,128,128); promotion_interval = 64 }").problems.empty());
  CHECK(planned(head + "tile = (128,128,128); promotion_interval = 384 }").problems.empty());
}

TEST_CASE(
    "an atom whose accumulators leave its instruction too few of the registers that threads begin "
    "with is refused") {
  const auto asked = [](int n, const std::string& groups) {
    const std::string columns = std::to_string(n);
    const std::string tile =
        groups == "(2,2,1,1)" ? "(128," + std::to_string(2 * n) : "(192," + columns;
    return "schedule product for sm90 { mma = sm90.wgmma(n = " + columns +
           ", ab = e4m3, acc = f32); tile = " + tile + ",64); groups = " + groups + " }";
  };
  CHECK(problem(asked(144, "(2,2,1,1)")) ==
        "schedule-registers: the instruction with its 72 accumulators takes 98 registers, and 640 "
        "threads begin with 96 "
        "each");
  CHECK(problem(asked(208, "(3,1,1,1)"))
            .starts_with("schedule-registers: the instruction with its 104"));
  CHECK(planned(asked(136, "(2,2,1,1)")).problems.empty());
  CHECK(planned(asked(200, "(3,1,1,1)")).problems.empty());
}

TEST_CASE("a layout of the user's that meets bank conflicts is followed, and said") {
  const std::string head =
      "schedule product for sm80 { mma = sm90.mma(m = 16, k = 32, ab = e4m3, acc = f32); tile = "
      "(64,64,128); "
      "groups = (2,2,1,1); stages = 2";
  const auto notes = [&](const std::string& more) {
    const plan::Plan plan = planned(head + more + " }");
    REQUIRE(plan.problems.empty());
    return plan.variants.front().notes;
  };
  CHECK(notes("").empty());
  const auto found = notes("; smem A = (64,128):(128,1)");
  REQUIRE(found.size() == 1);
  CHECK(found[0] ==
        "smem A meets bank conflicts: read A takes 32 wavefronts a warp, and 4 in the layout that "
        "is chosen without the entry");
  CHECK(notes("; smem A = Sw<3,4,3> o 0 o (64,128):(128,1)").empty());
}

// The atom reads its columns of whole swizzles; what two blocks share of them is cut between
// swizzles, or along K.
TEST_CASE("columns along n come in whole swizzles") {
  const auto operand = [](int columns, const std::string& more) {
    const std::string n = std::to_string(columns);
    sema::test::Script script(
        "use atoms.sm90\nkernel product<M, N, K>(A: bf16 (M,K), B: bf16 (N,K):(1,N)) -> C: bf16 "
        "(M,N)\n{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\nschedule product for sm90 { tile = (64," +
        n + ",64); mma = sm90.wgmma(n = " + n + ", ab = bf16, acc = f32); groups = (1,1,1,1)" +
        more + " }");
    REQUIRE(script.messages == "");
    const plan::Plan plan = plan::make_plan(script.evaluator.kernels().back());
    REQUIRE(plan.problems.empty());
    const auto gemm = hopper(plan.variants.front());
    REQUIRE(gemm);
    // Each stage has what TMA loads.
    plan::Sm90Gemm one_more = *gemm;
    ++one_more.stages;
    CHECK(plan::shared_bytes(one_more, *plan.kernel) - plan::shared_bytes(*gemm, *plan.kernel) ==
          (64 + gemm->b.extent) * 64 * 2);
    return gemm->b;
  };
  struct {
    int columns;
    const char* more;
    int span, extent;
    std::array<int, 2> slice, box;
  } const rows[] = {
      {128, "", 128, 128, {128, 64}, {64, 64}},
      {136, "", 128, 192, {192, 64}, {64, 64}},
      {136, "; cluster = (2,1)", 128, 192, {192, 32}, {64, 32}},
      {72, "; cluster = (2,1)", 128, 128, {64, 64}, {64, 64}},
      {8, "", 128, 64, {64, 64}, {64, 64}},
      {96, "; smem B = Sw<2,3,3> o 0 o ((32,3),64):((1,2048),32)", 64, 96, {96, 64}, {32, 64}},
      {40, "; smem B = Sw<1,3,3> o 0 o ((16,3),64):((1,1024),16)", 32, 48, {48, 64}, {16, 64}},
  };
  for (const auto& row : rows) {
    INFO(row.columns << row.more);
    const plan::TmaOperand b = operand(row.columns, row.more);
    CHECK(b.span == row.span);
    CHECK(b.extent == row.extent);
    CHECK(b.slice == row.slice);
    CHECK(b.box == row.box);
  }
}

TEST_CASE("what blocks that share K add up is counted among the registers") {
  const auto split = [](int rows, int columns, int groups, int blocks) {
    const std::string n = std::to_string(columns);
    return "schedule product for sm90 { mma = sm90.wgmma(n = " + n +
           ", ab = e4m3, acc = f32); tile = (" + std::to_string(rows) + "," + n +
           ",128); groups = (" + std::to_string(groups) + ",1,1,1); cluster = (1,1," +
           std::to_string(blocks) + ") }";
  };
  CHECK(problem(split(128, 240, 2, 2)) ==
        "schedule-registers: a part of (64,240) leaves 120 accumulators and 64 sums to each thread "
        "of a consumer, which "
        "has 240 registers");
  CHECK(planned(split(128, 240, 2, 1)).problems.empty());
  CHECK(planned(split(128, 240, 2, 4)).problems.empty());
  CHECK(planned(split(64, 224, 1, 2)).problems.empty());
}

TEST_CASE(
    "outputs are stored in narrower boxes where more stages are asked for than whole ones leave "
    "room for") {
  const auto of = [](int columns, int stages) {
    const std::string n = std::to_string(columns);
    const plan::Plan plan = planned(
        "schedule product for sm90 { mma = sm90.wgmma(n = " + n +
            ", ab = bf16, acc = f32); tile = (128," + n +
            ",64); groups = (1,1,1,2); cluster = (2,1); stages = " + std::to_string(stages) + " }",
        "bf16");
    REQUIRE(plan.problems.empty());
    const auto how = hopper(plan.variants.front());
    REQUIRE(how);
    REQUIRE(how->store);
    CHECK(how->stages == stages);
    return *how->store;
  };
  CHECK(of(192, 4).width == 64);
  CHECK(of(192, 5).width == 32);
  CHECK(of(192, 5).rest == 0);
  CHECK(of(184, 5).width == 32);
  CHECK(of(184, 5).rest == 24);
  CHECK(of(176, 5).width == 64);
  CHECK(of(176, 5).rest == 48);
}

TEST_CASE("consumers ask for no more registers than the launch has and the producer gives up") {
  constexpr int all = 65536, unit = 8;
  for (const int consumers : {2, 3, 4, 5, 6, 7}) {
    for (const int columns : {32, 64, 128, 256}) {
      const std::string n = std::to_string(columns);
      const plan::Plan plan =
          planned("schedule product for sm90 { mma = sm90.wgmma(n = " + n +
                  ", ab = e4m3, acc = f32); tile = (64," + n + ",128); groups = (1,1,1," +
                  std::to_string(consumers) + "); cluster = (1,1); stages = 2 }");
      if (!plan.problems.empty()) continue;
      const auto how = hopper(plan.variants.front());
      REQUIRE(how);
      REQUIRE(how->registers);
      const auto [copies, each] = *how->registers;
      INFO(consumers << " consumers, " << columns << " columns: " << copies << ", " << each);
      const int begin_with = all / how->threads() / unit * unit;
      CHECK(copies + consumers * each <= begin_with * (1 + consumers));
      CHECK(copies % unit == 0);
      CHECK(each % unit == 0);
      CHECK(copies >= 24);
      CHECK(copies <= begin_with);
      CHECK(each >= begin_with);
    }
  }
}

TEST_CASE("the way through K is printed where it is said, and is 0 or 1") {
  const std::string head =
      "schedule product for sm90 { mma = sm90.wgmma(n = 128, ab = e4m3, acc = f32); ";
  const plan::Plan plan = planned(head + "alternate_k = 1 }");
  REQUIRE(plan.problems.empty());
  const auto lines = plan::schedule_lines(plan, plan.variants.front());
  CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("alternate_k   = 1") != std::string::npos;
  }));
  for (const plan::Variant& variant :
       planned("schedule product for sm90 { alternate_k = 1 }").variants) {
    if (hopper(variant) && variant.schedule.known())
      CHECK(hopper(variant)->alternate_k == (variant.name.find("own") != std::string::npos));
  }
  CHECK(problem(head + "alternate_k = 2 }") ==
        "schedule-entry: `alternate_k` takes 0 or 1: whether every other tile of a cluster goes "
        "through K from its end");
}

}  // namespace lay::test
