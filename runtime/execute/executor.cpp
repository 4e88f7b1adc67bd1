#include "runtime/execute/executor.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "backend/plan/schedule/fitting.h"
#include "frontend/algebra/support/refusal.h"
#include "runtime/commands/counters.h"
#include "runtime/execute/field_run.h"
#include "runtime/execute/host_run.h"
#include "runtime/execute/segment_check.h"
#include "runtime/execute/stages.h"

namespace lay::runtime {
namespace {

// Beyond `most_checked_operations` a run is not watched for races and uninitialised reads: it takes
// five times as long.
constexpr std::int64_t most_checked_operations = 1'000'000'000;

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  else if (seconds < 1)
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

// The zeros that a call makes for its outputs.
std::vector<sema::Array> untouched_outputs(const sema::KernelCall& call) {
  std::vector<sema::Array> outputs;
  for (std::size_t i = 0; i < call.tensors.size(); ++i)
    if (call.kernel->tensors[i].access != sema::Access::input) outputs.push_back(call.tensors[i]);
  return outputs;
}

}  // namespace

Executor::Executor(const Sources& sources, MachineChoice on, Log log, HostChoices choices)
    : sources_(sources), on_(on), log_(std::move(log)), choices_(std::move(choices)) {}
Executor::~Executor() = default;

LoweredPlan& Executor::prepare(const sema::KernelPtr& kernel) {
  auto& slot = prepared_[kernel];
  if (slot) return *slot;
  const Target target = gpu() ? gpu()->target() : default_target();
  auto prepared = std::make_unique<LoweredPlan>(sources_, planned(kernel, target));
  const Diagnostics remarks = warnings_of(prepared->plan(), target, choices_.strict);
  for (const Diagnostic& d : remarks.list()) {
    if (d.severity == Severity::error) throw DiagnosticError(d);
    if (log_) log_("warning[" + d.code + "]: " + d.message);
  }
  slot = std::move(prepared);
  return *slot;
}

sema::KernelResult Executor::run(const sema::KernelCall& call) {
  const auto untouched = untouched_outputs(call);
  const auto is_empty = [](const sema::Array& array) { return array.size() == 0; };
  if (std::all_of(untouched.begin(), untouched.end(), is_empty))
    return {untouched, {}};  // a success without a launch
  LoweredPlan& prepared = prepare(call.kernel);
  const plan::Variant& variant = plan::chosen_variant(prepared.plan(), call.sizes);
  const Launches& launches = prepared.at(variant, call.sizes);
  if (choices_.field) run_in_field(prepared, call);
  PackedCall arguments = packed(call);
  std::optional<std::string> ran;
  if (gpu()) ran = run_on_gpu(launches, arguments);
  if (!ran) {
    check_segments(variant, call);
    ran = run_on_host(launches, arguments, variant);
  }
  if (log_) log_(call.kernel->name + ": " + *ran + ", variant " + variant.name);
  return {unpacked_outputs(call, arguments), {}};
}

void Executor::run_in_field(LoweredPlan& prepared, const sema::KernelCall& call) {
  const FieldCheck check(call, choices_);
  std::string variants;
  for (const plan::Variant* variant : plan::fitting_variants(prepared.plan(), call.sizes)) {
    check.require_equal(prepared.at(*variant, call.sizes), variant->name);
    variants += (variants.empty() ? "" : ", ") + variant->name;
  }
  if (log_) log_(check.verdict(variants));
}

Gpu* Executor::gpu() {
  if (looked_for_gpu_ || on_ == MachineChoice::host) return gpu_.get();
  looked_for_gpu_ = true;
  std::string why_not;
  gpu_ = Gpu::open(&why_not);
  if (!gpu_ && on_ == MachineChoice::gpu) throw NoGpu("--on gpu: " + why_not);
  return gpu_.get();
}

std::optional<std::string> Executor::run_on_gpu(const Launches& launches, PackedCall& arguments) {
  HostArguments host{arguments.sizes, {}, {}};
  const sema::Kernel& kernel = *arguments.kernel;
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
    host.scalars[kernel.scalars[i].name] = arguments.scalars.at(i);
  }
  // Elements of 4 bits are inputs only: nothing comes back of them.
  std::vector<std::vector<std::byte>> joined(kernel.tensors.size());
  for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
    const ElementType element = kernel.tensors[i].element;
    const bool joins = is_half_byte(element);
    if (joins) joined[i] = sema::on_device(element, arguments.memory[i]);
    host.tensors[kernel.tensors[i].name] = joins ? &joined[i] : &arguments.memory[i];
  }
  const GpuRun run = gpu_->run(launches, host);
  const auto log_once = [&](const std::string& text) {
    if (log_ && !text.empty() && warned_.insert(text).second) log_(text);
  };
  if (run.outcome.status == Status::unsupported && on_ == MachineChoice::any) {
    log_once("not on the GPU: " + run.outcome.message);
    return std::nullopt;
  }
  if (!run.outcome.ok())
    throw refusal(std::string(status_name(run.outcome.status)), run.outcome.message);
  if (run.kernel) log_once(run.kernel->compilation.warning);
  return time_text(run.milliseconds * 1e-3) + " on " + gpu_->device().name;
}

std::string Executor::run_on_host(const Launches& launches, PackedCall& arguments,
                                  const plan::Variant& variant) {
  const auto operations = variant.prediction.flops.evaluate(arguments.sizes);
  const HostRun run = runtime::run_on_host(
      launches, arguments, operations && *operations <= most_checked_operations, choices_);
  if (choices_.counts && log_) {
    for (const std::string& line : counter_lines(run.counters, variant.prediction, arguments.sizes))
      log_(line);
  }
  return time_text(run.seconds) + " in the host interpreter (" + std::to_string(run.threads) +
         (run.threads == 1 ? " thread" : " threads") + (run.checked ? ", checked)" : ")");
}

}  // namespace lay::runtime
