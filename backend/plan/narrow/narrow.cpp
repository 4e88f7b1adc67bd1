#include "backend/plan/narrow/narrow.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "backend/plan/schedule/fitting.h"

namespace lay::plan {

namespace {

// What costs do not say: what is lost where another portfolio takes a problem, where operands are
// copied first, and where elements go one by one in place of vectors.
constexpr double loss_elsewhere = 1, loss_of_copies = 0.3, loss_of_elements = 0.1;
// Allocators align; views into a tensor need not be.
constexpr double weight_of_unaligned = 0.1;
constexpr double never = std::numeric_limits<double>::infinity();

// A variant that takes a problem, and the share of its time that this loses.
struct Choice {
  std::size_t variant;
  std::optional<double> ratio;  // of its cost to the least; none in another portfolio
  double loss;
};

// A problem: its choices in the launcher's order.
struct Task {
  std::vector<Choice> choices;
  double weight = 1;
  const Binding* sizes = nullptr;
};

// The choices for one problem. Pointers that are not aligned leave the variants without conditions
// on them.
Task task_of(const Plan& plan, const Binding& sizes, bool is_aligned) {
  Task task{{}, is_aligned ? 1 : weight_of_unaligned, &sizes};
  std::optional<Fitting> first;
  for (const Fitting& each : fitting(plan, sizes)) {
    if (!is_aligned && !each.variant->aligned.empty()) continue;
    if (!first) first = each;
    std::optional<double> ratio;
    if (each.portfolio == first->portfolio)
      ratio =
          first->cost > 0 ? static_cast<double>(each.cost) / static_cast<double>(first->cost) : 1;
    double loss = ratio ? *ratio - 1 : loss_elsewhere;
    if (!each.variant->before.empty() && first->variant->before.empty()) loss += loss_of_copies;
    if (each.variant->accesses == Width::elements && first->variant->accesses == Width::vectors)
      loss += loss_of_elements;
    task.choices.push_back(
        {static_cast<std::size_t>(each.variant - plan.variants.data()), ratio, loss});
  }
  return task;
}

class Narrower {
 public:
  Narrower(const Plan& plan, const Purpose& purpose)
      : plan_(plan), purpose_(purpose), kept_(plan.variants.size(), true) {
    for (const Binding& sizes : purpose.problems)
      for (const bool is_aligned : {true, false}) {
        Task task = task_of(plan, sizes, is_aligned);
        if (!task.choices.empty()) tasks_.push_back(std::move(task));
      }
  }

  // Drops one variant after the other, each time the one without which the problems lose least.
  // Another set of as many might lose less still: to exchange variants one for one afterwards gains
  // 0.6 % at most on the kernels of tests/bench/hopper.lay, mostly nothing.
  Narrowed run() {
    if (tasks_.empty()) return result();
    for (std::size_t left = library_variants(); left > 0; --left) {
      const auto losses = losses_without();
      // Of equal ones the last: a launch takes the first of equal costs.
      const auto least = std::min_element(losses.rbegin(), losses.rend());
      // For these problems alone what none of them takes goes even where there is room.
      const bool has_room = left <= purpose_.most;
      if (*least == never || (has_room && (purpose_.for_other_sizes || *least > 0))) break;
      kept_[static_cast<std::size_t>(losses.rend() - least) - 1] = false;
    }
    return result();
  }

 private:
  std::size_t library_variants() const {
    return static_cast<std::size_t>(
        std::count_if(plan_.variants.begin(), plan_.variants.end(),
                      [](const Variant& variant) { return variant.of_library; }));
  }

  // The first choice that is kept, from one on; the end where there is none.
  std::vector<Choice>::const_iterator taken(const Task& task,
                                            std::vector<Choice>::const_iterator from) const {
    return std::find_if(from, task.choices.end(),
                        [&](const Choice& choice) { return kept_[choice.variant]; });
  }

  // What dropping each variant loses in addition: its problems go to the next of their choices that
  // is kept. Without one it cannot be dropped.
  std::vector<double> losses_without() const {
    std::vector<double> losses(kept_.size(), 0);
    for (const Task& task : tasks_) {
      const auto first = taken(task, task.choices.begin());
      const auto second = taken(task, first + 1);
      const double loss =
          second == task.choices.end() ? never : task.weight * (second->loss - first->loss);
      losses[first->variant] += loss;
    }
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Variant& variant = plan_.variants[i];
      if (!kept_[i] || !variant.of_library || (purpose_.for_other_sizes && takes_all_alone(i)))
        losses[i] = never;
    }
    return losses;
  }

  // Returns true for the one variant left for all sizes and pointers.
  bool takes_all_alone(std::size_t at) const {
    const auto takes_all = [&](std::size_t i) {
      return kept_[i] && plan_.variants[i].when.empty() && plan_.variants[i].aligned.empty();
    };
    if (!takes_all(at)) return false;
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (i != at && takes_all(i)) return false;
    return true;
  }

  // What is lost is counted for aligned pointers, and by the costs alone: what else a choice loses
  // is an estimate.
  Narrowed result() const {
    Narrowed narrowed;
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (kept_[i]) narrowed.kept.push_back(i);
    double sum = 0;
    std::size_t counted = 0;
    for (const Task& task : tasks_) {
      if (task.weight < 1) continue;
      const Choice& choice = *taken(task, task.choices.begin());
      if (!choice.ratio) {
        ++narrowed.elsewhere;
        continue;
      }
      ++counted;
      sum += std::log(*choice.ratio);
      if (*choice.ratio <= narrowed.worst) continue;
      narrowed.worst = *choice.ratio;
      narrowed.worst_at = *task.sizes;
    }
    if (counted > 0) narrowed.mean = std::exp(sum / static_cast<double>(counted));
    return narrowed;
  }

  const Plan& plan_;
  const Purpose& purpose_;
  std::vector<bool> kept_;
  std::vector<Task> tasks_;
};

using KnownPlans = std::map<const Plan*, std::shared_ptr<const Plan>>;

// A plan before that several variants share is narrowed once, and stays shared: a build compiles it
// once.
Plan narrowed_with(const Plan& plan, const Purpose& purpose, KnownPlans& known) {
  Plan result{plan.kernel, {}, plan.problems, plan.notes};
  for (const std::size_t at : narrow(plan, purpose).kept) {
    Variant variant = plan.variants[at];
    for (std::shared_ptr<const Plan>& before : variant.before) {
      std::shared_ptr<const Plan>& made = known[before.get()];
      if (!made) made = std::make_shared<const Plan>(narrowed_with(*before, purpose, known));
      before = made;
    }
    result.variants.push_back(std::move(variant));
  }
  return result;
}

}  // namespace

Narrowed narrow(const Plan& plan, const Purpose& purpose) {
  return Narrower(plan, purpose).run();
}

Plan narrowed_plan(const Plan& plan, const Purpose& purpose) {
  KnownPlans known;
  return narrowed_with(plan, purpose, known);
}

}  // namespace lay::plan
