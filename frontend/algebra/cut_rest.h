#pragma once

// Inside the algebra: what is left of a table of values above a cut of a layout that takes them.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/algebra/value_table.h"

namespace lay {

// The parts v/P of the values v above a cut P, ascending from 0, each with what the modes above the cut must give
// there. That depends on what the modes below left free: numbers[0] + sum of unknown[k]*numbers[k], in integers.
// Parts are distinct, but for entries whose index is not chosen yet (`entries`: which of the table); their numbers are
// without it.
struct Rest {
  static constexpr size_t kChosen = SIZE_MAX;

  std::vector<int64_t> at;
  std::vector<size_t> entries;
  size_t width = 1;
  std::vector<int64_t> numbers;    // `width` for each
  std::optional<int64_t> stride;   // of the mode below the cut, where that is known
  std::vector<uint64_t> parities;  // where noted: bit k is the parity of numbers[k], the one above of the part

  // 0, where 0 is due; above the cut 1.
  Rest() : at{0}, entries{kChosen}, numbers{0} {}
  void add(int64_t value, size_t entry, int64_t due);
  void note_parities();  // most extents that fail do so modulo 2, and sooner
  const int64_t* of(size_t i) const { return numbers.data() + i * width; }
  bool is_chosen(size_t i) const { return entries[i] == kChosen; }
};

// All functions count their steps down and throw Refusal "overflow" for numbers beyond 64 bits.

// The modes above the cut begin with extent `n` (0: nothing is above it): the rest above that mode, nothing if no
// stride of it gives what is due. Its stride is the last unknown.
std::optional<Rest> above(const Rest& rest, const ValueTable& table, int64_t n, int64_t& steps);

// The rest with `index` for an entry that is not chosen yet; nothing if a value of the same part contradicts it.
std::optional<Rest> chosen(const Rest& rest, size_t i, int64_t index);

// Without the unknowns that change nothing.
Rest without_idle(Rest rest);

// What keeps one mode from giving all that is due above the cut. `apart`: neighbours, as their indices, of which it
// cannot give all, of small distances where there is a choice: some two of them have a cut between them in each layout
// that does what is due. Else `open`: an entry that the others do not determine, of
// few indices. Neither: a last mode gives all.
struct Obstacle {
  std::vector<std::pair<size_t, size_t>> apart;
  std::optional<size_t> open;
};
Obstacle obstacle(const Rest& rest, const ValueTable& table, int64_t& steps);

}  // namespace lay
