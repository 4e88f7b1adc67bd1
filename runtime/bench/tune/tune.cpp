#include "runtime/bench/tune/tune.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include "backend/plan/make.h"
#include "backend/plan/model/model.h"
#include "backend/plan/schedule/candidates.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/schedule/tuned.h"
#include "frontend/algebra/support/refusal.h"
#include "runtime/bench/checker.h"
#include "runtime/bench/host_work.h"
#include "runtime/bench/protocol.h"
#include "runtime/bench/tune/finding.h"
#include "runtime/bench/tune/shape_class.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/policies.h"
#include "runtime/commands/report.h"
#include "runtime/commands/tuned.h"
#include "runtime/execute/stages.h"
#include "runtime/io/file.h"
#include "runtime/io/user_dirs.h"

namespace lay::bench {
namespace {

using ScheduleCandidate = plan::Candidate;

std::string formatted(const char* format, auto... values) {
  char text[160];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string sizes_text(const Problem& problem) {
  std::string text;
  for (const auto& [name, value] : problem.named_sizes())
    text += " " + name + "=" + std::to_string(value);
  return text;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &local);
  return text;
}

std::string one_line(const sema::Schedule& schedule) {
  std::string text = schedule.target + ":";
  for (const std::string& line : plan::entry_lines(schedule)) text += "  " + line;
  return text;
}

// A schedule that is timed, or the default: the plan without a schedule.
struct TimedSchedule {
  // Null for the default.
  const ScheduleCandidate* candidate = nullptr;
  std::unique_ptr<CompiledKernel> compiled;
  double predicted = 0;
};

// Schedules of one problem, checked as they are added and timed beside each other.
class ScheduleTimer {
 public:
  ScheduleTimer(runtime::Gpu& gpu, const runtime::Script& script, const plan::Plan& plan,
                const Problem& problem, const TuneOptions& options)
      : gpu_(gpu),
        script_(script),
        problem_(problem),
        protocol_(protocol_of(options, problem, gpu)),
        sets_(problem, protocol_.sets),
        checker_(gpu, script.sources, plan, problem, sets_) {}
  ScheduleTimer(const ScheduleTimer&) = delete;  // launches hold its address
  ScheduleTimer& operator=(const ScheduleTimer&) = delete;

  const std::vector<TimedSchedule>& schedules() const { return timed_; }
  const std::vector<Timing>& timings() const { return timings_; }

  void add(const ScheduleCandidate& candidate) {
    add(&candidate, candidate.plan, candidate.chosen(), candidate.seconds);
  }

  void add_default(const plan::Plan& plan) {
    const plan::Variant& usual = *plan::fitting_variants(plan, problem_.sizes).at(0);
    add(nullptr, plan, usual,
        plan::predicted_seconds(*problem_.kernel, usual, problem_.sizes, gpu_.target()));
  }

  // Drops all but the default and this one.
  void keep_only(std::size_t one) {
    for (std::size_t i = timed_.size(); i-- > 0;) {
      if (i == one || !timed_[i].candidate) continue;
      timed_.erase(timed_.begin() + static_cast<std::ptrdiff_t>(i));
      candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void run() {
    sets_.upload(checker_.uniform());
    timings_ = measure(candidates_, protocol_);
    for (std::size_t i = 0; i < timed_.size(); ++i)
      std::cout << formatted("  %10.1f us  predicted %.1f us  +-%.1f%%  ",
                             1e3 * timings_[i].median(), 1e6 * timed_[i].predicted,
                             50 * timings_[i].spread())
                << (timed_[i].candidate ? one_line(timed_[i].candidate->schedule)
                                        : "the default, " + timed_[i].compiled->name())
                << "\n";
  }

  // Returns the fastest of at least one.
  std::size_t fastest() const {
    const auto least =
        std::min_element(timings_.begin(), timings_.end(),
                         [](const Timing& a, const Timing& b) { return a.median() < b.median(); });
    return static_cast<std::size_t>(least - timings_.begin());
  }

 private:
  static Protocol protocol_of(const TuneOptions& options, const Problem& problem,
                              const runtime::Gpu& gpu) {
    Protocol protocol;
    protocol.rounds = options.rounds;
    protocol.milliseconds = options.milliseconds;
    protocol.singles = 0;
    protocol.sets = sets_beyond_cache(problem.bytes(), gpu.device().l2_bytes);
    return protocol;
  }

  void add(const ScheduleCandidate* candidate, const plan::Plan& of, const plan::Variant& variant,
           double predicted) try {
    auto compiled = std::make_unique<CompiledKernel>(gpu_, script_.sources, problem_, of, variant);
    const auto launch = [this, compiled = compiled.get()](int set, runtime::StreamHandle stream) {
      compiled->launch(sets_, set, stream);
    };
    const CheckResult check = checker_.check_ours(launch, promotion_interval_of(variant));
    if (!check.right) throw NotMeasured(check.text);
    candidates_.push_back({variant.name, launch});
    timed_.push_back({candidate, std::move(compiled), predicted});
  } catch (const NotMeasured& error) {
    std::cout << "  dropped: " << (candidate ? one_line(candidate->schedule) : "the default")
              << ": " << error.what() << "\n";
  }

  runtime::Gpu& gpu_;
  const runtime::Script& script_;
  const Problem& problem_;
  Protocol protocol_;
  OperandSets sets_;
  Checker checker_;
  std::vector<TimedSchedule> timed_;
  std::vector<Candidate> candidates_;
  std::vector<Timing> timings_;
};

class Tuner {
 public:
  Tuner(const TuneOptions& options, const runtime::Script& script, runtime::Gpu* gpu)
      : options_(options), script_(script), gpu_(gpu) {}

  void tune(const sema::KernelPtr& of) {
    auto bare = std::make_shared<sema::Kernel>(*of);
    bare->schedules.clear();
    const plan::Plan plan = runtime::planned(bare, target());
    for (const auto& sizes : problems_for(*bare, options_.sizes)) try {
        tune(plan, problem_of(bare, sizes, {}));
      } catch (const Refusal& refusal) {
        std::cout << bare->name << ": not tuned: " << refusal.message << "\n";
        failed_ = true;
      } catch (const NotMeasured& error) {
        std::cout << bare->name << ": not tuned: " << error.what() << "\n";
        failed_ = true;
      } catch (const runtime::DriverError& error) {
        std::cout << bare->name << ": not tuned: " << error.text << "\n";
        failed_ = true;
      }
  }

  bool failed() const { return failed_; }
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  const Target& target() const { return gpu_ ? gpu_->target() : default_target(); }

  void tune(const plan::Plan& plan, const Problem& given) {
    std::cout << given.kernel->name << sizes_text(given) << "\n";
    const auto form = plan::recognise_coalesced(given.kernel, plan::facts_of(*given.kernel));
    if (const auto* no = std::get_if<plan::NotGemm>(&form)) {
      std::cout << "  nothing to tune: " << no->reason << "\n";
      return;
    }
    const auto& gemm = std::get<plan::Gemm>(form);
    const Problem problem = with_kernel(given, gemm.kernel);
    const auto ranked = plan::ranked_candidates(problem.kernel, problem.sizes, target());
    if (ranked.empty()) {
      std::cout << "  no candidate: no schedule fits these sizes\n";
      return;
    }
    if (!gpu_) return print_ranking(plan, problem, ranked);
    measure_best(plan, problem, gemm.form, ranked);
  }

  void print_ranking(const plan::Plan& plan, const Problem& problem,
                     const std::vector<ScheduleCandidate>& ranked) const {
    constexpr std::size_t most = 16;
    const plan::Variant& usual = *plan::fitting_variants(plan, problem.sizes).at(0);
    std::cout << formatted(
        "  %10.1f us  predicted for the default, %s\n",
        1e6 * plan::predicted_seconds(*problem.kernel, usual, problem.sizes, target()),
        usual.name.c_str());
    for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i)
      std::cout << formatted("  %10.1f us  ", 1e6 * ranked[i].seconds)
                << one_line(ranked[i].schedule) << "\n";
    if (ranked.size() > most) std::cout << "  and " << ranked.size() - most << " more\n";
  }

  // Times the model's best schedules beside the default. The model does not tell rasterizations
  // apart: those of the fastest schedule are timed after it.
  void measure_best(const plan::Plan& plan, const Problem& problem, const plan::GemmForm& form,
                    const std::vector<ScheduleCandidate>& ranked) {
    ScheduleTimer timer(*gpu_, script_, plan, problem, options_);
    timer.add_default(plan);
    for (const ScheduleCandidate& candidate : ranked)
      if (std::ssize(timer.schedules()) <= options_.candidates) timer.add(candidate);
    if (timer.schedules().empty()) return;
    timer.run();
    const std::size_t best = timer.fastest();
    std::vector<ScheduleCandidate> orders;
    if (const ScheduleCandidate* candidate = timer.schedules()[best].candidate)
      orders = plan::reordered(problem.kernel, *candidate, problem.sizes, target());
    if (!orders.empty()) {
      std::cout << "  the fastest with other rasterizations:\n";
      timer.keep_only(best);
      for (const ScheduleCandidate& candidate : orders) timer.add(candidate);
      timer.run();
    }
    save_if_faster(problem, form, timer);
  }

  void save_if_faster(const Problem& problem, const plan::GemmForm& form,
                      const ScheduleTimer& timer) {
    constexpr double worth_it = 1.01;
    const auto& schedules = timer.schedules();
    const auto& timings = timer.timings();
    const std::size_t fastest = timer.fastest();
    const ScheduleCandidate* best = schedules[fastest].candidate;
    const double gain =
        schedules[0].candidate ? 0 : timings[0].median() / timings[fastest].median();
    if (!best || (gain > 0 && gain < worth_it)) {
      std::cout << "  no candidate is 1 % faster than the default; nothing is saved\n";
      return;
    }
    Finding finding;
    finding.kernel = problem.kernel->name;
    finding.schedule = best->schedule;
    finding.condition = shape_class(problem, form);
    finding.comment =
        gpu_->device().name + ", " + today() + ", " + problem.kernel->name + sizes_text(problem) +
        formatted(": %.1f us", 1e3 * timings[fastest].median()) +
        (gain > 0 ? formatted(", the default %.1f us", 1e3 * timings[0].median()) : "");
    const plan::Variant& variant = best->chosen();
    finding.any_pitch = !variant.before.empty() || variant.name.ends_with("_any");
    std::int64_t batches = 1;
    for (const sema::IndexId index : form.batch) batches *= problem.extent(index);
    finding.extents = {problem.extent(form.m), problem.extent(form.n), problem.extent(form.k),
                       batches};
    if (const auto of = plan::tuned_class(*problem.kernel, form, target())) {
      finding.of = *of;
      finding.has_class = true;
    }
    findings_.push_back(std::move(finding));
  }

  const TuneOptions& options_;
  const runtime::Script& script_;
  runtime::Gpu* gpu_;
  std::vector<Finding> findings_;
  bool failed_ = false;
};

std::string before(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? runtime::read_file(path) : "";
}

void keep(const std::string& path, const std::string& text) {
  runtime::write_file(path, {text});
  std::cout << "written to " << path << "\n";
}

void keep_beside(const TuneOptions& options, const std::vector<Finding>& findings) {
  const std::string path = runtime::tuned_path(options.file);
  if (!findings.empty()) keep(path, schedules_text(findings, before(path)));
}

void keep_policies(const TuneOptions& options, const std::vector<Finding>& findings) {
  std::map<std::string, std::vector<Finding>> by_family;
  for (const Finding& finding : findings)
    if (finding.has_class)
      by_family[finding.schedule.target].push_back(finding);
    else
      std::cout
          << finding.kernel
          << ": no policy describes its layouts; --beside saves its schedule beside the script\n";
  if (by_family.empty()) return;
  const std::string folder = options.folder.empty() ? runtime::policy_folder() : options.folder;
  if (folder.empty()) {
    Diagnostic d;
    d.code = "file";
    d.message =
        "expected an absolute path in LAY_POLICIES, XDG_DATA_HOME or HOME for the policy directory";
    d.notes.push_back(
        {"help", "--output names a directory, --beside saves schedules beside the script"});
    throw DiagnosticError(std::move(d));
  }
  runtime::make_dirs(folder);
  for (const auto& [family, found] : by_family) {
    const std::string path = runtime::tuned_policy_path(folder, family);
    keep(path, policies_text(found, path, before(path)));
  }
}

}  // namespace

int tune_script(const TuneOptions& options) {
  const auto script = checked_script(options.file);
  if (!script) return runtime::exit_program;
  const auto kernels = wanted_kernels(*script, options.file, options.kernel);
  std::string why;
  const auto gpu = runtime::Gpu::open(&why);
  if (!gpu) std::cout << "Ranked by the cost model; nothing was timed: " << why << "\n";
  keep_freed_memory();
  Tuner tuner(options, *script, gpu.get());
  try {
    for (const auto& kernel : kernels) tuner.tune(kernel);
  } catch (const DiagnosticError& error) {
    runtime::report(script->sources, error.diagnostic);
    return runtime::exit_program;
  }
  if (options.beside)
    keep_beside(options, tuner.findings());
  else
    keep_policies(options, tuner.findings());
  return tuner.failed() ? runtime::exit_program : runtime::exit_ok;
}

}  // namespace lay::bench
