#pragma once

// The algebra of layouts. Every operation states its law; what it cannot keep it refuses (throws
// Refusal) or, where that depends on symbols, raises as a guard in the current scope of the facts.
// No operation returns a layout that breaks its law.
//
// |L| is size(L); L(i) is the value at 1-D index i. Definitions and names: CuTe 4.x; where CuTe's
// result breaks the law stated here, the result is another one or a refusal.
//
// Units: results carry the domain of what they take coordinates for and the codomain of what they
// give; two different known units that would have to meet are Refusal "units".
//
// The law of symbols: where the guards hold, putting numbers for the symbols into the result gives
// the same function as the operation on the numbers.

#include <span>
#include <variant>
#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {

// A tiler of a layout: a layout, a number n (the layout n:1), `_` (leave the mode), or a tuple of
// these, one for each mode.
struct Tiler {
  struct Keep {};
  std::variant<Layout, Int, Keep, std::vector<Tiler>> value;

  Tiler(Layout layout) : value(std::move(layout)) {}
  Tiler(Int n) : value(std::move(n)) {}
  template <std::integral T>
  Tiler(T n) : value(Int(n)) {}
  Tiler(Keep keep) : value(keep) {}
  explicit Tiler(std::vector<Tiler> modes) : value(std::move(modes)) {}
  // A tuple of integers and underscores.
  static Tiler of(const Tuple& t);
  // The layout of a tile that is a layout or a number; 1:0 for 1, as divides and products take it.
  Layout layout() const;
  std::string to_string() const;
};

// --- Making layouts ------------------------------------------------------------------------------

// Compact, left-most fastest.
Layout make_layout(const Tuple& shape);
// Compact, right-most fastest.
Layout make_layout_right(const Tuple& shape);
// One mode for each layout.
Layout make_layout(std::span<const Layout> modes);
Layout make_ordered_layout(const Tuple& shape, const Tuple& order);
// Compact with a's shape, in the order of a's strides; stride 0 stays.
Layout make_layout_like(const Layout& a);
// Registers for a tile of a: mode 0 packed first, left-most fastest, with stride 0 where a has it;
// then every other mode, also those of stride 0, in the order of a's strides.
Layout make_fragment_like(const Layout& a);
// Law: L(c) == c.
Layout make_identity_layout(const Tuple& shape);

// --- Inspection ----------------------------------------------------------------------------------

Layout get(const Layout& a, std::span<const int> path);
Int size(const Layout& a);
// 1 + the largest value, for strides of any sign: 1 + sum (s-1)*|d|. The size of coshape for basis
// strides.
Int cosize(Facts& facts, const Layout& a);
// The exclusive upper corner of the values: cosize, or a tuple for basis strides.
Tuple coshape(Facts& facts, const Layout& a);

// --- Structure: the function is kept, up to the order of modes -----------------------------------

Layout select(const Layout& a, std::span<const int> modes);
Layout take(const Layout& a, int begin, int end);
Layout group(const Layout& a, int begin, int end);
Layout flatten(const Layout& a);
Layout unflatten(const Layout& a, const Tuple& profile);
Layout append(const Layout& a, const Layout& x);
Layout append(const Layout& a, const Layout& x, int rank);
Layout prepend(const Layout& a, const Layout& x);
Layout prepend(const Layout& a, const Layout& x, int rank);
Layout replace(const Layout& a, int mode, const Layout& x);
Layout zip(const Layout& a);
Layout zip(const Layout& a, const Layout& b);

// ((A,a),(B,b),c) -> ((A,B),(a,b,c)), guided by the tiler: a leaf of it takes a mode of rank 2
// (Refusal "not-a-pair" otherwise; under `_` any other mode is a tile of its own, with a rest of
// one place), a tuple recurses. Gathers tiles and rests of a divide or product: zipped_divide(A,T)
// = zip2_by(logical_divide(A,T), T).
Layout zip2_by(const Layout& a, const Tiler& guide);

// --- Slicing -------------------------------------------------------------------------------------

// The sublayout under `_` and the value of the fixed part. Law: sub(c) + offset == a(coordinate
// with c for the underscores).
struct Slice {
  Layout sub;
  Tuple offset;
};
Slice slice_and_offset(Facts& facts, const Tuple& coordinate, const Layout& a);
Layout slice(const Tuple& coordinate, const Layout& a);
Layout dice(const Tuple& coordinate, const Layout& a);
// The fixed part goes into the offset; the rest stays composed. Law: result(c) == a(coordinate with
// c for the underscores).
Composed slice(Facts& facts, const Tuple& coordinate, const Composed& a);

// Coordinates of an offset of a compact layout. Law: a(get_hier_coord(a, v)) == v. Refusal
// "not-compact" where that fails.
Tuple get_hier_coord(Facts& facts, const Layout& a, const Int& value);
Tuple get_flat_coord(Facts& facts, const Layout& a, const Int& value);
Int get_1d_coord(Facts& facts, const Layout& a, const Int& value);

// --- Simplification ------------------------------------------------------------------------------

// Law: |R| == |a|, depth(R) <= 1, R(i) == a(i) for 0 <= i < |a|. Adjacent modes s0:d0, s1:s0*d0
// merge, modes of extent 1 go. (192,M):(1,192) gives 192*M:1. Modes whose merging is not proved
// stay as they are: coalesce never guards and never refuses.
Layout coalesce(Facts& facts, const Layout& a);
// Mode by mode where the profile is a tuple; modes beyond it are kept. Refusal "rank" if the
// profile has more modes.
Layout coalesce(Facts& facts, const Layout& a, const Tuple& profile);
// Extent 1 where the stride is 0. Law: the same image.
Layout filter_zeros(const Layout& a);
Layout filter_zeros(const Layout& a, const Tuple& profile);
// coalesce(filter_zeros(a)).
Layout filter(Facts& facts, const Layout& a);
Layout filter(Facts& facts, const Layout& a, const Tuple& profile);

// --- Composition ---------------------------------------------------------------------------------

// Law: compatible(b.shape, R.shape), and R(c) == a(b(c)) for every coordinate c of b; beyond its
// size, a's last mode goes on. Refuses what is no layout of b's profile: "composition-stride" (a
// mode of b steps by what neither divides nor is divided by a mode of a), "composition-shape" (its
// extent leaves a mode of a unevenly), "composition-carry" (two modes of b together carry out of a
// mode of a), with the smallest coordinate where a(b(c)) is not what the nearest layout would give.
// Literal operands of up to 2^20 elements are refused only where no layout of b's profile exists.
// Symbols: divisibility that is not decided is guarded. b with basis strides addresses the modes of
// a.
Layout composition(Facts& facts, const Layout& a, const Layout& b);
// By mode: R mode k is a[k] o tiler[k]; `_` keeps the mode; an integer n is n:1; modes of a beyond
// the tiler are dropped.
Layout composition(Facts& facts, const Layout& a, const Tiler& tiler);
// Swizzles. Sw o Sw with the same shift merges (else Refusal "swizzle-shift"); Sw o L stays
// composed; on a composed layout the right side goes to the inner layout. Where two swizzles meet,
// the one is moved through the layouts between them and the two merge; Refusal "offset" if an
// offset stands between them.
Swizzle composition(const Swizzle& a, const Swizzle& b);
Composed composition(const Swizzle& a, const Layout& b);
Composed composition(const Swizzle& a, const Tuple& offset, const Layout& b);
AnyLayout composition(Facts& facts, const Composed& a, const Layout& b);
AnyLayout composition(Facts& facts, const Composed& a, const Composed& b);
Composed composition(Facts& facts, const Composed& a, const Swizzle& b);
Composed composition(Facts& facts, const Swizzle& a, const Composed& b);
Composed composition(Facts& facts, const Composed& a, const Tiler& b);
// A layout after a swizzle: Sw' o 0 o a where move_swizzle gives Sw', else a o 0 o Sw, which has no
// shape.
Composed composition(Facts& facts, const Layout& a, const Swizzle& b);
// A layout after a swizzled layout: Sw' o a(offset) o (a o inner), as far as a lets both through;
// else a refusal.
AnyLayout composition(Facts& facts, const Layout& a, const Composed& b);
// The swizzle s' with s'(a(x)) == a(s(x)) for 0 <= x < span; without a span for x < |a|. Refusal
// "swizzle-unrepresentable".
Swizzle move_swizzle(Facts& facts, const Layout& a, const Swizzle& s,
                     std::optional<Int> span = std::nullopt);

// R = a with another shape of the same size: composition(a, make_layout(shape)). Requires
// size(shape) == |a|.
Layout with_shape(Facts& facts, const Layout& a, const Tuple& shape);

// --- Complement and inverses ---------------------------------------------------------------------

// Law: R has ascending positive strides; no value of R but 0 is a difference of two values of a, so
// that a and R side by side are injective where a is (modes of stride 0 aside); and the cosize or
// the greatest stride*extent of a and R reaches size(cotarget). Without a cotarget:
// cosize(filter(a)). Gaps that a leaves are filled as far as whole copies of what stands below fit
// in, as in CuTe; modes that interleave, as in (2,2):(2,3), count as one block, which only gaps
// below their common divisor enter. A stride below 0 counts by its magnitude. Refusal
// "complement-overlap" if a is not injective (or if the steps of that decision end and a mode steps
// by less than those below it cover). Symbols: strides ascend as written where nothing else is
// known, and that they do is guarded.
Layout complement(Facts& facts, const Layout& a);
Layout complement(Facts& facts, const Layout& a, const Tuple& cotarget);
// Law: a(R(i)) == i for 0 <= i < |R|, where R goes as far as strides 1, s0, s0*s1, ... are found in
// coalesce(a). A symbolic stride that may or may not continue is taken not to, and that is guarded.
Layout right_inverse(Facts& facts, const Layout& a);
// Law: R(a(i)) is an index of a, and a(R(a(i))) == a(i), for 0 <= i < |a|. CuTe's form where the
// strides, in ascending order, divide one another and no mode covers more than the step of the next
// (all strides below 0: its mirror image, R(-v) == -R(v)); for literal a of up to 2^20 elements any
// layout that does it. Refusal "left-inverse" if there is none, or none was found, which it says.
// Symbols: CuTe's conditions are guarded.
Layout left_inverse(Facts& facts, const Layout& a);
Composed right_inverse(Facts& facts, const Composed& a);
Composed left_inverse(Facts& facts, const Composed& a);
// Law: a(R(i)) == 0: the modes of stride 0, as a layout into a's domain.
Layout nullspace(const Layout& a);
// Law: a(R(i)) == i and b(R(i)) == i for i < |R|: the longest vector that both hold in the same
// order, as far as the facts show it (a bound: nothing is guarded).
Layout max_common_layout(Facts& facts, const Layout& a, const Layout& b);
Int max_common_vector(Facts& facts, const Layout& a, const Layout& b);
Layout max_common_layout(Facts& facts, const AnyLayout& a, const AnyLayout& b);
Int max_common_vector(Facts& facts, const AnyLayout& a, const AnyLayout& b);
// The greatest n such that every value of a is a multiple of n, apart from a leading run of n
// consecutive values: upcast(a, n) is exact. Symbolic strides count by what the facts say of them.
Int max_alignment(Facts& facts, const Layout& a);
Int max_alignment(const Swizzle& s);

// --- Divides and products
// ------------------------------------------------------------------------------------------- In
// Lay these are `def`s of the standard library over composition, complement, zip2_by, append and
// zip; the same equations stand here because planning a kernel tiles its operands without a script.

// a o (t, tile_starts(a, t)). A tuple tiler divides mode by mode; modes beyond it and modes under
// `_` are kept. Rounds up as CuTe does where the extension of a's last mode is exact; where it is
// not, the composition refuses or guards.
Layout logical_divide(Facts& facts, const Layout& a, const Tiler& t);
// complement(tile, shape(coalesce(a))): where the tiles of a divide begin. Symbols: where it rounds
// up, that modes which may coalesce do not is guarded.
Layout tile_starts(Facts& facts, const Layout& a, const Layout& tile);
// ((tile),(rest))
Layout zipped_divide(Facts& facts, const Layout& a, const Tiler& t);
// ((tile),rest...); a rest of one mode stays whole.
Layout tiled_divide(Facts& facts, const Layout& a, const Tiler& t);
// (tile...,rest...), likewise.
Layout flat_divide(Facts& facts, const Layout& a, const Tiler& t);
// (a, complement(a, |a|*cosize(t)) o t), with cosize(a) for |a| where a has gaps and the complement
// is too short for t.
Layout logical_product(Facts& facts, const Layout& a, const Tiler& t);
Layout zipped_product(Facts& facts, const Layout& a, const Tiler& t);
Layout tiled_product(Facts& facts, const Layout& a, const Tiler& t);
Layout flat_product(Facts& facts, const Layout& a, const Tiler& t);
// Mode i is (a_i, t_i)
Layout blocked_product(Facts& facts, const Layout& a, const Layout& t);
// Mode i is (t_i, a_i)
Layout raked_product(Facts& facts, const Layout& a, const Layout& t);
// a repeated to fill the shape, blocks in left-most order or in `order`. Requires that a's shape
// divides the target.
Layout tile_to_shape(Facts& facts, const Layout& a, const Tuple& shape);
Layout tile_to_shape(Facts& facts, const Layout& a, const Tuple& shape, const Tuple& order);

// Divides act on the inner layout of a composed one.
Composed logical_divide(Facts& facts, const Composed& a, const Tiler& t);
Composed zipped_divide(Facts& facts, const Composed& a, const Tiler& t);
Composed tiled_divide(Facts& facts, const Composed& a, const Tiler& t);
Composed flat_divide(Facts& facts, const Composed& a, const Tiler& t);
Composed tile_to_shape(Facts& facts, const Composed& a, const Tuple& shape);
Composed tile_to_shape(Facts& facts, const Composed& a, const Tuple& shape, const Tuple& order);

// --- Element width -------------------------------------------------------------------------------

// n neighbouring elements become one word. Law: mode by mode (stride d, extent s) R counts the
// distinct words floor(i*d/n), i < s, in order, and the words of the modes add up to those of their
// sums: the words of R are floor(a(c)/n). So d a multiple of n gives s:d/n, d dividing n gives
// ceil_div(s, n/d):1 (the last word may hold fewer elements), 0 stays, 4:3 by 2 gives (2,2):(1,3).
// A negative stride counts from the far end. Refusal "upcast" where the words of a mode are those
// of no layout, or where modes that share words together reach beyond one.
Layout upcast(Facts& facts, const Layout& a, const Int& n);
// Every element becomes n. Law: |R| == n*|a|, and R gives n*a(c) + j for every c and 0 <= j < n.
// The mode of stride 1 (or -1) gets extent s*n, others stride d*n; of several of stride 1 the first
// of more than one element is widened, and without one a mode of extent 1. Refusal "downcast" if
// there is none.
Layout downcast(Facts& facts, const Layout& a, const Int& n);
// From elements of `from` bits to elements of `to` bits: upcast, downcast, or both. Sets the units
// where types are given.
Layout recast(Facts& facts, const Layout& a, int from_bits, int to_bits);
Layout recast(Facts& facts, const Layout& a, ElementType from, ElementType to);
// N a power of two: Refusal "swizzle-power"
Swizzle upcast(const Swizzle& s, int64_t n);
Swizzle downcast(const Swizzle& s, int64_t n);
Swizzle recast(const Swizzle& s, int from_bits, int to_bits);
Swizzle recast(const Swizzle& s, ElementType from, ElementType to);
Composed upcast(Facts& facts, const Composed& a, const Int& n);
Composed downcast(Facts& facts, const Composed& a, const Int& n);
Composed recast(Facts& facts, const Composed& a, int from_bits, int to_bits);
Composed recast(Facts& facts, const Composed& a, ElementType from, ElementType to);

// A layout R of size <= n over the domain S that gives as many workers equal shares, greedily: R
// maps 0 .. |R|-1 into S's 1-D indices. Each extent of S is shared by the greatest number that
// divides it and what is left of n; of symbols, by the greatest of which that is known. Refusal
// "extent" for a literal n below 1.
Layout domain_distribute(Facts& facts, const Tuple& shape, const Int& n);

}  // namespace lay
