#include "backend/plan/model/scalar.h"

#include <algorithm>
#include <set>
#include <utility>

#include "backend/plan/recognise.h"
#include "backend/plan/scales/multiplicands.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::plan {
namespace {

constexpr int lanes = 32;

// Walks the expression of one output as its thread does.
class Counter {
 public:
  Counter(const sema::Kernel& kernel, const sema::Assignment& assignment, ScalarWork& work)
      : kernel_(kernel), work_(work), free_(sema::free_indices(kernel)) {
    for (const sema::IndexId index : assignment.indices) outputs_ *= extent(index);
    // Neighbouring threads have neighbouring values of the index that runs along memory.
    Facts facts;
    const int unit = tile::unit_mode(facts, kernel.tensor(assignment.target).layout);
    if (!assignment.indices.empty())
      along_warp_ = assignment.indices[static_cast<std::size_t>(std::max(unit, 0))];
  }

  void count(sema::NodeId value) {
    around_ = {{-1, outputs_}};
    visit(value);
  }

 private:
  Int extent(sema::IndexId index) const { return kernel_.index(index).extent; }

  // A reduction around a node, -1 outside of all, and how often its body runs.
  struct Around {
    sema::NodeId reduction;
    Int times;
  };

  // Returns the number of reductions around the node that run it again and again: a node that does
  // not depend on the innermost one is computed before it.
  // sum[j](A[i,j] * sum[k](B[k])): the inner sum depends on no j, so the thread computes it once,
  // before the loop over j, as the lowering does.
  std::size_t depth_of(sema::NodeId reduction) const {
    const std::set<sema::IndexId>& free = free_[static_cast<std::size_t>(reduction)];
    std::size_t depth = around_.size();
    for (; depth > 1; --depth) {
      const auto& outer = std::get<sema::Reduce>(kernel_.node(around_[depth - 1].reduction).what);
      if (std::any_of(outer.indices.begin(), outer.indices.end(),
                      [&](sema::IndexId index) { return free.contains(index); }))
        break;
    }
    return depth;
  }

  // The type of two elements whose products the sum adds up.
  std::optional<ElementType> type_of_products(sema::NodeId id) const {
    const sema::Reduce* sum = accumulated_sum(kernel_, id);
    if (!sum) return std::nullopt;
    std::set<ElementType> types;
    for (const sema::NodeId value : multiplicands(kernel_, sum->body)) {
      const auto load = load_under_casts(kernel_, value);
      if (load && !types.insert(kernel_.loaded(*load).element).second)
        return kernel_.loaded(*load).element;
    }
    return std::nullopt;
  }

  void visit_reduction(sema::NodeId id, const sema::Reduce& reduction) {
    const std::vector<Around> before = around_;
    around_.resize(depth_of(id), before.front());
    const Int times = around_.back().times;
    // A shared node is computed once in each place where it is.
    if (!seen_.insert({id, around_.back().reduction}).second) {
      around_ = before;
      return;
    }
    Int steps = 1;
    for (const sema::IndexId index : reduction.indices) steps *= extent(index);
    work_.flops += 2 * times * steps;
    // The least: each value of the sum once, for every value of the indices that it depends on,
    // whichever threads need it.
    Int once = 2;
    std::set<sema::IndexId> loops = free_[static_cast<std::size_t>(id)];
    loops.insert(reduction.indices.begin(), reduction.indices.end());
    for (const sema::IndexId index : loops) once *= extent(index);
    work_.least_flops += once;
    if (const auto type = type_of_products(id)) work_.product_flops[*type] += once;
    around_.push_back({id, times * steps});
    visit(reduction.body);
    around_ = before;
  }

  void visit(sema::NodeId id) {
    const sema::Node& node = kernel_.nodes[static_cast<std::size_t>(id)];
    if (const auto* inner = std::get_if<sema::Reduce>(&node.what))
      return visit_reduction(id, *inner);
    if (!seen_.insert({id, around_.back().reduction}).second) return;
    const Int times = around_.back().times;
    if (std::holds_alternative<sema::Load>(node.what)) {
      const Int bytes = times * kernel_.loaded(id).element_bytes();
      const bool varies = indices_of(kernel_, id).contains(along_warp_);
      // Lanes that read one element ask for it once.
      work_.loaded_bytes += varies ? bytes : ceil_div(bytes, lanes);
    }
    for (const sema::NodeId operand : operands(node)) visit(operand);
  }

  const sema::Kernel& kernel_;
  ScalarWork& work_;
  Int outputs_ = 1;
  sema::IndexId along_warp_ = -1;
  std::vector<std::set<sema::IndexId>> free_;             // indices of each node
  std::vector<Around> around_;                            // innermost last
  std::set<std::pair<sema::NodeId, sema::NodeId>> seen_;  // node, reduction around it
};

// The most multiply-adds of the type that an SM does in a clock; nothing where only threads
// multiply.
std::optional<double> tensor_core_rate(const Target& target, ElementType type) {
  std::optional<double> most;
  for (const Rate& rate : target.rates)
    if (rate.kind != "thread" && rate.type == type)
      most = std::max(most.value_or(0), rate.multiply_adds);
  return most;
}

}  // namespace

ScalarWork scalar_work(const sema::Kernel& kernel) {
  ScalarWork work;
  for (const sema::Assignment& assignment : kernel.assignments)
    Counter(kernel, assignment, work).count(assignment.value);
  return work;
}

namespace {

bool runs_one_thread_an_element(const Plan& plan) {
  return !plan.variants.empty() && runs_each_element(plan.variants.front());
}

// Of a kernel that does this work by one thread an element.
std::optional<double> slowdown_of(const ScalarWork& work, const Plan& plan, const Target& target,
                                  const std::map<std::string, std::int64_t>& given) try {
  const sema::Kernel& kernel = *plan.kernel;
  const Binding sizes = sema::solve_sizes(kernel, {}, sema::sizes_by_dim(kernel, given));
  sema::check_guards(kernel, sizes);
  const auto value = [&](const Int& amount) -> double {
    const auto known = amount.evaluate(sizes);
    if (!known) throw refusal("undecided", "a size has no value");
    return static_cast<double>(*known);
  };

  const Prediction& prediction = plan.variants.front().prediction;
  const auto rate = target.multiply_adds("thread", ElementType::f32);
  if (!rate) return std::nullopt;
  const double sm_clocks = target.sms * target.hertz;  // in a second, of all SMs
  const double flops_a_second = 2 * *rate * sm_clocks;
  const double cache_rate = target.cache_rate * target.hertz;
  const double bytes = value(prediction.global_bytes);

  double outputs = 0;
  for (const sema::Assignment& assignment : kernel.assignments) {
    double elements = 1;
    for (const sema::IndexId index : assignment.indices)
      elements *= value(kernel.index(index).extent);
    outputs = std::max(outputs, elements);
  }
  // Threads that the machine runs at once.
  const double resident = static_cast<double>(target.sms) * target.sm_threads;
  // Few outputs are few threads: a sum of everything runs on one.
  const double occupied = std::min(1.0, std::max(1.0, outputs) / resident);

  const double takes = target.launch + std::max({value(work.flops) / flops_a_second / occupied,
                                                 value(work.loaded_bytes) / cache_rate / occupied,
                                                 bytes / target.memory_rate});
  // On threads and on tensor cores, one beside the other.
  double on_threads = value(work.least_flops), on_tensor_cores = 0;
  for (const auto& [type, flops] : work.product_flops) {
    const auto products = tensor_core_rate(target, type);
    if (!products) continue;
    on_threads -= value(flops);
    on_tensor_cores += value(flops) / (2 * *products * sm_clocks);
  }
  const double allowed = target.launch + std::max({on_threads / flops_a_second, on_tensor_cores,
                                                   bytes / target.memory_rate});
  return takes / allowed;
} catch (const Refusal&) {
  return std::nullopt;
}

}  // namespace

std::optional<double> scalar_slowdown(const Plan& plan, const Target& target,
                                      const std::map<std::string, std::int64_t>& sizes) {
  if (!runs_one_thread_an_element(plan)) return std::nullopt;
  return slowdown_of(scalar_work(*plan.kernel), plan, target, sizes);
}

std::optional<Slowdown> worst_scalar_slowdown(const Plan& plan, const Target& target) {
  if (!runs_one_thread_an_element(plan)) return std::nullopt;
  const ScalarWork work = scalar_work(*plan.kernel);
  constexpr std::int64_t few = 16;
  std::vector<Slowdown> asked;
  for (const std::int64_t size : {4096, 1024, 64}) asked.push_back({1, size, std::nullopt});
  for (const sema::Dim& dim : plan.kernel->dims) asked.push_back({1, 4096, {{dim.name, few}}});
  std::optional<Slowdown> worst;
  for (Slowdown& at : asked) {
    std::map<std::string, std::int64_t> sizes = {{"", at.size}};
    if (at.small) sizes.insert(*at.small);
    const auto factor = slowdown_of(work, plan, target, sizes);
    if (!factor || (worst && *factor <= worst->factor)) continue;
    at.factor = *factor;
    worst = at;
  }
  return worst;
}

}  // namespace lay::plan
