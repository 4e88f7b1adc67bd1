#include "runtime/bench/calibrate/cost_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "runtime/bench/protocol.h"

namespace lay::bench {
namespace {

// Hundredths of a clock.
std::int64_t cost_of(const CostedSchedule& schedule, const sema::Coefficients& coefficients) {
  Binding numbers;
  for (const auto& [dim, which] : schedule.dims) numbers[dim] = coefficients[which].numbers.front();
  return schedule.cost.evaluate(numbers).value_or(std::numeric_limits<std::int64_t>::max());
}

double log_cost(const CostedSchedule& schedule, const sema::Coefficients& coefficients) {
  return std::log(static_cast<double>(std::max<std::int64_t>(1, cost_of(schedule, coefficients))));
}

// A schedule as the fit sees it.
struct Term {
  const CostedSchedule* schedule = nullptr;
  std::size_t problem = 0;
  double weight = 0;
  double log_seconds = 0, log_cost = 0;

  double residual() const { return log_seconds - log_cost; }
};

constexpr double huber = 0.2, share_of_middles = 0.03;
// About how far coefficients of two GPUs are apart, and times from their costs before a fit: in
// logarithms.
constexpr double spread_of_coefficients = 0.3, spread_of_times = 0.08;

// Solves a x = b for a symmetric matrix that is positive definite, by Cholesky's factors.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    a[j][j] = std::sqrt(std::max(a[j][j], 1e-12));
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

// What the fit makes small: the weighted mean of Huber's function of the residuals log(time / cost)
// about the middle of their problem, a part of the squares of these middles about the middle of
// all, and a ridge.
//
//   weight   A choice hangs on the fast schedules: a time counts by the fourth power of what the
//            fastest of its problem takes of it.
//   middles  A choice is among schedules of one problem. All of them are slower where the GPU
//            lowers its clock, and no coefficient should answer for that.
//   Huber    Residuals beyond 0.2 count linearly: a schedule whose time no term of the cost
//            explains moves nothing much.
//   ridge    Coefficients are near their defaults, by 35 % or so, as times are near their costs, by
//            8 % or as a first fit finds. So the ridge weighs as much as a time or less, and of
//            many times little is left of it.
class Objective {
 public:
  Objective(const std::vector<CostedProblem>& problems, const sema::Coefficients& from)
      : from_(from), depends_(from.size()), current_(from), problems_(problems.size()) {
    for (std::size_t at = 0; at < problems.size(); ++at) {
      const CostedProblem& problem = problems[at];
      problems_[at].on_cuda_cores = problem.on_cuda_cores;
      double fastest = std::numeric_limits<double>::infinity();
      for (const CostedSchedule& each : problem.schedules)
        fastest = std::min(fastest, each.seconds);
      for (const CostedSchedule& each : problem.schedules) {
        const double weight = std::pow(fastest / each.seconds, 4);
        problems_[at].weight += weight;
        for (const auto& [dim, which] : each.dims) depends_[which].push_back(terms_.size());
        terms_.push_back({&each, at, weight, std::log(each.seconds), log_cost(each, from)});
      }
    }
    value_ = value_of(current_);
  }

  const sema::Coefficients& current() const { return current_; }
  bool depends_on(std::size_t which) const { return !depends_[which].empty(); }
  std::int64_t number(std::size_t which) const { return current_[which].numbers.front(); }

  // Changes coefficients, and keeps the change where the objective gets smaller.
  bool improves(const std::vector<std::pair<std::size_t, std::int64_t>>& changes) {
    sema::Coefficients changed = current_;
    std::vector<std::pair<std::size_t, double>> before;
    for (const auto& [which, number] : changes) changed[which].numbers.front() = number;
    for (const auto& [which, number] : changes)
      for (const std::size_t term : depends_[which]) {
        before.emplace_back(term, terms_[term].log_cost);
        terms_[term].log_cost = log_cost(*terms_[term].schedule, changed);
      }
    const double value = value_of(changed);
    if (value < value_ - 1e-12) {
      value_ = value;
      current_ = std::move(changed);
      return true;
    }
    // From the last on, for a term may have been changed twice.
    for (; !before.empty(); before.pop_back())
      terms_[before.back().first].log_cost = before.back().second;
    return false;
  }

  // Weighs the ridge by how far times are from their costs now.
  void reweigh() {
    double squares = 0, weights = 0;
    value_of(current_);  // the middles of now
    for (const Term& term : terms_) {
      const double residual =
          std::min(huber, std::abs(term.residual() - problems_[term.problem].middle));
      squares += term.weight * residual * residual;
      weights += term.weight;
    }
    const double spread = std::clamp(std::sqrt(squares / std::max(weights, 1e-9)), 0.01, 0.15);
    ridge_ = spread * spread / (spread_of_coefficients * spread_of_coefficients);
    value_ = value_of(current_);
  }

  // Returns by how much the logarithms of coefficients should change, were costs as they are to the
  // first order (Gauss and Newton). `which` have derivatives: differences over a step up and down
  // that is wide enough for whole numbers.
  std::vector<double> direction(const std::vector<std::size_t>& which) {
    const std::size_t n = which.size();
    std::vector<std::vector<double>> slopes(terms_.size(), std::vector<double>(n, 0));
    for (std::size_t j = 0; j < n; ++j) {
      sema::Coefficients up = current_, down = current_;
      const auto number = static_cast<double>(this->number(which[j]));
      up[which[j]].numbers.front() = std::llround(std::max(number * 1.05, number + 1));
      down[which[j]].numbers.front() =
          std::max<std::int64_t>(1, std::llround(std::min(number / 1.05, number - 1)));
      const double apart = std::log(static_cast<double>(up[which[j]].numbers.front()) /
                                    static_cast<double>(down[which[j]].numbers.front()));
      for (const std::size_t term : depends_[which[j]])
        slopes[term][j] =
            (log_cost(*terms_[term].schedule, up) - log_cost(*terms_[term].schedule, down)) / apart;
    }
    std::vector<std::vector<double>> means(problems_.size(), std::vector<double>(n, 0));
    for (std::size_t at = 0; at < terms_.size(); ++at) {
      const Term& term = terms_[at];
      for (std::size_t j = 0; j < n; ++j)
        means[term.problem][j] += term.weight / problems_[term.problem].weight * slopes[at][j];
    }
    std::vector<std::vector<double>> squares(n, std::vector<double>(n, 0));
    std::vector<double> right(n, 0);
    const auto add = [&](double weight, double residual, const auto& slope) {
      for (std::size_t i = 0; i < n; ++i) {
        right[i] += weight * residual * slope(i);
        for (std::size_t j = 0; j < n; ++j) squares[i][j] += weight * slope(i) * slope(j);
      }
    };
    value_of(current_);  // the middles of now
    for (std::size_t at = 0; at < terms_.size(); ++at) {
      const Term& term = terms_[at];
      const double residual = term.residual() - problems_[term.problem].middle;
      const double robust = std::min(1.0, huber / std::max(std::abs(residual), 1e-9));
      add(robust * term.weight, residual,
          [&](std::size_t j) { return slopes[at][j] - means[term.problem][j]; });
    }
    std::array<std::vector<double>, 2> of_all{std::vector<double>(n, 0), std::vector<double>(n, 0)};
    std::array<double, 2> weights{};
    for (std::size_t at = 0; at < problems_.size(); ++at) weights[core(at)] += problems_[at].weight;
    for (std::size_t at = 0; at < problems_.size(); ++at)
      for (std::size_t j = 0; j < n; ++j)
        of_all[core(at)][j] += problems_[at].weight / weights[core(at)] * means[at][j];
    const std::array<double, 2> middles{middle_of(false), middle_of(true)};
    for (std::size_t at = 0; at < problems_.size(); ++at)
      add(share_of_middles * problems_[at].weight, problems_[at].middle - middles[core(at)],
          [&](std::size_t j) { return means[at][j] - of_all[core(at)][j]; });
    for (std::size_t i = 0; i < n; ++i) {
      squares[i][i] += ridge_;
      right[i] -= ridge_ * std::log(static_cast<double>(number(which[i])) /
                                    static_cast<double>(from_[which[i]].numbers.front()));
    }
    return solved(std::move(squares), std::move(right));
  }

 private:
  std::size_t core(std::size_t problem) const { return problems_[problem].on_cuda_cores ? 1 : 0; }

  // The problems of one kind of core.
  struct Group {
    bool on_cuda_cores = false;
    double weight = 0;  // of its times
    double middle = 0;  // of its residuals
  };

  // The middle of the middles: where half of the weight is less.
  double middle_of(bool on_cuda_cores) {
    sorted_.clear();
    double all = 0;
    for (const Group& group : problems_) {
      if (group.on_cuda_cores != on_cuda_cores || group.weight == 0) continue;
      sorted_.emplace_back(group.middle, group.weight);
      all += group.weight;
    }
    std::sort(sorted_.begin(), sorted_.end());
    double less = 0;
    for (const auto& [middle, weight] : sorted_)
      if ((less += weight) >= all / 2) return middle;
    return 0;
  }

  double value_of(const sema::Coefficients& coefficients) {
    for (Group& group : problems_) group.middle = 0;
    for (const Term& term : terms_) {
      Group& group = problems_[term.problem];
      group.middle += term.weight / group.weight * term.residual();
    }
    double sum = 0, weights = 0;
    for (const Term& term : terms_) {
      const double residual = std::abs(term.residual() - problems_[term.problem].middle);
      sum +=
          term.weight * (residual < huber ? residual * residual : huber * (2 * residual - huber));
      weights += term.weight;
    }
    const std::array<double, 2> middles{middle_of(false), middle_of(true)};
    for (const Group& group : problems_) {
      const double apart = group.middle - middles[group.on_cuda_cores ? 1 : 0];
      sum += share_of_middles * group.weight * apart * apart;
    }
    double moves = 0;
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      if (coefficients[i] == from_[i]) continue;
      const double moved = std::log(static_cast<double>(coefficients[i].numbers.front()) /
                                    static_cast<double>(from_[i].numbers.front()));
      moves += moved * moved;
    }
    return terms_.empty() ? 0 : (sum + ridge_ * moves) / weights;
  }

  const sema::Coefficients& from_;
  std::vector<Term> terms_;
  std::vector<std::vector<std::size_t>> depends_;  // of each coefficient, the terms
  sema::Coefficients current_;
  double value_ = 0;
  // Of a coefficient, in weights of times.
  double ridge_ =
      spread_of_times * spread_of_times / (spread_of_coefficients * spread_of_coefficients);
  std::vector<Group> problems_;
  std::vector<std::pair<double, double>> sorted_;
};

struct Range {
  std::int64_t least, most;
  std::int64_t clamped(double number) const {
    return std::clamp(static_cast<std::int64_t>(std::llround(number)), least, most);
  }
};

double shared_below(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}

}  // namespace

// Steps of Gauss and Newton, as far as they help, and between them each coefficient a step up or
// down by itself: costs are whole numbers of quotients and conditions, whose derivatives tell the
// way along which coefficients belong together, and not where it ends.
CostFit fit_costs(const std::vector<CostedProblem>& problems, const sema::Coefficients& from) {
  constexpr double most_factor = 3;
  constexpr int most_sweeps = 12;
  Objective objective(problems, from);
  CostFit fit;
  std::vector<Range> ranges;
  std::vector<std::size_t> fitted;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto number = static_cast<double>(from[i].numbers.front());
    fit.fitted.push_back(!from[i].is_tuple && number > 0 && objective.depends_on(i));
    if (fit.fitted.back()) fitted.push_back(i);
    ranges.push_back({std::max<std::int64_t>(1, std::llround(number / most_factor)),
                      std::llround(number * most_factor)});
  }
  // Returns whether a part of the step helps.
  const auto follow = [&](const std::vector<double>& direction) {
    for (const double part : {1.0, 0.5, 0.25, 0.1}) {
      std::vector<std::pair<std::size_t, std::int64_t>> step;
      for (std::size_t at = 0; at < fitted.size(); ++at) {
        const std::size_t i = fitted[at];
        const auto now = static_cast<double>(objective.number(i));
        if (const std::int64_t next = ranges[i].clamped(now * std::exp(part * direction[at]));
            next != objective.number(i))
          step.emplace_back(i, next);
      }
      if (!step.empty() && objective.improves(step)) return true;
    }
    return false;
  };
  for (const double step : {1.1, 1.04, 1.015}) {
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      bool moved = follow(objective.direction(fitted));
      for (const std::size_t i : fitted) {
        const std::int64_t now = objective.number(i);
        const auto number = static_cast<double>(now);
        // A whole unit at least.
        const std::int64_t up = ranges[i].clamped(std::max(number * step, number + 1)),
                           down = ranges[i].clamped(std::min(number / step, number - 1));
        const bool better = (up != now && objective.improves({{i, up}})) ||
                            (down != now && objective.improves({{i, down}}));
        moved = moved || better;
      }
      if (!moved) break;
    }
    objective.reweigh();
  }
  fit.coefficients = objective.current();
  return fit;
}

CostQuality judged(const std::vector<CostedProblem>& problems,
                   const sema::Coefficients& coefficients) {
  CostQuality quality;
  std::array<std::vector<double>, 2> residuals;
  std::vector<double> losses;
  double concordant = 0, pairs = 0;
  for (const CostedProblem& problem : problems) {
    if (problem.schedules.size() < 2) continue;
    std::vector<std::pair<std::int64_t, double>> timed;  // cost and seconds
    for (const CostedSchedule& each : problem.schedules) {
      const std::int64_t cost = cost_of(each, coefficients);
      timed.emplace_back(cost, each.seconds);
      residuals[problem.on_cuda_cores ? 1 : 0].push_back(
          std::log(each.seconds) - std::log(static_cast<double>(std::max<std::int64_t>(1, cost))));
    }
    double fastest = timed.front().second;
    for (const auto& [cost, seconds] : timed) fastest = std::min(fastest, seconds);
    const auto chosen = std::min_element(
        timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    losses.push_back(chosen->second / fastest);
    for (const auto& a : timed)
      for (const auto& b : timed) {
        if (a.second * 1.05 >= b.second) continue;
        ++pairs;
        concordant += a.first < b.first ? 1 : a.first > b.first ? -1 : 0;
      }
    quality.schedules += timed.size();
  }
  quality.problems = losses.size();
  if (losses.empty()) return quality;
  double squares = 0;
  for (std::size_t core = 0; core < 2; ++core) {
    if (residuals[core].empty()) continue;
    const double middle = median_of(residuals[core]);
    for (const double residual : residuals[core])
      squares += (residual - middle) * (residual - middle);
    // A cost is hundredths of a clock.
    (core == 0 ? quality.tensor_hertz : quality.thread_hertz) = std::exp(-middle) / 100;
  }
  quality.log_rms = std::sqrt(squares / static_cast<double>(quality.schedules));
  double logs = 0;
  for (const double loss : losses) logs += std::log(loss);
  quality.mean_loss = std::exp(logs / static_cast<double>(losses.size()));
  quality.median_loss = shared_below(losses, 0.5);
  quality.tenth_loss = shared_below(losses, 0.9);
  quality.tau = pairs > 0 ? concordant / pairs : 0;
  return quality;
}

}  // namespace lay::bench
