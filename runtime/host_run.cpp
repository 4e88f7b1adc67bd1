#include "runtime/host_run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "backend/interpret/interpret.h"
#include "frontend/algebra/refusal.h"
#include "runtime/interrupt.h"

namespace lay::runtime {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A line that says how far the run is: rewritten in place on a terminal, every ten seconds elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(std::string name) : name_(std::move(name)) {}
  ~ProgressLine() {
    if (shown_ && terminal_) std::cerr << "\r\x1b[K" << std::flush;
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(std::int64_t done, std::int64_t all) {
    const double seconds = seconds_since(start_);
    if (seconds < next_ || all == 0) return;
    next_ = seconds + (terminal_ ? 0.1 : 10);
    shown_ = true;
    std::cerr << (terminal_ ? "\r\x1b[K" : "") << name_ << ": " << 100 * done / all << " % of " << all << " blocks, "
              << static_cast<int>(seconds) << " s" << (terminal_ ? "" : "\n") << std::flush;
  }

 private:
  std::string name_;
  Clock::time_point start_ = Clock::now();
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  double next_ = terminal_ ? 0.5 : 10;
  bool shown_ = false;
};

interpret::Argument scalar_argument(const sema::Number& number, ElementType type) {
  if (is_float(type)) return std::visit([](auto v) { return interpret::Argument(static_cast<double>(v)); }, number);
  return std::visit([](auto v) { return interpret::Argument(static_cast<std::int64_t>(v)); }, number);
}

std::vector<interpret::Argument> arguments_of(const ir::Kernel& kernel, PackedCall& call) {
  std::vector<interpret::Argument> arguments;
  auto scalar = call.scalars.begin();
  for (const ir::Param& param : kernel.params) {
    if (!param.is_size) {
      arguments.push_back(scalar_argument(*scalar++, param.type));
    } else if (const auto value = param.symbol.evaluate(call.sizes)) {
      arguments.push_back(*value);
    } else {
      throw std::logic_error("internal: size `" + param.name + "` has no value");
    }
  }
  auto memory = call.memory.begin();
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.space != ir::Space::global) continue;
    if (buffer.workspace) {
      arguments.push_back(interpret::Memory{});
    } else {
      static std::byte nothing;  // where an empty tensor lies
      void* data = memory->empty() ? &nothing : memory->data();
      arguments.push_back(interpret::Memory{data, static_cast<std::int64_t>(memory->size()), !buffer.written});
      ++memory;
    }
  }
  return arguments;
}

}  // namespace

HostRun run_on_host(const ir::Kernel& kernel, PackedCall& call, bool checked) {
  HostRun result;
  result.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  result.checked = checked;
  ProgressLine progress(kernel.name);
  interpret::Options options;
  options.checks = checked;
  options.threads = result.threads;
  options.progress = [&](const interpret::Progress& p) {
    progress.update(p.blocks_done, p.blocks);
    return !interrupted();
  };
  const auto arguments = arguments_of(kernel, call);
  const auto start = Clock::now();
  const auto report = interpret::run(kernel, arguments, options);
  result.seconds = seconds_since(start);
  if (report.fault) {
    std::string code(interpret::fault_name(report.fault->code));
    std::replace(code.begin(), code.end(), ' ', '-');
    throw refusal(code, report.fault->message);
  }
  return result;
}

}  // namespace lay::runtime
