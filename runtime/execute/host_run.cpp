#include "runtime/execute/host_run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

#include "backend/interpret/launches.h"
#include "frontend/algebra/support/refusal.h"
#include "runtime/repl/interrupt.h"

namespace lay::runtime {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A line that says how far the run is: rewritten in place on a terminal, every ten seconds
// elsewhere.
class ProgressLine {
 public:
  ProgressLine(std::string name, bool wanted) : name_(std::move(name)), wanted_(wanted) {}
  ~ProgressLine() {
    if (shown_ && terminal_) std::cerr << "\r\x1b[K" << std::flush;
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(std::int64_t done, std::int64_t all) {
    const double seconds = seconds_since(start_);
    if (!wanted_ || seconds < next_ || all == 0) return;
    next_ = seconds + (terminal_ ? 0.1 : 10);
    shown_ = true;
    std::cerr << (terminal_ ? "\r\x1b[K" : "") << name_ << ": " << 100 * done / all << " % of "
              << all << " blocks, " << static_cast<int>(seconds) << " s" << (terminal_ ? "" : "\n")
              << std::flush;
  }

 private:
  std::string name_;
  bool wanted_;
  Clock::time_point start_ = Clock::now();
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  double next_ = terminal_ ? 0.5 : 10;
  bool shown_ = false;
};

interpret::Argument scalar_argument(const sema::Number& number, ElementType type) {
  if (is_float(type))
    return std::visit([](auto v) { return interpret::Argument(static_cast<double>(v)); }, number);
  return std::visit([](auto v) { return interpret::Argument(static_cast<std::int64_t>(v)); },
                    number);
}

}  // namespace

bool HostChoices::is_interrupted() const {
  return interrupted ? interrupted() : runtime::interrupted();
}

interpret::NamedArguments named_arguments(PackedCall& call) {
  interpret::NamedArguments named;
  const sema::Kernel& kernel = *call.kernel;
  for (const sema::Dim& dim : kernel.dims) {
    if (const auto value = dim.symbol.evaluate(call.sizes)) named[dim.name] = *value;
  }
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
    named[kernel.scalars[i].name] = scalar_argument(call.scalars.at(i), kernel.scalars[i].type);
  }
  for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
    static std::byte nothing;  // where an empty tensor lies
    auto& memory = call.memory[i];
    const bool constant = kernel.tensors[i].access == sema::Access::input;
    named[kernel.tensors[i].name] =
        interpret::Memory{memory.empty() ? &nothing : memory.data(),
                          static_cast<std::int64_t>(memory.size()), constant};
  }
  return named;
}

HostRun run_on_host(const Launches& launches, PackedCall& call, bool checked,
                    const HostChoices& choices) {
  HostRun result;
  result.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  result.checked = checked;
  ProgressLine progress(launches.back().name, choices.progress);
  interpret::Options options;
  options.checks = checked;
  options.threads = result.threads;
  options.bank_conflicts = choices.counts;
  options.seed = choices.order;
  options.progress = [&](const interpret::Progress& p) {
    progress.update(p.blocks_done, p.blocks);
    return !choices.is_interrupted();
  };
  const auto arguments = named_arguments(call);
  const auto start = Clock::now();
  auto report = interpret::run_all(launches, arguments, options);
  result.seconds = seconds_since(start);
  if (report.fault) {
    std::string code(interpret::fault_name(report.fault->code));
    std::replace(code.begin(), code.end(), ' ', '-');
    throw refusal(code, report.fault->message);
  }
  result.counters = std::move(report);
  return result;
}

}  // namespace lay::runtime
