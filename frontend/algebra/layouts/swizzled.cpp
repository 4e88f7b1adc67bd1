// Operations on swizzles and on composed layouts.

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/layouts/codomain.h"
#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

constexpr int64_t kMaxTable = int64_t{1} << 20;

bool is_zero(const Tuple& offset) {
  return offset.is_literal(0);
}

// Shifted down, a run of ones is 2^k - 1.
bool contiguous(uint64_t mask) {
  return mask == 0 || std::has_single_bit((mask >> std::countr_zero(mask)) + 1);
}

Swizzle in_unit(Swizzle s, const Unit& unit) {
  s.unit = unit;
  return s;
}

// s' with s'(a(x)) == a(s(x)) for x < span: the swizzle of the images of s's bit groups, if it
// keeps the law. Literal.
std::optional<Swizzle> moved_swizzle_known(Facts& facts, const Layout& a, const Swizzle& s,
                                           int64_t span) {
  // If a maps bits to bits, the images of the two masks are the masks of the swizzle behind it.
  const int64_t y = evaluate(facts, a, s.source_mask()).value().value();
  const int64_t z = evaluate(facts, a, s.target_mask()).value().value();
  const auto report = [&](const std::optional<Swizzle>& to) {
    trace::report([&] { return trace::Image{a, s, y, z, to}; });
    return to;
  };
  if (y <= 0 || z <= 0 || span > kMaxTable) return report(std::nullopt);
  const auto from = static_cast<uint64_t>(y), to = static_cast<uint64_t>(z);
  if (!contiguous(from) || !contiguous(to) || std::popcount(from) != s.b ||
      std::popcount(to) != s.b)
    return report(std::nullopt);
  const int low_from = std::countr_zero(from), low_to = std::countr_zero(to);
  if (std::abs(low_from - low_to) < s.b) return report(std::nullopt);
  const Swizzle moved =
      in_unit(Swizzle(s.b, std::min(low_from, low_to), low_from - low_to), a.units.codomain);
  // Masks alone do not prove it, since a may carry: every x is checked.
  for (int64_t x = 0; x < span; ++x) {
    const int64_t value = evaluate(facts, a, x).value().value();
    if (value < 0 || !(evaluate(facts, a, s(x)).value().is(moved(value))))
      return report(std::nullopt);
  }
  return report(moved);
}

// Beyond this index, and for multiples of it, s leaves the bits as they are: s(x + k*reach) == s(x)
// + k*reach.
// 2^t above all bits of s: what is above adds up without touching them.
int64_t reach_of(const Swizzle& s) {
  return int64_t{1} << std::bit_width(static_cast<uint64_t>(s.source_mask() | s.target_mask()));
}

// A layout by the indices within a swizzle's reach, all literal, and the steps between one reach
// and another.
struct Reaches {
  std::vector<Mode> within;
  std::vector<Int> steps;
};

//     (8,M):(1,ldc) at 64: within (8,8):(1,ldc), which needs a literal ldc, and M's part above
std::optional<Reaches> split_at(Facts& facts, const Layout& a, int64_t reach) {
  Reaches split;
  const std::vector<Mode> modes = flat_modes(coalesce(facts, a));
  const bool goes_on =
      !is_one(facts, flat_modes(a).back().extent);  // the last of these is a's last mode
  int64_t count = 1;
  for (size_t k = 0; k < modes.size(); ++k) {
    const Int &extent = modes[k].extent, &stride = modes[k].stride.value();
    if (count == reach) {
      split.steps.push_back(stride);
      continue;
    }
    const int64_t left = reach / count;
    const bool last = goes_on && k + 1 == modes.size(),
               whole = !last && extent.is_literal() && left % extent.value() == 0;
    if (!stride.is_literal() || !(last || whole || facts.proves(divides(extent, left))))
      return std::nullopt;
    split.within.push_back({whole ? extent : left, stride});
    if (!whole) split.steps.push_back(stride * left);
    count = whole ? count * extent.value() : reach;
  }
  if (count != reach) return std::nullopt;
  return split;
}

// As for literals within the reach of s, where steps from one reach to another leave alone the bits
// of s'.
std::optional<Swizzle> moved_swizzle(Facts& facts, const Layout& a, const Swizzle& s,
                                     const Int& domain) {
  if (s.b == 0) return s;
  if (a.has_basis()) return std::nullopt;
  if (a.is_known() && domain.is_literal() && domain.value() <= kMaxTable) {
    return moved_swizzle_known(facts, a, s, domain.value());
  }
  if (reach_of(s) > kMaxTable) return std::nullopt;
  const auto split = split_at(facts, a, reach_of(s));
  if (!split) return std::nullopt;
  Layout within = from_modes(split->within, {});
  within.units = a.units;
  const auto moved = moved_swizzle_known(facts, within, s, reach_of(s));
  const auto keeps = [&](const Int& step) {
    return facts.proves(less_equal(0, step)) && facts.proves(divides(step, reach_of(*moved)));
  };
  return moved && std::all_of(split->steps.begin(), split->steps.end(), keeps) ? moved
                                                                               : std::nullopt;
}

// The swizzle that does the same to indices below n: bits that none of them has need not be read.
Swizzle reading_below(const Swizzle& s, const Int& n) {
  if (s.b == 0 || !n.is_literal()) return s;
  // Source bits above those of n - 1 are always 0.
  const int64_t bits = std::bit_width(static_cast<uint64_t>(n.value() - 1)),
                low = std::countr_zero(static_cast<uint64_t>(s.source_mask()));
  return in_unit(Swizzle(std::clamp<int64_t>(bits - low, 0, s.b), s.m, s.s), s.unit);
}

// inverse(L) o Sw for a composed Sw o 0 o L.
Composed inverse(Facts& facts, const Composed& a, const Layout& inverted, const Swizzle& s) {
  if (!is_zero(a.offset)) {
    throw refusal("offset", "the inverse of " + a.to_string() + " needs offset 0",
                  "subtract the offset first");
  }
  return composition(facts, inverted, s);
}

// The unit in which a swizzle and what stands beside it count; the one of both that is known.
// A swizzle of bytes beside a layout of f16 elements: the refusal shows it recast, where both
// widths are powers of two.
Unit met(const Swizzle& s, const Unit& other, const std::string& beside) {
  if (may_meet(s.unit, other)) return s.unit.counts == Counts::none ? other : s.unit;
  Refusal r = refusal("units", s.to_string() + " counts " + s.unit.to_string() + " and " + beside +
                                   " " + other.to_string());
  const int from = bits(s.unit), to = bits(other);
  if (from > 0 && to > 0 && std::has_single_bit(static_cast<unsigned>(from)) &&
      std::has_single_bit(static_cast<unsigned>(to))) {
    const trace::Quiet quiet;
    r.works.push_back("the swizzle as " + recast(s, from, to).to_string() + ", which counts " +
                      other.to_string());
  } else {
    r.help = "recast converts between element types and bytes";
  }
  throw r;
}

Composed swizzled(const Swizzle& a, const Tuple& offset, Layout b) {
  const Unit unit = met(a, b.units.codomain, "the layout gives");
  b.units.codomain = unit;
  return {in_unit(a, unit), offset, std::move(b)};
}

trace::Begin composing(const Swizzle& a, const Tuple& offset, const Layout& b) {
  if (is_zero(offset)) return {"composition", {a, b}, {}, {}};
  return {"composition", {a, offset, b}, {"A", "offset", "B"}, {}};
}

template <typename Operation>
Composed on_inner(const Composed& a, const Operation& operation) {
  return {a.outer, a.offset, operation(a.layout())};
}

}  // namespace

// Both are linear over bits: a o b XORs the sources of both onto the targets, as long as neither
// reads what the other writes. Equal bits cancel, hence the XOR of the masks.
Swizzle composition(const Swizzle& a, const Swizzle& b) {
  trace::Operation operation("composition", a, b);
  const Unit unit = met(a, b.unit, b.to_string() + " counts");
  if (a.b == 0) return operation.gives(in_unit(b, unit));
  if (b.b == 0) return operation.gives(in_unit(a, unit));
  const uint64_t y = static_cast<uint64_t>(a.source_mask() ^ b.source_mask());
  if (a.s != b.s || !contiguous(y) || std::popcount(y) > std::abs(a.s)) {
    throw refusal("swizzle-shift", a.to_string() + " o " + b.to_string() + " is no swizzle",
                  "two swizzles merge if they shift equally, their bits are neighbours, and no bit "
                  "is read that the "
                  "other changes");
  }
  trace::report([&] { return trace::Together{a, b}; });
  const Swizzle both =
      y == 0 ? Swizzle(0, std::min(a.m, b.m), a.s)
             : Swizzle(std::popcount(y), std::countr_zero(y) - std::max<int64_t>(0, a.s), a.s);
  return operation.gives(in_unit(both, unit));
}

Composed composition(const Swizzle& a, const Layout& b) {
  return composition(a, 0, b);
}

Composed composition(const Swizzle& a, const Tuple& offset, const Layout& b) {
  trace::Operation operation(trace::heard() ? composing(a, offset, b) : trace::Begin{});
  trace::report([&] { return trace::Xors{a}; });
  return operation.gives(swizzled(a, offset, b));
}

Composed composition(Facts& facts, const Layout& a, const Swizzle& b) {
  trace::Operation operation("composition", a, b);
  static_cast<void>(met(b, a.units.domain, "the layout takes"));
  if (const auto moved = moved_swizzle(facts, a, b, size(a)))
    return operation.gives(Composed{*moved, 0, a});
  // A swizzle that reads beyond the layout's end does less there than it says.
  const Swizzle narrow = reading_below(b, size(a));
  if (narrow.b == 0) return operation.gives(Composed{in_unit(narrow, a.units.codomain), 0, a});
  if (narrow.b < b.b) {
    if (const auto moved = moved_swizzle(facts, a, narrow, size(a)))
      return operation.gives(Composed{*moved, 0, a});
  }
  return operation.gives(Composed{a, 0, b});
}

Composed composition(Facts& facts, const Composed& a, const Tiler& b) {
  return on_inner(a, [&](const Layout& inner) { return composition(facts, inner, b); });
}

const Swizzle& outer_swizzle(const char* operation, const Composed& a) {
  if (const Swizzle* s = std::get_if<Swizzle>(&a.outer)) return *s;
  throw refusal("no-swizzle", std::string(operation) + " of " + a.to_string() +
                                  ": the outer function is no swizzle");
}

Swizzle move_swizzle(Facts& facts, const Layout& a, const Swizzle& s, std::optional<Int> span) {
  if (const auto moved = moved_swizzle(facts, a, s, span ? *span : size(a))) return *moved;
  throw refusal("swizzle-unrepresentable",
                s.to_string() + " seen through " + a.to_string() + " is no swizzle",
                "a swizzle needs groups of neighbouring bits on both sides");
}

namespace {

// The most indices, no more than `most` and a multiple of `step`, at which a literal layout begins
// with a layout: whole modes and a part of one. 0: none.
//     (4,6):(6,1), most 16, step 8: 4*4 = 16 indices begin with (4,4):(6,1)
Int begin_of(const Layout& a, int64_t most, int64_t step) {
  int64_t whole = 1, found = 0;
  for (const Mode& mode : flat_modes(a)) {
    const int64_t count = step / gcd(step, whole);
    const int64_t parts = std::min(mode.extent.value(), most / whole) / count * count;
    found = std::max(found, parts * whole);
    if (mode.extent.value() > most / whole) break;
    whole *= mode.extent.value();
  }
  return found;
}

}  // namespace

// The swizzle stays within the inner inverse's domain where that is whole blocks, which is guarded
// where it is not known; and below the lowest bit that it reads it moves nothing.
Composed right_inverse(Facts& facts, const Composed& a) {
  const Swizzle& s = outer_swizzle("right_inverse", a);
  // (S o L)^-1 = L^-1 o S, since S is its own inverse; S must not lead out of L^-1's domain.
  const Layout whole = right_inverse(facts, a.layout());
  // The lowest source bit: below it the swizzle moves nothing.
  const Int below = s.source_mask() & -s.source_mask(), block = swizzle_block(s);
  if (facts.proves(less_equal(size(whole), below))) return inverse(facts, a, whole, s);
  if (facts.try_require(divides(size(whole), block), "right_inverse"))
    return inverse(facts, a, whole, s);
  const auto begin = [&](const Int& count) { return composition(facts, whole, Layout(count, 1)); };
  // Keeps the indices that are whole blocks, or those that the swizzle leaves alone, whichever are
  // more.
  if (whole.is_known()) {
    const Int blocks = begin_of(whole, size(whole).value(), block.value());
    if (less(below, blocks).is_always()) return inverse(facts, a, begin(blocks), s);
    return inverse(facts, a, begin(begin_of(whole, below.value(), 1)), Swizzle(0, s.m, s.s));
  }
  facts.require(less_equal(below, size(whole)), "right_inverse");
  return inverse(facts, a, begin(below), Swizzle(0, s.m, s.s));
}

Composed left_inverse(Facts& facts, const Composed& a) {
  const Swizzle& s = outer_swizzle("left_inverse", a);
  return inverse(facts, a, left_inverse(facts, a.layout()), s);
}

Composed logical_divide(Facts& facts, const Composed& a, const Tiler& t) {
  return on_inner(a, [&](const Layout& inner) { return logical_divide(facts, inner, t); });
}

Composed zipped_divide(Facts& facts, const Composed& a, const Tiler& t) {
  return on_inner(a, [&](const Layout& inner) { return zipped_divide(facts, inner, t); });
}

Composed tiled_divide(Facts& facts, const Composed& a, const Tiler& t) {
  return on_inner(a, [&](const Layout& inner) { return tiled_divide(facts, inner, t); });
}

Composed flat_divide(Facts& facts, const Composed& a, const Tiler& t) {
  return on_inner(a, [&](const Layout& inner) { return flat_divide(facts, inner, t); });
}

Composed tile_to_shape(Facts& facts, const Composed& a, const Tuple& shape) {
  return on_inner(a, [&](const Layout& inner) { return tile_to_shape(facts, inner, shape); });
}

Composed tile_to_shape(Facts& facts, const Composed& a, const Tuple& shape, const Tuple& order) {
  return on_inner(a,
                  [&](const Layout& inner) { return tile_to_shape(facts, inner, shape, order); });
}

// Turns the fixed coordinates into an offset, evaluated with 0 for all that stays open.
Slice slice_and_offset(Facts& facts, const Tuple& coordinate, const Layout& a) {
  const Tuple zeros = transform(coordinate, [](const Tuple& leaf) -> Tuple {
    return leaf.is_underscore() ? Tuple(0) : leaf;
  });
  return {slice(coordinate, a), crd2idx(facts, zeros, a.shape, a.stride)};
}

Layout slice(const Tuple& coordinate, const Layout& a) {
  const Tuple shape = slice(coordinate, a.shape);  // first: it is what a refusal names
  return Layout(shape, slice(coordinate, a.stride), a.units,
                a.names ? mode_names(slice(coordinate, *a.names)) : nullptr);
}

Layout dice(const Tuple& coordinate, const Layout& a) {
  const Tuple shape = dice(coordinate, a.shape);
  return Layout(shape, dice(coordinate, a.stride), a.units,
                a.names ? mode_names(dice(coordinate, *a.names)) : nullptr);
}

Composed slice(Facts& facts, const Tuple& coordinate, const Composed& a) {
  const Slice inner = slice_and_offset(facts, coordinate, a.layout());
  return {a.outer, add(a.offset, inner.offset), inner.sub};
}

namespace {

// The smallest index of a value of a known layout that can be walked through; refuses where no
// index has it.
std::optional<Int> walked_index(const Layout& a, const Int& value) {
  if (!a.is_known() || !value.is_literal() || size(a).value() > kMaxTable) return std::nullopt;
  const std::vector<int64_t> all = values(a);
  if (const auto at = std::find(all.begin(), all.end(), value.value()); at != all.end()) {
    return Int(static_cast<int64_t>(at - all.begin()));
  }
  Refusal r = refusal("not-compact", value.to_string() + " is no value of " + a.to_string());
  if (!all.empty()) {
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    r.help = "its values lie in " + std::to_string(*least) + " .. " + std::to_string(*most);
  }
  throw r;
}

// Compact layouts of any size by division; others by their values.
// A compact layout is undone by dividing by its strides: idx2crd with strides in place of extents'
// products.
Int index_of_value(Facts& facts, const Layout& a, const Int& value) {
  if (a.has_basis())
    throw refusal("not-integer", "the values of " + a.to_string() + " are coordinates already");
  const Int index = crd2idx(facts, idx2crd(facts, value, filter_zeros(a).shape, a.stride), a.shape);
  const auto covers_all = [&] {
    const trace::Quiet aside;
    return facts.proves(equal(size(known_right_inverse(facts, a)), size(a)));
  };
  if (covers_all()) {  // the values are 0 .. size - 1
    const bool inside = facts.try_require(less_equal(0, value), "a coordinate of a value") &&
                        facts.try_require(less(value, size(a)), "a coordinate of a value");
    if (inside) return index;
  }
  // Not known to be compact: the division is checked by mapping its result back.
  const Tuple back = evaluate(facts, a, index);
  if (facts.try_require(equal(back, Tuple(value)), "a coordinate of a value")) return index;
  if (const auto walked = walked_index(a, value)) return *walked;
  throw refusal("not-compact", value.to_string() + " is no value of " + a.to_string() +
                                   ", or the layout is not compact: " + index.to_string() +
                                   " maps to " + back.to_string());
}

}  // namespace

Tuple get_hier_coord(Facts& facts, const Layout& a, const Int& value) {
  return idx2crd(facts, index_of_value(facts, a, value), a.shape);
}

Tuple get_flat_coord(Facts& facts, const Layout& a, const Int& value) {
  const Int index = index_of_value(facts, a, value);
  return a.rank() == 1 ? Tuple(index) : idx2crd(facts, index, product_each(a.shape));
}

Int get_1d_coord(Facts& facts, const Layout& a, const Int& value) {
  return index_of_value(facts, a, value);
}

}  // namespace lay
