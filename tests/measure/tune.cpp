// `lay tune`: what is proposed, how it is ranked, what is kept and read back.
#include "runtime/bench/tune/tune.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "backend/plan/make.h"
#include "backend/plan/model/forecast.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/candidates.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/schedule/stated_sizes.h"
#include "backend/plan/simt/bind_simt.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "frontend/sema/library.h"
#include "frontend/source/diagnostic.h"
#include "frontend/syntax/format.h"
#include "generated/tests/paths.h"
#include "runtime/bench/problem/problem.h"
#include "runtime/bench/tune/shape_class.h"
#include "runtime/commands/policies.h"
#include "runtime/commands/tuned.h"
#include "tests/measure/machine.h"
#include "tests/measure/redirected.h"
#include "tests/runtime/temporary.h"

namespace {

using namespace lay;

const std::string script = std::string(LAY_SOURCE_DIR) + "/tests/measure/gemms.lay";

std::unique_ptr<runtime::Script> checked(const std::string& file) {
  runtime::ScriptOptions options;
  options.evaluation = {sema::Mode::check, {}};
  return runtime::evaluate_script(file, options);
}

sema::KernelPtr kernel_of(const runtime::Script& of, const std::string& name) {
  for (const auto& kernel : of.evaluator.kernels())
    if (kernel->name == name) return kernel;
  throw std::logic_error(name);
}

struct Ended {
  int code;
  std::string out, error;
};

Ended tune(bench::TuneOptions options) {
  static const test::TemporaryFolder cache;
  static const bool known = (test::know_kernels(script), true);
  (void)known;
  setenv("LAY_CACHE_DIR", cache.path().c_str(), 1);
  options.effort.milliseconds = 1;
  const test::Redirected out(std::cout), error(std::cerr);
  const int code = bench::tune_script(options);
  return {code, out.text(), error.text()};
}

}  // namespace

TEST_CASE("candidates keep the laws, and are ranked") {
  const auto read = checked(script);
  const auto kernel = kernel_of(*read, "linear");
  const auto problem = bench::problem_of(kernel, {{"M", 4096}, {"N", 4096}, {"K", 4096}}, {});
  const auto ranked = plan::ranked_candidates(kernel, problem.sizes, 24);
  REQUIRE(ranked.size() > 20);
  CHECK(std::is_sorted(ranked.begin(), ranked.end(),
                       [](const auto& a, const auto& b) { return a.seconds < b.seconds; }));
  for (const auto& candidate : ranked) {
    CHECK(candidate.plan.problems.empty());
    CHECK(candidate.chosen().prediction.registers > 0);
    CHECK(candidate.seconds >=
          2 * 4096.0 * 4096 * 4096 / 67e12);  // nothing is faster than the machine
    CHECK(candidate.seconds < 0.1);
  }
  // Large tiles win on a large output, and lose where there are few of them.
  const auto tile = [](const plan::Candidate& candidate) {
    return plan::entry_lines(candidate.schedule).at(0);
  };
  CHECK((tile(ranked[0]) == "tile = (128,256,8)" || tile(ranked[0]) == "tile = (256,128,8)" ||
         tile(ranked[0]) == "tile = (128,256,16)" || tile(ranked[0]) == "tile = (256,128,16)"));
  // The same tiles in rings, which are faster on a large output.
  const auto ring = [](const plan::Candidate& candidate) {
    return plan::simt_of(candidate.chosen())->ring();
  };
  CHECK(ring(ranked[0]));
  const auto rings = std::count_if(ranked.begin(), ranked.end(), ring);
  CHECK((rings > 10 && rings < std::ssize(ranked)));
  const auto on_ampere = plan::ranked_candidates(kernel, problem.sizes, 24, *find_target("a100"));
  CHECK(on_ampere.size() >= 4);
  for (const auto& candidate : on_ampere) CHECK(!ring(candidate));
  // No more than are asked for, the same first.
  const auto two = plan::ranked_candidates(kernel, problem.sizes, 2);
  REQUIRE(two.size() == 2);
  for (std::size_t i = 0; i < two.size(); ++i)
    CHECK(plan::entry_lines(two[i].schedule) == plan::entry_lines(ranked[i].schedule));
  const auto small = bench::problem_of(kernel, {{"M", 512}, {"N", 512}, {"K", 512}}, {});
  const auto few = plan::ranked_candidates(kernel, small.sizes, 24);
  CHECK(tile(few[0]).find("256") == std::string::npos);
  // In other orders, each of which visits every tile once.
  const auto orders = plan::reordered(kernel, ranked[0], problem.sizes);
  REQUIRE(orders.size() == 3);
  CHECK(plan::entry_lines(orders[0].schedule).back() == "group_m = 4");
  CHECK(plan::ranked_candidates(kernel_of(*read, "twice"), problem.sizes, 24).empty());

  // Tensor cores have tiles of their own, the first of them what a plan for the sizes takes.
  const auto of_bf16 = kernel_of(*read, "batched");
  const auto large =
      bench::problem_of(of_bf16, {{"L", 3}, {"M", 1784}, {"N", 1816}, {"K", 2048}}, {});
  plan::Plan for_sizes = plan::make_plan(of_bf16);
  plan::add_for_sizes(for_sizes, large.sizes, default_target());
  const auto on_hopper = plan::ranked_candidates(of_bf16, large.sizes, 12);
  REQUIRE(on_hopper.size() == 12);
  for (const auto& candidate : on_hopper) CHECK(candidate.schedule.target == "sm90");
  CHECK(on_hopper[0].seconds == plan::expected_seconds(for_sizes,
                                                       plan::chosen_variant(for_sizes, large.sizes),
                                                       large.sizes, default_target()));
  const Target a100 = *find_target("a100");
  const auto tensor_cores = plan::ranked_candidates(of_bf16, large.sizes, 12, a100);
  REQUIRE(tensor_cores.size() >= 2);
  for (const auto& candidate : tensor_cores) {
    CHECK(candidate.schedule.target == "sm80");
    // Costs of a row say more than what is expected without them, but for the way of K tiles
    // through shared memory, which they know better.
    auto launches = plan::forecast(candidate.plan, candidate.chosen(), large.sizes, a100);
    REQUIRE(launches);
    double without_cost = 0;
    for (plan::Forecast& launch : *launches) {
      launch.staged = 0;
      without_cost += launch.expected();
    }
    CHECK(candidate.seconds >= without_cost);
  }
  const plan::Plan of_ampere = plan::make_plan(of_bf16, a100);
  CHECK(tensor_cores[0].seconds ==
        plan::expected_seconds(of_ampere, plan::chosen_variant(of_ampere, large.sizes), large.sizes,
                               a100));
  CHECK(std::is_sorted(tensor_cores.begin(), tensor_cores.end(),
                       [](const auto& a, const auto& b) { return a.seconds < b.seconds; }));
}

TEST_CASE("bench and tune take the sizes that a script states, where none are given") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "stated.lay";
  test::put(file, test::slurp(script) +
                      "\nschedule linear for M = 64, N = 32, K = 16\nschedule linear for N = 8\n");
  const auto read = checked(file);
  using Sizes = std::map<std::string, std::int64_t>;
  const auto kernel = kernel_of(*read, "linear");
  CHECK(
      bench::problems_for(*kernel, {}) ==
      std::vector<Sizes>{{{"M", 64}, {"N", 32}, {"K", 16}}, {{"M", 4096}, {"N", 8}, {"K", 4096}}});
  CHECK(bench::problems_for(*kernel, {{{"", 7}}}) ==
        std::vector<Sizes>{{{"M", 7}, {"N", 7}, {"K", 7}}});
  CHECK(bench::problems_for(*kernel_of(*read, "blas"), {}) ==
        std::vector<Sizes>{{{"M", 4096}, {"N", 4096}, {"K", 4096}}});
}

TEST_CASE("every size is in one class, with its nearest powers of two") {
  for (std::int64_t size = 1; size < 5000; ++size) {
    const auto range = bench::range_of(size);
    CHECK((range.from <= size && size < range.below));
    CHECK(bench::range_of(range.from).below == range.below);
    CHECK(bench::range_of(range.below).from == range.below);
  }
  CHECK(bench::range_of(4096).from == 3072);
  CHECK(bench::range_of(4096).below == 6144);
}

namespace {

// Two candidates for a small product of a script, whose untuned kernels cost the fake device more.
bench::TuneOptions small_tune(const std::string& file) {
  test::set_cost("lay_linear_simt_64x128_ring", 3);
  test::set_cost("lay_linear_simt_64x64_any", 3);
  bench::TuneOptions options;
  options.file = file;
  options.kernel = "linear";
  options.sizes = {{{"M", 64}, {"N", 64}, {"K", 16}}};
  options.effort.candidates = 2;
  return options;
}

}  // namespace

TEST_CASE("the winners are saved beside the script, and the script is planned with it") {
  const test::TemporaryFolder folder;
  const std::string copy = folder / "gemms.lay", kept = folder / "gemms.tuned.lay";
  test::put(copy, test::slurp(script));
  bench::TuneOptions options = small_tune(copy);
  options.beside = true;
  const Ended ended = tune(options);
  INFO(ended.out << ended.error);
  CHECK(ended.code == 0);
  CHECK(ended.out.find("the default, simt_64x128_ring\n") != std::string::npos);
  const std::size_t second = ended.out.find("the fastest with other rasterizations:\n");
  REQUIRE(second != std::string::npos);
  for (const char* order : {"group_m = 4\n", "group_m = 11\n", "group_m = 16\n"})
    CHECK((ended.out.find(order) != std::string::npos && ended.out.find(order) > second));
  CHECK(ended.out.find("the default, simt_64x128_ring\n", second) != std::string::npos);
  CHECK(ended.out.find("written to " + kept) != std::string::npos);
  const std::string text = test::slurp(kept);
  INFO(text);
  CHECK(text.find(", linear M=64 N=64 K=16: 250.0 us, the default 750.0 us\n"
                  "schedule linear for simt when M >= 48 and M < 96 and N >= 48 and N < 96 and K "
                  ">= 12 and K < 24 {\n") != std::string::npos);

  const auto read = checked(copy);
  for (const auto& outcome : read->outcomes) CHECK(outcome.diagnostics.ok());
  const auto kernel = kernel_of(*read, "linear");
  REQUIRE(kernel->schedules.size() == 1);
  CHECK(plan::make_plan(kernel).variants.at(0).schedule.known());
  CHECK(kernel_of(*read, "blas")->schedules.empty());

  // Another class of the same kernel is added, the same one replaced.
  options.sizes = {{{"M", 64}, {"N", 64}, {"K", 16}}, {{"M", 32}, {"N", 64}, {"K", 16}}};
  CHECK(tune(options).code == 0);
  const std::string both = test::slurp(kept);
  options.sizes = {{{"M", 64}, {"N", 64}, {"K", 16}}};
  CHECK(tune(options).code == 0);
  INFO(both);
  CHECK(kernel_of(*checked(copy), "linear")->schedules.size() == 2);

  // A script that has a schedule of its own keeps to that.
  test::put(copy, test::slurp(script) + "\nschedule linear for simt { tile = (64,64,16) }\n");
  CHECK(kernel_of(*checked(copy), "linear")->schedules.size() == 1);
}

TEST_CASE(
    "the winner is saved as a policy for all products of its class, and other scripts are planned "
    "with it") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "tuned_simt.lay";
  bench::TuneOptions options = small_tune(script);
  options.folder = folder.path().string();
  const Ended ended = tune(options);
  INFO(ended.out << ended.error);
  CHECK(ended.code == 0);
  CHECK(ended.out.find("written to " + path) != std::string::npos);
  const std::string text = test::slurp(path);
  INFO(text);
  CHECK(text.find("// Fake GPU, 20") != std::string::npos);  // and the rest of the date
  CHECK(text.find(", linear M=64 N=64 K=16: 250.0 us, the default 750.0 us\n"
                  "record h200_f32_f32_f32_f32_kkn_64_64_16_1 {\n"
                  "  gpu       = \"h200\", a = f32, b = f32, acc = f32, c = f32, along = \"kkn\", "
                  "masked = false, "
                  "any_pitch = false\n"
                  "  condition = M >= 48 and M < 96 and N >= 48 and N < 96 and K >= 12 and K < 24 "
                  "and L >= 1 and L < 2\n") != std::string::npos);
  Sources sources;
  CHECK(syntax::format(sources, sources.add(path, text)).text == text);

  // Another kernel of the same form, in another script.
  const test::TemporaryFolder elsewhere;
  const std::string other = elsewhere / "other.lay";
  test::put(other,
            "kernel other<P, Q, R>(X: f32 (P,R):(R,1), W: f32 (Q,R):(R,1)) -> Y: f32 (P,Q):(Q,1)\n"
            "{ Y[p,q] = sum[r](X[p,r] * W[q,r]) }\n");
  const auto chosen = [&](std::map<std::string, std::int64_t> sizes) {
    const auto read = checked(other);
    const auto kernel = kernel_of(*read, "other");
    return plan::fitting_variants(plan::make_plan(kernel), sema::solve_sizes(*kernel, {}, sizes))
        .at(0)
        ->name;
  };
  CHECK(chosen({{"P", 64}, {"Q", 64}, {"R", 16}}) != "tuned");
  runtime::read_policies(folder.path().string());
  CHECK(chosen({{"P", 64}, {"Q", 64}, {"R", 16}}) == "tuned");
  CHECK(chosen({{"P", 64}, {"Q", 64}, {"R", 24}}) != "tuned");

  // With an order of tiles too.
  std::string ordered = text;
  ordered.insert(ordered.find("  condition ="), "  group_m = 3\n");
  sema::add_library("user.tuned_simt", path, ordered);
  const auto kernel = kernel_of(*checked(other), "other");
  const plan::Plan with_order = plan::make_plan(kernel);
  const plan::Variant& tuned =
      *plan::fitting_variants(with_order,
                              sema::solve_sizes(*kernel, {}, {{"P", 64}, {"Q", 64}, {"R", 16}}))
           .at(0);
  CHECK(tuned.name == "tuned");
  CHECK(plan::simt_of(tuned)->order == plan::TileOrder(plan::RowGroups{3}));
  sema::add_library("user.tuned_simt", path, "let rows = ()");

  // A class more is a row more; what somebody wrote stays; the same class again is replaced.
  test::put(path, "// Mine.\n" + text + "\nlet note = 8\n");
  options.sizes = {{{"M", 64}, {"N", 64}, {"K", 16}}, {{"M", 32}, {"N", 64}, {"K", 16}}};
  CHECK(tune(options).code == 0);
  const std::string both = test::slurp(path);
  INFO(both);
  CHECK(both.find("// Mine.\n// Schedules that `lay tune` found") == 0);
  CHECK(both.find("record h200_f32_f32_f32_f32_kkn_32_64_16_1 {") != std::string::npos);
  CHECK(both.find("let note = 8") != std::string::npos);
  CHECK(both.find("let rows = (\n  h200_f32_f32_f32_f32_kkn_64_64_16_1,\n  "
                  "h200_f32_f32_f32_f32_kkn_32_64_16_1,\n)") != std::string::npos);
  CHECK(tune(options).code == 0);
  CHECK(test::slurp(path) == both);

  // A file that is no Lay is not touched.
  test::put(path, "let rows = (\n");
  CHECK_THROWS_WITH(tune(options),
                    Catch::Contains(path + " is no file of policies, and stays as it is: "));
  CHECK(test::slurp(path) == "let rows = (\n");
  test::set_cost("lay_linear_simt_64x128_ring", 1);
  test::set_cost("lay_linear_simt_64x64_any", 1);
}

TEST_CASE("a schedule that loses at an end of its class is kept for its sizes alone") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "tuned_simt.lay";
  bench::TuneOptions options = small_tune(script);
  options.folder = folder.path().string();
  options.sizes = {{{"M", 64}, {"N", 64}, {"K", 64}}};
  // The default of these sizes is slow, that of the least of the class is fast.
  test::set_cost("lay_linear_simt_64x64_ring_split_4", 3);
  test::set_cost("lay_linear_simt", 2);
  const Ended ended = tune(options);
  test::set_cost("lay_linear_simt_64x64_ring_split_4", 1);
  test::set_cost("lay_linear_simt", 1);
  INFO(ended.out << ended.error);
  CHECK(ended.code == 0);
  CHECK(ended.out.find("at M=48 N=48 K=48:\n") != std::string::npos);
  CHECK(ended.out.find("the default is faster there: the schedule is for M=64 N=64 K=64 alone") !=
        std::string::npos);
  const std::string text = test::slurp(path);
  INFO(text);
  CHECK(text.find("_kkn_64_64_64_1_alone {") != std::string::npos);
  CHECK(text.find("condition = M >= 64 and M < 65 and N >= 64 and N < 65 and K >= 64 and K < 65 "
                  "and L >= 1 and L < 2\n") != std::string::npos);
}

TEST_CASE("schedules for sizes alone stand before those of classes, whatever the file held") {
  const auto finding = [](bench::Reach reach, const std::string& condition) {
    bench::Finding made;
    made.kernel = "linear";
    made.schedule.target = "simt";
    made.reach = reach;
    made.condition = condition;
    return made;
  };
  const auto of_class = finding(bench::Reach::of_class, "M >= 48 and M < 96"),
             alone = finding(bench::Reach::of_sizes, "M >= 64 and M < 65");
  // A number that no size has is text as any other.
  const std::string huge =
      "\nschedule linear for simt when M >= 99999999999999999999 and "
      "M < 99999999999999999999 {\n}\n";
  for (const std::string& before :
       {huge, bench::schedules_text({of_class}, ""), bench::schedules_text({alone}, "")}) {
    const std::string text = bench::schedules_text({of_class, alone}, before);
    INFO(text);
    const auto first = text.find("M >= 64 and M < 65"), second = text.find("M >= 48 and M < 96");
    REQUIRE(first != std::string::npos);
    REQUIRE(second != std::string::npos);
    CHECK(first < second);
    CHECK(text.find("M >= 64", first + 1) == std::string::npos);
  }
  CHECK(bench::schedules_text({alone}, huge).find("99999999999999999999") != std::string::npos);
}

TEST_CASE("both ends of a class of sizes are in it, as aligned as the sizes") {
  const auto read = checked(script);
  const auto kernel = kernel_of(*read, "linear");
  const auto form = std::get<plan::GemmForm>(plan::recognise(*kernel, plan::facts_of(*kernel)));
  for (const std::int64_t size : {1, 7, 8, 48, 64, 95, 100, 4096, 5000, 6136}) {
    const auto problem = bench::problem_of(kernel, {{"M", size}, {"N", 4096}, {"K", size}}, {});
    const auto ends = bench::ends_of_class(problem, form);
    for (const auto& end : ends)
      for (const auto& [name, value] : end) {
        const std::int64_t own = name == "N" ? 4096 : size;
        const bench::SizeRange range = bench::range_of(own);
        CHECK((range.from <= value && value < range.below));
        if (own % 8 == 0) CHECK(value % 8 == 0);
        // The outermost of these.
        const std::int64_t step = own % 8 == 0 ? 8 : own % 4 == 0 ? 4 : own % 2 == 0 ? 2 : 1;
        CHECK((value - step < range.from || value + step >= range.below));
      }
    CHECK(ends.size() == 2);
  }
  // Rows of several dims: the greatest of them moves.
  const test::TemporaryFolder folder;
  const std::string file = folder / "joined.lay";
  test::put(file,
            "kernel joined<B, M, N, K>(X: f32 (B,M,K):(M*K,K,1), W: f32 (N,K):(K,1))\n"
            "  -> Y: f32 (B,M,N):(M*N,N,1) { Y[b,m,n] = sum[k](X[b,m,k] * W[n,k]) }\n");
  const auto of_joined = checked(file);
  const auto rows = kernel_of(*of_joined, "joined");
  const auto found = plan::recognise_coalesced(rows, plan::facts_of(*rows));
  const auto& gemm = std::get<plan::Gemm>(found);
  const auto given = bench::problem_of(rows, {{"B", 5}, {"M", 800}, {"N", 64}, {"K", 64}}, {});
  const auto moved = bench::ends_of_class(bench::with_kernel(given, gemm.kernel), gemm.form);
  REQUIRE(moved.size() == 2);
  for (const auto& end : moved) {
    CHECK(end.at("B") == 5);
    CHECK(end.at("M") != 800);
    const bench::SizeRange range = bench::range_of(4000);
    CHECK((range.from <= 5 * end.at("M") && 5 * end.at("M") < range.below));
  }
  const auto smallest = bench::problem_of(kernel, {{"M", 1}, {"N", 1}, {"K", 1}}, {});
  CHECK(bench::ends_of_class(smallest, form).empty());
}

TEST_CASE("where the default is as fast it stays, and nothing is written") {
  const test::TemporaryFolder folder;
  const std::string copy = folder / "gemms.lay";
  test::put(copy, test::slurp(script));
  bench::TuneOptions options;
  options.file = copy;
  options.kernel = "blas";
  options.sizes = {{{"M", 64}, {"N", 64}, {"K", 16}}};
  options.effort.candidates = 1;
  const Ended ended = tune(options);
  INFO(ended.out << ended.error);
  CHECK(ended.code == 0);
  CHECK(ended.out.find("no candidate is 1 % faster than the default; nothing is saved") !=
        std::string::npos);
  CHECK(!std::filesystem::exists(runtime::tuned_path(copy)));
  options.kernel = "twice";
  options.sizes = {{{"", 64}}};
  CHECK(tune(options).out.find("it has no reduction") != std::string::npos);
}

TEST_CASE("a mistake in the tuned file is reported as any other") {
  const test::TemporaryFolder folder;
  test::put(folder / "gemms.lay", test::slurp(script));
  test::put(folder / "gemms.tuned.lay", "schedule linear for simt { tile = (64,64 }\n");
  const auto read = checked(folder / "gemms.lay");
  CHECK(std::any_of(read->outcomes.begin(), read->outcomes.end(),
                    [](const auto& o) { return !o.diagnostics.ok(); }));
}
