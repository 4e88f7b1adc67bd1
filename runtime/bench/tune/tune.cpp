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
#include "runtime/bench/finding.h"
#include "runtime/bench/host_memory.h"
#include "runtime/bench/judge.h"
#include "runtime/bench/protocol.h"
#include "runtime/bench/tune/shape_class.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/policies.h"
#include "runtime/commands/report.h"
#include "runtime/commands/tuned.h"
#include "runtime/execute/stages.h"
#include "runtime/io/file.h"
#include "runtime/io/folders.h"

namespace lay::bench {
namespace {

using plan::Candidate;

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

// What takes part: the plan without a schedule first, then candidates.
struct Entrant {
  const Candidate* candidate = nullptr;  // null: the default
  std::unique_ptr<Subject> subject;
  double predicted = 0;
};

// Kernels of one problem, checked as they enter and timed beside each other.
class Race {
 public:
  Race(runtime::Gpu& gpu, const runtime::Script& script, const plan::Plan& plan,
       const Problem& problem, const TuneOptions& options)
      : gpu_(gpu),
        script_(script),
        problem_(problem),
        protocol_(protocol_of(options, problem, gpu)),
        sets_(problem, protocol_.sets),
        judge_(gpu, script.sources, plan, problem, sets_) {}
  Race(const Race&) = delete;  // launches know where it lies

  const std::vector<Entrant>& entrants() const { return entrants_; }
  const std::vector<Timing>& timings() const { return timings_; }

  void enter(const Candidate& candidate) {
    enter(&candidate, candidate.plan, candidate.chosen(), candidate.seconds);
  }

  void enter_default(const plan::Plan& plan) {
    const plan::Variant& usual = *plan::fitting_variants(plan, problem_.sizes).at(0);
    enter(nullptr, plan, usual,
          plan::predicted_seconds(*problem_.kernel, usual, problem_.sizes, gpu_.target()));
  }

  // Nobody but the default and this one goes on.
  void leave_only(std::size_t one) {
    for (std::size_t i = entrants_.size(); i-- > 0;) {
      if (i == one || !entrants_[i].candidate) continue;
      entrants_.erase(entrants_.begin() + static_cast<std::ptrdiff_t>(i));
      contestants_.erase(contestants_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void run() {
    sets_.upload(judge_.uniform());
    timings_ = measure(contestants_, protocol_);
    for (std::size_t i = 0; i < entrants_.size(); ++i)
      std::cout << formatted("  %10.1f us  predicted %.1f us  +-%.1f%%  ",
                             1e3 * timings_[i].median(), 1e6 * entrants_[i].predicted,
                             50 * timings_[i].spread())
                << (entrants_[i].candidate ? one_line(entrants_[i].candidate->schedule)
                                           : "the default, " + entrants_[i].subject->name())
                << "\n";
  }

  // Of at least one.
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

  void enter(const Candidate* candidate, const plan::Plan& of, const plan::Variant& variant,
             double predicted) try {
    auto subject = std::make_unique<Subject>(gpu_, script_.sources, problem_, of, variant);
    const auto launch = [this, subject = subject.get()](int set, runtime::StreamHandle stream) {
      subject->launch(sets_, set, stream);
    };
    const Verdict verdict = judge_.of_ours(launch, accumulate_of(variant));
    if (!verdict.right) throw NotMeasured(verdict.text);
    contestants_.push_back({variant.name, launch});
    entrants_.push_back({candidate, std::move(subject), predicted});
  } catch (const NotMeasured& error) {
    std::cout << "  dropped: " << (candidate ? one_line(candidate->schedule) : "the default")
              << ": " << error.what() << "\n";
  }

  runtime::Gpu& gpu_;
  const runtime::Script& script_;
  const Problem& problem_;
  Protocol protocol_;
  DeviceSets sets_;
  Judge judge_;
  std::vector<Entrant> entrants_;
  std::vector<Contestant> contestants_;
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

  void tune(const plan::Plan& plan, const Problem& problem) {
    std::cout << problem.kernel->name << sizes_text(problem) << "\n";
    const auto form = plan::recognise(*problem.kernel, plan::facts_of(*problem.kernel));
    if (const auto* no = std::get_if<plan::NotGemm>(&form)) {
      std::cout << "  nothing to choose: " << no->reason << "\n";
      return;
    }
    const auto ranked = plan::ranked_candidates(problem.kernel, problem.sizes, target());
    if (ranked.empty()) {
      std::cout << "  no candidate: no schedule of a family fits these sizes\n";
      return;
    }
    if (!gpu_) return print_ranking(plan, problem, ranked);
    measure_best(plan, problem, std::get<plan::GemmForm>(form), ranked);
  }

  void print_ranking(const plan::Plan& plan, const Problem& problem,
                     const std::vector<Candidate>& ranked) const {
    constexpr std::size_t most = 16;
    const plan::Variant& usual = *plan::fitting_variants(plan, problem.sizes).at(0);
    std::cout << formatted(
        "  %10.1f us  predicted for the default, %s\n",
        1e6 * plan::predicted_seconds(*problem.kernel, usual, problem.sizes, target()),
        usual.name.c_str());
    for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i)
      std::cout << formatted("  %10.1f us  ", 1e6 * ranked[i].seconds)
                << one_line(ranked[i].schedule) << "\n";
    if (ranked.size() > most)
      std::cout << "  and " << ranked.size() - most << " more that the laws allow\n";
  }

  // The model's best beside the default. It does not tell orders of tiles apart: those of the
  // fastest come after.
  void measure_best(const plan::Plan& plan, const Problem& problem, const plan::GemmForm& form,
                    const std::vector<Candidate>& ranked) {
    Race race(*gpu_, script_, plan, problem, options_);
    race.enter_default(plan);
    for (const Candidate& candidate : ranked)
      if (std::ssize(race.entrants()) <= options_.candidates) race.enter(candidate);
    if (race.entrants().empty()) return;
    race.run();
    const std::size_t best = race.fastest();
    std::vector<Candidate> orders;
    if (const Candidate* candidate = race.entrants()[best].candidate)
      orders = plan::reordered(problem.kernel, *candidate, problem.sizes, target());
    if (!orders.empty()) {
      std::cout << "  the fastest in other orders of tiles:\n";
      race.leave_only(best);
      for (const Candidate& candidate : orders) race.enter(candidate);
      race.run();
    }
    decide(problem, form, race);
  }

  void decide(const Problem& problem, const plan::GemmForm& form, const Race& race) {
    constexpr double worth_it = 1.01;
    const auto& entrants = race.entrants();
    const auto& timings = race.timings();
    const std::size_t best = race.fastest();
    const Candidate* winner = entrants[best].candidate;
    const double gain = entrants[0].candidate ? 0 : timings[0].median() / timings[best].median();
    if (!winner || (gain > 0 && gain < worth_it)) {
      std::cout << "  the default stays\n";
      return;
    }
    Finding finding;
    finding.kernel = problem.kernel->name;
    finding.schedule = winner->schedule;
    finding.condition = shape_class(problem, form);
    finding.comment =
        gpu_->device().name + ", " + today() + ", " + problem.kernel->name + sizes_text(problem) +
        formatted(": %.1f us", 1e3 * timings[best].median()) +
        (gain > 0 ? formatted(", the default %.1f us", 1e3 * timings[0].median()) : "");
    const plan::Variant& variant = winner->chosen();
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
      std::cout << finding.kernel
                << ": no policy can say how it lies in memory; --beside keeps its schedule\n";
  if (by_family.empty()) return;
  const std::string folder = options.folder.empty() ? runtime::policy_folder() : options.folder;
  if (folder.empty()) {
    Diagnostic d;
    d.code = "file";
    d.message =
        "there is no folder for policies: neither LAY_POLICIES nor XDG_DATA_HOME nor HOME is an "
        "absolute path";
    d.notes.push_back({"help", "--output names one, --beside keeps schedules beside the script"});
    throw DiagnosticError(std::move(d));
  }
  runtime::make_folders(folder);
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
  if (!gpu) std::cout << "Ranked by the model; nothing was timed: " << why << "\n";
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
