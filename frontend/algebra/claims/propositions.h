#pragma once

// Claims about layouts, decided for all sizes that the facts allow and without walking through
// their domains.
//
//     injective((4,2):(1,4))           proved
//     injective((4,2):(1,3))           refuted: indices 3 and 4, coordinates (3,0) and (0,1), both
//     give 3 injective((M,N):(1,ldc))         refuted at M = 2, N = 2, ldc = 1; proved where ldc >=
//     M is known
//
// Known layouts are decided exactly, by bounded integer equations (bounded.h), whatever their
// extents. Symbolic ones are proved from conditions that together are enough; else the smallest
// sizes that break the claim are searched, sizes by sum, then lexicographically, and the claim is
// decided as a known one at each. Every decision stops at a number of steps, never at a clock.
// Swizzled layouts are decided by the layout inside where the swizzle, which permutes the integers
// from 0 up, makes no difference; composed layouts that keep something else are walked through, up
// to 2^20 elements.
//
// `|L|` is size(L), a coordinate is counted as its 1-D index. Basis strides make coordinates; those
// are compared part by part.

#include <optional>
#include <string>
#include <vector>

#include "frontend/algebra/claims/known.h"
#include "frontend/algebra/layouts/layout.h"

namespace lay {

// No two coordinates have one value. Failure: the smallest coordinate whose value was there before,
// and where.
Conclusion injective(Facts& facts, const AnyLayout& a);

// Every value lies in 0 .. n-1; for basis strides inside the shape n. Failure: the smallest
// coordinate outside.
Conclusion inside(Facts& facts, const AnyLayout& a, const Tuple& n);

// Every number in 0 .. n-1 is a value, every coordinate of the shape n for basis strides. Failure:
// the smallest that is none.
Conclusion surjective(Facts& facts, const AnyLayout& a, const Tuple& n);

// The values are 0 .. |a|-1, each once; the coordinates of coshape(a) for basis strides. Failure:
// the smallest coordinate whose value lies outside or was there before.
Conclusion bijective(Facts& facts, const AnyLayout& a);

// Every element of the shape is a value exactly once: a thread-value layout that deals out a tile.
// Integers count the shape's elements by 1-D index. Failure: the smallest coordinate whose element
// lies outside or was there before; if there is none, the smallest element left out.
Conclusion covers(Facts& facts, const AnyLayout& a, const Tuple& shape);

// a(i) != offset + b(j) for all i and j. Failure: the smallest i, then the smallest j.
Conclusion disjoint(Facts& facts, const AnyLayout& a, const AnyLayout& b, const Tuple& offset = 0);

// Every value, counting elements of `element_bits` bits, lies on a multiple of `bytes` bytes.
// Failure: the smallest coordinate that does not.
Conclusion aligned(Facts& facts, const AnyLayout& a, const Int& bytes, int element_bits = 8);

// Every value fits a signed integer of `bits` bits, 1 to 64.
Conclusion fits(Facts& facts, const AnyLayout& a, int bits);

// |a| == |b| and a(i) == b(i) for 0 <= i < |a|. Failure: the smallest i that differs.
Conclusion same_function(Facts& facts, const AnyLayout& a, const AnyLayout& b);

// The conditions that are enough for a layout of integer strides to be injective, without what is
// proved; {never} where none are known. Law: sorted so that each stride exceeds the largest value
// of the modes before it, a layout counts in a mixed radix with gaps.
std::vector<Predicate> injective_where(Facts& facts, const Layout& a);

}  // namespace lay
