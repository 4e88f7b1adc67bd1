#include "backend/interpret/interpret.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "backend/interpret/compile.h"
#include "backend/interpret/warp.h"
#include "backend/ir/fold.h"
#include "backend/ir/text/print.h"
#include "frontend/algebra/support/refusal.h"

namespace lay::interpret {
namespace {

[[noreturn]] void refuse(FaultCode code, const std::string& what) {
  Fault fault;
  fault.code = code;
  fault.message = what;
  throw Stopped{std::move(fault)};
}

// ---- arguments

std::int64_t integer_argument(const ir::Param& param, const Argument& argument) {
  const auto* value = std::get_if<std::int64_t>(&argument);
  if (value == nullptr) refuse(FaultCode::argument, "`" + param.name + "` takes an integer");
  if (!ir::fits(*value, param.type)) {
    refuse(FaultCode::argument, "`" + param.name + "` = " + std::to_string(*value) +
                                    " does not fit " + std::string(element_name(param.type)));
  }
  return *value;
}

Binding bind(const ir::Kernel& kernel, const std::vector<Argument>& arguments) {
  Binding sizes;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const ir::Param& param = kernel.params[i];
    if (param.is_size) {
      const std::int64_t value = integer_argument(param, arguments[i]);
      if (value < 0)
        refuse(FaultCode::argument, "the size `" + param.name + "` is " + std::to_string(value));
      sizes[*param.symbol.dim_id()] = value;
    } else if (!is_float(param.type)) {
      integer_argument(param, arguments[i]);
    } else if (std::holds_alternative<Memory>(arguments[i])) {
      refuse(FaultCode::argument, "`" + param.name + "` takes a number");
    }
  }
  for (const Predicate& fact : kernel.assumptions) {
    if (fact.evaluate(sizes) != true)
      refuse(FaultCode::argument, "the sizes break `" + fact.to_string() + "`");
  }
  return sizes;
}

// The global buffers of a launch and what the interpreter keeps beside them.
struct Launched {
  std::vector<GlobalMemory> global;
  std::vector<std::vector<std::byte>> workspace;
  std::vector<std::vector<std::uint8_t>> written;
  std::vector<std::vector<std::int64_t>> owner;
  std::vector<std::vector<LastWrite>> last;
  std::unique_ptr<Counted> counted = std::make_unique<Counted>();

  void add(const ir::Buffer& buffer, const BufferPlan& plan, const Argument& argument,
           const Options& options);
};

void Launched::add(const ir::Buffer& buffer, const BufferPlan& plan, const Argument& argument,
                   const Options& options) {
  const auto* memory = std::get_if<Memory>(&argument);
  if (memory == nullptr) refuse(FaultCode::argument, "`" + buffer.name + "` takes memory");
  const std::int64_t elements = plan.placement.cosize;
  GlobalMemory made{static_cast<std::byte*>(memory->data), elements};
  if (elements > options.max_memory && (buffer.workspace || options.write_once)) {
    refuse(FaultCode::limit, "`" + buffer.name + "` has " + std::to_string(elements) + " elements");
  }
  const auto count = static_cast<size_t>(elements);
  if (buffer.workspace && memory->data == nullptr) {
    workspace.emplace_back(count * static_cast<size_t>(plan.cell), std::byte{0xff});
    made.data = workspace.back().data();
  } else if (memory->data == nullptr && elements > 0) {
    refuse(FaultCode::argument, "`" + buffer.name + "` has no memory");
  } else if (memory->bytes / plan.cell < elements) {
    refuse(FaultCode::argument, "`" + buffer.name + "`, " + to_string(buffer.layout) + ", needs " +
                                    std::to_string(elements) + " elements and has " +
                                    std::to_string(memory->bytes / plan.cell));
  } else if (buffer.written && memory->constant) {
    refuse(FaultCode::argument, "`" + buffer.name + "` is written and its memory is constant");
  }
  if (buffer.workspace && options.checks) {
    made.written =
        memory->written != nullptr ? memory->written : written.emplace_back(count).data();
  }
  const bool once = buffer.written && !(buffer.workspace && buffer.read);
  if (once && options.write_once) made.owner = owner.emplace_back(count).data();
  if (made.written && buffer.read && buffer.written) made.last = last.emplace_back(count).data();
  made.counted = counted.get();
  global.push_back(made);
}

Launched launch(const Program& program, const std::vector<Argument>& arguments,
                const Options& options) {
  Launched made;
  size_t next = program.kernel->params.size();
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    if (program.buffers[b].space != ir::Space::global) continue;
    made.add(program.kernel->buffers[b], program.buffers[b], arguments[next++], options);
  }
  return made;
}

std::int64_t grid_of(const ir::Kernel& kernel, const Binding& sizes, const Options& options,
                     std::array<std::int64_t, 3>& grid) {
  std::int64_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    const auto extent = kernel.launch.grid[i].evaluate(sizes);
    if (!extent || *extent < 0) {
      refuse(FaultCode::argument,
             "the grid's extent " + kernel.launch.grid[i].to_string() + " has no value");
    }
    grid[i] = *extent;
    if (i == 0 && kernel.launch.persistent && options.resident_clusters > 0)
      grid[i] = std::min<std::int64_t>(
          grid[i], std::int64_t{options.resident_clusters} * kernel.launch.cluster[0]);
    blocks = checked_mul(blocks, grid[i]);
    if (*extent % kernel.launch.cluster[i] != 0) {
      refuse(FaultCode::argument, "the grid's extent " + std::to_string(*extent) +
                                      " is no multiple of the cluster's, " +
                                      std::to_string(kernel.launch.cluster[i]));
    }
  }
  return blocks;
}

// ---- the run

// The state that the host threads share: the next cluster, and the fault of the lowest cluster.
class Run {
 public:
  Run(const Program& program, Launched& launched, std::int64_t clusters, const Options& options)
      : program_(program), launched_(launched), clusters_(clusters), options_(options) {}
  Report report();

 private:
  void work(bool is_caller);
  void guarded_work(bool is_caller);
  void fail(std::int64_t cluster, Fault fault);
  void add(const Block& block);
  void tell();
  void add(const Cluster& cluster);

  const Program& program_;
  Launched& launched_;
  const std::int64_t clusters_;
  const Options& options_;

  std::atomic<std::int64_t> next_{0}, done_{0}, steps_{0};
  std::atomic<std::int64_t> lowest_fault_{INT64_MAX};
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  Report report_;
  std::vector<BankConflicts> counted_;  // by Program::banks
};

void Run::fail(std::int64_t cluster, Fault fault) {
  const std::lock_guard lock(mutex_);
  if (cluster >= lowest_fault_.load()) return;
  lowest_fault_ = cluster;
  report_.fault = std::move(fault);
}

void Run::tell() {
  using namespace std::chrono_literals;
  const auto now = std::chrono::steady_clock::now();
  if (!options_.progress || now - told_ < 100ms) return;
  told_ = now;
  if (options_.progress({done_.load(), clusters_ * program_.cluster_blocks})) return;
  Fault fault;
  fault.code = FaultCode::stopped;
  fault.message = "the run was stopped";
  fail(-1, std::move(fault));
}

void Run::add(const Cluster& cluster) {
  const std::lock_guard lock(mutex_);
  for (const Block& block : cluster.blocks) add(block);
}

void Run::add(const Block& block) {
  for (const Warp& warp : block.warps) {
    report_.steps += warp.steps;
    report_.lane_operations += warp.lane_operations;
  }
  for (size_t i = 0; i < block.banks.size(); ++i) {
    BankConflicts& sum = counted_[i];
    sum.accesses += block.banks[i].accesses;
    sum.wavefronts += block.banks[i].wavefronts;
    sum.least += block.banks[i].least;
    sum.worst = std::max(sum.worst, block.banks[i].worst);
  }
}

void Run::work(bool is_caller) {
  Cluster cluster;
  prepare(cluster, program_, launched_.global);
  std::int64_t counted = 0;
  while (true) {
    const std::int64_t number = next_.fetch_add(1);
    if (number >= clusters_ || number > lowest_fault_.load()) break;
    try {
      const std::int64_t left = options_.max_steps - steps_.load();
      if (options_.max_steps > 0 && left <= 0)
        refuse(FaultCode::limit, "the limit of steps is reached");
      run_cluster(cluster, number, options_, options_.max_steps > 0 ? left : 0);
      done_.fetch_add(program_.cluster_blocks);
    } catch (Stopped& stopped) {
      fail(number, std::move(stopped.fault));
    }
    std::int64_t steps = 0;
    for (const Block& block : cluster.blocks) {
      for (const Warp& warp : block.warps) steps += warp.steps;
    }
    steps_ += steps - std::exchange(counted, steps);
    if (is_caller) tell();
  }
  add(cluster);
}

void Run::guarded_work(bool is_caller) {
  try {
    work(is_caller);
  } catch (const std::bad_alloc&) {
    Fault fault;
    fault.code = FaultCode::limit;
    fault.message = "the host has no memory for a block";
    fail(-1, std::move(fault));
  }
}

Report Run::report() {
  for (const BankCount& count : program_.banks) {
    const ir::Stmt& stmt = *program_.statements[count.statement];
    counted_.push_back({stmt.origin.line, ir::print_first_line(*program_.kernel, stmt),
                        program_.kernel->buffers[count.buffer].name, 0, 0, 0, 0});
  }
  std::vector<std::thread> helpers;
  const std::int64_t threads =
      std::clamp<std::int64_t>(options_.threads, 1, std::max<std::int64_t>(1, clusters_));
  try {
    for (std::int64_t i = 1; i < threads; ++i)
      helpers.emplace_back([this] { guarded_work(false); });
  } catch (
      const std::system_error&) {  // the machine gives no more threads: those that run do the work
  }
  guarded_work(true);
  for (std::thread& helper : helpers) helper.join();
  report_.blocks = done_.load();
  for (size_t i = 0; i < counted_.size(); ++i) {
    BankConflicts& sum = counted_[i];
    if (program_.buffers[program_.banks[i].buffer].space == ir::Space::shared) {
      report_.banks.push_back(std::move(sum));
    } else {
      report_.sectors.push_back({sum.line, std::move(sum.statement), std::move(sum.buffer),
                                 sum.accesses, sum.wavefronts, sum.least});
    }
  }
  return std::move(report_);
}

Report checked_run(const ir::Kernel& kernel, const std::vector<Argument>& arguments,
                   const Options& options) {
  const auto globals =
      std::count_if(kernel.buffers.begin(), kernel.buffers.end(),
                    [](const ir::Buffer& b) { return b.space == ir::Space::global; });
  const size_t expected = kernel.params.size() + static_cast<size_t>(globals);
  if (arguments.size() != expected) {
    refuse(FaultCode::argument, "the kernel takes " + std::to_string(expected) +
                                    " arguments, not " + std::to_string(arguments.size()));
  }
  const Binding sizes = bind(kernel, arguments);
  Program program = compile(kernel, sizes, arguments, options);
  const std::int64_t blocks = grid_of(kernel, sizes, options, program.grid);
  Launched launched = launch(program, arguments, options);
  return Run(program, launched, blocks / program.cluster_blocks, options).report();
}

}  // namespace

std::string_view fault_name(FaultCode code) {
  constexpr std::array<std::string_view, 18> kNames{
      "argument",      "out-of-bounds",  "uninitialised",
      "in-flight",     "race",           "barrier-divergence",
      "deadlock",      "barrier-misuse", "missing-fence",
      "bytes",         "block-ended",    "misaligned",
      "written-twice", "overflow",       "division-by-zero",
      "limit",         "unsupported",    "stopped"};
  return kNames[static_cast<size_t>(code)];
}

Report run(const ir::Kernel& kernel, const std::vector<Argument>& arguments,
           const Options& options) {
  Report report;
  try {
    return checked_run(kernel, arguments, options);
  } catch (Stopped& stopped) {
    report.fault = std::move(stopped.fault);
  } catch (const std::bad_alloc&) {
    report.fault = Fault{};
    report.fault->code = FaultCode::limit;
    report.fault->message = "the host has no memory for the launch";
  } catch (const Refusal& refusal) {  // a number left 64 bits
    report.fault = Fault{};
    report.fault->code = FaultCode::argument;
    report.fault->message = refusal.message;
  }
  return report;
}

}  // namespace lay::interpret
