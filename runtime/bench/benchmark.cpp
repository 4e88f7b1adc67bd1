#include "runtime/bench/benchmark.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "backend/plan/make.h"
#include "backend/plan/model/forecast.h"
#include "backend/plan/model/scalar.h"
#include "backend/plan/schedule/fitting.h"
#include "runtime/bench/baseline.h"
#include "runtime/bench/checker.h"
#include "runtime/bench/compiled_kernel.h"
#include "runtime/bench/problem/epilogue.h"
#include "runtime/bench/problem/strides.h"
#include "runtime/bench/reference.h"
#include "runtime/gpu/stream.h"

namespace lay::bench {
namespace {

using runtime::StreamHandle;
using Launch = std::function<void(int set, StreamHandle)>;

// A product by cuBLASLt with the tensors of its matrices.
struct LibraryMatmul {
  Matmul matmul;
  Algorithm algorithm;
  sema::TensorId a, b, c, d, bias;

  MatmulOperands operands(const OperandSets& sets, int set) const {
    const auto at = [&](sema::TensorId tensor) {
      return tensor < 0 ? 0 : sets.region(set, tensor).address;
    };
    return {at(a), at(b), at(c < 0 ? d : c), at(d), at(bias)};
  }
};

class Benchmark {
 public:
  Benchmark(const Environment& environment, const Sources& sources, const plan::Plan& plan,
            const Problem& problem)
      : environment_(environment),
        sources_(sources),
        plan_(plan),
        problem_(problem),
        gemm_problem_(problem),
        extended_(problem) {}

  Result run() {
    describe();
    recognise();
    if (environment_.once) return run_once();
    Protocol protocol = environment_.protocol;
    protocol.sets = result_.sets =
        sets_beyond_cache(problem_.bytes(), environment_.gpu.device().l2_bytes);
    sets_ = std::make_unique<OperandSets>(extended_, protocol.sets);
    checker_ = std::make_unique<Checker>(environment_.gpu, sources_, plan_, problem_, *sets_);
    add_ours();
    add_baselines();
    add_triton();
    add_torch(protocol);
    sets_->upload(checker_->uniform());
    time_all(protocol);
    return std::move(result_);
  }

 private:
  Result run_once() {
    sets_ = std::make_unique<OperandSets>(extended_, result_.sets = 1);
    sets_->upload(uniform_numbers(problem_));
    add_ours();
    add_baselines();
    for (const Candidate& candidate : candidates_) {
      candidate.launch(0, nullptr);
      runtime::synchronize();
    }
    return std::move(result_);
  }

  // Returns the bytes that a launch has to move of a tensor.
  static double traffic(const Tensor& tensor) {
    const bool both_ways = tensor.access == sema::Access::inout;
    return static_cast<double>(tensor.device_bytes()) * (both_ways ? 2 : 1);
  }

  void describe() {
    result_.kernel = problem_.kernel->name;
    result_.sizes = problem_.named_sizes();
    for (std::size_t i = 0; i < problem_.scalars.size(); ++i)
      result_.scalars.emplace_back(problem_.kernel->scalars[i].name,
                                   problem_.real(static_cast<sema::ScalarId>(i)));
    for (const Tensor& tensor : problem_.tensors) result_.bytes += traffic(tensor);
    if (!plan_.variants.empty())
      result_.operations = static_cast<double>(
          plan_.variants.front().prediction.flops.evaluate(problem_.sizes).value_or(0));
  }

  // Finds the GEMM that the kernel is, what cuBLASLt can do of it, and the epilogue as a kernel of
  // its own.
  void recognise() {
    const auto form = plan::recognise_coalesced(problem_.kernel, plan::facts_of(*problem_.kernel));
    if (const auto* no = std::get_if<plan::NotGemm>(&form)) {
      result_.notes.push_back("no library baseline: not a GEMM: " + no->reason);
      return;
    }
    const auto& gemm = std::get<plan::Gemm>(form);
    form_ = gemm.form;
    gemm_problem_ = with_kernel(problem_, gemm.kernel);
    result_.is_gemm = true;
    auto baseline = baseline_of(gemm_problem_, *form_);
    if (const auto* no = std::get_if<NoBaseline>(&baseline)) {
      result_.notes.push_back("no cuBLASLt baseline: " + no->reason);
      return;
    }
    baseline_ = std::get<Baseline>(baseline);
    result_.form = baseline_->text;
    const ElementType operands = baseline_->matmul.a.element;
    if (is_float(operands) && bits(operands) == 8) match_accumulation();
    if (!environment_.library) return;
    const auto epilogue = epilogue_of(gemm_problem_, *form_);
    if (const auto* found = std::get_if<Epilogue>(&epilogue)) {
      epilogue_ = *found;
      result_.form += epilogue_text(*found);
    } else {
      result_.notes.push_back("cuBLASLt has no such epilogue: " +
                              std::get<NoEpilogue>(epilogue).reason);
    }
    const bool has_work = !epilogue_ || epilogue_->bias >= 0 || epilogue_->activation != "none";
    if (!has_work) return;
    const bool integers = baseline_->matmul.accumulator == ElementType::s32;
    const ElementType stored = integers ? ElementType::s32 : baseline_->matmul.d.element;
    epilogue_plan_ = plan::make_plan(epilogue_kernel(*gemm_problem_.kernel, *form_, stored));
    if (epilogue_plan_->problems.empty())
      extended_ = with_kernel(problem_, epilogue_plan_->kernel);
    else
      epilogue_plan_.reset();
  }

  // Makes cuBLASLt accumulate products of 8-bit floats as the first variant that fits does: with or
  // without promotion to f32.
  void match_accumulation() {
    const auto fitting = plan::fitting_variants(plan_, problem_.sizes);
    const int interval = fitting.empty() ? 0 : promotion_interval_of(*fitting.front());
    baseline_->matmul.fast = interval == 0;
    result_.notes.push_back(
        interval == 0
            ? "fast accumulation: tensor cores add up all of K"
            : "promotion interval " + std::to_string(interval) +
                  ": sums of that many K go on in f32; cuBLASLt without fast accumulation");
  }

  static std::string epilogue_text(const Epilogue& epilogue) {
    std::string text;
    if (epilogue.beta != 0) text += " + beta C";
    if (epilogue.bias >= 0) text += " + bias";
    if (epilogue.activation != "none") text += ", " + std::string(epilogue.activation);
    return text;
  }

  void add_ours() {
    auto fitting = plan::fitting_variants(plan_, problem_.sizes);
    if (!environment_.variants.empty()) {
      std::erase_if(fitting, [&](const plan::Variant* variant) {
        return std::find(environment_.variants.begin(), environment_.variants.end(),
                         variant->name) == environment_.variants.end();
      });
      if (fitting.empty())
        result_.notes.push_back("none of the variants that --variant names fits these sizes");
    } else if (!environment_.all_variants && fitting.size() > 1) {
      fitting.resize(1);
    }
    for (const plan::Variant* variant : fitting) {
      Row row(Side::ours, "lay " + variant->name);
      if (environment_.skip_scalar && reduces_by_scalar_kernel(plan_, *variant, problem_.sizes)) {
        fail(std::move(row), "left out: it runs one thread an element");
        continue;
      }
      try {
        auto compiled =
            std::make_shared<CompiledKernel>(environment_.gpu, sources_, problem_, plan_, *variant);
        row.registers = compiled->main_kernel().loaded.registers();
        row.local_bytes = compiled->main_kernel().loaded.local_bytes();
        row.compile_seconds = compiled->compile_seconds();
        const double expected =
            plan::expected_seconds(plan_, *variant, problem_.sizes, environment_.gpu.target());
        row.expected = std::isfinite(expected) ? expected * 1e3 : 0;
        const auto launch = [this, compiled](int set, StreamHandle stream) {
          compiled->launch(*sets_, set, stream);
        };
        CheckResult check = checker_ ? checker_->check_ours(launch, promotion_interval_of(*variant))
                                     : CheckResult{};
        row.right = check.right;
        row.check = check.text;
        add(std::move(row), launch, std::move(check.result));
      } catch (const NotMeasured& error) {
        row.right = false;
        fail(std::move(row), error.what());
      }
    }
  }

  void add_baselines() {
    if (!form_) add_copy();
    if (!baseline_ || !environment_.library) return;
    workspace_ = runtime::DeviceMemory(Matmul::workspace_bytes);
    if (epilogue_) add_fused();
    if (epilogue_plan_) add_unfused();
  }

  // Returns whether memory, and not arithmetic, limits a kernel that is no GEMM.
  bool is_memory_bound() const {
    constexpr double most_operations_a_byte = 16;
    const auto operations =
        plan::scalar_work(*problem_.kernel).least_flops.evaluate(problem_.sizes);
    return operations && static_cast<double>(*operations) <= most_operations_a_byte * result_.bytes;
  }

  // The baseline of a kernel that memory limits is a copy on the device: of an input to an output
  // of as many bytes, else of as much of the largest input as makes the same traffic.
  void add_copy() {
    if (!is_memory_bound()) return;
    const auto count = static_cast<sema::TensorId>(problem_.tensors.size());
    const auto tensor = [&](sema::TensorId id) -> const Tensor& {
      return problem_.tensors[static_cast<std::size_t>(id)];
    };
    sema::TensorId largest = -1;
    for (sema::TensorId from = 0; from < count; ++from) {
      if (tensor(from).access == sema::Access::output) continue;
      for (sema::TensorId to = 0; to < count; ++to) {
        if (from == to || !tensor(to).is_written() ||
            tensor(from).device_bytes() != tensor(to).device_bytes())
          continue;
        add_copy(
            "copy of " + tensor(from).name, 2 * tensor(from).device_bytes(),
            [this, from, to](int set, StreamHandle stream) { sets_->copy(set, from, to, stream); });
        return;
      }
      if (largest < 0 || tensor(from).device_bytes() > tensor(largest).device_bytes())
        largest = from;
    }
    if (largest < 0) return;
    const std::size_t bytes =
        std::min(tensor(largest).device_bytes(), static_cast<std::size_t>(result_.bytes / 2));
    auto to = std::make_shared<std::vector<runtime::DeviceMemory>>();
    for (int set = 0; set < result_.sets; ++set) to->emplace_back(bytes);
    add_copy("copy of part of " + tensor(largest).name, 2 * bytes,
             [this, largest, to](int set, StreamHandle stream) {
               sets_->copy(set, largest, (*to)[static_cast<std::size_t>(set)], stream);
             });
  }

  void add_copy(const std::string& name, std::size_t bytes, Launch launch) {
    Row row(Side::copy, name);
    row.bytes = static_cast<double>(bytes);
    add(std::move(row), std::move(launch));
  }

  void add_fused() {
    auto description = with_epilogue(gemm_problem_, *baseline_, *epilogue_);
    if (const auto* no = std::get_if<NoBaseline>(&description)) {
      result_.notes.push_back("cuBLASLt does not fuse the epilogue: " + no->reason);
      return;
    }
    auto& matmul = std::get<MatmulDescription>(description);
    if (matmul.bias) matmul.bias_address = sets_->region(0, epilogue_->bias).address;
    add_library(Side::library, "cuBLASLt", matmul, epilogue_->c, baseline_->output, epilogue_->bias,
                nullptr);
  }

  void add_unfused() {
    MatmulDescription matmul = baseline_->matmul;
    const auto product = static_cast<sema::TensorId>(extended_.tensors.size() - 1);
    matmul.d.element = extended_.tensors.back().element;
    if (bits(matmul.d.element) > 8) matmul.c.element = matmul.d.element;
    std::shared_ptr<CompiledKernel> epilogue;
    try {
      const auto fitting = plan::fitting_variants(*epilogue_plan_, extended_.sizes);
      epilogue = std::make_shared<CompiledKernel>(environment_.gpu, sources_, extended_,
                                                  *epilogue_plan_, *fitting.at(0));
    } catch (const NotMeasured& error) {
      fail({Side::library_and_epilogue, "cuBLASLt, epilogue"}, error.what());
      return;
    }
    add_library(Side::library_and_epilogue, "cuBLASLt, epilogue", matmul, -1, product, -1,
                epilogue);
  }

  // Adds the first algorithm of the library's heuristic and, if another one is faster, that. `then`
  // is the epilogue's kernel, or null.
  void add_library(Side side, const std::string& name, const MatmulDescription& what,
                   sema::TensorId c, sema::TensorId d, sema::TensorId bias,
                   const std::shared_ptr<CompiledKernel>& then) {
    const Row row(side, name);
    try {
      auto library = std::make_shared<LibraryMatmul>(LibraryMatmul{
          Matmul(*environment_.library, what), {}, baseline_->left, baseline_->right, c, d, bias});
      const auto algorithms = library->matmul.algorithms(environment_.algorithms);
      const auto launch_of = [&](const Algorithm& algorithm) {
        return [this, library, algorithm, then](int set, StreamHandle stream) {
          library->matmul.launch(stream, library->operands(*sets_, set), algorithm,
                                 workspace_.address());
          if (then) then->launch(*sets_, set, stream);
        };
      };
      if (environment_.once) {
        for (std::size_t i = 0; i < algorithms.size(); ++i) {
          Row each = row;
          each.name += " #" + std::to_string(i + 1);
          for (const std::string& kernel : kernels_of(launch_of(algorithms[i])))
            each.detail += (each.detail.empty() ? "" : "; ") + kernel;
          add(std::move(each), launch_of(algorithms[i]));
        }
        return;
      }
      const std::size_t best = fastest(algorithms, launch_of);
      for (const std::size_t which :
           best == 0 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, best}) {
        Row each = row;
        each.name += which == 0 ? " first" : " best";
        each.detail = (best == 0    ? "the best of "
                       : which == 0 ? "of "
                                    : "#" + std::to_string(which + 1) + " of ") +
                      std::to_string(algorithms.size());
        const auto kernels = kernels_of(launch_of(algorithms[which]));
        for (const std::string& kernel : kernels)
          result_.notes.push_back(each.name + ": " + kernel);
        const CheckResult check =
            checker_->check_baseline(launch_of(algorithms[which]), side != Side::library);
        each.right = check.right;
        each.check = check.right ? "" : check.text;
        add(std::move(each), launch_of(algorithms[which]));
      }
    } catch (const std::runtime_error& error) {
      fail(row, error.what());
    }
  }

  // Returns the kernels that a launch consists of, as far as the driver tells.
  std::vector<std::string> kernels_of(const Launch& launch) const {
    const runtime::Stream stream;
    return runtime::recorded_kernels(stream, [&] { launch(0, stream.handle()); });
  }

  // Adds the kernel in Triton, epilogue included: the fastest of the configurations that are right.
  void add_triton() {
    if (!form_ || !environment_.triton) return;
    const auto request = triton_request(gemm_problem_, *form_, environment_.gpu.target().capability,
                                        environment_.gpu.device().sms);
    if (const auto* no = std::get_if<NotInTriton>(&request)) {
      result_.notes.push_back("no Triton baseline: " + no->reason);
      return;
    }
    Row row(Side::triton, "Triton");
    try {
      auto compiled = environment_.triton->compiled(std::get<TritonRequest>(request),
                                                    environment_.gpu.device().shared_per_block);
      std::vector<Launch> launches;
      for (const auto& kernel : compiled.kernels)
        launches.push_back(
            [this, kernel](int set, StreamHandle stream) { kernel->launch(*sets_, set, stream); });
      const auto order = fastest_first(launches);
      CheckResult check{false, "", {}};
      auto best = order.begin();
      for (; best != order.end() && !(check = checker_->check_triton(launches[*best])).right;
           ++best)
        compiled.failures.push_back(compiled.kernels[*best]->name() + ": " + check.text);
      std::string left_out;
      for (const std::string& failure : compiled.failures)
        left_out += (left_out.empty() ? "" : "; ") + failure;
      if (!left_out.empty()) result_.notes.push_back("Triton: left out " + left_out);
      if (best == order.end()) throw NotMeasured("no configuration compiles and is right");
      const TritonKernel& kernel = *compiled.kernels[*best];
      row.detail = kernel.name() + ", the best of " + std::to_string(order.size());
      row.check = check.text;
      row.registers = kernel.registers();
      row.local_bytes = kernel.local_bytes();
      add(std::move(row), launches[*best], std::move(check.result));
    } catch (const NotMeasured& error) {
      fail(std::move(row), error.what());
    }
  }

  // Adds the kernel in PyTorch, in each way that there is.
  void add_torch(const Protocol& protocol) {
    if (!environment_.torch) return;
    TorchFunction function;
    const auto row_of = [](const TorchWay& way) {
      const Side side = way.is_equal_gemm     ? Side::equal_gemm
                        : way.mode == "eager" ? Side::torch
                                              : Side::torch_compile;
      return Row(side, way.name);
    };
    try {
      function = torch_function(problem_);
      if (environment_.torch_autotune) add_autotuned(function.ways);
      environment_.torch->start(problem_, function, checker_->uniform(), protocol.sets,
                                protocol.launches);
    } catch (const NotInTorch& no) {
      result_.notes.push_back("no PyTorch baseline: " + no.reason);
      return;
    } catch (const NoStrides& none) {
      result_.notes.push_back("no PyTorch baseline: " + none.reason);
      return;
    } catch (const NotMeasured& error) {
      for (const TorchWay& way : function.ways) fail(row_of(way), error.what());
      return;
    }
    for (const TorchWay& way : function.ways) {
      Row row = row_of(way);
      for (const std::string& each : way.calls)
        row.detail += (row.detail.empty() ? "" : ", ") + each;
      try {
        Torch::Made made = environment_.torch->computed(way);
        if (!made.detail.empty()) row.detail += "; " + made.detail;
        const CheckResult check = checker_->check_outputs(made.outputs, 0x1p-9 + 4 * way.roundoff);
        row.right = check.right;
        row.check = check.text;
        add(std::move(row), made.launcher);
      } catch (const NotMeasured& error) {
        fail(std::move(row), error.what());
      }
    }
  }

  // Adds torch.compile's longest search to each way that compiles.
  static void add_autotuned(std::vector<TorchWay>& ways) {
    const std::vector<TorchWay> before = ways;
    for (TorchWay way : before) {
      if (way.mode == "eager") continue;
      way.name += " autotune";
      way.mode = "max-autotune-no-cudagraphs";
      ways.push_back(std::move(way));
    }
  }

  // Returns milliseconds a launch, from measurements that last `milliseconds`.
  std::vector<double> quick_times(const std::vector<Launch>& launches, double milliseconds) {
    std::vector<Candidate> candidates;
    for (const auto& launch : launches) candidates.push_back({"", launch});
    Protocol quick = environment_.protocol;
    quick.sets = result_.sets;
    quick.rounds = 3;
    quick.singles = 0;
    quick.most_warm_ups = 2;
    quick.milliseconds = std::min(quick.milliseconds, milliseconds);
    std::vector<double> times;
    for (const Timing& timing : measure(candidates, quick)) times.push_back(timing.median());
    return times;
  }

  // Returns the launches in the order of their times. Those near the fastest are timed once more,
  // as long as in a round: at the power limit a short measurement misleads.
  std::vector<std::size_t> fastest_first(const std::vector<Launch>& launches) {
    constexpr double brief = 10, near = 1.06;
    constexpr std::size_t most = 4;
    sets_->upload(checker_->uniform());
    const auto sorted = [](std::vector<std::size_t> which, const std::vector<double>& times) {
      std::stable_sort(which.begin(), which.end(),
                       [&](std::size_t i, std::size_t j) { return times[i] < times[j]; });
      return which;
    };
    std::vector<std::size_t> all(launches.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<double> times = quick_times(launches, brief);
    all = sorted(all, times);
    std::size_t close = 0;
    while (close < std::min(most, all.size()) && times[all[close]] <= near * times[all[0]]) ++close;
    if (close < 2) return all;
    std::vector<Launch> again;
    for (std::size_t i = 0; i < close; ++i) again.push_back(launches[all[i]]);
    const auto longer = quick_times(again, environment_.protocol.milliseconds);
    for (std::size_t i = 0; i < close; ++i) times[all[i]] = longer[i];
    std::vector<std::size_t> front(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(close));
    front = sorted(front, times);
    std::copy(front.begin(), front.end(), all.begin());
    return all;
  }

  template <class LaunchOf>
  std::size_t fastest(const std::vector<Algorithm>& algorithms, const LaunchOf& launch_of) {
    std::vector<Launch> launches;
    for (const Algorithm& algorithm : algorithms) launches.push_back(launch_of(algorithm));
    constexpr double brief = 10;
    sets_->upload(checker_->uniform());
    const auto times = quick_times(launches, brief);
    std::size_t best = 0;
    for (std::size_t i = 1; i < times.size(); ++i)
      if (times[i] < times[best] * 0.995) best = i;
    return best;
  }

  void add(Row row, Launch launch, HostData checked = {}) {
    checked_.push_back(std::move(checked));
    rows_.push_back(result_.rows.size());
    candidates_.push_back({row.name, std::move(launch)});
    result_.rows.push_back(std::move(row));
  }

  void add(Row row, std::shared_ptr<RemoteLauncher> remote) {
    add(std::move(row), Launch{});
    candidates_.back().remote = std::move(remote);
  }

  void fail(Row row, const std::string& why) {
    row.failure = why;
    result_.rows.push_back(std::move(row));
  }

  void time_all(const Protocol& protocol) {
    if (candidates_.empty()) return;
    auto timings = measure(candidates_, protocol, environment_.sensors);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Row& row = result_.rows[rows_[i]];
      if (const auto& remote = candidates_[i].remote; remote && !remote->failure().empty()) {
        row.failure = remote->failure();
        continue;
      }
      row.timing = std::move(timings[i]);
      if (checked_[i].empty() || !row.right) continue;
      const CheckResult again = checker_->check_repeat(candidates_[i].launch, checked_[i]);
      row.right = again.right;
      if (!again.right) row.check = again.text;
    }
  }

  const Environment& environment_;
  const Sources& sources_;
  const plan::Plan& plan_;
  const Problem& problem_;
  // With the kernel that form_ is of: the problem's, or that with its indices coalesced.
  Problem gemm_problem_;
  // With the stored product as one more tensor, if the epilogue is also run alone.
  Problem extended_;
  Result result_;
  std::optional<plan::GemmForm> form_;
  std::optional<Baseline> baseline_;
  std::optional<Epilogue> epilogue_;
  std::optional<plan::Plan> epilogue_plan_;
  std::unique_ptr<OperandSets> sets_;
  std::unique_ptr<Checker> checker_;
  runtime::DeviceMemory workspace_;
  std::vector<Candidate> candidates_;
  // The outputs for the uniform numbers, by candidate; empty if it is not checked again.
  std::vector<HostData> checked_;
  // The row of each candidate.
  std::vector<std::size_t> rows_;
};

}  // namespace

Result run_benchmark(const Environment& environment, const Sources& sources, const plan::Plan& plan,
                     const Problem& problem) {
  return Benchmark(environment, sources, plan, problem).run();
}

}  // namespace lay::bench
