#pragma once

// Inside the algebra: the parts of composition. composition.cpp puts them together,
// compose_rule.cpp decides by rule one mode of the right side at a time, compose_known.cpp does the
// same for literal operands, compose_table.cpp decides by the table of values, compose_refuse.cpp
// says why not.

#include <optional>
#include <string>
#include <vector>

#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay {

// A left side as the rules see it: coalesced modes, of which the last goes on for ever.
std::vector<Mode> extended_modes(const Facts& facts, const Layout& a);

// The digit that a mode s:d of the right side moves in one mode of the left side: it runs over 0,
// step, ..., (extent-1)*step.
struct Digit {
  size_t mode;
  Int extent;
  Int step;
};

// Why a mode of the right side does not go through.
struct Misfit {
  // composition-stride, composition-shape, composition-carry, undecided.
  std::string code;
  // top-level mode of the right side.
  int right_mode = 0;
  size_t left_mode = 0;  // of the coalesced left side
  Int extent;            // of that mode of the left side
  // The mode s:d of the right side when it gets there.
  Int count, step;
  std::string missing;  // undecided: what would decide
  // A case was taken where another was possible.
  bool chosen = false;
};

// The case taken where s steps may fill a mode of the left side or stay inside it: the preferred
// one, or, where that leads nowhere, the other; or, where neither does or none is preferred, a form
// that serves every case, with ceil_div and min in it, of what goes on as well.
enum class Undecided : uint8_t { fills, stays, open };

struct Part {
  std::vector<Mode> modes;  // what the mode s:d becomes
  std::vector<Digit> digits;
  std::optional<Misfit> misfit;
  bool chosen = false;
};

// s:d after the left side, by rule. Guards what is undecided.
Part compose_mode(Facts& facts, const std::vector<Mode>& left, const Int& count, const Int& step,
                  Undecided undecided = Undecided::fills);

// a o b of literal operands with integer strides, by the same rule in plain numbers; nothing where
// the rule does not apply or the operands are not of this kind.
std::optional<Layout> compose_known(const Layout& a, const Layout& b);

// The ways that the strides of a layout go: one, the empty path, for integers; one for each path of
// basis elements.
struct Directions {
  std::vector<std::vector<int>> paths;
  size_t of(const std::vector<int>& path) const;
};
Directions directions_of(const Layout& a);

// f(0), f(1), ... of one mode, `width` numbers each: one for each direction.
struct Column {
  std::vector<int64_t> numbers;
  size_t width;
  size_t count() const { return numbers.size() / width; }
  const int64_t* at(size_t i) const { return numbers.data() + i * width; }
};

// The values a(b(i)), and those along each leaf of b with the other coordinates 0.
struct CompositionTable {
  Tuple profile;          // b's shape
  Directions directions;  // of a's strides
  std::vector<Column> columns;
  std::vector<int64_t> expected;
};
// Nothing unless a and b are literal and b has at most 2^20 elements.
std::optional<CompositionTable> tabulate(const Layout& a, const Layout& b);

// The modes n0:d0, n1:d1, ... whose values in order are these; nothing if no layout has them.
std::optional<std::vector<Mode>> fit(const std::vector<int64_t>& values);
// The layout of the profile with the values of the table; nothing if there is none.
std::optional<Layout> fit(const CompositionTable& table);
std::optional<Layout> compose_by_table(const Layout& a, const Layout& b);

// The layout that somebody might take for the table's (each mode on its own, even steps where a
// mode has no form), and the smallest index at which it is wrong.
struct TableMismatch {
  int64_t index;
  Tuple expected;
  Tuple got;
  Layout claimed;
};
std::optional<TableMismatch> nearest_mismatch(const CompositionTable& table);

// The refusal of a o b. For known operands with the smallest coordinate at which the nearest layout
// is wrong and repairs that work.
Refusal refuse_composition(Facts& facts, const Layout& a, const Layout& b, const Misfit& misfit);

}  // namespace lay
