#include "backend/plan/model/scalar.h"

#include <algorithm>
#include <set>
#include <utility>

#include "backend/plan/recognise.h"
#include "backend/plan/vectors.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::plan {
namespace {

constexpr int lanes = 32;

// Walks the expression of one output as its thread does.
class Counter {
 public:
  Counter(const sema::Kernel& kernel, const sema::Assignment& assignment, ScalarWork& work)
      : kernel_(kernel), work_(work) {
    for (const sema::IndexId index : assignment.indices) outputs_ *= extent(index);
    // Neighbouring threads have neighbouring values of the index that runs along memory.
    Facts facts;
    const int unit = unit_mode(facts, kernel.tensor(assignment.target).layout);
    if (!assignment.indices.empty())
      along_warp_ = assignment.indices[static_cast<std::size_t>(std::max(unit, 0))];
  }

  void count(sema::NodeId value) { visit(value, -1, outputs_); }

 private:
  Int extent(sema::IndexId index) const { return kernel_.index(index).extent; }

  // The indices that a sum depends on and its own, without those of sums inside it.
  std::set<sema::IndexId> loops_of(sema::NodeId sum) const {
    std::set<sema::IndexId> loops = indices_of(kernel_, sum);
    const auto below = reachable(kernel_, {sum});
    for (std::size_t id = 0; id < below.size(); ++id) {
      const auto* inner = std::get_if<sema::Contraction>(&kernel_.nodes[id].what);
      if (!inner || !below[id] || static_cast<sema::NodeId>(id) == sum) continue;
      for (const sema::IndexId index : inner->indices) loops.erase(index);
    }
    return loops;
  }

  // `times` is how often the scope of `sum`, the innermost sum around the node, runs.
  void visit(sema::NodeId id, sema::NodeId sum, const Int& times) {
    if (!seen_.insert({id, sum}).second) return;
    const sema::Node& node = kernel_.node(id);
    if (const auto* inner = std::get_if<sema::Contraction>(&node.what)) {
      Int steps = 1;
      for (const sema::IndexId index : inner->indices) steps *= extent(index);
      work_.flops += 2 * times * steps;
      Int once = 2;
      for (const sema::IndexId index : loops_of(id)) once *= extent(index);
      work_.least_flops += once;
      visit(inner->body, id, times * steps);
      return;
    }
    if (std::holds_alternative<sema::Load>(node.what)) {
      const Int bytes = times * kernel_.loaded(id).element_bytes();
      const bool varies = indices_of(kernel_, id).contains(along_warp_);
      work_.loaded_bytes += varies ? bytes : ceil_div(bytes, lanes);
    }
    for (const sema::NodeId operand : operands(node)) visit(operand, sum, times);
  }

  const sema::Kernel& kernel_;
  ScalarWork& work_;
  Int outputs_ = 1;
  sema::IndexId along_warp_ = -1;
  std::set<std::pair<sema::NodeId, sema::NodeId>> seen_;  // node, sum around it
};

}  // namespace

ScalarWork scalar_work(const sema::Kernel& kernel) {
  ScalarWork work;
  for (const sema::Assignment& assignment : kernel.assignments)
    Counter(kernel, assignment, work).count(assignment.value);
  return work;
}

std::optional<double> scalar_slowdown(const Plan& plan, const Target& target,
                                      std::int64_t size) try {
  const sema::Kernel& kernel = *plan.kernel;
  if (plan.variants.empty() || !std::holds_alternative<ScalarKernel>(plan.variants.front().how))
    return std::nullopt;
  const Binding sizes = sema::solve_sizes(kernel, {}, sema::sizes_by_dim(kernel, {{"", size}}));
  sema::check_guards(kernel, sizes);
  const auto value = [&](const Int& amount) -> double {
    const auto known = amount.evaluate(sizes);
    if (!known) throw refusal("undecided", "a size has no value");
    return static_cast<double>(*known);
  };

  const ScalarWork work = scalar_work(kernel);
  const Prediction& prediction = plan.variants.front().prediction;
  const auto rate = target.multiply_adds("thread", ElementType::f32);
  if (!rate) return std::nullopt;
  const double flops_a_second = 2 * *rate * target.sms * target.hertz;
  const double cache_rate = target.cache_rate * target.hertz;
  const double bytes = value(prediction.global_bytes);

  double outputs = 0;
  for (const sema::Assignment& assignment : kernel.assignments) {
    double elements = 1;
    for (const sema::IndexId index : assignment.indices)
      elements *= value(kernel.index(index).extent);
    outputs = std::max(outputs, elements);
  }
  const double resident = static_cast<double>(target.sms) * target.sm_threads;
  const double occupied = std::min(1.0, std::max(1.0, outputs) / resident);

  const double takes =
      std::max({value(work.flops) / flops_a_second / occupied,
                value(work.loaded_bytes) / cache_rate / occupied, bytes / target.memory_rate});
  const double allowed =
      std::max(value(work.least_flops) / flops_a_second, bytes / target.memory_rate);
  return allowed > 0 ? std::optional(takes / allowed) : std::nullopt;
} catch (const Refusal&) {
  return std::nullopt;
}

}  // namespace lay::plan
