#include "runtime/bench/match.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "backend/plan/make.h"
#include "backend/plan/schedule/fitting.h"
#include "runtime/bench/check.h"
#include "runtime/bench/counterpart.h"
#include "runtime/bench/judge.h"
#include "runtime/bench/subject.h"
#include "runtime/bench/unfused.h"
#include "runtime/gpu/stream.h"

namespace lay::bench {
namespace {

using runtime::StreamHandle;
using Launch = std::function<void(int set, StreamHandle)>;

// A product by the library, on sets of operands.
struct LibrarySide {
  Matmul matmul;
  Algorithm algorithm;
  sema::TensorId a, b, c, d, bias;

  MatmulOperands operands(const DeviceSets& sets, int set) const {
    const auto at = [&](sema::TensorId tensor) {
      return tensor < 0 ? 0 : sets.region(set, tensor).address;
    };
    return {at(a), at(b), at(c < 0 ? d : c), at(d), at(bias)};
  }
};

class Match {
 public:
  Match(const Arena& arena, const Sources& sources, const plan::Plan& plan, const Problem& problem)
      : arena_(arena), sources_(sources), plan_(plan), problem_(problem), extended_(problem) {}

  Result run() {
    describe();
    recognise();
    if (arena_.once) return run_once();
    Protocol protocol = arena_.protocol;
    protocol.sets = result_.sets =
        sets_beyond_cache(problem_.bytes(), arena_.gpu.device().l2_bytes);
    sets_ = std::make_unique<DeviceSets>(extended_, protocol.sets);
    judge_ = std::make_unique<Judge>(arena_.gpu, sources_, plan_, problem_, *sets_);
    add_ours();
    add_opponents();
    add_triton();
    sets_->upload(judge_->uniform());
    time_all(protocol);
    return std::move(result_);
  }

 private:
  Result run_once() {
    sets_ = std::make_unique<DeviceSets>(extended_, result_.sets = 1);
    sets_->upload(uniform_numbers(problem_));
    add_ours();
    add_opponents();
    for (const Contestant& contestant : contestants_) {
      contestant.launch(0, nullptr);
      runtime::synchronize();
    }
    return std::move(result_);
  }

  void describe() {
    result_.kernel = problem_.kernel->name;
    result_.sizes = problem_.named_sizes();
    for (std::size_t i = 0; i < problem_.scalars.size(); ++i)
      result_.scalars.emplace_back(problem_.kernel->scalars[i].name,
                                   problem_.real(static_cast<sema::ScalarId>(i)));
    result_.bytes = static_cast<double>(problem_.bytes());
    if (!plan_.variants.empty())
      result_.operations = static_cast<double>(
          plan_.variants.front().prediction.flops.evaluate(problem_.sizes).value_or(0));
  }

  // Which product it is, and the kernel of its epilogue alone.
  void recognise() {
    const auto form = plan::recognise(*problem_.kernel, plan::facts_of(*problem_.kernel));
    if (const auto* no = std::get_if<plan::NotGemm>(&form)) {
      result_.notes.push_back("no product of matrices: " + no->reason);
      return;
    }
    form_ = std::get<plan::GemmForm>(form);
    auto counterpart = counterpart_of(problem_, *form_);
    if (const auto* no = std::get_if<NoCounterpart>(&counterpart)) {
      result_.notes.push_back("timed alone: cuBLASLt has no counterpart, for " + no->reason);
      return;
    }
    counterpart_ = std::get<Counterpart>(counterpart);
    result_.form = counterpart_->words;
    const ElementType factors = counterpart_->matmul.a.element;
    if (is_float(factors) && bits(factors) == 8) say_how_it_adds();
    if (!arena_.library) return;
    const auto epilogue = epilogue_of(problem_, *form_);
    if (const auto* found = std::get_if<Epilogue>(&epilogue)) {
      epilogue_ = *found;
      result_.form += epilogue_words(*found);
    } else {
      result_.notes.push_back("no epilogue of cuBLASLt's: " +
                              std::get<NoEpilogue>(epilogue).reason);
    }
    const bool has_work = !epilogue_ || epilogue_->bias >= 0 || epilogue_->activation != "none";
    if (!has_work) return;
    const bool integers = counterpart_->matmul.accumulator == ElementType::s32;
    const ElementType stored = integers ? ElementType::s32 : counterpart_->matmul.d.element;
    epilogue_plan_ = plan::make_plan(epilogue_kernel(*problem_.kernel, *form_, stored));
    if (epilogue_plan_->problems.empty())
      extended_ = with_kernel(problem_, epilogue_plan_->kernel);
    else
      epilogue_plan_.reset();
  }

  // Sums of 8-bit floats: the library's are made as those of the variant that fits first.
  void say_how_it_adds() {
    const auto fitting = plan::fitting_variants(plan_, problem_.sizes);
    const int accumulate = fitting.empty() ? 0 : accumulate_of(*fitting.front());
    counterpart_->matmul.fast = accumulate == 0;
    result_.notes.push_back(
        accumulate == 0 ? "fast accumulation: tensor cores add up all of K"
                        : "promoted accumulation: the sum of every " + std::to_string(accumulate) +
                              " of K goes on in f32; cuBLASLt without fast accumulation");
  }

  static std::string epilogue_words(const Epilogue& epilogue) {
    std::string words;
    if (epilogue.beta != 0) words += " + beta C";
    if (epilogue.bias >= 0) words += " + bias";
    if (epilogue.activation != "none") words += ", " + std::string(epilogue.activation);
    return words;
  }

  void add_ours() {
    auto fitting = plan::fitting_variants(plan_, problem_.sizes);
    if (!arena_.variants.empty()) {
      std::erase_if(fitting, [&](const plan::Variant* variant) {
        return std::find(arena_.variants.begin(), arena_.variants.end(), variant->name) ==
               arena_.variants.end();
      });
      if (fitting.empty())
        result_.notes.push_back("none of the variants asked for fits these sizes");
    } else if (!arena_.all_variants && fitting.size() > 1) {
      fitting.resize(1);
    }
    for (const plan::Variant* variant : fitting) {
      Row row{Side::ours, "lay " + variant->name, {}, {}, {}, {}, true, 0, 0, 0};
      try {
        auto subject = std::make_shared<Subject>(arena_.gpu, sources_, problem_, plan_, *variant);
        row.registers = subject->compiled().loaded.registers();
        row.local_bytes = subject->compiled().loaded.local_bytes();
        row.compile_seconds = subject->compile_seconds();
        const auto launch = [this, subject](int set, StreamHandle stream) {
          subject->launch(*sets_, set, stream);
        };
        Verdict verdict = judge_ ? judge_->of_ours(launch, accumulate_of(*variant)) : Verdict{};
        row.right = verdict.right;
        row.verdict = verdict.text;
        add(std::move(row), launch, std::move(verdict.result));
      } catch (const NotMeasured& error) {
        row.right = false;
        fail(std::move(row), error.what());
      }
    }
  }

  void add_opponents() {
    if (!form_) add_copy();
    if (!counterpart_ || !arena_.library) return;
    workspace_ = runtime::DeviceMemory(Matmul::workspace_bytes);
    if (epilogue_) add_fused();
    if (epilogue_plan_) add_unfused();
  }

  // What only moves elements is measured by how fast the device moves them anyway.
  void add_copy() {
    if (result_.operations > 0 || problem_.kernel->assignments.size() != 1) return;
    const sema::TensorId to = problem_.kernel->assignments[0].target;
    const auto bytes = [&](sema::TensorId id) {
      return problem_.tensors[static_cast<std::size_t>(id)].bytes();
    };
    for (sema::TensorId from = 0; from < static_cast<sema::TensorId>(problem_.tensors.size());
         ++from) {
      if (from == to || bytes(from) != bytes(to)) continue;
      Row row;
      row.side = Side::copy;
      row.name = "copy of " + problem_.tensors[static_cast<std::size_t>(from)].name;
      add(std::move(row),
          [this, from, to](int set, StreamHandle stream) { sets_->copy(set, from, to, stream); });
      return;
    }
  }

  void add_fused() {
    auto description = with_epilogue(problem_, *counterpart_, *epilogue_);
    if (const auto* no = std::get_if<NoCounterpart>(&description)) {
      result_.notes.push_back("not fused by cuBLASLt: " + no->reason);
      return;
    }
    auto& matmul = std::get<MatmulDescription>(description);
    if (matmul.bias) matmul.bias_address = sets_->region(0, epilogue_->bias).address;
    add_library(Side::library, "cuBLASLt", matmul, epilogue_->c, counterpart_->output,
                epilogue_->bias, nullptr);
  }

  void add_unfused() {
    MatmulDescription matmul = counterpart_->matmul;
    const auto product = static_cast<sema::TensorId>(extended_.tensors.size() - 1);
    matmul.d.element = extended_.tensors.back().element;
    if (bits(matmul.d.element) > 8) matmul.c.element = matmul.d.element;
    std::shared_ptr<Subject> epilogue;
    try {
      const auto fitting = plan::fitting_variants(*epilogue_plan_, extended_.sizes);
      epilogue = std::make_shared<Subject>(arena_.gpu, sources_, extended_, *epilogue_plan_,
                                           *fitting.at(0));
    } catch (const NotMeasured& error) {
      fail({Side::library_and_epilogue, "cuBLASLt, epilogue", {}, {}, {}, {}, true, 0, 0, 0},
           error.what());
      return;
    }
    add_library(Side::library_and_epilogue, "cuBLASLt, epilogue", matmul, -1, product, -1,
                epilogue);
  }

  // The library's first choice and, where another of its algorithms is faster, that.
  void add_library(Side side, const std::string& name, const MatmulDescription& what,
                   sema::TensorId c, sema::TensorId d, sema::TensorId bias,
                   const std::shared_ptr<Subject>& then) {
    Row row{side, name, {}, {}, {}, {}, true, 0, 0, 0};
    try {
      auto library = std::make_shared<LibrarySide>(LibrarySide{
          Matmul(*arena_.library, what), {}, counterpart_->left, counterpart_->right, c, d, bias});
      const auto algorithms = library->matmul.algorithms(arena_.algorithms);
      const auto launch_of = [&](const Algorithm& algorithm) {
        return [this, library, algorithm, then](int set, StreamHandle stream) {
          library->matmul.launch(stream, library->operands(*sets_, set), algorithm,
                                 workspace_.address());
          if (then) then->launch(*sets_, set, stream);
        };
      };
      if (arena_.once) {
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
        const Verdict verdict =
            judge_->of_opponent(launch_of(algorithms[which]), side != Side::library);
        each.right = verdict.right;
        each.verdict = verdict.right ? "" : verdict.text;
        add(std::move(each), launch_of(algorithms[which]));
      }
    } catch (const std::runtime_error& error) {
      fail(std::move(row), error.what());
    }
  }

  // The kernels that a launch consists of, as far as the driver tells.
  std::vector<std::string> kernels_of(const Launch& launch) const {
    const runtime::Stream stream;
    return runtime::recorded_kernels(stream, [&] { launch(0, stream.handle()); });
  }

  // The kernel and its epilogue in Triton: of the configurations that are right the fastest.
  void add_triton() {
    if (!form_ || !arena_.triton) return;
    const auto request =
        triton_request(problem_, *form_, arena_.gpu.target().capability, arena_.gpu.device().sms);
    if (const auto* no = std::get_if<NotStated>(&request)) {
      result_.notes.push_back("not stated in Triton: " + no->reason);
      return;
    }
    Row row{Side::triton, "Triton", {}, {}, {}, {}, true, 0, 0, 0};
    try {
      auto compiled = arena_.triton->compiled(std::get<TritonRequest>(request),
                                              arena_.gpu.device().shared_per_block);
      std::vector<Launch> launches;
      for (const auto& kernel : compiled.kernels)
        launches.push_back(
            [this, kernel](int set, StreamHandle stream) { kernel->launch(*sets_, set, stream); });
      const auto order = fastest_first(launches);
      Verdict verdict{false, "", {}};
      auto best = order.begin();
      for (; best != order.end() && !(verdict = judge_->of_stated(launches[*best])).right; ++best)
        compiled.failures.push_back(compiled.kernels[*best]->name() + ": " + verdict.text);
      std::string left_out;
      for (const std::string& failure : compiled.failures)
        left_out += (left_out.empty() ? "" : "; ") + failure;
      if (!left_out.empty()) result_.notes.push_back("Triton: left out " + left_out);
      if (best == order.end()) throw NotMeasured("no configuration compiles and is right");
      const TritonKernel& kernel = *compiled.kernels[*best];
      row.detail = kernel.name() + ", the best of " + std::to_string(order.size());
      row.verdict = verdict.text;
      row.registers = kernel.registers();
      row.local_bytes = kernel.local_bytes();
      add(std::move(row), launches[*best], std::move(verdict.result));
    } catch (const NotMeasured& error) {
      fail(std::move(row), error.what());
    }
  }

  // Milliseconds a launch, by measurements of so many milliseconds.
  std::vector<double> quick_times(const std::vector<Launch>& launches, double milliseconds) {
    std::vector<Contestant> contestants;
    for (const auto& launch : launches) contestants.push_back({"", launch});
    Protocol quick = arena_.protocol;
    quick.sets = result_.sets;
    quick.rounds = 3;
    quick.singles = 0;
    quick.most_warm_ups = 2;
    quick.milliseconds = std::min(quick.milliseconds, milliseconds);
    std::vector<double> times;
    for (const Timing& timing : measure(contestants, quick)) times.push_back(timing.median());
    return times;
  }

  // The order of launches by their times: those near the fastest are measured once more, as long as
  // in a round, for at the limit of power short measurements mislead.
  std::vector<std::size_t> fastest_first(const std::vector<Launch>& launches) {
    constexpr double brief = 10, near = 1.06;
    constexpr std::size_t most = 4;
    sets_->upload(judge_->uniform());
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
    const auto longer = quick_times(again, arena_.protocol.milliseconds);
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
    sets_->upload(judge_->uniform());
    const auto times = quick_times(launches, brief);
    std::size_t best = 0;
    for (std::size_t i = 1; i < times.size(); ++i)
      if (times[i] < times[best] * 0.995) best = i;
    return best;
  }

  void add(Row row, Launch launch, HostData judged = {}) {
    judged_.push_back(std::move(judged));
    rows_.push_back(result_.rows.size());
    contestants_.push_back({row.name, std::move(launch)});
    result_.rows.push_back(std::move(row));
  }

  void fail(Row row, const std::string& why) {
    row.failure = why;
    result_.rows.push_back(std::move(row));
  }

  void time_all(const Protocol& protocol) {
    if (contestants_.empty()) return;
    auto timings = measure(contestants_, protocol, arena_.sensors);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Row& row = result_.rows[rows_[i]];
      row.timing = std::move(timings[i]);
      if (judged_[i].empty() || !row.right) continue;
      const Verdict again = judge_->same_again(contestants_[i].launch, judged_[i]);
      row.right = again.right;
      if (!again.right) row.verdict = again.text;
    }
  }

  const Arena& arena_;
  const Sources& sources_;
  const plan::Plan& plan_;
  const Problem& problem_;
  Problem extended_;  // with the product, where the epilogue is also run alone
  Result result_;
  std::optional<plan::GemmForm> form_;
  std::optional<Counterpart> counterpart_;
  std::optional<Epilogue> epilogue_;
  std::optional<plan::Plan> epilogue_plan_;
  std::unique_ptr<DeviceSets> sets_;
  std::unique_ptr<Judge> judge_;
  runtime::DeviceMemory workspace_;
  std::vector<Contestant> contestants_;
  std::vector<HostData>
      judged_;  // what it gave for the uniform numbers, by contestant; empty: not asked again
  std::vector<std::size_t> rows_;  // of the contestants
};

}  // namespace

Result run_match(const Arena& arena, const Sources& sources, const plan::Plan& plan,
                 const Problem& problem) {
  return Match(arena, sources, plan, problem).run();
}

}  // namespace lay::bench
