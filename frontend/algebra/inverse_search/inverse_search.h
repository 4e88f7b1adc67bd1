#pragma once

// Inside the algebra: left inverses of literal layouts by search, where no rule applies.

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
  bool exhausted = false;  // every layout was ruled out: there is none
};

// What a left inverse must look like. A layout R of extents n0, n1, ..., the last one open, is
// fixed by the cuts 1, n0, n0*n1, ..., and may be cut wherever a divisor of an extent lies; so the
// cuts of any R refine to products of primes one after another. With the cuts fixed, R(v) == i for
// every value v = a(i) are linear equations for R's strides in integers. Two values with the same
// part above a cut differ by what stands below it, so that the equations of the lowest modes can be
// had, and contradicted, before the higher cuts are chosen; what they leave free goes on as
// unknown. So the search takes one extent at a time, and what it carries is the rest of the table:
// the parts of the values above the cut, each with what the higher modes must give there.
//
// Few modes are tried first, then every chain of cuts by primes (cut_chains.h says why none is left
// out). Of a value with several indices all are carried along, and equations take away what does
// not go with the rest; only chains search so. Before them comes what is decided sooner
// (inverse_modular.h): values whose indices are one modulo a prime may rule out all chains, and
// where one index is selected for each value a chain may be found for those; then few cuts at the
// steps of a, and cuts whose own carries select (inverse_carries.h). Entries of the table are
// looked at few at first, and more where a layout gives those but not all: what contradicts few
// entries contradicts all; of values with several indices the strides for the extents found are
// then sought anew. Bounded in steps. Layouts of values up to 2^20, each with one index, were not
// seen to use them up; of those where values have several some do, most of them few values far
// apart, or strides that are small multiples of a common one. Where values lie farther apart it may
// stay open whether there is none.
InverseSearch search_left_inverse(const ValueTable& table, Effort effort);

}  // namespace lay
