#pragma once

// what is left of a table of values above a boundary of a layout that takes them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "frontend/algebra/integers/integer_equations.h"

namespace lay {

using Indices = std::shared_ptr<const std::vector<int64_t>>;  // ascending

// R(second) - R(first) == difference, for a layout R and two values.
struct Difference {
  int64_t first, second, difference;
};

// The parts v/P of the values v above a boundary P, ascending from 0, each with what the modes
// above the boundary must give there: numbers[0] + sum of unknown[k]*numbers[k], in integers, for
// what the modes below left free; and on top of it, where the value has several indices, any one of
// `choices`. Each part stands for all values in it: which of their indices go together is decided
// below the boundary, and what is left to choose serves them all.
struct UpperTable {
  std::vector<int64_t> at;
  std::vector<int64_t> values;   // one in each part
  std::vector<Indices> choices;  // null: 0
  std::vector<Difference> decided;
  size_t width = 1;
  std::vector<int64_t> numbers;   // `width` for each
  std::optional<int64_t> stride;  // of the mode below the boundary, where that is known

  // 0, where 0 is expected; above the boundary 1.
  UpperTable() : at{0}, values{0}, choices{nullptr}, numbers{0} {}
  void add(int64_t value, std::vector<int64_t> indices);
  const int64_t* of(size_t i) const { return numbers.data() + i * width; }
  bool is_chosen(size_t i) const { return !choices[i]; }
};

// Null is 0 alone.
std::span<const int64_t> listed(const Indices& indices);
size_t count(const Indices& indices);

// Those of `first` to which one of `second` is `difference` more. Empty and not null where there
// are none.
Indices together(const Indices& first, const Indices& second, int64_t difference);

// Returns true if one of `second` is `difference` more than one of `first`.
bool any_together(const Indices& first, const Indices& second, int64_t difference);

// Returns all values of (one of `second`) - (one of `first`), each once.
std::vector<int64_t> differences(const Indices& first, const Indices& second);

// All functions below count their steps down and throw Refusal "overflow" for numbers beyond 64
// bits.

// Returns true if cheap tests show that no mode of extent `n` above the boundary gives what is
// expected of those that are chosen.
bool is_ruled_out(const UpperTable& rest, int64_t n, int64_t& steps);

// The modes above the boundary begin with extent `n`: calls `take` with the rest above that mode,
// until it says true; with one for each way to decide what values of one part differ by. False if
// none was taken, or the steps are used up. The stride of the mode is the last unknown. n == 0:
// nothing is above the mode, and all values are in one part. A difference that may be more than
// `few` numbers is left open: parts then stand side by side for one.
bool each_above(const UpperTable& rest, int64_t n, int64_t& steps, size_t few,
                const std::function<bool(UpperTable)>& take);

// The same where no value has several indices, so that there is one rest or none.
std::optional<UpperTable> above(const UpperTable& rest, int64_t n, int64_t& steps);

// Without the unknowns that change nothing.
UpperTable without_idle(UpperTable rest);

// One stride more is unknown, and gives what two parts differ by: an equation for the unknowns and
// for it.
class Line {
 public:
  explicit Line(const UpperTable& rest) : rest_(rest), factors_(rest.width) {}

  Line& between(size_t first, size_t second);
  // Returns true if the choice at the second less the choice at the first is `difference`.
  bool holds(IntegerEquations& equations, int64_t difference = 0) const;
  // That difference, if the equations leave one number for it.
  std::optional<int64_t> left_by(const IntegerEquations& equations) const;
  // All that they leave for it.
  IntegerEquations::Left all_left_by(const IntegerEquations& equations) const;

 private:
  const UpperTable& rest_;
  std::vector<int64_t> factors_;
  int64_t expected_ = 0;
};

}  // namespace lay
