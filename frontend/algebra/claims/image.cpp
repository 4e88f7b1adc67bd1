// inside, surjective, bijective, covers: where the values of a layout lie.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "frontend/algebra/claims/axes.h"
#include "frontend/algebra/claims/collision.h"
#include "frontend/algebra/claims/judge.h"
#include "frontend/algebra/layouts/codomain.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay {
namespace {

// --- what a failure says -------------------------------------------------------------------------

std::string element_text(const Tuple& shape, int64_t index) {
  Facts facts;
  return shape.is_leaf() ? std::to_string(index) : idx2crd(facts, index, shape).to_string();
}

Conclusion outside_at(const AnyLayout& a, int64_t index, const Tuple& shape) {
  const std::string range =
      shape.is_leaf() ? "0 .. " + std::to_string(size(shape).value() - 1) : shape.to_string();
  return fails_at(a, index, "outside " + range);
}

// An element that the layout never gives has no index: the failure holds the element itself.
Conclusion left_out(const Tuple& shape, int64_t index) {
  Failure f;
  f.expected = element_text(shape, index);
  f.sentence = f.expected + " is no value";
  return {Verdict::refuted, std::move(f)};
}

// --- known numbers -------------------------------------------------------------------------------

// The parts in which a layout can be decided without walking through it: a swizzle keeps every
// block of its own size whole, and so 0 .. n-1 where n is a multiple.
struct Parts {
  Known known;
  std::vector<Side> sides;
  std::optional<Swizzle> swizzle;
};

// The smallest number that is no value. Under a swizzle v is one where the layout inside gives
// Sw(v), which is asked for one v after the other.
Missing first_missing(const Parts& parts, const Tuple& shape) {
  // A swizzle permutes 0 .. n-1, as n is a multiple of its block. So something is missing under it
  // exactly where something is missing without it, though elsewhere.
  const Missing missing = first_missing(parts.known, parts.sides);
  if (!parts.swizzle || missing.answer != Tri::yes) return missing;
  const std::vector<Bounded> terms = parts.known.terms(0);
  int steps = kKnownSteps;
  for (int64_t v = 0; v < size(shape).value(); ++v) {
    const Wide target = (*parts.swizzle)(v)-parts.known.offsets[0];
    // One step less for each v asked, so that the loop ends even where every question is answered
    // at once.
    const Tri answer = solvable(terms, {&target, 1}, --steps);
    if (answer != Tri::yes) return {answer == Tri::no ? Tri::yes : answer, v};
  }
  return {Tri::no};
}

std::optional<Parts> parts_of(const AnyLayout& a, const Tuple& shape) {
  auto parts = known_stripped(a);
  if (!parts) return std::nullopt;
  // A shape that ends inside a block may be left by the swizzle: Sw<2,0,2>, whose block is 4, takes
  // 4 to 5, which is outside 0 .. 4.
  if (parts->swizzle && size(shape).value() % swizzle_block(*parts->swizzle) != 0)
    return std::nullopt;
  std::vector<Side> sides = sides_of(parts->known, shape);
  return Parts{std::move(parts->known), std::move(sides), parts->swizzle};
}

Conclusion decide_inside(const std::vector<AnyLayout>& layouts, const std::vector<Tuple>& numbers,
                         int64_t most) {
  const AnyLayout& a = layouts[0];
  const Tuple& shape = numbers[0];
  if (const auto parts = parts_of(a, shape)) {
    const auto first = first_outside(parts->known, parts->sides);
    return first ? outside_at(a, *first, shape) : Conclusion{Verdict::proved, {}};
  }
  const auto values = walked(a, most);
  if (!values) return {};
  const int64_t n = size(shape).value();
  for (size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] < 0 || (*values)[i] >= n) return outside_at(a, static_cast<int64_t>(i), shape);
  }
  return {Verdict::proved, {}};
}

Conclusion decide_surjective(const std::vector<AnyLayout>& layouts,
                             const std::vector<Tuple>& numbers, int64_t most) {
  const Tuple& shape = numbers[0];
  if (const auto parts = parts_of(layouts[0], shape)) {
    const Missing missing = first_missing(*parts, shape);
    if (missing.answer == Tri::no) return {Verdict::proved, {}};
    if (missing.answer == Tri::yes) return left_out(shape, missing.index);
  }
  const auto values = walked(layouts[0], most);
  if (!values) return {};
  const std::unordered_set<int64_t> found(values->begin(), values->end());
  for (int64_t v = 0; v < size(shape).value(); ++v) {
    if (!found.count(v)) return left_out(shape, v);
  }
  return {Verdict::proved, {}};
}

Conclusion covers_by_values(const AnyLayout& a, const Tuple& shape, int64_t most) {
  const auto values = walked(a, most);
  if (!values) return {};
  const int64_t n = size(shape).value();
  std::unordered_map<int64_t, int64_t> first;
  for (size_t i = 0; i < values->size(); ++i) {
    const int64_t value = (*values)[i], index = static_cast<int64_t>(i);
    if (value < 0 || value >= n) return outside_at(a, index, shape);
    const auto [at, fresh] = first.try_emplace(value, index);
    if (!fresh) return repeated_at(a, index, at->second);
  }
  for (int64_t v = 0; v < n; ++v) {
    if (!first.count(v)) return left_out(shape, v);
  }
  return {Verdict::proved, {}};
}

// Covers: every element of the shape exactly once. It fails in one of three ways, of which the one
// at the smallest index is reported: a value outside, a value repeated, an element left out.
Conclusion decide_covers(const std::vector<AnyLayout>& layouts, const std::vector<Tuple>& numbers,
                         int64_t most) {
  const AnyLayout& a = layouts[0];
  const Tuple& shape = numbers[0];
  const auto parts = parts_of(a, shape);
  if (!parts) return covers_by_values(a, shape, most);
  IndexPair pair;
  const Tri repeats = collision(parts->known, pair);
  if (repeats == Tri::unknown) return covers_by_values(a, shape, most);
  const auto outside = first_outside(parts->known, parts->sides);
  // A repetition is at its second index; a value outside at an index up to that comes first.
  if (outside && (repeats == Tri::no || *outside <= pair.second))
    return outside_at(a, *outside, shape);
  if (repeats == Tri::yes) return repeated_at(a, pair.second, pair.first);
  // The values are as many as the elements, none outside, none twice: so none is left out.
  if (parts->known.size == size(shape).value()) return {Verdict::proved, {}};
  const Missing missing = first_missing(*parts, shape);
  if (missing.answer == Tri::yes) return left_out(shape, missing.index);
  return covers_by_values(a, shape, most);
}

// --- symbols -------------------------------------------------------------------------------------

// The extent that the shape has for an axis; nothing if it has none.
std::optional<Int> extent_for(const Tuple& shape, const std::vector<int>& path) {
  // An axis 1@0@2 leads to mode 0 of mode 2: a path is walked from the outermost mode inwards.
  Tuple part = shape;
  for (const int k : path) {
    if (part.is_leaf() || k >= part.rank()) return std::nullopt;
    part = part[k];
  }
  return size(part);
}

// The conditions under which all values lie inside the shape, exactly; nothing where an axis leads
// to no part of it.
std::optional<std::vector<Predicate>> inside_where(Facts& facts, const Stripped& parts,
                                                   const Tuple& shape) {
  std::vector<Predicate> all;
  std::vector<SymbolicAxis> axes = axes_of(parts.layout);
  if (!parts.offset.is_int()) return std::nullopt;
  // A layout whose modes all have extent 1 has no axis, but the one value that its offset is: an
  // axis without modes stands for it.
  if (axes.empty() && !parts.layout.has_basis()) axes.push_back({});
  for (const SymbolicAxis& axis : axes) {
    const auto extent = extent_for(shape, axis.path);
    if (!extent || (!axis.path.empty() && !parts.offset.is_literal(0))) return std::nullopt;
    const Reach reach = reach_of(facts, axis);
    all.push_back(less_equal(0, parts.offset.value() + reach.low));
    all.push_back(less(parts.offset.value() + reach.high, *extent));
  }
  return all;
}

std::optional<Stripped> symbolic_parts(Facts& facts, const AnyLayout& a, const Tuple& shape) {
  auto parts = stripped(a);
  if (!parts) return std::nullopt;
  if (parts->swizzle && !facts.proves(divides(size(shape), swizzle_block(*parts->swizzle))))
    return std::nullopt;
  return parts;
}

// Values 0 .. reach are dense, and copies of them at distance d leave no gap if d <= reach + 1.
Predicate leaves_no_gap(const Int& reach, const SymbolicMode& mode) {
  return less_equal(mode.stride, reach + 1);
}

// Along every part of the shape the values are dense from 0 to its end.
std::optional<std::vector<Predicate>> surjective_where(Facts& facts, const Stripped& parts,
                                                       const Tuple& shape) {
  const std::vector<SymbolicAxis> axes = axes_of(parts.layout);
  if (!parts.offset.is_literal(0)) return std::nullopt;
  std::vector<Predicate> all;
  // The extents of the axes that are covered, multiplied: they must be the whole shape, or a mode
  // of the shape has no axis that moves along it.
  Int met = 1;
  for (const SymbolicAxis& axis : axes) {
    const auto extent = extent_for(shape, axis.path);
    const Reach reach = reach_of(facts, axis);
    auto open = fewest_open(facts, axis.modes, 0, leaves_no_gap);
    if (!extent || !open || !reach.low.is(0)) return std::nullopt;
    all.insert(all.end(), open->begin(), open->end());
    all.push_back(less_equal(*extent, reach.high + 1));
    met *= *extent;
  }
  all.push_back(equal(met, size(shape)));
  return all;
}

std::optional<std::vector<Predicate>> joined(std::optional<std::vector<Predicate>> a,
                                             const std::vector<Predicate>& b) {
  if (a) a->insert(a->end(), b.begin(), b.end());
  return a;
}

}  // namespace

Conclusion inside(Facts& facts, const AnyLayout& a, const Tuple& n) {
  Claim claim{{a}, {n}, std::nullopt, {}, decide_inside};
  if (const auto parts = symbolic_parts(facts, a, n)) {
    claim.enough = inside_where(facts, *parts, n);
    // The bounds are reached by values of the layout: they are conditions both ways.
    claim.exact = claim.enough.has_value();
    if (claim.enough) claim.needed = *claim.enough;
  }
  return judge(facts, claim);
}

Conclusion surjective(Facts& facts, const AnyLayout& a, const Tuple& n) {
  Claim claim{{a}, {n}, std::nullopt, {}, decide_surjective};
  if (const auto parts = symbolic_parts(facts, a, n)) {
    claim.enough = surjective_where(facts, *parts, n);
    // A layout has at most as many values as coordinates.
    claim.needed = {less_equal(size(n), size(parts->layout))};
  }
  return judge(facts, claim);
}

Conclusion covers(Facts& facts, const AnyLayout& a, const Tuple& shape) {
  Claim claim{{a}, {shape}, std::nullopt, {}, decide_covers};
  if (const auto parts = symbolic_parts(facts, a, shape)) {
    claim.needed = {equal(size(parts->layout), size(shape))};
    if (const auto in = inside_where(facts, *parts, shape)) {
      claim.enough = joined(joined(injective_where(facts, parts->layout), *in), claim.needed);
      claim.needed.insert(claim.needed.end(), in->begin(), in->end());
    }
  }
  return judge(facts, claim);
}

Conclusion bijective(Facts& facts, const AnyLayout& a) {
  const auto parts = stripped(a);
  const bool coordinates = parts && parts->layout.has_basis();
  // Integers: onto 0 .. size-1. Coordinates: onto the smallest shape that holds them all.
  return covers(facts, a, coordinates ? coshape(facts, parts->layout) : Tuple(size_of(a)));
}

}  // namespace lay
