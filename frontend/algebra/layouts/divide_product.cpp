#include <algorithm>

#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

const std::vector<Tiler>* tuple_of(const Tiler& tiler) {
  return std::get_if<std::vector<Tiler>>(&tiler.value);
}

bool keeps(const Tiler& tiler) {
  return std::holds_alternative<Tiler::Keep>(tiler.value);
}

using OneMode = Layout (*)(Facts&, const Layout&, const Tiler&);

// A tuple of tiles: tile i for mode i, and modes behind the last tile stay.
Layout by_mode(Facts& facts, const char* name, const Layout& a, const std::vector<Tiler>& tiles,
               OneMode one) {
  if (static_cast<int>(tiles.size()) > a.rank() || (a.shape.is_leaf() && tiles.size() > 1)) {
    Refusal r = refusal("rank", std::string(name) + ": the tiler " + Tiler(tiles).to_string() +
                                    " has more modes than " + a.to_string());
    r.operands = {a.to_string(), Tiler(tiles).to_string()};
    r.mode = a.rank();
    throw r;
  }
  std::vector<Layout> modes;
  for (int i = 0; i < a.rank(); ++i) {
    modes.push_back(i < static_cast<int>(tiles.size())
                        ? one(facts, a[i], tiles[static_cast<size_t>(i)])
                        : a[i]);
  }
  Layout result = make_layout(modes);
  result.units = a.units;
  return result;
}

// The modes of a tuple side by side; a tuple of one stays whole, as in CuTe.
//     ((2,4),(3,))  stays ((2,4),(3,)); ((2,4),(3,5)) opens to ((2,4),3,5)
Tuple opened(const Tuple& t) {
  return t.rank() == 1 ? tuple(t) : t;
}

Tuple open_rest(const Tuple& zipped) {
  return concatenate(tuple(zipped[0]), opened(zipped[1]));
}

Tuple open_both(const Tuple& zipped) {
  return concatenate(opened(zipped[0]), opened(zipped[1]));
}

// ((tile),(rest)) -> ((tile),rest...)
Layout open_rest(const Layout& zipped) {
  return Layout(open_rest(zipped.shape), open_rest(zipped.stride), zipped.units,
                zipped.names ? mode_names(open_rest(*zipped.names)) : nullptr);
}

// ((tile),(rest)) -> (tile...,rest...)
Layout open_both(const Layout& zipped) {
  return Layout(open_both(zipped.shape), open_both(zipped.stride), zipped.units,
                zipped.names ? mode_names(open_both(*zipped.names)) : nullptr);
}

// Rounding up goes mode by mode, so that it depends on which modes are one. Unless nothing is
// rounded, that modes which may be one are not is guarded.
// (M,8):(1,ldc): for ldc == M the two modes are one of 8*M, which a tile of 32 divides otherwise
// than mode by mode. Where the tile divides M the result is the same, so only one of both is
// required.
void require_form(Facts& facts, const Layout& merged, const Predicate& exact) {
  const std::vector<Mode> modes = flat_modes(merged);
  for (size_t i = 0; i + 1 < modes.size(); ++i) {
    for (size_t k = i + 1; k < modes.size(); ++k) {
      if (modes[i].stride.path() != modes[k].stride.path()) break;
      const Predicate apart =
          not_equal(modes[i].extent * modes[i].stride.value(), modes[k].stride.value());
      facts.try_require(either(apart, exact), "logical_divide");
      if (facts.proves(less_equal(2, modes[k].extent))) break;
    }
  }
}

// Where copies of the block go. CuTe looks as far as |a|*cosize(t); a block with gaps may need more
// room for as many.
// logical_product(a, t) = (a, places o t): copy k of the block begins at places(t(k)), so `places`
// needs cosize(t) of them.
Layout places_for(Facts& facts, const Layout& a, const Layout& t) {
  const Int copies = cosize(facts, t);
  {
    GuardScope scope = GuardScope::attempt(facts);
    Layout places = complement(facts, a, size(a) * copies);
    // CuTe's bound is enough for blocks without gaps.
    if (facts.proves(less_equal(copies, size(places)))) {
      scope.keep();
      return places;
    }
  }
  return complement(facts, a, cosize(facts, a) * copies);
}

}  // namespace

Layout tile_starts(Facts& facts, const Layout& a, const Layout& tile) {
  trace::Operation operation("tile_starts", a, tile);
  const Layout merged = coalesce(facts, a);
  // logical_divide(a, t) = a o (t, complement(t, |a|)): inside a tile by the first mode, from tile
  // to tile by the second.
  Layout starts = complement(facts, tile, merged.shape);
  if (!merged.is_known())
    require_form(facts, merged, equal(size(filter_zeros(tile)) * size(starts), size(merged)));
  return operation.gives(std::move(starts));
}

Layout logical_divide(Facts& facts, const Layout& a, const Tiler& t) {
  if (keeps(t)) return a;
  if (const auto* tiles = tuple_of(t))
    return by_mode(facts, "logical_divide", a, *tiles, logical_divide);
  const Layout tile = t.layout();
  return composition(facts, a, make_layout(std::vector<Layout>{tile, tile_starts(facts, a, tile)}));
}

Layout zipped_divide(Facts& facts, const Layout& a, const Tiler& t) {
  return zip2_by(logical_divide(facts, a, t), t);
}

Layout tiled_divide(Facts& facts, const Layout& a, const Tiler& t) {
  return open_rest(zipped_divide(facts, a, t));
}

Layout flat_divide(Facts& facts, const Layout& a, const Tiler& t) {
  return open_both(zipped_divide(facts, a, t));
}

Layout logical_product(Facts& facts, const Layout& a, const Tiler& t) {
  if (keeps(t)) return a;
  if (const auto* tiles = tuple_of(t))
    return by_mode(facts, "logical_product", a, *tiles, logical_product);
  const Layout tile = t.layout();
  Layout repeated = composition(facts, places_for(facts, a, tile), tile);
  repeated.units = a.units;
  return make_layout(std::vector<Layout>{a, repeated});
}

Layout zipped_product(Facts& facts, const Layout& a, const Tiler& t) {
  return zip2_by(logical_product(facts, a, t), t);
}

Layout tiled_product(Facts& facts, const Layout& a, const Tiler& t) {
  return open_rest(zipped_product(facts, a, t));
}

Layout flat_product(Facts& facts, const Layout& a, const Tiler& t) {
  return open_both(zipped_product(facts, a, t));
}

namespace {

// The product of block and tiler with equal ranks, the modes of one side in front of those of the
// other.
// blocked: ((block, tile), ...), each block stays whole. raked: ((tile, block), ...), the copies
// interleave.
Layout paired_product(Facts& facts, const Layout& a, const Layout& t, int front) {
  const bool single = a.shape.is_leaf() && t.shape.is_leaf();
  const int rank = std::max(a.rank(), t.rank());
  const auto padded = [&](const Layout& x) {
    const ModeNames names = x.names ? mode_names(wrap(*x.names)) : nullptr;
    return append(Layout(wrap(x.shape), wrap(x.stride), x.units, names), Layout(1, 0), rank);
  };
  const Layout product =
      single ? logical_product(facts, a, t) : logical_product(facts, padded(a), padded(t));
  const Layout first = product[front], second = product[1 - front];
  return single ? make_layout(std::vector<Layout>{first, second}) : zip(first, second);
}

}  // namespace

Layout blocked_product(Facts& facts, const Layout& a, const Layout& t) {
  return paired_product(facts, a, t, 0);
}

Layout raked_product(Facts& facts, const Layout& a, const Layout& t) {
  return paired_product(facts, a, t, 1);
}

Layout tile_to_shape(Facts& facts, const Layout& a, const Tuple& shape) {
  std::vector<Tuple> order;
  for (int i = 0; i < shape.rank(); ++i) order.push_back(i);
  return tile_to_shape(facts, a, shape, shape.is_leaf() ? order[0] : Tuple(std::move(order)));
}

namespace {

// The first place beyond the shape that the last block along a mode would take; nothing if the
// blocks fill it.
void show_overhang(const Tuple& extents, const Tuple& target, Refusal& r) {
  Facts facts;
  const Tuple whole = round_up(facts, target, extents);
  const int rank = target.is_leaf() ? 1 : target.rank();
  std::vector<Tuple> at(static_cast<size_t>(rank), 0);
  for (int k = 0; k < rank; ++k) {
    const Int& extent = (target.is_leaf() ? target : target[k]).value();
    if (mod(extent, (target.is_leaf() ? extents : extents[k]).value()).is(0)) continue;
    at[static_cast<size_t>(k)] = extent;
    const Tuple coordinate = target.is_leaf() ? at[0] : Tuple(at);
    Counterexample w;
    w.index = crd2idx(facts, coordinate, whole).value();
    if (!target.is_leaf()) w.coordinate = coordinate.to_string();
    w.expected = "nothing";
    w.got = "an element of a block";
    r.mode = k;
    r.witness = std::move(w);
    return;
  }
}

}  // namespace

Layout tile_to_shape(Facts& facts, const Layout& a, const Tuple& shape, const Tuple& order) {
  if (a.rank() > shape.rank()) {
    Refusal r = refusal("rank", "tile_to_shape: " + a.to_string() +
                                    " has more modes than the shape " + shape.to_string());
    r.operands = {a.to_string(), shape.to_string()};
    r.mode = shape.rank();
    throw r;
  }
  // Missing modes of the block have one element: they are repeated along the whole shape.
  const Layout block = append(a, Layout(1, 0), shape.rank());
  const Tuple extents = shape.is_leaf() ? Tuple(size(block)) : product_each(block.shape);
  const Tuple target = shape.is_leaf() ? shape : product_each(shape);
  if (!facts.try_require(evenly_divides(facts, target, extents), "tile_to_shape")) {
    Refusal r = refusal("tile-to-shape", "tile_to_shape: the block " + extents.to_string() +
                                             " does not divide the shape " + shape.to_string());
    r.operands = {a.to_string(), shape.to_string()};
    if (extents.is_known() && target.is_known()) {
      show_overhang(extents, target, r);
      const Tuple whole = round_up(facts, target, extents);
      if (evenly_divides(facts, whole, extents).is_always())
        r.works.push_back("the shape " + whole.to_string());
    }
    throw r;
  }
  const Tuple blocks = ceil_div(facts, target, extents);
  // Blocks follow one another in the order asked for, modes of the shape by default from left to
  // right.
  Layout steps = make_ordered_layout(blocks, order);
  if (block.names) {
    std::vector<Tuple> names;
    for (int k = 0; k < block.rank(); ++k) names.emplace_back(only_name(block[k]));
    steps.names = mode_names(steps.shape.is_leaf() ? names[0] : Tuple(std::move(names)));
  }
  return blocked_product(facts, block, steps);
}

}  // namespace lay
