#include "runtime/bench/calibrate/schedule_times.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include "backend/plan/schedule/fitting.h"
#include "frontend/algebra/support/refusal.h"
#include "runtime/bench/compiled_kernel.h"
#include "runtime/bench/problem/data.h"
#include "runtime/bench/protocol.h"
#include "runtime/compile/workers.h"
#include "runtime/execute/stages.h"

namespace lay::bench {
namespace {

// Problems and rows of one kernel. Orders and epilogues whose costs have terms of their own; more
// of the plain product, whose tiles are most of what a launch chooses among.
struct Drawing {
  const char* kernel;
  int problems, rows;
};
constexpr Drawing drawings[] = {{"tt", 18, 14},    {"to_f32", 6, 5},   {"tn", 8, 6},
                                {"nt", 6, 5},      {"nn", 6, 5},       {"activated", 6, 5},
                                {"batched", 5, 4}, {"sgemm_nt", 8, 6}, {"sgemm_nn", 6, 5}};

// A row of the library's plan that is timed.
struct Row {
  const plan::Variant* variant;
  sema::SpaceRow schedule;
};

// The products of one kernel and the rows that are timed on them.
struct Drawn {
  std::string kernel;
  plan::Plan plan;
  std::vector<Row> rows;
  std::vector<std::map<std::string, std::int64_t>> sizes;
};

// Numbers that are the same on every machine: the standard's distributions are not.
class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return random_() % count; }
  // Log-uniform; a multiple of 8, so that rows of 16 bits have whole vectors, and of 64 half of the
  // time, so that they are whole lines.
  std::int64_t extent(double least, double most) {
    const double share = static_cast<double>(random_()) / 4294967296.0;
    const double number = least * std::pow(most / least, share);
    const std::int64_t step = number >= 256 && random_() % 2 == 0 ? 64 : 8;
    return std::max<std::int64_t>(step, std::llround(number / static_cast<double>(step)) * step);
  }

 private:
  std::mt19937 random_;
};

std::map<std::string, std::int64_t> drawn_sizes(Draw& draw, const std::string& kernel,
                                                std::int64_t most_elements) {
  constexpr double most_products = 1.2e11, most_on_threads = 8e9;
  const bool on_threads = ProductKernels::family_of(kernel) == "simt";
  for (;;) {
    // One product in four has few rows.
    const bool few = kernel == "tt" && draw.below(4) == 0;
    const std::int64_t m = few ? draw.extent(8, 96) : draw.extent(64, 8192),
                       n = draw.extent(64, 8192), k = draw.extent(64, on_threads ? 4096 : 12288);
    const std::int64_t batches = kernel == "batched" ? std::int64_t{1} << (1 + draw.below(4)) : 1;
    const auto product = [&](std::int64_t a, std::int64_t b) {
      return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(batches);
    };
    const double products = product(m, n) * static_cast<double>(k);
    const double elements = std::max({product(m, n), product(m, k), product(n, k)});
    if (elements > static_cast<double>(most_elements) ||
        products > (on_threads ? most_on_threads : most_products))
      continue;
    std::map<std::string, std::int64_t> sizes{{"M", m}, {"N", n}, {"K", k}};
    if (kernel == "batched") sizes["L"] = batches;
    return sizes;
  }
}

// What the row costs at the sizes; nothing where it does not take them.
std::optional<double> cost_at(const plan::Variant& variant, const Binding& sizes) {
  if (!plan::fits(variant, sizes)) return std::nullopt;
  const auto cost = variant.cost->value.evaluate(sizes);
  if (!cost) return std::nullopt;
  return static_cast<double>(*cost);
}

// Half of the rows are those that cost least on the problems, half are drawn among all that cost no
// more than thrice the least on a third of them: costs that are wrong are not seen where they
// choose, but where they do not.
std::vector<Row> drawn_rows(Draw& draw, const std::vector<Row>& all,
                            const std::vector<Binding>& problems, int count) {
  std::vector<double> points(all.size(), 0);
  std::vector<std::size_t> near(all.size(), 0);
  for (const Binding& sizes : problems) {
    std::vector<std::pair<double, std::size_t>> costs;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const auto cost = cost_at(*all[i].variant, sizes)) costs.emplace_back(*cost, i);
    std::sort(costs.begin(), costs.end());
    for (std::size_t rank = 0; rank < costs.size(); ++rank) {
      points[costs[rank].second] += 1 / static_cast<double>(1 + rank);
      near[costs[rank].second] += costs[rank].first <= 3 * costs.front().first ? 1 : 0;
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (points[i] > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a] > points[b]; });
  std::vector<Row> rows;
  std::vector<std::size_t> others;
  for (const std::size_t i : order) {
    if (std::ssize(rows) < (count + 1) / 2)
      rows.push_back(all[i]);
    else if (3 * near[i] >= problems.size())
      others.push_back(i);
  }
  while (std::ssize(rows) < count && !others.empty()) {
    const auto at = static_cast<std::ptrdiff_t>(draw.below(others.size()));
    rows.push_back(all[others[static_cast<std::size_t>(at)]]);
    others.erase(others.begin() + at);
  }
  return rows;
}

std::vector<Binding> bindings_of(const Drawn& drawn) {
  std::vector<Binding> all;
  for (const auto& sizes : drawn.sizes)
    all.push_back(problem_of(drawn.plan.kernel, sizes, {}).sizes);
  return all;
}

std::vector<std::unique_ptr<Drawn>> drawn_products(const runtime::Gpu& gpu,
                                                   const ProductKernels& kernels,
                                                   const CalibrationEffort& effort) {
  Draw draw(effort.seed);
  std::vector<std::unique_ptr<Drawn>> all;
  const auto part = [&](int count) {
    return std::max(1, static_cast<int>(std::lround(effort.share * count)));
  };
  for (const Drawing& drawing : drawings) {
    auto made = std::make_unique<Drawn>();
    made->kernel = drawing.kernel;
    made->plan = runtime::planned(kernels.find(drawing.kernel), gpu.target());
    for (int i = 0; i < part(drawing.problems); ++i)
      made->sizes.push_back(drawn_sizes(draw, drawing.kernel, effort.most_elements));
    std::vector<Row> rows;
    for (const plan::Variant& variant : made->plan.variants)
      if (const auto schedule = schedule_of(variant, kernels))
        rows.push_back({&variant, *schedule});
    made->rows = drawn_rows(draw, rows, bindings_of(*made), std::max(2, part(drawing.rows)));
    all.push_back(std::move(made));
  }
  return all;
}

// Compiles all rows into the cache, in as many threads as there are cores: the GPU finds them
// there.
void compile_all(const std::vector<std::unique_ptr<Drawn>>& products, const Sources& sources,
                 const Target& target, const std::function<void(const std::string&)>& say) {
  const runtime::Cache cache;
  if (!cache.usable()) return;
  runtime::CompileOptions options;
  options.cache = &cache;
  std::vector<std::future<bool>> images;
  runtime::Workers workers;
  for (const auto& drawn : products)
    for (const Row& row : drawn->rows)
      for (const ir::Kernel& kernel : runtime::lowered(sources, drawn->plan, *row.variant)) {
        options.file = kernel.name + ".cu";
        images.push_back(workers.run(
            [options, &target, text = runtime::emitted(*drawn->plan.kernel, kernel, target)] {
              return runtime::compile(text, target, options).ok();
            }));
      }
  say("compiling " + std::to_string(images.size()) + " kernels");
  for (auto& image : images) image.get();
}

HostData numbers_of(const Problem& problem) {
  HostData data(problem.tensors.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    if (!problem.tensors[i].is_written())
      data[i] = make_numbers(problem.tensors[i].element, problem.tensors[i].elements,
                             Numbers::uniform, i + 1);
  return data;
}

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// The schedules of one problem beside each other.
TimedProblem timed(runtime::Gpu& gpu, const Sources& sources, const Drawn& drawn,
                   const std::map<std::string, std::int64_t>& sizes,
                   const CalibrationEffort& effort,
                   const std::function<void(const std::string&)>& say) {
  const Problem problem = problem_of(drawn.plan.kernel, sizes, {});
  const auto batches = sizes.find("L");
  TimedProblem made{drawn.kernel,
                    sizes.at("M"),
                    sizes.at("N"),
                    sizes.at("K"),
                    batches == sizes.end() ? 1 : batches->second,
                    {}};
  Protocol protocol;
  protocol.rounds = effort.rounds;
  protocol.milliseconds = effort.milliseconds;
  protocol.singles = 0;
  protocol.sets = sets_beyond_cache(problem.bytes(), gpu.device().l2_bytes);
  OperandSets sets(problem, protocol.sets);
  sets.upload(numbers_of(problem));
  double least = std::numeric_limits<double>::infinity();
  for (const Row& row : drawn.rows)
    if (const auto cost = cost_at(*row.variant, problem.sizes)) least = std::min(least, *cost);
  std::vector<std::unique_ptr<CompiledKernel>> compiled;
  std::vector<Candidate> candidates;
  for (const Row& row : drawn.rows) {
    const auto cost = cost_at(*row.variant, problem.sizes);
    if (!cost || *cost > 3 * least) continue;
    try {
      compiled.push_back(
          std::make_unique<CompiledKernel>(gpu, sources, problem, drawn.plan, *row.variant));
    } catch (const NotMeasured& error) {
      say(row.variant->name + " is left out: " + error.what());
      continue;
    }
    candidates.push_back({row.variant->name, [&sets, kernel = compiled.back().get()](
                                                 int set, runtime::StreamHandle stream) {
                            kernel->launch(sets, set, stream);
                          }});
    made.schedules.push_back({row.schedule, 0});
  }
  constexpr double most_spread = 0.2;
  const std::vector<Timing> timings = measure(candidates, protocol);
  for (std::size_t i = 0; i < timings.size(); ++i)
    if (timings[i].spread() <= most_spread) made.schedules[i].seconds = 1e-3 * timings[i].median();
  std::erase_if(made.schedules, [](const TimedSchedule& each) { return !(each.seconds > 0); });
  return made;
}

}  // namespace

std::vector<TimedProblem> time_schedules(runtime::Gpu& gpu, const ProductKernels& kernels,
                                         const CalibrationEffort& effort,
                                         const std::function<void(const std::string&)>& say) {
  const Clock clock;
  const auto products = drawn_products(gpu, kernels, effort);
  compile_all(products, kernels.sources(), gpu.target(), say);
  // In turns, so that what does not fit the time is a part of each kernel's problems.
  std::vector<std::pair<const Drawn*, std::size_t>> all;
  for (std::size_t i = 0;; ++i) {
    const std::size_t before = all.size();
    for (const auto& drawn : products)
      if (drawn->rows.size() > 1 && i < drawn->sizes.size()) all.emplace_back(drawn.get(), i);
    if (all.size() == before) break;
  }
  std::vector<TimedProblem> problems;
  std::size_t begun = 0;
  for (const auto& [drawn, i] : all) {
    if (clock.seconds() > effort.seconds) {
      say("no more time: " + std::to_string(all.size() - begun) + " problems are left out");
      break;
    }
    if (begun++ % 8 == 0) {
      const auto seconds = static_cast<int>(clock.seconds());
      say("problem " + std::to_string(begun) + " of " + std::to_string(all.size()) + ", " +
          std::to_string(seconds) + " s");
    }
    try {
      problems.push_back(timed(gpu, kernels.sources(), *drawn, drawn->sizes[i], effort, say));
    } catch (const NotMeasured& error) {
      say(drawn->kernel + " is left out: " + error.what());
    }
  }
  return problems;
}

}  // namespace lay::bench
