#pragma once

// Operations on IntTuples that need no strides: their structure, arithmetic at the leaves, and the
// orders on profiles. Definitions: CuTe's int_tuple and tuple algorithms. A mode or path that does
// not exist is Refusal "mode"; tuples that must have equal rank and do not, "rank"; an underscore
// or a basis element where an integer is expected, "not-integer".
//
// Modes count from 0. Ranges are half open: [begin, end).

#include <functional>
#include <span>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/algebra/tuples/tuple.h"

namespace lay {

// --- Inspection ----------------------------------------------------------------------------------

Tuple get(const Tuple& t, std::span<const int> path);
// The product of all leaves; of () 1.
Int size(const Tuple& t);
// Basis leaves and integers, left to right.
std::vector<Tuple> leaves(const Tuple& t);

// --- Structure -----------------------------------------------------------------------------------

Tuple select(const Tuple& t, std::span<const int> modes);
// Refusal "range" if empty.
Tuple take(const Tuple& t, int begin, int end);
// [begin,end) becomes one mode.
Tuple group(const Tuple& t, int begin, int end);
// An integer stays one; else depth 1.
Tuple flatten(const Tuple& t);
// Law: flatten(result) has the leaves of flat.
Tuple unflatten(const Tuple& flat, const Tuple& profile);
Tuple append(const Tuple& t, const Tuple& x);
// Until the rank is reached; Refusal "rank" if it is exceeded.
Tuple append(const Tuple& t, const Tuple& x, int rank);
Tuple prepend(const Tuple& t, const Tuple& x);
Tuple prepend(const Tuple& t, const Tuple& x, int rank);
Tuple replace(const Tuple& t, int mode, const Tuple& x);
// ((a0,b0),(a1,b1),...)
Tuple zip(const Tuple& a, const Tuple& b);
// Transpose of a tuple of tuples of equal rank.
Tuple zip(const Tuple& t);
// An integer becomes the tuple of one.
Tuple wrap(const Tuple& t);
// Tuples of one are opened.
Tuple unwrap(const Tuple& t);
Tuple concatenate(const Tuple& a, const Tuple& b);
// f at every leaf; f at pairs of leaves of congruent tuples.
Tuple transform(const Tuple& t, const std::function<Tuple(const Tuple&)>& f);
Tuple transform(const Tuple& a, const Tuple& b,
                const std::function<Tuple(const Tuple&, const Tuple&)>& f);
// x at every leaf.
Tuple repeat_like(const Tuple& t, const Tuple& x);

// Keeps what stands under `_`; everything kept at one level is spliced: slice((_,(_,1)), (4,(2,3)))
// = (4,2).
Tuple slice(const Tuple& coordinate, const Tuple& t);
// Keeps what stands under integers: dice((1,_,1), (128,64,32)) = (128,32).
Tuple dice(const Tuple& coordinate, const Tuple& t);

// --- Arithmetic ----------------------------------------------------------------------------------

// The size of each mode; of an integer (n,)
Tuple product_each(const Tuple& t);
// The sizes at the leaves of guide.
Tuple product_like(const Tuple& t, const Tuple& guide);
// Integers only, congruent.
Int inner_product(const Tuple& a, const Tuple& b);
Int sum(const Tuple& t);
Int maximum(Facts& facts, const Tuple& t);
Int minimum(Facts& facts, const Tuple& t);

// Integers: the quotient rounded up. Tuples: mode by mode, missing modes of b are 1. Integer by
// tuple: by its size. Tuple by integer: the integer is used up from the left, ceil_div((4,5,6),40)
// = (1,1,3).
Tuple ceil_div(Facts& facts, const Tuple& a, const Tuple& b);
// The same, and one of the two must divide the other at every step (obligation "shape_div").
Tuple shape_div(Facts& facts, const Tuple& a, const Tuple& b);
// Law: the least multiple of b that is >= a, mode by mode.
Tuple round_up(Facts& facts, const Tuple& a, const Tuple& b);

// --- Orders on profiles and shapes ---------------------------------------------------------------

// The same nesting.
bool congruent(const Tuple& a, const Tuple& b);
// a's nesting, refined: an integer matches anything.
bool weakly_congruent(const Tuple& a, const Tuple& b);
// Every coordinate of a is one of b: an integer equals the size. The condition on the sizes; never
// if the profiles do not fit.
Predicate compatible(const Tuple& a, const Tuple& b);
// The tiler divides the shape, mode by mode.
Predicate evenly_divides(Facts& facts, const Tuple& shape, const Tuple& tiler);
// Equal leaf by leaf; never if the nesting differs.
Predicate equal(const Tuple& a, const Tuple& b);

// --- Coordinates ---------------------------------------------------------------------------------

// Index of a coordinate with the given strides. Law: the inner product of the natural coordinate
// with d; an integer against a tuple is split colexicographically and the last mode takes the rest;
// -i is split as i, with all digits negative. Refusal "coordinate-rank".
Tuple crd2idx(Facts& facts, const Tuple& coordinate, const Tuple& shape, const Tuple& stride);
// With compact left-most-fastest strides: the 1-D index. crd2idx(idx2crd(i, S), S) == i.
Int crd2idx(Facts& facts, const Tuple& coordinate, const Tuple& shape);
// The natural coordinate of an index; the last mode takes what lies beyond.
Tuple idx2crd(Facts& facts, const Int& index, const Tuple& shape);
// (index / d) % s at every leaf: the inverse of crd2idx for compact strides only.
Tuple idx2crd(Facts& facts, const Int& index, const Tuple& shape, const Tuple& stride);
// idx2crd(crd2idx(c, from), to), mode by mode where all three are tuples of equal rank.
Tuple crd2crd(Facts& facts, const Tuple& coordinate, const Tuple& from, const Tuple& to);

// Strides that make the shape compact, left-most fastest from `first`. Law: crd2idx with them is
// first * the 1-D index. A literal extent 1 gets stride 0, as in CuTe.
Tuple compact_left(const Tuple& shape, const Int& first = 1);
Tuple compact_right(const Tuple& shape, const Int& first = 1);
// Compact in the order of the numbers in `order`, lowest fastest (ties left to right; symbolic
// entries after the literal ones). `order` is weakly congruent to the shape: a leaf over a tuple is
// left-most fastest inside.
Tuple compact_order(const Tuple& shape, const Tuple& order);

// a + b of two values of layouts: integers, or coordinates (missing modes are 0). Integer 0 goes
// with both.
Tuple add(const Tuple& a, const Tuple& b);

}  // namespace lay
