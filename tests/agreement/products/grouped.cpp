// Grouped products: every variant of grouped.lay, with all checks of the host interpreter, against
// the kernel's reference meaning, bit for bit on small integers, over outputs of NaN; and what is
// planted in them must be found.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <numeric>
#include <random>

#include "backend/ir/lower/lower.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/plan/grouped/grouped_product.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/make.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/sema/kernel/reference.h"
#include "tests/agreement/calls.h"
#include "tests/agreement/script.h"

namespace {

using namespace lay;
using Rows = std::vector<std::int64_t>;  // of each segment

std::optional<plan::Sm90Gemm> grouped(const plan::Variant& variant) {
  const auto gemm = plan::sm90_of(variant);
  return gemm && gemm->segments ? gemm : std::nullopt;
}

// The segment of each row, where as many are of each and they lie in any order.
Rows in_any_order(const Rows& rows, std::mt19937& random) {
  Rows made;
  for (std::size_t e = 0; e < rows.size(); ++e)
    made.insert(made.end(), static_cast<std::size_t>(rows[e]), static_cast<std::int64_t>(e));
  std::shuffle(made.begin(), made.end(), random);
  return made;
}

void set_each(sema::Array& array, const Rows& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    array.set_real(static_cast<std::int64_t>(i), static_cast<double>(values[i]));
}

// Integers from -3 to 3, of which sums over 24 stay below 256, which bf16 and e4m3's products hold.
sema::KernelCall call_of(const sema::KernelPtr& kernel, const Rows& rows, std::int64_t n,
                         std::int64_t k, std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::int64_t t = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  sema::KernelCall call = test::drawn_call(
      kernel, {{"T", t}, {"E", static_cast<std::int64_t>(rows.size())}, {"N", n}, {"K", k}},
      [&] { return static_cast<int>(random() % 7) - 3; });
  for (std::size_t id = 0; id < kernel->tensors.size(); ++id) {
    if (kernel->tensors[id].name == "expert")
      set_each(call.tensors[id], in_any_order(rows, random));
    if (kernel->tensors[id].name != "start") continue;
    Rows start{0};
    std::partial_sum(rows.begin(), rows.end(), std::back_inserter(start));
    set_each(call.tensors[id], start);
  }
  return call;
}

// Empty segments first, in between and last; rows of a tile, one less and one more.
Rows drawn_rows(std::uint32_t seed) {
  std::mt19937 random(seed);
  Rows rows(1 + random() % 6);
  for (std::int64_t& each : rows) {
    constexpr std::int64_t usual[] = {0, 0, 1, 63, 64, 65, 127, 128, 129};
    const std::size_t which = random() % 12;
    each = which < std::size(usual) ? usual[which] : static_cast<std::int64_t>(random() % 200);
  }
  if (std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) == 0) rows.back() = 1;
  return rows;
}

std::string words(const Rows& rows) {
  std::string made;
  for (const std::int64_t each : rows) made += (made.empty() ? "" : ", ") + std::to_string(each);
  return made;
}

std::string trouble(const std::vector<ir::Kernel>& launches, const sema::KernelCall& call,
                    const sema::KernelResult& expected, std::uint64_t seed = 0) {
  const auto exactly = [](const sema::Array& got, const sema::Array& wanted) {
    return test::difference(got, wanted);
  };
  return test::trouble(launches, call, expected, exactly, seed);
}

// The only kernel of a text that is right.
sema::KernelPtr checked(const std::string& text) {
  Sources sources;
  sema::Evaluator evaluator(sources, sema::Host{});
  for (const sema::Outcome& outcome : evaluator.run("test", text))
    for (const Diagnostic& d : outcome.diagnostics.list()) FAIL(d.message);
  return evaluator.kernels().front();
}

// A GPU so small that every block takes many tiles.
Target small_target() {
  Target target = default_target();
  target.sms = 4;
  return target;
}

}  // namespace

TEST_CASE("grouped products: every variant agrees with the reference") {
  test::Kernels kernels("tests/agreement/products/grouped.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    const plan::Plan plan = plan::make_plan(kernel, small_target());
    REQUIRE(plan.problems.empty());
    REQUIRE(grouped(plan.variants.front()));
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
      const Rows rows = drawn_rows(seed * 31);
      // K of less than a tile, and of several; N of vectors and of single elements.
      const std::int64_t k = kernel->name == "narrow" ? 16 : seed % 2 == 0 ? 24 : 16;
      const std::int64_t n = seed % 2 == 0 ? 72 : 13 + 8 * seed;
      // W along n is read by TMA where N is a multiple of 8.
      if (kernel->name == "along_rows" && n % 8 != 0) continue;
      const sema::KernelCall call = call_of(kernel, rows, n, k, seed);
      const sema::KernelResult expected = sema::run_reference(call);
      int count = 0;
      for (const plan::Variant* variant : plan::fitting_variants(plan, call.sizes)) {
        INFO(kernel->name << " " << variant->name << ", rows " << words(rows) << ", N " << n);
        if (!grouped(*variant)) break;
        ++count;
        CHECK(trouble(ir::lower_all(plan, plan::at_sizes(*variant, call.sizes)), call, expected,
                      seed) == "");
      }
      CHECK(count > 0);
    }
  }
}

TEST_CASE("grouped products: what is planted in the product is found") {
  test::Kernels kernels("tests/agreement/products/grouped.lay");
  const sema::KernelPtr& kernel = kernels.all().front();
  REQUIRE(kernel->name == "plain");
  const plan::Plan plan = plan::make_plan(kernel, small_target());
  const sema::KernelCall call = call_of(kernel, {70, 0, 131, 9}, 72, 24, 1);
  const sema::KernelResult expected = sema::run_reference(call);
  const auto launches =
      ir::lower_all(plan, plan::at_sizes(plan::chosen_variant(plan, call.sizes), call.sizes));
  REQUIRE(launches.size() == 4);
  const std::string text = ir::print(launches.back());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    INFO(from << " in\n" << text);
    REQUIRE(at != std::string::npos);
    for (std::size_t i = at; i != std::string::npos; i = changed.find(from, i + to.size()))
      changed.replace(i, from.size(), to);
    std::vector<ir::Kernel> all(launches.begin(), launches.end() - 1);
    all.push_back(ir::parse(changed));
    return trouble(all, call, expected);
  };
  CHECK(with("row_end", "row_end") == "");
  // Rows of the next segment stored too, by another part of W; the first segment's part for all;
  // a tile's rows from whole tiles on.
  CHECK(with("t < row_end", "t < [T]") != "");
  CHECK(with("W[segment_,", "W[0,") != "");
}

TEST_CASE("grouped products: sorted rows go back where they were") {
  test::Kernels kernels("tests/agreement/products/grouped.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name != "any_order") continue;
    const plan::Plan plan = plan::make_plan(kernel, small_target());
    const sema::KernelCall call = call_of(kernel, {70, 0, 131, 9}, 72, 24, 1);
    const auto launches =
        ir::lower_all(plan, plan::at_sizes(plan::chosen_variant(plan, call.sizes), call.sizes));
    std::string text = ir::print(launches.back());
    const std::size_t at = text.find("= row_of[");
    REQUIRE(at != std::string::npos);
    text.replace(at, text.find(']', at) + 1 - at, "= row_first");
    std::vector<ir::Kernel> changed(launches.begin(), launches.end() - 1);
    changed.push_back(ir::parse(text));
    CHECK(trouble(launches, call, sema::run_reference(call)) == "");
    CHECK(trouble(changed, call, sema::run_reference(call)) != "");
  }
}

TEST_CASE("grouped products: rows lie in segments where the coordinate never decreases") {
  const auto lies_in_segments = [&](const std::string& segment) {
    const auto kernel = checked(
        "kernel f<T, E, N, K>(X: bf16 (T,K), s: s32 (E + 1), x: s32 T, W: bf16 (E,N,K)) -> "
        "Y: bf16 (T,N)\n{\n  let expert[t] = " +
        segment + "\n  Y[t,n] = sum[k](X[t,k] * W[expert[t],n,k])\n}\n");
    const auto found = plan::recognise_grouped(kernel);
    REQUIRE(found);
    return found->sorted;
  };
  CHECK(lies_in_segments("segment_of[e](s[e], t)"));
  CHECK(lies_in_segments("sum[e](if s[e] <= t then 1 else 0) - 1"));
  CHECK(lies_in_segments("sum[e](if t < s[e] then 0 else 1) - 1"));
  CHECK(lies_in_segments("sum[e](if t > s[e] then 3 else -2) + s[0]"));
  CHECK(lies_in_segments("s[0] - sum[e](if s[e] <= t then -1 else 0)"));
  CHECK(lies_in_segments("max(sum[e](if s[e] <= t then 1 else 0) - 1, 0)"));
  CHECK(lies_in_segments("max[e](if s[e] <= t then 1 else 0)"));
  // From memory, in another order, or up and down.
  CHECK(!lies_in_segments("x[t]"));
  CHECK(!lies_in_segments("sum[e](if s[e] > t then 1 else 0)"));
  CHECK(!lies_in_segments("3 - sum[e](if s[e] <= t then 1 else 0)"));
  CHECK(!lies_in_segments("sum[e](if s[e] == t then 1 else 0)"));
  CHECK(!lies_in_segments("sum[e](if s[e] <= t then 1 else x[t])"));
  CHECK(!lies_in_segments("sum[e](if s[e] <= t then -1 else 0) + 2"));
  CHECK(!lies_in_segments("sum[e](if s[e] <= x[t] then 1 else 0)"));
}

TEST_CASE("grouped products: many rows are counted in chunks") {
  test::Kernels kernels("tests/agreement/products/grouped.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name != "any_order" && kernel->name != "any_order_heads") continue;
    const plan::Plan plan = plan::make_plan(kernel, small_target());
    for (const Rows& rows : {Rows{1500, 0, 2601, 30}, Rows{0, 4097}, Rows{4352}}) {
      INFO(kernel->name << ", rows " << words(rows));
      const sema::KernelCall call = call_of(kernel, rows, 8, 16, 7);
      const plan::Variant& variant = plan::chosen_variant(plan, call.sizes);
      REQUIRE(grouped(variant));
      const auto launches = ir::lower_all(plan, plan::at_sizes(variant, call.sizes));
      CHECK(launches.size() == 11);
      CHECK(trouble(launches, call, sema::run_reference(call)) == "");
    }
  }
}

TEST_CASE("grouped products: a row without a part of W is an error on the host") {
  test::Kernels kernels("tests/agreement/products/grouped.lay");
  for (const sema::KernelPtr& kernel : kernels.all()) {
    if (kernel->name != "any_order" && kernel->name != "plain") continue;
    sema::KernelCall call = call_of(kernel, {3, 4}, 8, 16, 1);
    const auto refusal_of = [&] {
      try {
        kernels.host().run(call);
      } catch (const Refusal& refusal) {
        return refusal.code + ": " + refusal.message;
      }
      return std::string("none");
    };
    CHECK(refusal_of() == "none");
    // The last row has expert 2 of 0 and 1; the first ones begin behind row 0.
    if (kernel->name == "any_order") {
      call.tensors[1].set_real(6, 2);
      CHECK(refusal_of() == "bounds: W is read at 2 in mode 0 of 2 elements");
    } else {
      call.tensors[1].set_real(0, 1);
      CHECK(refusal_of() == "bounds: W is read at -1 in mode 0 of 2 elements");
    }
  }
}

TEST_CASE("grouped products: schedules, and what they may not say") {
  const auto plan_of = [&](const std::string& schedules) {
    const auto kernel = checked(
        "use atoms.sm90\nkernel f<T, E, N, K>(X: bf16 (T,K), s: s32 (E + 1), W: bf16 (E,N,K)) -> "
        "Y: bf16 (T,N)\n{\n  let expert[t] = segment_of[e](s[e], t)\n"
        "  Y[t,n] = sum[k](X[t,k] * W[expert[t],n,k])\n}\n" +
        schedules);
    return plan::make_plan(kernel, default_target());
  };
  const auto problem_of = [&](const std::string& schedules) {
    const plan::Plan plan = plan_of(schedules);
    return plan.problems.empty() ? "" : plan.problems.front().message;
  };
  const std::string mma = "; mma = sm90.wgmma(n = 64, ab = bf16, acc = f32) }\n";
  const plan::Plan tall = plan_of("schedule f for sm90 { tile = (192,64,64)" + mma);
  REQUIRE(tall.problems.empty());
  CHECK(grouped(tall.variants.front())->segments->rows == 192);
  CHECK(problem_of("schedule f for sm90 { tile = (64,64,64)" + mma +
                   "schedule f for sm90 { tile = (128,64,64)" + mma) ==
        "the tiles of a grouped product have 64 rows in all of its schedules, not 128");
  CHECK(problem_of("schedule f for sm90 { tile = (64,64,64); swap_ab = 1" + mma) ==
        "the rows of a grouped product are those of the instruction");
  CHECK(problem_of("schedule f for sm90 { tile = (64,64,64); repack A = \"elements\"" + mma) ==
        "the operands of a grouped product are read as they lie");
  CHECK(problem_of("schedule f for sm80 { tile = (64,64,32) }\n")
            .starts_with("expected a GEMM or a permute kernel to schedule"));
  // An order has a place for a last tile of each segment.
  CHECK(problem_of("schedule f for sm90 { tile = (64,64,64); rasterization = "
                   "(ceil_div(T,64) + E,ceil_div(N,64)):(1@0,1@1)" +
                   mma)
            .empty());
  CHECK(problem_of("schedule f for sm90 { tile = (64,64,64); rasterization = "
                   "(ceil_div(T,64),ceil_div(N,64)):(1@0,1@1)" +
                   mma)
            .find("does not visit every tile exactly once") != std::string::npos);
}
