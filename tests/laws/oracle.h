#pragma once

// The laws of frontend/algebra/layouts/operations.h on small domains, by counting: no rule of the
// algebra is used here, only the definition of a layout. Slow and obvious, so that fast and clever
// can be compared with it.

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/algebra/layouts/operations.h"

namespace laws {

// A literal layout with integer strides: its leaves.
struct Plain {
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;

  explicit Plain(const lay::Layout& a);
  int64_t size() const;
  // The value at a 1-D index; the last mode goes on for ever, below 0 it is the mirror image.
  int64_t operator()(int64_t index) const;
  std::vector<int64_t> values() const;
};

// R(c) == a(b(c)) for every coordinate of b, and R's shape refines b's.
bool composes(const lay::Layout& a, const lay::Layout& b, const lay::Layout& r);
// Returns true if any layout of b's profile does: every way to factor every mode is tried.
bool can_compose(const lay::Layout& a, const lay::Layout& b);

// The same for strides that are basis elements, on either side.
bool composes_anyhow(const lay::Layout& a, const lay::Layout& b, const lay::Layout& r);
bool can_compose_anyhow(const lay::Layout& a, const lay::Layout& b);

// (a, places o t): r's second mode puts copies of a where the complement of a leaves room for as
// many as t needs.
bool repeats(const lay::Layout& a, const lay::Layout& t, const lay::Layout& r);
std::optional<lay::Layout> places_for(const lay::Layout& a, const lay::Layout& t);
std::vector<int64_t> sorted_values(const lay::Layout& a);

// The law of complement, and whether a can have one.
bool complements(const lay::Layout& a, int64_t cotarget, const lay::Layout& r);
bool is_injective(const lay::Layout& a);  // modes of stride 0 aside

// a(R(i)) == i for i < |R|, and |R| is what following 1, s0, s0*s1, ... through a gives.
bool right_inverts(const lay::Layout& a, const lay::Layout& r);

// R(a(i)) is an index of a with the same value, and whether any layout does so: every sequence of
// extents is tried.
bool left_inverts(const lay::Layout& a, const lay::Layout& r);
bool can_left_invert(const lay::Layout& a);

// The words of n elements, mode by mode; the elements of words.
bool upcasts(const lay::Layout& a, int64_t n, const lay::Layout& r);
bool can_upcast(const lay::Layout& a, int64_t n);
bool downcasts(const lay::Layout& a, int64_t n, const lay::Layout& r);
bool can_downcast(const lay::Layout& a);

}  // namespace laws
