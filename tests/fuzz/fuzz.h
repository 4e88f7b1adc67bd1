#pragma once

// Random expressions against brute force. Every case is drawn from a generator of our own, seeded
// by its number, so that a case that fails can be run again alone.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "tests/laws/random_layouts.h"

namespace fuzz {

enum class Outcome {
  right,    // the law holds at every coordinate
  refused,  // refused, and the search finds no answer either
  wrong,    // the law is broken
  missed,   // refused where an answer exists
  guarded,  // symbolic: the guards do not hold at these sizes, and the result would be wrong there
  strict,   // symbolic: the guards do not hold, though the result would be right
  open,     // symbolic: refused, though there is a result at each of the sizes tried
};

struct Tally {
  std::map<Outcome, int64_t> counts;
  int64_t of(Outcome outcome) const {
    const auto found = counts.find(outcome);
    return found == counts.end() ? 0 : found->second;
  }
};

// The subject of a case and its outcome, for printing where it fails.
struct Report {
  std::string operation;
  std::string text;
};

// One random operation on literal layouts: that of the row `only` of the table, if it is not empty.
Outcome run_literal(laws::Random& random, Report& report, const std::string& only);

// One random expression on layouts with symbols, judged at `instantiations` sets of sizes; `count`
// is told each outcome.
void run_symbolic(laws::Random& random, int instantiations, Report& report,
                  const std::function<void(Outcome)>& count);

}  // namespace fuzz
