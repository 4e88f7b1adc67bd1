// Making, inspecting and rearranging layouts.

#include <algorithm>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/layouts/unit_check.h"

namespace lay {
namespace {

// The same on shape, stride and names. The shape first: it is what a refusal names.
template <typename Operation>
Layout on_both(const Layout& a, const Operation& operation) {
  const Tuple shape = operation(a.shape);
  Layout result(shape, operation(a.stride), a.units);
  if (a.names) result.names = mode_names(operation(*a.names));
  return result;
}

// The same on those of two layouts.
template <typename Operation>
Layout on_both(const Layout& a, const Layout& b, const Units& units, const Operation& operation) {
  const Tuple shape = operation(a.shape, b.shape);
  Layout result(shape, operation(a.stride, b.stride), units);
  if (a.names || b.names) result.names = mode_names(operation(name_numbers(a), name_numbers(b)));
  return result;
}

// 1@0, 1@1@2, ...: a coordinate maps to itself.
Tuple identity_strides(const Tuple& shape, std::vector<int>& path) {
  if (shape.is_leaf()) return Tuple::basis(1, path);
  std::vector<Tuple> modes;
  for (int i = 0; i < shape.rank(); ++i) {
    path.push_back(i);
    modes.push_back(identity_strides(shape[i], path));
    path.pop_back();
  }
  return Tuple(std::move(modes));
}

// A unit that is not known is no objection. Modes may take what differs, threads and values, and
// nothing is said of both; what they give is added.
//     (thread, value): threads beside values give a layout that takes neither alone
Unit common_domain(const Unit& a, const Unit& b) {
  if (a.counts == Counts::none) return b;
  return a == b || b.counts == Counts::none ? a : Unit{};
}

Units common_units(const Units& a, const Units& b) {
  return {common_domain(a.domain, b.domain), common_codomain(a.codomain, b.codomain)};
}

Units with_codomain(const Layout& a, const Layout& x) {
  return {a.units.domain, common_codomain(a.units.codomain, x.units.codomain)};
}

Int magnitude(Facts& facts, const Int& a) {
  return facts.max(a, -a);
}

const std::vector<Tiler>* tuple_of(const Tiler& tiler) {
  return std::get_if<std::vector<Tiler>>(&tiler.value);
}

// Tiles and rests of one mode, gathered: ((tiles), rest...). `one` is what a mode of one place has
// here.
//     ((2,3),(4,5)) by a tiler of two modes:  ((2,4),(3,5))
Tuple gather(const Tuple& t, const Tiler& guide, const Tuple& one) {
  const std::vector<Tiler>* modes = tuple_of(guide);
  if (!modes) {
    if (t.is_leaf() || t.rank() != 2) {
      if (std::holds_alternative<Tiler::Keep>(guide.value)) return tuple(t, one);
      throw refusal("not-a-pair", "the mode " + t.to_string() + " is no pair of a tile and a rest",
                    "give every mode that is gathered a tile of its own");
    }
    return t;
  }
  std::vector<Tuple> tiles, rests;
  for (size_t i = 0; i < modes->size(); ++i) {
    const Tuple split = gather(t[static_cast<int>(i)], (*modes)[i], one);
    tiles.push_back(split[0]);
    rests.push_back(split.rank() == 2 ? split[1] : take(split, 1, split.rank()));
  }
  for (int i = static_cast<int>(modes->size()); i < t.rank(); ++i) rests.push_back(t[i]);
  return tuple(Tuple(std::move(tiles)), Tuple(std::move(rests)));
}

}  // namespace

Tiler Tiler::of(const Tuple& t) {
  if (t.is_underscore()) return Keep{};
  if (t.is_leaf()) {
    if (!t.is_int()) throw refusal("not-integer", t.to_string() + " is no tile");
    return t.value();
  }
  std::vector<Tiler> modes;
  for (const Tuple& mode : t.modes()) modes.push_back(of(mode));
  return Tiler(std::move(modes));
}

Layout Tiler::layout() const {
  if (const Int* n = std::get_if<Int>(&value)) return make_layout(*n);
  return std::get<Layout>(value);
}

std::string Tiler::to_string() const {
  if (const Layout* layout = std::get_if<Layout>(&value)) return layout->to_string();
  if (const Int* n = std::get_if<Int>(&value)) return n->to_string();
  if (std::holds_alternative<Keep>(value)) return "_";
  std::string text = "(";
  const auto& modes = std::get<std::vector<Tiler>>(value);
  for (size_t i = 0; i < modes.size(); ++i) text += (i ? "," : "") + modes[i].to_string();
  return text + (modes.size() == 1 ? ",)" : ")");
}

Layout make_layout(const Tuple& shape) {
  return Layout(shape, compact_left(shape));
}

Layout make_layout_right(const Tuple& shape) {
  return Layout(shape, compact_right(shape));
}

Layout make_layout(std::span<const Layout> modes) {
  std::vector<Tuple> shapes, strides;
  Units units = modes.empty() ? Units{} : modes[0].units;
  bool named = false;
  for (const Layout& mode : modes) {
    shapes.push_back(mode.shape);
    strides.push_back(mode.stride);
    units = common_units(units, mode.units);
    named = named || mode.names;
  }
  Layout result(Tuple(std::move(shapes)), Tuple(std::move(strides)), units);
  if (named) {
    std::vector<Tuple> names;
    for (const Layout& mode : modes) names.push_back(name_numbers(mode));
    result.names = mode_names(Tuple(std::move(names)));
  }
  return result;
}

Layout make_ordered_layout(const Tuple& shape, const Tuple& order) {
  return Layout(shape, compact_order(shape, order));
}

// Compact, in the order of a's strides; what a repeats, by stride 0, it repeats too.
Layout make_layout_like(const Layout& a) {
  const Tuple compact = compact_order(filter_zeros(a).shape, a.stride);
  const Tuple stride =
      transform(a.stride, compact, [](const Tuple& old, const Tuple& fresh) -> Tuple {
        return old.is_literal(0) ? Tuple(0) : fresh;
      });
  return Layout(a.shape, stride, {}, a.names);
}

// Registers for a's elements: mode 0, the values of an instruction, is compact and first; the other
// modes follow in the order of a's strides.
Layout make_fragment_like(const Layout& a) {
  if (a.shape.is_leaf() || a.rank() < 2) return make_layout(a.shape);
  // Mode 0 of stride 0 is one value and takes one place; the others are laid out behind it.
  const Layout first = filter_zeros(a[0]);
  const Tuple shape = replace(a.shape, 0, first.shape), order = replace(a.stride, 0, INT64_MIN);
  const Tuple stride = compact_order(shape, order);
  const Tuple kept =
      transform(first.stride, stride[0], [](const Tuple& old, const Tuple& fresh) -> Tuple {
        return old.is_literal(0) ? Tuple(0) : fresh;
      });
  return Layout(a.shape, replace(stride, 0, kept), {}, a.names);
}

Layout make_identity_layout(const Tuple& shape) {
  std::vector<int> path;
  Layout result(shape, identity_strides(shape, path));
  result.units.codomain = {Counts::coordinates, {}};
  return result;
}

Layout get(const Layout& a, std::span<const int> path) {
  return on_both(a, [&](const Tuple& t) { return get(t, path); });
}

Int size(const Layout& a) {
  return size(a.shape);
}

Int cosize(Facts& facts, const Layout& a) {
  return size(coshape(facts, a));
}

Tuple coshape(Facts& facts, const Layout& a) {
  const std::vector<Tuple> extents = leaves(a.shape), strides = leaves(a.stride);
  Tuple corner = 0;
  for (size_t k = 0; k < extents.size(); ++k) {
    // Sums of |stride|*(extent - 1) along each direction: the greatest difference of two values.
    const Int reach = (extents[k].value() - 1) * magnitude(facts, strides[k].value());
    const std::vector<int>& path = strides[k].path();
    // A direction with one place still has a place in the corner: the value 0 would lose its path.
    corner = add(corner, path.empty() ? Tuple(reach) : Tuple::basis(reach + 1, path));
    if (!path.empty()) corner = add(corner, Tuple::basis(-1, path));
  }
  return transform(corner, [](const Tuple& leaf) -> Tuple { return leaf.value() + 1; });
}

Layout select(const Layout& a, std::span<const int> modes) {
  return on_both(a, [&](const Tuple& t) { return select(t, modes); });
}

Layout take(const Layout& a, int begin, int end) {
  return on_both(a, [&](const Tuple& t) { return take(t, begin, end); });
}

Layout group(const Layout& a, int begin, int end) {
  return on_both(a, [&](const Tuple& t) { return group(t, begin, end); });
}

Layout flatten(const Layout& a) {
  return on_both(a, [](const Tuple& t) { return flatten(t); });
}

Layout unflatten(const Layout& a, const Tuple& profile) {
  return on_both(a, [&](const Tuple& t) { return unflatten(t, profile); });
}

Layout append(const Layout& a, const Layout& x) {
  return on_both(a, x, with_codomain(a, x),
                 [](const Tuple& s, const Tuple& t) { return append(s, t); });
}

Layout append(const Layout& a, const Layout& x, int rank) {
  return on_both(a, x, with_codomain(a, x),
                 [&](const Tuple& s, const Tuple& t) { return append(s, t, rank); });
}

Layout prepend(const Layout& a, const Layout& x) {
  return on_both(a, x, with_codomain(a, x),
                 [](const Tuple& s, const Tuple& t) { return prepend(s, t); });
}

Layout prepend(const Layout& a, const Layout& x, int rank) {
  return on_both(a, x, with_codomain(a, x),
                 [&](const Tuple& s, const Tuple& t) { return prepend(s, t, rank); });
}

Layout replace(const Layout& a, int mode, const Layout& x) {
  return on_both(a, x, with_codomain(a, x),
                 [&](const Tuple& s, const Tuple& t) { return replace(s, mode, t); });
}

Layout zip(const Layout& a) {
  return on_both(a, [](const Tuple& t) { return zip(t); });
}

Layout zip(const Layout& a, const Layout& b) {
  return on_both(a, b, common_units(a.units, b.units),
                 [](const Tuple& s, const Tuple& t) { return zip(s, t); });
}

Layout zip2_by(const Layout& a, const Tiler& guide) {
  Layout result(gather(a.shape, guide, 1), gather(a.stride, guide, 0), a.units);
  if (a.names) result.names = mode_names(gather(*a.names, guide, 0));
  return result;
}

Layout filter_zeros(const Layout& a) {
  return filter_zeros(a, a.stride);
}

// Extents become 1 where the profile is 0; strides stay, so that nothing else changes.
Layout filter_zeros(const Layout& a, const Tuple& profile) {
  const std::function<Tuple(const Tuple&, const Tuple&)> one = [&](const Tuple& shape,
                                                                   const Tuple& zeros) -> Tuple {
    if (zeros.is_leaf()) return zeros.is_literal(0) ? repeat_like(shape, 1) : shape;
    if (shape.is_leaf() || shape.rank() != zeros.rank()) {
      throw refusal("rank", "the profile " + zeros.to_string() + " does not fit the shape " +
                                shape.to_string());
    }
    std::vector<Tuple> modes;
    for (int i = 0; i < shape.rank(); ++i) modes.push_back(one(shape[i], zeros[i]));
    return Tuple(std::move(modes));
  };
  return Layout(one(a.shape, profile), a.stride, a.units, a.names);
}

}  // namespace lay
