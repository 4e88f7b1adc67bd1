#include "runtime/bench/tune/tuner.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "backend/plan/make.h"
#include "backend/plan/model/forecast.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/schedule/tuned.h"
#include "frontend/algebra/support/interruption.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/source/formatted.h"
#include "runtime/bench/checker.h"
#include "runtime/bench/protocol.h"
#include "runtime/bench/tune/shape_class.h"
#include "runtime/execute/stages.h"
#include "runtime/io/date.h"

namespace lay::bench {
namespace {

using ScheduleCandidate = plan::Candidate;

std::string sizes_text(const Problem& problem) {
  std::string text;
  for (const auto& [name, value] : problem.named_sizes())
    text += " " + name + "=" + std::to_string(value);
  return text;
}

constexpr double worth_it = 1.01;  // a difference that is more than the spread of times

// More than are timed, for one may not run on the device.
std::size_t most_ranked(const TuneEffort& effort) {
  return static_cast<std::size_t>(effort.candidates) + 4;
}

std::string one_line(const sema::Schedule& schedule) {
  std::string text = schedule.target + ":";
  for (const std::string& line : plan::entry_lines(schedule)) text += "  " + line;
  return text;
}

// A schedule that is timed, or the default: the plan without a schedule.
struct TimedCandidate {
  // Null for the default.
  const ScheduleCandidate* candidate = nullptr;
  std::unique_ptr<CompiledKernel> compiled;
  double predicted = 0;
};

}  // namespace

// Schedules of one problem, checked as they are added and timed beside each other.
class ScheduleTimer {
 public:
  ScheduleTimer(runtime::Gpu& gpu, const Sources& sources, const plan::Plan& plan,
                const Problem& problem, const TuneEffort& effort, const KernelTuner::Say& say)
      : gpu_(gpu),
        sources_(sources),
        problem_(problem),
        say_(say),
        protocol_(protocol_of(effort, problem, gpu)),
        sets_(problem, protocol_.sets),
        checker_(gpu, sources, plan, problem, sets_) {}
  ScheduleTimer(const ScheduleTimer&) = delete;  // launches hold its address
  ScheduleTimer& operator=(const ScheduleTimer&) = delete;

  const std::vector<TimedCandidate>& schedules() const { return timed_; }
  const std::vector<Timing>& timings() const { return timings_; }

  void add(const ScheduleCandidate& candidate) {
    add(&candidate, candidate.plan, candidate.chosen(), candidate.seconds);
  }

  void add_default(const plan::Plan& plan) {
    const plan::Variant& usual = *plan::fitting_variants(plan, problem_.sizes).at(0);
    add(nullptr, plan, usual, plan::expected_seconds(plan, usual, problem_.sizes, gpu_.target()));
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
    for (const TimedRow& row : rows())
      say_(formatted("  %10.1f us  predicted %.1f us  +-%.1f%%  ", 1e6 * row.seconds,
                     1e6 * row.predicted, 50 * row.spread) +
           (row.schedule.empty() ? "the default, " + row.variant : row.schedule));
  }

  // What was timed last.
  std::vector<TimedRow> rows() const {
    std::vector<TimedRow> all;
    for (std::size_t i = 0; i < timed_.size() && i < timings_.size(); ++i)
      all.push_back({timed_[i].candidate ? one_line(timed_[i].candidate->schedule) : "",
                     timed_[i].compiled->name(), 1e-3 * timings_[i].median(), timed_[i].predicted,
                     timings_[i].spread()});
    return all;
  }

  // Returns the fastest of at least one.
  std::size_t fastest() const {
    const auto least =
        std::min_element(timings_.begin(), timings_.end(),
                         [](const Timing& a, const Timing& b) { return a.median() < b.median(); });
    return static_cast<std::size_t>(least - timings_.begin());
  }

 private:
  static Protocol protocol_of(const TuneEffort& effort, const Problem& problem,
                              const runtime::Gpu& gpu) {
    Protocol protocol;
    protocol.rounds = effort.rounds;
    protocol.milliseconds = effort.milliseconds;
    protocol.singles = 0;
    protocol.sets = sets_beyond_cache(problem.bytes(), gpu.device().l2_bytes);
    return protocol;
  }

  void add(const ScheduleCandidate* candidate, const plan::Plan& of, const plan::Variant& variant,
           double predicted) try {
    ask();
    auto compiled = std::make_unique<CompiledKernel>(gpu_, sources_, problem_, of, variant);
    const auto launch = [this, compiled = compiled.get()](int set, runtime::StreamHandle stream) {
      ask();
      compiled->launch(sets_, set, stream);
    };
    const CheckResult check = checker_.check_ours(launch, promotion_interval_of(variant));
    if (!check.right) throw NotMeasured(check.text);
    candidates_.push_back({variant.name, launch});
    timed_.push_back({candidate, std::move(compiled), predicted});
  } catch (const NotMeasured& error) {
    say_("  dropped: " + (candidate ? one_line(candidate->schedule) : "the default") + ": " +
         error.what());
  }

  runtime::Gpu& gpu_;
  const Sources& sources_;
  const Problem& problem_;
  const KernelTuner::Say& say_;
  Protocol protocol_;
  OperandSets sets_;
  Checker checker_;
  std::vector<TimedCandidate> timed_;
  std::vector<Candidate> candidates_;
  std::vector<Timing> timings_;
};

KernelTuner::KernelTuner(const Sources& sources, const sema::KernelPtr& kernel,
                         const Target& target, runtime::Gpu* gpu, const TuneEffort& effort, Say say)
    : sources_(sources), target_(target), gpu_(gpu), effort_(effort), say_(std::move(say)) {
  auto bare = std::make_shared<sema::Kernel>(*kernel);
  bare->schedules.clear();
  plan_ = runtime::planned(bare, target);
}

Tuning KernelTuner::tune(const std::map<std::string, std::int64_t>& sizes) {
  const Problem given = problem_of(plan_.kernel, sizes, {});
  say_(given.kernel->name + sizes_text(given));
  const auto form = plan::recognise_coalesced(given.kernel, plan::facts_of(*given.kernel));
  Tuning none;
  if (const auto* no = std::get_if<plan::NotGemm>(&form)) {
    none.why = "nothing to tune: " + no->reason;
    say_("  " + none.why);
    return none;
  }
  const auto& gemm = std::get<plan::Gemm>(form);
  const Problem problem = with_kernel(given, gemm.kernel);
  const Ranked ranked =
      plan::ranked_candidates(problem.kernel, problem.sizes, most_ranked(effort_), target_);
  if (ranked.empty()) {
    none.why = "no candidate: no schedule fits these sizes";
    say_("  " + none.why);
    return none;
  }
  if (gpu_) return measure_best(problem, gemm.form, ranked);
  say_ranking(problem, ranked);
  none.why = "there is no GPU";
  return none;
}

void KernelTuner::say_ranking(const Problem& problem, const Ranked& ranked) const {
  const plan::Variant& usual = *plan::fitting_variants(plan_, problem.sizes).at(0);
  say_(formatted("  %10.1f us  predicted for the default, %s",
                 1e6 * plan::expected_seconds(plan_, usual, problem.sizes, target_),
                 usual.name.c_str()));
  for (const ScheduleCandidate& each : ranked)
    say_(formatted("  %10.1f us  ", 1e6 * each.seconds) + one_line(each.schedule));
}

// Times the schedules that cost least beside the default. Costs do not tell rasterizations apart:
// those of the fastest schedule are timed after it.
Tuning KernelTuner::measure_best(const Problem& problem, const plan::GemmForm& form,
                                 const Ranked& ranked) {
  ScheduleTimer timer(*gpu_, sources_, plan_, problem, effort_, say_);
  timer.add_default(plan_);
  for (const ScheduleCandidate& candidate : ranked)
    if (std::ssize(timer.schedules()) <= effort_.candidates) timer.add(candidate);
  Tuning tuning;
  if (timer.schedules().empty()) {
    tuning.why = "no schedule is right on this device";
    return tuning;
  }
  timer.run();
  const std::size_t best = timer.fastest();
  std::vector<ScheduleCandidate> orders;
  if (const ScheduleCandidate* candidate = timer.schedules()[best].candidate)
    orders = plan::reordered(problem.kernel, *candidate, problem.sizes, target_);
  if (!orders.empty()) {
    say_("  the fastest with other rasterizations:");
    timer.keep_only(best);
    for (const ScheduleCandidate& candidate : orders) timer.add(candidate);
    timer.run();
  }
  tuning.timed = timer.rows();
  tuning.finding = finding_of(problem, form, timer);
  return tuning;
}

// A class has sizes that were not timed: at both of its ends the schedule must be as fast as what
// launches take there now. Where it does not take the sizes of an end, or they are no problem of
// the kernel's, launches of these go on as before. An end that cannot be timed says nothing of the
// class: then the schedule is for its own sizes.
Reach KernelTuner::reach_of(const Problem& problem, const plan::GemmForm& form,
                            const sema::Schedule& schedule) const {
  for (const auto& sizes : ends_of_class(problem, form)) try {
      const Problem end = with_kernel(problem_of(plan_.kernel, sizes, {}), problem.kernel);
      const auto candidate = plan::candidate_of(end.kernel, schedule, end.sizes, target_);
      if (!candidate) continue;
      say_("  at" + sizes_text(end) + ":");
      ScheduleTimer timer(*gpu_, sources_, plan_, end, effort_, say_);
      timer.add_default(plan_);
      if (timer.schedules().empty()) continue;
      timer.add(*candidate);
      bool is_slower = timer.schedules().size() == 1;  // it is wrong there, or does not launch
      if (!is_slower) {
        timer.run();
        is_slower = timer.timings()[1].median() > worth_it * timer.timings()[0].median();
      }
      if (!is_slower) continue;
      say_("  the default is faster there: the schedule is for" + sizes_text(problem) + " alone");
      return Reach::of_sizes;
    } catch (const Refusal&) {
      continue;
    } catch (const NotMeasured& error) {
      say_("  not timed: " + std::string(error.what()));
      return Reach::of_sizes;
    } catch (const runtime::DriverError& error) {
      say_("  not timed: " + error.text);
      return Reach::of_sizes;
    }
  return Reach::of_class;
}

std::optional<Finding> KernelTuner::finding_of(const Problem& problem, const plan::GemmForm& form,
                                               const ScheduleTimer& timer) const {
  const auto& schedules = timer.schedules();
  const auto& timings = timer.timings();
  const std::size_t fastest = timer.fastest();
  const ScheduleCandidate* best = schedules[fastest].candidate;
  const double gain = schedules[0].candidate ? 0 : timings[0].median() / timings[fastest].median();
  if (!best || (gain > 0 && gain < worth_it)) {
    say_("  no candidate is 1 % faster than the default; nothing is saved");
    return std::nullopt;
  }
  Finding finding;
  finding.kernel = problem.kernel->name;
  finding.schedule = best->schedule;
  finding.reach = reach_of(problem, form, best->schedule);
  finding.condition = shape_class(problem, form, finding.reach);
  finding.schedule.when = shape_conditions(problem, form, finding.reach);
  finding.comment = gpu_->device().name + ", " + runtime::today() + ", " + problem.kernel->name +
                    sizes_text(problem) + formatted(": %.1f us", 1e3 * timings[fastest].median()) +
                    (gain > 0 ? formatted(", the default %.1f us", 1e3 * timings[0].median()) : "");
  const plan::Variant& variant = best->chosen();
  finding.any_pitch = !variant.before.empty() || variant.name.ends_with("_any");
  std::int64_t batches = 1;
  for (const sema::IndexId index : form.batch) batches *= problem.extent(index);
  finding.extents = {problem.extent(form.m), problem.extent(form.n), problem.extent(form.k),
                     batches};
  if (const auto of = plan::tuned_class(*problem.kernel, form, target_)) {
    finding.of = *of;
    finding.has_class = true;
  }
  return finding;
}

}  // namespace lay::bench
