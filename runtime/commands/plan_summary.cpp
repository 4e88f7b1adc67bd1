#include "runtime/commands/plan_summary.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "backend/plan/conditions.h"
#include "backend/plan/model/forecast.h"
#include "backend/plan/narrow/drawn_sizes.h"
#include "backend/plan/narrow/narrow.h"
#include "backend/plan/print.h"
#include "backend/plan/schedule/fitting.h"
#include "frontend/sema/kernel/kernel_call.h"

namespace lay::runtime {

namespace {

constexpr std::size_t columns = 100;
// Lines beside the table's rows: what it is, its head, and names that follow it.
constexpr std::size_t most_rows = most_plan_lines - 16;

// The problems that each variant takes.
using Problems = std::map<const plan::Variant*, std::vector<Binding>>;

Problems problems_of(const plan::Plan& plan, const std::vector<Binding>& drawn) {
  Problems result;
  for (const Binding& sizes : drawn) {
    const auto fitting = plan::fitting_variants(plan, sizes);
    if (!fitting.empty()) result[fitting.front()].push_back(sizes);
  }
  return result;
}

double product_of(const Binding& sizes) {
  double product = 1;
  for (const auto& [dim, size] : sizes) product *= static_cast<double>(size);
  return product;
}

// What bounds the variant at the median of its problems: the longest of its launches. A forecast
// walks through all tiles, hence one for each variant.
std::string bound_at_median(const plan::Plan& plan, const plan::Variant& variant,
                            std::vector<Binding> problems, const Target& target) {
  const auto middle = problems.begin() + static_cast<std::ptrdiff_t>(problems.size() / 2);
  std::nth_element(
      problems.begin(), middle, problems.end(),
      [](const Binding& a, const Binding& b) { return product_of(a) < product_of(b); });
  const auto launches = plan::forecast(plan, variant, *middle, target);
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

std::string more_percent(double ratio) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * (ratio - 1));
  return text;
}

// What launches lose to a build of all variants, in words.
std::string loss_text(const sema::Kernel& kernel, const plan::Narrowed& narrowed) {
  if (narrowed.worst <= 1) return "";
  std::string sizes;
  for (const sema::Dim& dim : kernel.dims)
    sizes += (sizes.empty() ? "" : ",") + dim.name + "=" +
             std::to_string(narrowed.worst_at.at(*dim.symbol.dim_id()));
  return "// by their costs " + more_percent(narrowed.mean) +
         " slower than with all in the mean, at most " + more_percent(narrowed.worst) + ": " +
         sizes + "\n";
}

// The lines of a table: what takes which share of the problems.
std::string table(const plan::Plan& plan, const std::vector<const plan::Variant*>& rows,
                  const Problems& taken, std::size_t all, const Target& target) {
  std::size_t widest = 7;
  for (const plan::Variant* each : rows) widest = std::max(widest, each->name.size());
  std::string text =
      "//\n// " + padded("variant", widest) + "  takes  by     bound by       where\n";
  for (const plan::Variant* each : rows)
    text += cut("// " + padded(each->name, widest) + "  " + percent(taken.at(each).size(), all) +
                (each->cost ? "  cost   " : "  order  ") +
                padded(bound_at_median(plan, *each, taken.at(each), target), 13) + "  " +
                plan::conditions_text(each->when)) +
            "\n";
  return text;
}

// Adds names behind a word, in as many lines as are left.
void add_names(std::string& text, const std::string& word, const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::vector<std::string> words{word};
  for (const std::string& name : names) words.push_back(name + (&name == &names.back() ? "" : ","));
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  text += wrapped(words, lines < most_plan_lines ? most_plan_lines - lines : 1);
}

}  // namespace

std::string plan_summary(const plan::Plan& plan, const Target& target, const GivenSizes& given) {
  const sema::Kernel& kernel = *plan.kernel;
  const bool is_given = plan::given_dims(kernel, given) > 0;
  const plan::Purpose purpose = purpose_of(
      kernel, is_given ? std::vector{given} : std::vector<GivenSizes>(), plan::usual_variants);
  const plan::Narrowed narrowed = plan::narrow(plan, purpose);
  plan::Plan built{plan.kernel, {}, {}};
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < plan.variants.size(); ++i) {
    const bool is_kept =
        std::find(narrowed.kept.begin(), narrowed.kept.end(), i) != narrowed.kept.end();
    if (is_kept)
      built.variants.push_back(plan.variants[i]);
    else
      left_out.push_back(plan.variants[i].name);
  }
  const Problems taken = problems_of(built, purpose.problems);
  std::size_t all = 0;
  for (const auto& [variant, problems] : taken) all += problems.size();
  std::vector<const plan::Variant*> rows;
  std::vector<std::string> others;
  for (const plan::Variant& variant : built.variants) {
    if (taken.contains(&variant))
      rows.push_back(&variant);
    else
      others.push_back(variant.name);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    return taken.at(a).size() > taken.at(b).size();
  });
  for (; rows.size() > most_rows; rows.pop_back()) others.push_back(rows.back()->name);
  std::string open, known;
  const GivenSizes sizes = sema::sizes_by_dim(kernel, given);
  for (const sema::Dim& dim : kernel.dims) {
    open += (open.empty() ? "" : ",") + dim.name + "=..";
    const auto said = sizes.find(dim.name);
    if (said != sizes.end())
      known += (known.empty() ? " for " : ",") + dim.name + "=" + std::to_string(said->second);
  }
  std::string text =
      "// `" + kernel.name + "` on " + target.name + ": " + std::to_string(built.variants.size()) +
      " of " + std::to_string(plan.variants.size()) + " variants are built" + known + "\n" +
      "// --all prints the schedules of all" +
      (open.empty() ? "" : ", --size " + open + " the one that is best there") + "\n";
  if (!rows.empty())
    text +=
        table(built, rows, taken, all, target) + "//\n// of " + std::to_string(all) +
        (!is_given && !kernel.stated_sizes.empty()
             ? " problems with aligned pointers, half of them of the sizes that the script states\n"
             : " drawn problems with sizes from 1 to 16384 and aligned pointers\n");
  text += loss_text(kernel, narrowed);
  add_names(text, "others:", others);
  add_names(text, "not built:", left_out);
  return text;
}

}  // namespace lay::runtime
