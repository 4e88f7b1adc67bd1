#include "runtime/commands/plan_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <vector>

#include "backend/plan/conditions.h"
#include "backend/plan/model/forecast.h"
#include "backend/plan/print.h"
#include "backend/plan/schedule/fitting.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::runtime {

namespace {

constexpr int most_problems = 500;
constexpr double largest = 68719476736;  // 2^36: 4096 x 4096 x 4096
constexpr std::size_t columns = 100;
// Lines beside the table's rows: what it is, its head, and names that follow it.
constexpr std::size_t most_rows = most_plan_lines - 16;

// The problems that a variant takes: how large each is, the product of its sizes.
struct Problem {
  double size;
  Binding sizes;
};
using Problems = std::map<const plan::Variant*, std::vector<Problem>>;

std::map<std::string, std::int64_t> drawn(const sema::Kernel& kernel, std::mt19937& random) {
  const std::int64_t steps[] = {64, 8, 1};
  const std::int64_t step = steps[random() % 3];
  std::map<std::string, std::int64_t> sizes;
  for (const sema::Dim& dim : kernel.dims) {
    const double share = static_cast<double>(random() % 4096) / 4095;
    const auto size = static_cast<std::int64_t>(std::exp2(3 + 11 * share));
    sizes[dim.name] = std::max(step, size / step * step);
  }
  return sizes;
}

// A kernel whose guards refuse nearly all sizes has few problems, or none.
Problems problems_of(const plan::Plan& plan) {
  Problems result;
  std::mt19937 random(1);
  int found = 0;
  for (int tries = 0; tries < 4 * most_problems && found < most_problems; ++tries) try {
      const auto given = drawn(*plan.kernel, random);
      double size = 1;
      for (const auto& [name, extent] : given) size *= static_cast<double>(extent);
      if (size > largest) continue;
      const Binding sizes =
          sema::solve_sizes(*plan.kernel, {}, sema::sizes_by_dim(*plan.kernel, given));
      sema::check_guards(*plan.kernel, sizes);
      const auto fitting = plan::fitting_variants(plan, sizes);
      if (fitting.empty()) continue;
      ++found;
      result[fitting.front()].push_back({size, sizes});
    } catch (const Refusal&) {
      continue;  // no launch has these sizes
    }
  return result;
}

// What bounds the variant at the median of its problems: the longest of its launches. A forecast
// walks through all tiles, hence one for each variant.
std::string bound_at_median(const plan::Plan& plan, const plan::Variant& variant,
                            std::vector<Problem> problems, const Target& target) {
  const auto middle = problems.begin() + static_cast<std::ptrdiff_t>(problems.size() / 2);
  std::nth_element(problems.begin(), middle, problems.end(),
                   [](const Problem& a, const Problem& b) { return a.size < b.size; });
  const auto launches = plan::forecast(plan, variant, middle->sizes, target);
  if (!launches || launches->empty()) return "";
  const auto longest =
      std::max_element(launches->begin(), launches->end(),
                       [](const auto& a, const auto& b) { return a.seconds() < b.seconds(); });
  return std::string(longest->bottleneck());
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

// The line without blanks at its end, cut where it is long.
std::string cut(std::string line) {
  const bool is_long = line.size() > columns;
  if (is_long) line.resize(columns - 4);
  line.erase(line.find_last_not_of(' ') + 1);
  return is_long ? line + " ..." : line;
}

std::string percent(std::size_t part, std::size_t all) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(all);
  char text[16];
  std::snprintf(text, sizeof text, share < 1 ? " <1 %%" : "%3.0f %%", share);
  return text;
}

// Words in lines of at most `columns`, each behind "// ".
std::string wrapped(const std::vector<std::string>& words, std::size_t most_lines) {
  std::string text, line = "//";
  std::size_t lines = 1;
  for (const std::string& word : words) {
    const bool last_line = lines == most_lines;
    if (line.size() + 1 + word.size() > columns - (last_line ? 12 : 0)) {
      if (last_line) return text + line + " and so on\n";
      text += line + "\n";
      line = "//";
      ++lines;
    }
    line += " " + word;
  }
  return text + line + "\n";
}

}  // namespace

std::string plan_summary(const plan::Plan& plan, const Target& target) {
  const Problems taken = problems_of(plan);
  std::size_t all = 0;
  for (const auto& [variant, problems] : taken) all += problems.size();
  std::vector<const plan::Variant*> rows, others;
  for (const plan::Variant& variant : plan.variants)
    (taken.contains(&variant) ? rows : others).push_back(&variant);
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    return taken.at(a).size() > taken.at(b).size();
  });
  if (rows.size() > most_rows) {
    others.insert(others.begin(), rows.begin() + most_rows, rows.end());
    rows.resize(most_rows);
  }
  std::string sizes;
  for (const sema::Dim& dim : plan.kernel->dims)
    sizes += (sizes.empty() ? "" : ",") + dim.name + "=..";
  std::string text =
      "// `" + plan.kernel->name + "` on " + target.name + ": " +
      std::to_string(plan.variants.size()) + " variants\n" + "// --all prints their schedules" +
      (sizes.empty() ? "" : ", --size " + sizes + " the one that these sizes take") + "\n";
  std::size_t widest = 7;
  for (const plan::Variant* each : rows) widest = std::max(widest, each->name.size());
  if (!rows.empty())
    text += "//\n// " + padded("variant", widest) + "  takes  by     bound by       where\n";
  for (const plan::Variant* each : rows)
    text += cut("// " + padded(each->name, widest) + "  " + percent(taken.at(each).size(), all) +
                (each->cost ? "  cost   " : "  order  ") +
                padded(bound_at_median(plan, *each, taken.at(each), target), 13) + "  " +
                plan::conditions_text(each->when)) +
            "\n";
  if (!rows.empty())
    text += "//\n// of " + std::to_string(all) +
            " drawn problems with sizes from 8 to 16384 and aligned pointers\n";
  if (!others.empty()) {
    std::vector<std::string> words{"others:"};
    for (const plan::Variant* each : others)
      words.push_back(each->name + (each == others.back() ? "" : ","));
    text += wrapped(words, 8);
  }
  return text;
}

}  // namespace lay::runtime
