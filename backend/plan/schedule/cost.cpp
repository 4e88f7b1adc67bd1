#include "backend/plan/schedule/cost.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <variant>

#include "backend/plan/plan.h"
#include "backend/plan/text.h"

namespace lay::plan {

namespace {

constexpr int most_said = 1000;  // the greatest number of a portfolio in a script

// The first of the key: a reader that minds says that one is given twice.
const sema::ScheduleEntry* find(const sema::Schedule& schedule, const char* key) {
  const auto found =
      std::find_if(schedule.entries.begin(), schedule.entries.end(),
                   [&](const sema::ScheduleEntry& entry) { return entry.key == key; });
  return found == schedule.entries.end() ? nullptr : &*found;
}

// A tuple, a layout or a text is none.
std::optional<Int> integer(const sema::ScheduleEntry& entry) {
  const auto* leaf = std::get_if<Tuple>(&entry.value);
  return leaf && leaf->is_int() ? std::optional(leaf->value()) : std::nullopt;
}

}  // namespace

bool in_one_portfolio(const std::optional<Cost>& a, const std::optional<Cost>& b) {
  return a && b && a->portfolio == b->portfolio;
}

// The library's numbers are below 0, those of a script are not.
void set_portfolio(std::optional<Cost>& cost, int portfolio) {
  if (cost && cost->portfolio < 0) cost->portfolio = portfolio;
}

bool is_of_cost(const sema::ScheduleEntry& entry) {
  return entry.key == "cost" || entry.key == "portfolio";
}

std::optional<Cost> cost_of(const sema::Schedule& schedule, std::vector<Problem>& problems) {
  const auto wrong = [&](const sema::ScheduleEntry& entry, const std::string& message,
                         const std::string& works) {
    problems.push_back({"schedule-entry", message, entry.where, {}, {{"works", works}}, {}});
    return std::nullopt;
  };
  // Read together: either may stand first, and a number alone says nothing.
  const sema::ScheduleEntry *cost = find(schedule, "cost"), *number = find(schedule, "portfolio");
  if (number && !cost)
    return wrong(*number, "`portfolio` says whose costs are compared, and this schedule has none",
                 "cost = ceil_div(M,128) * ceil_div(N,128)");
  if (!cost) return std::nullopt;
  const auto value = integer(*cost);
  if (!value)
    return wrong(*cost, "`cost` takes an integer over the sizes",
                 "cost = ceil_div(M,128) * ceil_div(N,128)");
  // Without a number the portfolio is 0: schedules with costs alone are one.
  Cost made{*value};
  if (!number) return made;
  // A literal: which costs are compared must not depend on sizes.
  const auto said = integer(*number);
  if (!said || !said->is_literal() || said->value() < 0 || said->value() > most_said)
    return wrong(*number, "`portfolio` takes a number from 0 to " + std::to_string(most_said),
                 "portfolio = 1");
  made.portfolio = static_cast<int>(said->value());
  return made;
}

void number_portfolios(std::vector<Variant>& variants) {
  // A script may say a number again further on: 0, then a schedule without a cost, then 0 are two
  // portfolios. The library's numbers are below 0, so that no script says them.
  int number = 0;
  std::optional<Cost> before;
  for (Variant& variant : variants) {
    const std::optional<Cost> said = variant.cost;
    if (before && !in_one_portfolio(before, said)) ++number;
    if (said) variant.cost->portfolio = number;
    before = said;
  }
}

void part_portfolios(std::vector<Variant>& variants) {
  std::set<int> begun;
  std::optional<Cost> before;
  int number = 0, next = most_said;
  for (Variant& variant : variants) {
    const std::optional<Cost> said = variant.cost;
    // A portfolio begins: with its own number, or with another one where that has ended.
    if (said && !in_one_portfolio(before, said))
      number = begun.insert(said->portfolio).second ? said->portfolio : ++next;
    if (said) variant.cost->portfolio = number;
    before = said;
  }
}

// The library's numbers are below 0 in every plan: those of another plan go below the lowest here.
void keep_apart(const std::vector<Variant>& variants, std::vector<Variant>& more) {
  int lowest = 0;
  for (const Variant& variant : variants)
    if (variant.cost) lowest = std::min(lowest, variant.cost->portfolio);
  for (Variant& variant : more)
    if (variant.cost && variant.cost->portfolio < 0) variant.cost->portfolio += lowest;
}

void cost_lines(const std::vector<Variant>& variants, const Variant& variant,
                std::vector<std::string>& lines) {
  if (!variant.cost) return;
  // From 0 on behind each variant without a cost: as few numbers as part the neighbours, so that a
  // plan with one portfolio says none.
  int number = 0;
  std::optional<Cost> before;
  for (const Variant& each : variants) {
    if (!before || !each.cost)
      number = 0;
    else if (!in_one_portfolio(before, each.cost))
      ++number;
    if (each.name == variant.name) break;  // unique in a plan
    before = each.cost;
  }
  lines.push_back(entry("cost", variant.cost->value.to_string()));
  if (number > 0) lines.push_back(entry("portfolio", std::to_string(number)));
}

}  // namespace lay::plan
