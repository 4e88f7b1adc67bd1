#pragma once

// left inverses of literal layouts by search, where no rule applies.

#include <optional>

#include "frontend/algebra/inverse_search/value_table.h"
#include "frontend/algebra/layouts/layout.h"

namespace lay {

// r gives an index of every value in the table.
bool is_left_inverse(const ValueTable& table, const Layout& r);

// The first index that r does not give back, where it gives none of the same value.
std::optional<Counterexample> first_lost(const Layout& a, const ValueTable& table, const Layout& r);

// How long to look: a trial beside an operation takes milliseconds and may leave open what the
// whole search decides.
enum class Effort : uint8_t { trial, whole };

struct InverseSearch {
  std::optional<Layout> found;
  // Every layout was ruled out: there is none.
  bool exhausted = false;
};

// Searches a left inverse of a literal layout. Bounded in steps: where they are used up, neither
// `found` nor `exhausted` is set.
//
// A layout R of extents n0, n1, ..., the last one open, is fixed by its radix boundaries 1, n0,
// n0*n1, ... and one stride a mode. With the boundaries fixed, R(v) == i for every value v = a(i)
// are linear equations for the strides, in integers:
//
//     a = (3,2):(2,3)     values 0 2 4 3 5 7 at the indices 0 .. 5
//     boundary 2          digits of v: 0 = (0,0), 2 = (0,1), 4 = (0,2), 3 = (1,1), 5 = (1,2), 7 =
//     (1,3) R = (2,4):(2,1)     d0*2 + d1*1 is the index of each
//
// A boundary may be refined wherever a divisor of an extent lies, so chains of products of primes
// are enough. Values with the same part above a boundary differ by what the modes below it give:
// these equations are solved, and contradicted, before the higher boundaries are chosen.
//
// 1. Few boundaries at likely places, then all: finds most layouts that give each value once.
// 2. For values with several indices: few boundaries at a's strides (`probe`).
// 3. Every chain of boundaries by primes, of which only those are left out that another one serves
//    as well (radix_chains.h).
//
// Few entries of the table are looked at first, and more where a layout gives those but not all:
// what contradicts few entries contradicts all. README.md says what each stage finds.
InverseSearch search_left_inverse(const ValueTable& table, Effort effort);

}  // namespace lay
