// `lay calibrate`: a GPU whose times follow coefficients that the fit does not know, times of a
// file, and the file that is written and read back.
#include "runtime/bench/calibrate/calibrate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <tuple>

#include "backend/cuda/names.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/source/diagnostic.h"
#include "frontend/syntax/format.h"
#include "generated/tests/paths.h"
#include "runtime/commands/policies.h"
#include "runtime/execute/stages.h"
#include "tests/measure/machine.h"
#include "tests/measure/redirected.h"
#include "tests/measure/variable.h"
#include "tests/runtime/temporary.h"

namespace {

using namespace lay;

sema::Coefficients changed(sema::Coefficients costs, const std::map<std::string, double>& factors) {
  for (sema::Coefficient& each : costs)
    if (const auto factor = factors.find(each.name); factor != factors.end())
      each.numbers.front() =
          std::llround(factor->second * static_cast<double>(each.numbers.front()));
  return costs;
}

// A GPU that is slower to ask for rows and to begin tiles, and faster to store.
const std::map<std::string, double> other_gpu{
    {"row", 1.35},         {"in_line", 1.25}, {"in_sector", 1.3},    {"received", 1.2},
    {"tile", 1.5},         {"epilogue", 0.7}, {"operation", 1.5},    {"launch", 1.4},
    {"parts", 0.6},        {"part_sum", 1.3}, {"shorter", 0.7},      {"cluster", 1.6},
    {"thread_sum", 1.3},   {"copied", 0.75},  {"sm_products", 1.15}, {"sm_turn", 0.7},
    {"thread_launch", 1.5}};

std::int64_t number(const sema::Coefficients& costs, const std::string& name) {
  for (const sema::Coefficient& each : costs)
    if (each.name == name) return each.numbers.front();
  throw std::logic_error(name);
}

// The cost of a schedule on a GPU with these coefficients, in hundredths of a clock.
class OtherGpu {
 public:
  explicit OtherGpu(sema::Coefficients costs) : costs_(std::move(costs)) {}

  std::int64_t cost(const std::string& family, const sema::ProductKind& kind,
                    const sema::SpaceRow& schedule, const sema::ProblemSize& size) {
    auto& terms = terms_.try_emplace(family, family, costs_).first->second;
    const Int cost = terms.of(kind, schedule, size);
    Binding numbers;
    for (const auto& [dim, which] : sema::CostTerms::coefficients_in(cost, costs_))
      numbers[dim] = costs_[which].numbers.front();
    return cost.evaluate(numbers).value();
  }

 private:
  sema::Coefficients costs_;
  std::map<std::string, sema::CostTerms> terms_;
};

// Times of drawn schedules on drawn problems, which scatter by `spread`.
std::vector<bench::TimedProblem> times_on(OtherGpu& gpu, const bench::ProductKernels& kernels,
                                          int problems, double spread) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, spread);
  std::vector<bench::TimedProblem> all;
  for (const char* kernel : {"tt", "to_f32", "tn", "nn", "activated", "sgemm_nt"}) {
    const std::string family = bench::ProductKernels::family_of(kernel);
    const sema::ProductKind kind = kernels.kind_of(kernel);
    for (int i = 0; i < problems; ++i) {
      const auto extent = [&] { return 8 * (8 + static_cast<std::int64_t>(random() % 500)); };
      bench::TimedProblem problem{kernel, extent(), extent(), extent(), 1, {}};
      const sema::ProblemSize size{problem.m, problem.n, problem.k, 1, 132};
      const auto rows = sema::library_space(family, kind, size);
      for (int row = 0; row < 8; ++row) {
        const sema::SpaceRow& schedule = rows.at(random() % (rows.size() / 3));
        const double clocks = static_cast<double>(gpu.cost(family, kind, schedule, size)) / 100;
        problem.schedules.push_back({schedule, clocks / 1.6e9 * std::exp(noise(random))});
      }
      all.push_back(std::move(problem));
    }
  }
  return all;
}

}  // namespace

TEST_CASE("calibrate: the variants of a plan are schedules of a space, of the same cost") {
  const bench::ProductKernels kernels;
  OtherGpu usual(default_target().costs);
  for (const char* name : {"tt", "to_f32", "nn", "activated", "batched", "sgemm_nt"}) {
    const auto kernel = kernels.find(name);
    REQUIRE(kernel);
    const plan::Plan plan = runtime::planned(kernel, default_target());
    const std::string family = bench::ProductKernels::family_of(name);
    Binding sizes;
    std::map<std::string, std::int64_t> extents{{"M", 1000}, {"N", 1704}, {"K", 2040}, {"L", 3}};
    for (const sema::Dim& dim : kernel->dims) sizes[*dim.symbol.dim_id()] = extents.at(dim.name);
    const sema::ProblemSize size{1000, 1704, 2040, std::string(name) == "batched" ? 3 : 1, 132};
    int found = 0;
    for (const plan::Variant& variant : plan.variants) {
      const auto schedule = bench::schedule_of(variant, kernels);
      if (!schedule) continue;
      ++found;
      INFO(name << ": " << variant.name << " " << schedule->tile.to_string());
      const std::int64_t cost = variant.cost->value.evaluate(sizes).value(),
                         own = usual.cost(family, kernels.kind_of(name), *schedule, size);
      // Drawn tiles are priced 5 % higher.
      CHECK((cost == own || cost == 21 * own / 20));
    }
    CHECK(found >= (family == "simt" ? 12 : 40));
  }
}

TEST_CASE("calibrate: a fit finds the coefficients that times follow") {
  const bench::ProductKernels kernels;
  const sema::Coefficients usual = default_target().costs, theirs = changed(usual, other_gpu);
  OtherGpu gpu(theirs);
  const auto problems = times_on(gpu, kernels, 8, 0.01);
  const bench::Calibration made = bench::calibrated(problems, kernels, 132, usual, usual);
  CHECK(made.is_kept);
  CHECK(made.before.problems == 48);
  CHECK(made.before.schedules == 384);
  CHECK(made.before.log_rms > 0.04);
  CHECK(made.after.log_rms < 0.02);
  CHECK(made.held_out.log_rms < 0.03);
  CHECK(made.after.mean_loss <= made.before.mean_loss);
  CHECK(made.after.tau > 0.97);
  CHECK(made.after.tensor_hertz == Approx(1.6e9).epsilon(0.05));
  for (const char* name : {"row", "in_line", "in_sector", "received", "epilogue", "launch"}) {
    INFO(name << ": " << number(usual, name) << " in the library, " << number(theirs, name)
              << " there, " << number(made.fit.coefficients, name) << " found");
    CHECK(static_cast<double>(number(made.fit.coefficients, name)) ==
          Approx(static_cast<double>(number(theirs, name))).epsilon(0.12));
  }
  // No time depends on what a product of other types costs.
  CHECK(number(made.fit.coefficients, "bytes") == number(usual, "bytes"));
}

// Fits begin with the coefficients of a GPU that is none, and have to come back: on problems that a
// fit has not seen it chooses about as well as the library, whose coefficients were fitted to all.
TEST_CASE("calibrate: half of the times of an H200 say how to choose on the other half") {
  const bench::ProductKernels kernels;
  const sema::Coefficients usual = default_target().costs, theirs = changed(usual, other_gpu);
  for (const auto& [file, every, least] :
       {std::tuple{"tiles.txt", 3, 140}, std::tuple{"simt.txt", 1, 110}}) {
    const std::string text =
        test::slurp(std::string(LAY_SOURCE_DIR) + "/tests/plan/" + std::string(file));
    auto problems = bench::read_times(text, kernels);
    int at = 0, each = every;
    std::erase_if(problems, [&](const bench::TimedProblem&) { return ++at % each != 0; });
    const auto library = bench::calibrated(problems, kernels, 132, usual, usual),
               other = bench::calibrated(problems, kernels, 132, theirs, theirs);
    INFO(file << ": " << library.before.problems << " problems; the library loses "
              << library.before.mean_loss << ", the other GPU's coefficients "
              << other.before.mean_loss << ", fits " << library.held_out.mean_loss << " and "
              << other.held_out.mean_loss << ", tau " << library.before.tau << ", "
              << other.before.tau << ", " << other.held_out.tau);
    CHECK(library.before.problems >= static_cast<std::size_t>(least));
    CHECK(library.held_out.mean_loss <= library.before.mean_loss + 0.01);
    CHECK(other.held_out.mean_loss <= library.before.mean_loss + 0.01);
    CHECK(other.held_out.tau >= other.before.tau - 0.005);
    CHECK(other.after.mean_loss <= other.before.mean_loss + 0.005);
  }
}

TEST_CASE("calibrate: few times, or none, move coefficients little") {
  const bench::ProductKernels kernels;
  const sema::Coefficients usual = default_target().costs;
  CHECK(bench::fit_costs({}, usual).coefficients == usual);
  CHECK(bench::calibrated({}, kernels, 132, usual, usual).fit.coefficients == usual);
  OtherGpu gpu(usual);
  auto problems = times_on(gpu, kernels, 1, 0);
  problems.resize(1);
  // Two times of which one is ten times what it should be.
  problems[0].schedules.resize(2);
  problems[0].schedules[1].seconds *= 10;
  const auto fit =
      bench::fit_costs(bench::costed_problems(problems, kernels, 132, usual), usual).coefficients;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    if (usual[i].is_tuple) continue;
    const double moved =
        static_cast<double>(fit[i].numbers.front()) / static_cast<double>(usual[i].numbers.front());
    INFO(usual[i].name << " " << moved);
    CHECK((moved > 0.6 && moved < 1.6));
  }
}

TEST_CASE("calibrate: times are text") {
  const bench::ProductKernels kernels;
  const std::string text =
      "Prose: of 12 things.\n"
      "tt/few 16 4096 4096 1 9.10: 64x32.1x4 8.000, 48x64.1x1x2s 7.500, 128x128.2x1p 9.000\n"
      "sgemm_nt/elements 64 64 512 9.10: 32x32x32.1x1x4.2.4 8.000, 1x1x1.1x1x1.2.1 3.000\n";
  const auto problems = bench::read_times(text, kernels);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].kernel == "tt/few");
  CHECK(problems[0].schedules.size() == 3);
  CHECK(problems[0].schedules[1].seconds == Approx(7.5e-6));
  CHECK(problems[1].schedules.size() == 1);  // the library has no such tile
  const std::string again = bench::times_text(problems);
  CHECK(
      again.starts_with("tt/few 16 4096 4096 1 -: 64x32.1x4 8.000, 48x64.1x1x2s 7.500, "
                        "128x128.2x1p 9.000\n"));
  CHECK(bench::times_text(bench::read_times(again, kernels)) == again);
  const auto wrong = [&](const std::string& line) {
    try {
      bench::read_times(line, kernels);
    } catch (const DiagnosticError& error) {
      return error.diagnostic.message;
    }
    return std::string();
  };
  CHECK(wrong("\nzz 8 8 8 1 -: 64x32.1x1 8") == "line 2: there is no kernel zz");
  CHECK(wrong("tt 8 8 8 1 -: 64x32 8") == "line 1: 64x32 is no schedule");
  CHECK(wrong("tt 8 8 8 1 -: 64x32.4x4 8") == "line 1: 64x32.4x4 is no schedule");
  CHECK(wrong("tt 8 8 8 1 -: 64x32.1x1 x") == "line 1: expected a time behind 64x32.1x1");
}

TEST_CASE("calibrate: the text of a GPU is formatted, and reads back") {
  MeasuredGpu gpu{"NVIDIA H100 80GB HBM3",
                  90,
                  132,
                  1.98e9,
                  3.05e12,
                  5500,
                  2.25e-6,
                  changed(default_target().costs, other_gpu)};
  const std::string text = bench::measured_gpu_text(gpu, "Measured by hand.");
  INFO(text);
  CHECK(text.starts_with("// Measured by hand.\n"));
  Sources sources;
  CHECK(syntax::format(sources, sources.add("x.lay", text)).text == text);
  sema::add_library("user.target_written", "x.lay", text);
  const auto read = measured_gpus_of("user.target_written");
  REQUIRE(read.size() == 1);
  CHECK(read[0].device == gpu.device);
  CHECK(read[0].hertz == gpu.hertz);
  CHECK(read[0].memory_rate == gpu.memory_rate);
  CHECK(read[0].launch == Approx(gpu.launch));
  CHECK(read[0].costs == gpu.costs);
}

namespace {

std::int32_t parameter(void** parameters, std::size_t at) {
  std::int32_t read = 0;
  std::memcpy(&read, parameters[at], sizeof read);
  return read;
}

// Launches of the library's rows take what they cost with these coefficients.
class TimedRows {
 public:
  explicit TimedRows(const sema::Coefficients& costs) : gpu_(costs) {
    for (const char* name :
         {"tt", "to_f32", "tn", "nt", "nn", "activated", "batched", "sgemm_nt", "sgemm_nn"}) {
      const auto kernel = kernels_.find(name);
      const plan::Plan plan = runtime::planned(kernel, default_target());
      for (const plan::Variant& variant : plan.variants)
        if (const auto schedule = bench::schedule_of(variant, kernels_))
          rows_[cuda::function_name(std::string(name) + "_" + variant.name)] = {
              name, kernels_.kind_of(name), *schedule};
    }
    test::set_timed_launches([this](const std::string& function, void** parameters) {
      return time_of(function, parameters);
    });
  }
  ~TimedRows() { test::set_timed_launches({}); }
  TimedRows(const TimedRows&) = delete;
  TimedRows& operator=(const TimedRows&) = delete;

  std::size_t launched() const { return launched_.size(); }

 private:
  struct Row {
    std::string kernel;
    sema::ProductKind kind;
    sema::SpaceRow schedule;
  };

  // In launches of a quarter of a millisecond: thousands of hundredths of clocks.
  long time_of(const std::string& function, void** parameters) {
    const auto row = rows_.find(function);
    if (row == rows_.end()) return 1;
    // Tensors come first, then the sizes in the kernel's order.
    const Row& of = row->second;
    const bool batched = of.kernel == "batched";
    const std::size_t at = (of.kernel == "activated" ? 4u : 3u) + (batched ? 1u : 0u);
    const sema::ProblemSize size{parameter(parameters, at), parameter(parameters, at + 1),
                                 parameter(parameters, at + 2),
                                 batched ? parameter(parameters, at - 1) : 1, 132};
    const auto key =
        std::make_pair(function, size.m.to_string() + " " + size.n.to_string() + " " +
                                     size.k.to_string() + " " + size.batches.to_string());
    const auto known = launched_.find(key);
    if (known != launched_.end()) return known->second;
    return launched_[key] =
               gpu_.cost(bench::ProductKernels::family_of(of.kernel), of.kind, of.schedule, size) /
               1000;
  }

  bench::ProductKernels kernels_;
  OtherGpu gpu_;
  std::map<std::string, Row> rows_;
  std::map<std::pair<std::string, std::string>, long> launched_;
};

struct Ended {
  int code;
  std::string out, error;
};

Ended run(const bench::CalibrateOptions& options) {
  static const test::TemporaryFolder cache;
  setenv("LAY_CACHE_DIR", cache.path().c_str(), 1);
  const test::Redirected out(std::cout), error(std::cerr);
  const int code = bench::calibrate(options);
  return {code, out.text(), error.text()};
}

}  // namespace

TEST_CASE("lay calibrate finds what a GPU's times follow, and later plans are for that GPU") {
  const sema::Coefficients usual = default_target().costs, theirs = changed(usual, other_gpu);
  const test::TemporaryFolder folder;
  const test::Variable targets("LAY_TARGETS", folder.path().c_str());
  const TimedRows gpu(theirs);
  bench::CalibrateOptions options;
  options.effort.most_elements = 1 << 19;
  options.effort.milliseconds = 0.1;
  options.times = folder / "times.txt";
  const Ended ended = run(options);
  INFO(ended.out << ended.error);
  REQUIRE(ended.code == 0);
  CHECK(gpu.launched() > 150);
  const std::string path = folder / "Fake_GPU.lay";
  CHECK(ended.out.find("written to " + path) != std::string::npos);
  CHECK(ended.out.find("clusters of 1 to 8 blocks at once: ? ? ? ? ? ? ? ?") != std::string::npos);
  CHECK(ended.error.find("lay calibrate: compiling ") != std::string::npos);

  CHECK(runtime::read_measured_gpus(folder.path().string()).list().empty());
  const auto read = target_of("Fake GPU", 90, 132);
  REQUIRE(read);
  for (const char* name : {"row", "received", "in_line", "epilogue", "launch"}) {
    INFO(name << ": " << number(usual, name) << " in the library, " << number(theirs, name)
              << " there, " << number(read->costs, name) << " found");
    CHECK(static_cast<double>(number(read->costs, name)) ==
          Approx(static_cast<double>(number(theirs, name))).epsilon(0.2));
  }
  set_measured_gpus({});

  // The times that were written come to the same.
  bench::CalibrateOptions again;
  again.from = options.times;
  const Ended fitted = run(again);
  INFO(fitted.out);
  CHECK(fitted.code == 0);
  CHECK(fitted.out.find("fitted to the other half") != std::string::npos);

  // The same draw again, and nothing is kept.
  options.dry_run = options.json = true;
  options.times.clear();
  std::filesystem::remove(path);
  const Ended dry = run(options);
  CHECK(dry.code == 0);
  CHECK(!std::filesystem::exists(path));
  CHECK(dry.out.starts_with("{\"device\":\"Fake GPU\",\"written\":\"\",\"machine\":{\"sms\":132,"));
  CHECK(dry.out.find(
            "\"row\":{\"library\":59,\"measured\":" + std::to_string(number(read->costs, "row")) +
            ",\"fitted\":true}") != std::string::npos);
}

TEST_CASE("lay calibrate --from says what is wrong with a file") {
  const test::TemporaryFolder folder;
  bench::CalibrateOptions options;
  options.from = folder / "none.txt";
  CHECK_THROWS_AS(run(options), DiagnosticError);
  test::put(folder / "empty.txt", "Nothing.\n");
  options.from = folder / "empty.txt";
  CHECK_THROWS_WITH(run(options), Catch::Contains(options.from + " holds no times"));
  test::put(folder / "wrong.txt", "zz 8 8 8 1 -: 64x32.1x1 8\n");
  options.from = folder / "wrong.txt";
  CHECK_THROWS_WITH(run(options), options.from + ": line 1: there is no kernel zz");
  options.gpu = "h900";
  CHECK_THROWS_WITH(run(options), Catch::Contains("there is no target `h900`"));
}
