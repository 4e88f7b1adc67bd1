#pragma once

// Inside the algebra: the parts of composition. composition.cpp puts them together, compose_rule.cpp decides by rule
// one mode of the right side at a time, compose_table.cpp by the table of values, compose_refuse.cpp says why not.

#include <optional>
#include <string>
#include <vector>

#include "frontend/algebra/mode.h"
#include "frontend/algebra/operations.h"

namespace lay {

// A left side as the rules see it: coalesced modes, of which the last goes on for ever.
std::vector<Mode> extended_modes(const Facts& facts, const Layout& a);

// What a mode s:d of the right side moves in one mode of the left side: its digit there runs over 0, step, ...,
// (extent-1)*step.
struct Digit {
  size_t mode;
  Int extent;
  Int step;
};

// Why a mode of the right side does not go through.
struct Misfit {
  std::string code;      // composition-stride, composition-shape, composition-carry, undecided
  int right_mode = 0;    // top-level mode of the right side
  size_t left_mode = 0;  // of the coalesced left side
  Int extent;            // of that mode of the left side
  Int count, step;       // the mode s:d of the right side when it gets there
  std::string missing;   // undecided: what would decide
};

struct Part {
  std::vector<Mode> modes;  // what the mode s:d becomes
  std::vector<Digit> digits;
  std::optional<Misfit> misfit;
};

// s:d after the left side, by rule. Guards what is undecided.
Part compose_mode(Facts& facts, const std::vector<Mode>& left, const Int& count, const Int& step);

// A known left side as a plain function on integers.
struct Table {
  std::vector<int64_t> extents;  // the last is not used
  std::vector<int64_t> strides;
  int64_t operator()(int64_t index) const;
};
std::optional<Table> as_table(const std::vector<Mode>& left);

// The modes n0:d0, n1:d1, ... whose values in order are these; nothing if no layout has them.
std::optional<std::vector<Mode>> fit(const std::vector<int64_t>& values);

// A layout of b's profile with the values a(b(i)), if there is one; a and b known, b of at most 2^20 elements.
std::optional<Layout> compose_by_table(const Table& a, const Layout& b);

// The refusal of a o b. For known operands with the smallest coordinate at which the nearest layout is wrong and
// repairs that work.
Refusal refuse_composition(Facts& facts, const Layout& a, const Layout& b, const Misfit& misfit);

}  // namespace lay
