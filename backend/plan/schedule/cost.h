// What schedules cost, by which a launcher chooses among them.
//
//   a: cost M        portfolio 0
//   b: cost 2 * N    portfolio 0
//   c: cost 7        portfolio 1
//   d                             a launch takes a or b, whichever fits and costs less at its sizes
//   e: cost M        portfolio 0  (a of equal ones); where neither fits c, then d, then e
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

struct Problem;
struct Variant;

// The cost of a variant. Variants that stand side by side in a plan, have a cost and the same
// number are a portfolio: their costs are in one unit, and a launcher takes the least of those
// whose conditions hold. The library counts clocks, a script what it likes: its schedules are never
// of the library's portfolio, nor are rows of the library that a schedule completes.
struct Cost {
  Int value;  // over the dims
  int portfolio = 0;

  friend bool operator==(const Cost& a, const Cost& b) {
    return a.value == b.value && a.portfolio == b.portfolio;
  }
};

// Returns true if two that stand side by side are of one portfolio.
bool in_one_portfolio(const std::optional<Cost>& a, const std::optional<Cost>& b);

// Moves a cost of the library's to that portfolio: costs know which row of a width of accesses is
// the fastest, not that vectors are. What a script says stays.
void set_portfolio(std::optional<Cost>& cost, int portfolio);

// Returns true for `cost` and `portfolio`, which cost_of reads together.
bool is_of_cost(const sema::ScheduleEntry& entry);

// Returns what the entries `cost` and `portfolio` say; nothing where there is no cost. Problem
// "schedule-entry": one that is not of its form, or a portfolio without a cost.
std::optional<Cost> cost_of(const sema::Schedule& schedule, std::vector<Problem>& problems);

// Gives each portfolio a number of its own, from 0 on, so that two of them stay apart when the
// variants between them are dropped.
void number_portfolios(std::vector<Variant>& variants);

// The same where these variants will stand beside others: numbers stay as schedules say them, but
// for a portfolio that begins again further on, which gets a number that none can say.
void part_portfolios(std::vector<Variant>& variants);

// Puts the library's portfolios of `more` apart from those of `variants`, behind which they will
// stand. Costs that a script says stay what they are.
void keep_apart(const std::vector<Variant>& variants, std::vector<Variant>& more);

// Appends the entries that the variant's schedule has among these, so that they read back to the
// same portfolios: a number only where another portfolio ends right before.
void cost_lines(const std::vector<Variant>& variants, const Variant& variant,
                std::vector<std::string>& lines);

}  // namespace lay::plan
