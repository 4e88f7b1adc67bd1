#include <algorithm>

#include "liblay/objects.h"
#include "runtime/bench/compiled_kernel.h"
#include "runtime/bench/tune/tuner.h"
#include "runtime/io/json.h"

namespace lay::api {
namespace {

struct TuneChoices {
  std::int32_t device = 0;
  bench::TuneEffort effort;
};

// The options, each 0 replaced by its default. Misuse for what is out of range.
TuneChoices choices_of(const lay_tune_options* options) {
  TuneChoices choices;
  if (!options) return choices;
  if (options->size != sizeof(lay_tune_options))
    throw Misuse{"`options->size` is not sizeof(lay_tune_options)"};
  if (options->device < 0 || options->candidates < 0 || options->rounds < 0 ||
      !(options->milliseconds >= 0 && options->milliseconds <= 1e6))
    throw Misuse{"`options` have a number that is negative or too large"};
  choices.device = options->device;
  if (options->candidates > 0) choices.effort.candidates = options->candidates;
  if (options->rounds > 0) choices.effort.rounds = options->rounds;
  if (options->milliseconds > 0) choices.effort.milliseconds = options->milliseconds;
  return choices;
}

// Puts the finding before the others, in place of one of the same target and class, and gives the
// kernel all of them before its own schedules.
void take(lay_kernel& kernel, const bench::Finding& finding) {
  auto tuned = std::make_shared<sema::Kernel>(*kernel.kernel);
  auto& schedules = tuned->schedules;
  schedules.erase(schedules.begin(),
                  schedules.begin() + static_cast<std::ptrdiff_t>(kernel.findings.size()));
  auto& findings = kernel.findings;
  std::erase_if(findings, [&](const bench::Finding& other) {
    return other.schedule.target == finding.schedule.target && other.condition == finding.condition;
  });
  findings.insert(findings.begin(), finding);
  // The first that takes the sizes counts: those of sizes alone before those of classes.
  std::stable_partition(findings.begin(), findings.end(), [](const bench::Finding& each) {
    return each.reach == bench::Reach::of_sizes;
  });
  for (std::size_t i = findings.size(); i-- > 0;)
    schedules.insert(schedules.begin(), findings[i].schedule);
  kernel.kernel = tuned;
}

std::string tuning_json(const lay_kernel& kernel, const std::string& device,
                        const std::map<std::string, std::int64_t>& sizes,
                        const bench::Tuning& tuning) {
  runtime::JsonObject named;
  for (const auto& [name, value] : sizes) named.integer(name, value);
  std::vector<std::string> timed;
  for (const bench::TimedRow& row : tuning.timed)
    timed.push_back(runtime::JsonObject()
                        .string("schedule", row.schedule)
                        .string("variant", row.variant)
                        .raw("microseconds", runtime::json_number(1e6 * row.seconds))
                        .raw("predicted_microseconds", runtime::json_number(1e6 * row.predicted))
                        .raw("spread", runtime::json_number(row.spread))
                        .text());
  return runtime::JsonObject()
      .string("kernel", kernel.kernel->name)
      .string("device", device)
      .raw("sizes", named.text())
      .string("why", tuning.why)
      .raw("timed", runtime::json_array(timed))
      .boolean("is_faster", tuning.finding.has_value())
      .string("schedules",
              kernel.findings.empty() ? "" : bench::schedules_text(kernel.findings, ""))
      .text();
}

}  // namespace
}  // namespace lay::api

using namespace lay::api;
using namespace lay;

lay_result lay_kernel_tune(lay_kernel* kernel, const lay_tune_options* options,
                           const lay_size* sizes, size_t size_count, const char** json) {
  if (!kernel) return LAY_RESULT_MISUSE;
  ProgramState& state = *kernel->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(json, "json");
    *json = nullptr;
    const TuneChoices choices = choices_of(options);
    const auto given = sizes_of(sizes, size_count);
    const runtime::KeptContext kept;
    std::string why;
    const auto gpu = runtime::Gpu::open(&why, choices.device);
    if (!gpu) throw runtime::NoGpu(why);
    const auto& log = state.context->settings().log;
    bench::KernelTuner tuner(state.program.sources, kernel->kernel, gpu->target(), gpu.get(),
                             choices.effort, [&](const std::string& line) {
                               if (log) log(line);
                             });
    try {
      const bench::Tuning tuning = tuner.tune(given);
      if (tuning.finding) take(*kernel, *tuning.finding);
      kernel->tuning = tuning_json(*kernel, gpu->device().name, given, tuning);
    } catch (const bench::NotMeasured& error) {
      throw DiagnosticError("device-failed", error.what());
    } catch (const runtime::DriverError& error) {
      throw DiagnosticError("device-failed", error.text);
    }
    *json = kernel->tuning.c_str();
  });
}
