// One row for each operation of the vectors: how its operands and arguments are read, and what is called.

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "tests/conformance/cases.h"

namespace conformance {
namespace {

using namespace lay;

Outcome value(const Tuple& t) {
  return {t};
}

Outcome value(const Predicate& p) {
  return {Tuple(p.is_always() ? 1 : 0)};
}

Outcome value(bool b) {
  return {Tuple(b ? 1 : 0)};
}

Outcome result(const AnyLayout& a) {
  return {simplified(a)};
}

struct Arguments {
  Facts& facts;
  const Case& c;
  Lift* lift = nullptr;
  Layout layout(size_t i = 0) const { return lift ? lift->lift(as_layout(c.in.at(i))) : as_layout(c.in.at(i)); }
  Composed composed(size_t i = 0) const { return as_composed(c.in.at(i)); }
  AnyLayout any(size_t i) const {
    return c.in.at(i).contains("swizzle") ? AnyLayout(composed(i)) : AnyLayout(layout(i));
  }
  Tuple tuple(size_t i = 0) const { return as_tuple(c.in.at(i)); }
  Swizzle swizzle(size_t i = 0) const {
    const std::vector<int64_t> s = c.in.at(i).at("swizzle");
    return Swizzle(s.at(0), s.at(1), s.at(2));
  }
  Tuple arg(const char* name) const { return as_tuple(c.args.at(name)); }
  Tuple target(const char* name) const { return lift ? lift->lift(arg(name)) : arg(name); }
  int number(const char* name) const { return c.args.at(name); }
  Tiler tiler(const char* name = "tiler") const {
    return lift ? lift->lift(as_tiler(c.args.at(name))) : as_tiler(c.args.at(name));
  }
  Layout tile() const { return std::get<Layout>(tiler().value); }
};

using Row = std::function<Outcome(const Arguments&)>;

// f at every entry of a list argument.
template <typename F>
Outcome each(const Arguments& a, const char* name, const F& f) {
  std::vector<Tuple> results;
  for (const Json& j : a.c.args.at(name)) results.push_back(f(as_tuple(j)));
  return value(Tuple(std::move(results)));
}

template <typename Operation>
Row tiled(Operation operation) {
  return [operation](const Arguments& a) { return result(operation(a.facts, a.layout(), a.tiler())); };
}

template <typename Operation>
Row tiled_composed(Operation operation) {
  return [operation](const Arguments& a) { return result(operation(a.facts, a.composed(), a.tiler())); };
}

using Tile = Layout (*)(Facts&, const Layout&, const Tiler&);
using TileComposed = Composed (*)(Facts&, const Composed&, const Tiler&);

std::vector<int> ints(const Json& j) {
  return j.get<std::vector<int>>();
}

Outcome append_or_prepend(const Arguments& a, bool at_end) {
  const Layout x = a.c.args.contains("x") ? as_layout(a.c.args.at("x")) : Layout(1, 0);
  if (!a.c.args.contains("N") || a.c.args.at("N").is_null()) {
    return result(at_end ? append(a.layout(), x) : prepend(a.layout(), x));
  }
  return result(at_end ? append(a.layout(), x, a.number("N")) : prepend(a.layout(), x, a.number("N")));
}

Outcome info(const Arguments& a) {
  const Layout l = a.layout();
  return value(tuple(l.rank(), l.depth(), size(l), cosize(a.facts, l), coshape(a.facts, l)));
}

Outcome coordinates_of_values(const Arguments& a) {
  const Layout l = a.layout();
  return each(a, "indices", [&](const Tuple& i) {
    return tuple(get_hier_coord(a.facts, l, i.value()), get_flat_coord(a.facts, l, i.value()),
                 get_1d_coord(a.facts, l, i.value()));
  });
}

Outcome tile_whole(const Arguments& a) {
  if (a.c.args.at("order").is_null()) return result(tile_to_shape(a.facts, a.layout(), a.target("target")));
  return result(tile_to_shape(a.facts, a.layout(), a.target("target"), a.arg("order")));
}

Outcome tile_whole_composed(const Arguments& a) {
  if (a.c.args.at("order").is_null()) return result(tile_to_shape(a.facts, a.composed(), a.target("target")));
  return result(tile_to_shape(a.facts, a.composed(), a.target("target"), a.arg("order")));
}

Outcome sliced(const Arguments& a) {
  const Slice slice = slice_and_offset(a.facts, a.arg("coord"), a.layout());
  return {slice.sub, slice.offset};
}

const std::map<std::string, Row>& rows() {
  static const std::map<std::string, Row> table = {
      {"info", info},
      {"crd2idx",
       [](const Arguments& a) {
         return each(a, "coords", [&](const Tuple& c) { return evaluate(a.facts, a.layout(), c); });
       }},
      {"idx2crd",
       [](const Arguments& a) {
         return each(a, "indices", [&](const Tuple& i) { return idx2crd(a.facts, i.value(), a.tuple()); });
       }},
      {"idx2crd_stride",
       [](const Arguments& a) {
         return each(a, "indices",
                     [&](const Tuple& i) { return idx2crd(a.facts, i.value(), a.layout().shape, a.layout().stride); });
       }},
      {"crd2crd",
       [](const Arguments& a) {
         return each(a, "coords", [&](const Tuple& c) { return crd2crd(a.facts, c, a.tuple(), a.tuple()); });
       }},
      {"get_coord", coordinates_of_values},
      {"coalesce", [](const Arguments& a) { return result(coalesce(a.facts, a.layout())); }},
      {"coalesce_profile", [](const Arguments& a) { return result(coalesce(a.facts, a.layout(), a.arg("profile"))); }},
      {"filter", [](const Arguments& a) { return result(filter(a.facts, a.layout())); }},
      {"filter_zeros", [](const Arguments& a) { return result(filter_zeros(a.layout())); }},
      {"filter_profile", [](const Arguments& a) { return result(filter(a.facts, a.layout(), a.arg("profile"))); }},
      {"flatten", [](const Arguments& a) { return result(flatten(a.layout())); }},
      {"unflatten", [](const Arguments& a) { return result(unflatten(a.layout(), a.arg("profile"))); }},
      {"composition", [](const Arguments& a) { return result(composition(a.facts, a.layout(), a.layout(1))); }},
      {"composition_basis", [](const Arguments& a) { return result(composition(a.facts, a.layout(), a.layout(1))); }},
      {"composition_tiler", [](const Arguments& a) { return result(composition(a.facts, a.layout(), a.tiler())); }},
      {"composition_shape",
       [](const Arguments& a) { return result(composition(a.facts, a.layout(), a.tiler("shape_tiler"))); }},
      {"with_shape", [](const Arguments& a) { return result(with_shape(a.facts, a.layout(), a.target("shape"))); }},
      {"complement", [](const Arguments& a) { return result(complement(a.facts, a.layout())); }},
      {"complement_cotarget",
       [](const Arguments& a) { return result(complement(a.facts, a.layout(), a.target("cotarget"))); }},
      {"right_inverse", [](const Arguments& a) { return result(right_inverse(a.facts, a.layout())); }},
      {"left_inverse", [](const Arguments& a) { return result(left_inverse(a.facts, a.layout())); }},
      {"nullspace", [](const Arguments& a) { return result(nullspace(a.layout())); }},
      {"max_common_layout",
       [](const Arguments& a) { return result(max_common_layout(a.facts, a.layout(), a.layout(1))); }},
      {"max_common_vector",
       [](const Arguments& a) { return value(max_common_vector(a.facts, a.layout(), a.layout(1))); }},
      {"max_alignment", [](const Arguments& a) { return value(max_alignment(a.facts, a.layout())); }},
      {"domain_distribute",
       [](const Arguments& a) { return result(domain_distribute(a.facts, a.tuple(), a.number("n"))); }},
      {"logical_divide", tiled(Tile(logical_divide))},
      {"zipped_divide", tiled(Tile(zipped_divide))},
      {"tiled_divide", tiled(Tile(tiled_divide))},
      {"flat_divide", tiled(Tile(flat_divide))},
      {"logical_product", tiled(Tile(logical_product))},
      {"zipped_product", tiled(Tile(zipped_product))},
      {"tiled_product", tiled(Tile(tiled_product))},
      {"flat_product", tiled(Tile(flat_product))},
      {"blocked_product", [](const Arguments& a) { return result(blocked_product(a.facts, a.layout(), a.tile())); }},
      {"raked_product", [](const Arguments& a) { return result(raked_product(a.facts, a.layout(), a.tile())); }},
      {"tile_to_shape", tile_whole},
      {"upcast", [](const Arguments& a) { return result(upcast(a.facts, a.layout(), a.number("N"))); }},
      {"downcast", [](const Arguments& a) { return result(downcast(a.facts, a.layout(), a.number("N"))); }},
      {"recast_layout",
       [](const Arguments& a) {
         return result(recast(a.facts, a.layout(), a.number("old_bits"), a.number("new_bits")));
       }},
      {"swizzle",
       [](const Arguments& a) {
         return each(a, "indices", [&](const Tuple& i) -> Tuple { return a.swizzle()(i.value()); });
       }},
      {"swizzle_upcast", [](const Arguments& a) { return Outcome{upcast(a.swizzle(), a.number("N"))}; }},
      {"swizzle_downcast", [](const Arguments& a) { return Outcome{downcast(a.swizzle(), a.number("N"))}; }},
      {"swizzle_compose", [](const Arguments& a) { return Outcome{composition(a.swizzle(), a.swizzle(1))}; }},
      {"swizzle_layout", [](const Arguments& a) { return result(a.composed()); }},
      {"layout_compose_swizzle",
       [](const Arguments& a) { return result(composition(a.facts, a.layout(), a.swizzle(1))); }},
      {"composed_compose",
       [](const Arguments& a) { return result(composition(a.facts, a.composed(), a.tiler("rhs"))); }},
      {"composed_slice_and_offset",
       [](const Arguments& a) { return result(slice(a.facts, a.arg("coord"), a.composed())); }},
      {"composed_logical_divide", tiled_composed(TileComposed(logical_divide))},
      {"composed_zipped_divide", tiled_composed(TileComposed(zipped_divide))},
      {"composed_tiled_divide", tiled_composed(TileComposed(tiled_divide))},
      {"composed_flat_divide", tiled_composed(TileComposed(flat_divide))},
      {"composed_tile_to_shape", tile_whole_composed},
      {"composed_upcast", [](const Arguments& a) { return result(upcast(a.facts, a.composed(), a.number("N"))); }},
      {"composed_downcast", [](const Arguments& a) { return result(downcast(a.facts, a.composed(), a.number("N"))); }},
      {"composed_recast",
       [](const Arguments& a) {
         return result(recast(a.facts, a.composed(), a.number("old_bits"), a.number("new_bits")));
       }},
      {"composed_right_inverse", [](const Arguments& a) { return result(right_inverse(a.facts, a.composed())); }},
      {"composed_left_inverse", [](const Arguments& a) { return result(left_inverse(a.facts, a.composed())); }},
      {"composed_max_common_layout",
       [](const Arguments& a) { return result(max_common_layout(a.facts, a.any(0), a.any(1))); }},
      {"composed_max_common_vector",
       [](const Arguments& a) { return value(max_common_vector(a.facts, a.any(0), a.any(1))); }},
      {"select", [](const Arguments& a) { return result(select(a.layout(), ints(a.c.args.at("modes")))); }},
      {"take", [](const Arguments& a) { return result(take(a.layout(), a.number("begin"), a.number("end"))); }},
      {"group", [](const Arguments& a) { return result(group(a.layout(), a.number("begin"), a.number("end"))); }},
      {"get", [](const Arguments& a) { return result(get(a.layout(), ints(a.c.args.at("path")))); }},
      {"append", [](const Arguments& a) { return append_or_prepend(a, true); }},
      {"prepend", [](const Arguments& a) { return append_or_prepend(a, false); }},
      {"replace",
       [](const Arguments& a) { return result(replace(a.layout(), a.number("N"), as_layout(a.c.args.at("x")))); }},
      {"zip", [](const Arguments& a) { return result(zip(a.layout(), a.layout(1))); }},
      {"make_layout",
       [](const Arguments& a) {
         return result(a.c.args.at("major") == "LayoutLeft" ? make_layout(a.tuple()) : make_layout_right(a.tuple()));
       }},
      {"make_ordered_layout",
       [](const Arguments& a) { return result(make_ordered_layout(a.tuple(), a.arg("order"))); }},
      {"make_layout_like", [](const Arguments& a) { return result(make_layout_like(a.layout())); }},
      {"make_fragment_like", [](const Arguments& a) { return result(make_fragment_like(a.layout())); }},
      {"make_identity_layout", [](const Arguments& a) { return result(make_identity_layout(a.tuple())); }},
      {"identity_composition", [](const Arguments& a) { return result(composition(a.facts, a.layout(), a.tiler())); }},
      {"identity_logical_divide", tiled(Tile(logical_divide))},
      {"identity_zipped_divide", tiled(Tile(zipped_divide))},
      {"identity_tiled_divide", tiled(Tile(tiled_divide))},
      {"identity_flat_divide", tiled(Tile(flat_divide))},
      {"identity_coalesce", [](const Arguments& a) { return result(coalesce(a.facts, a.layout())); }},
      {"identity_filter", [](const Arguments& a) { return result(filter(a.facts, a.layout())); }},
      {"identity_flatten", [](const Arguments& a) { return result(flatten(a.layout())); }},
      {"identity_cosize", [](const Arguments& a) { return value(cosize(a.facts, a.layout())); }},
      {"identity_coshape", [](const Arguments& a) { return value(coshape(a.facts, a.layout())); }},
      {"basis_layout", [](const Arguments& a) { return result(a.layout()); }},
      {"slice_and_offset", sliced},
      {"dice", [](const Arguments& a) { return result(dice(a.arg("coord"), a.layout())); }},
      {"compatible", [](const Arguments& a) { return value(compatible(a.tuple(), a.tuple(1))); }},
      {"congruent", [](const Arguments& a) { return value(congruent(a.tuple(), a.tuple(1))); }},
      {"weakly_congruent", [](const Arguments& a) { return value(weakly_congruent(a.tuple(), a.tuple(1))); }},
      {"evenly_divides", [](const Arguments& a) { return value(evenly_divides(a.facts, a.tuple(), a.tuple(1))); }},
      {"ceil_div", [](const Arguments& a) { return value(ceil_div(a.facts, a.tuple(), a.tuple(1))); }},
      {"shape_div", [](const Arguments& a) { return value(shape_div(a.facts, a.tuple(), a.tuple(1))); }},
  };
  return table;
}

// R(i) == A(B(i)) for all i, by values.
bool composes(Facts& facts, const Layout& a, const Layout& b, const Layout& r) {
  const Int n = size(b);
  if (!(size(r) == n)) return false;
  for (int64_t i = 0; i < std::min<int64_t>(n.value(), 4096); ++i) {
    if (!(evaluate(facts, r, i) == evaluate(facts, a, evaluate(facts, b, i)))) return false;
  }
  return true;
}

// The same for a tiler, mode by mode; `divide` extends each tile by its complement.
bool tiles(Facts& facts, const Layout& a, const Tiler& tiler, const Layout& r, bool divide) {
  if (std::holds_alternative<Tiler::Keep>(tiler.value)) return a == r;
  if (const auto* modes = std::get_if<std::vector<Tiler>>(&tiler.value)) {
    for (size_t i = 0; i < modes->size(); ++i) {
      const int k = static_cast<int>(i);
      if (r.rank() <= k || !tiles(facts, a[k], (*modes)[i], r[k], divide)) return false;
    }
    return true;
  }
  const Layout tile = tiler.layout();
  if (!divide) return composes(facts, a, tile, r);
  const Layout rest = complement(facts, tile, coalesce(facts, a).shape);
  return composes(facts, a, make_layout(std::vector<Layout>{tile, rest}), r);
}

// The second mode of a product is the complement of the block after the tiler, mode by mode.
bool repeats(Facts& facts, const Layout& a, const Tiler& tiler, const Layout& r) {
  if (std::holds_alternative<Tiler::Keep>(tiler.value)) return a == r;
  if (const auto* modes = std::get_if<std::vector<Tiler>>(&tiler.value)) {
    for (size_t i = 0; i < modes->size(); ++i) {
      const int k = static_cast<int>(i);
      if (r.rank() <= k || !repeats(facts, a[k], (*modes)[i], r[k])) return false;
    }
    return true;
  }
  const Layout tile = tiler.layout();
  const Int copies = cosize(facts, tile);
  Layout places = complement(facts, a, size(a) * copies);
  if (size(places).value() < copies.value()) places = complement(facts, a, cosize(facts, a) * copies);
  return r.rank() == 2 && a == r[0] && composes(facts, places, tile, r[1]);
}

// Apart from modes of stride 0, the values are 0, 1, 2, ... in some order.
bool is_compact(Facts& facts, const Layout& a) {
  const Layout filtered = filter(facts, a);
  const Int n = size(filtered);
  std::vector<int64_t> all = values(filtered);
  std::sort(all.begin(), all.end());
  for (int64_t i = 0; i < n.value(); ++i) {
    if (all[static_cast<size_t>(i)] != i) return false;
  }
  return true;
}

// A(R(A(i))) == A(i) for all i.
bool inverts(Facts& facts, const AnyLayout& a, const Tuple& domain, const AnyLayout& r) {
  for (int64_t i = 0; i < std::min<int64_t>(size(domain).value(), 4096); ++i) {
    const Tuple v = evaluate(facts, a, i);
    if (!(evaluate(facts, a, evaluate(facts, r, v)) == v)) return false;
  }
  return true;
}

// offset + R(i) == Sw(o + L(c)), where c has i spread over the underscores.
bool slices(Facts& facts, const Composed& a, const Tuple& coordinate, const Outcome& outcome) {
  const Slice inner = slice_and_offset(facts, coordinate, a.layout());
  const AnyLayout& r = std::get<AnyLayout>(outcome.result);
  for (int64_t i = 0; i < std::min<int64_t>(size(inner.sub).value(), 4096); ++i) {
    const Tuple at = add(add(a.offset, inner.offset), evaluate(facts, inner.sub, i));
    const int64_t due = std::get<Swizzle>(a.outer)(at.value().value());
    if (!(add(outcome.offset, evaluate(facts, r, i)) == Tuple(due))) return false;
  }
  return true;
}

// The values of R are the n elements of every word of A, each as often as the word occurs. Where A steps down, whose
// words are counted from the far end, only their number is held against the law.
bool splits(const Layout& a, int64_t n, const Layout& r) {
  std::vector<int64_t> due;
  const std::vector<int64_t> words = values(a);
  for (const int64_t word : words) {
    for (int64_t j = 0; j < n; ++j) due.push_back(word * n + j);
  }
  const std::vector<Tuple> strides = leaves(a.stride);
  const auto down = [](const Tuple& stride) { return stride.value().value() < 0; };
  if (std::any_of(strides.begin(), strides.end(), down)) return size(r) == Int(due.size());
  std::vector<int64_t> actual = values(r);
  std::sort(due.begin(), due.end());
  std::sort(actual.begin(), actual.end());
  return due == actual;
}

// From `from` bits to `to` bits: into the words of both, then into their elements.
std::optional<bool> casts(Facts& facts, const Layout& a, int64_t from, int64_t to, const Layout& r) {
  const int64_t common = std::gcd(from, to);
  const Layout words = upcast(facts, a, to / common);
  if (from == common) return std::nullopt;
  return splits(words, from / common, r);
}

// R(i) == A(Sw(i)) for all i.
bool follows(Facts& facts, const Layout& a, const Swizzle& s, const AnyLayout& r) {
  for (int64_t i = 0; i < std::min<int64_t>(size(a).value(), 4096); ++i) {
    if (!(evaluate(facts, r, i) == evaluate(facts, a, s(i)))) return false;
  }
  return true;
}

}  // namespace

std::optional<Outcome> run(Facts& facts, const Case& c, Lift* lift) {
  const auto row = rows().find(c.op);
  if (row == rows().end()) return std::nullopt;
  return row->second(Arguments{facts, c, lift});
}

std::optional<bool> keeps_law(const Case& c, const Outcome& outcome) {
  const auto* any = std::get_if<AnyLayout>(&outcome.result);
  if (!any) return std::nullopt;
  Facts facts;
  const Arguments a{facts, c, nullptr};
  if (c.op == "layout_compose_swizzle") return follows(facts, a.layout(), a.swizzle(1), *any);
  if (c.op == "composed_slice_and_offset") return slices(facts, a.composed(), a.arg("coord"), outcome);
  if (c.op == "composed_left_inverse") return inverts(facts, a.composed(), a.composed().layout().shape, *any);
  const Layout* r = std::get_if<Layout>(any);
  try {
    if (c.op == "composed_downcast" || c.op == "composed_recast") {
      const auto* composed = std::get_if<Composed>(any);  // a swizzle that moves nothing is left out
      const bool down = c.op == "composed_downcast";
      const int64_t from = a.number(down ? "N" : "old_bits"), to = down ? 1 : a.number("new_bits");
      return casts(facts, a.composed().layout(), from, to, composed ? composed->layout() : *r);
    }
    if (!r) return std::nullopt;
    if (c.op == "downcast") return casts(facts, a.layout(), a.number("N"), 1, *r);
    if (c.op == "recast_layout") return casts(facts, a.layout(), a.number("old_bits"), a.number("new_bits"), *r);
    if (c.op == "composition" || c.op == "composition_basis") return composes(facts, a.layout(), a.layout(1), *r);
    if (c.op == "composition_tiler") return tiles(facts, a.layout(), a.tiler(), *r, false);
    if (c.op == "composition_shape") return tiles(facts, a.layout(), a.tiler("shape_tiler"), *r, false);
    if (c.op == "logical_divide") return tiles(facts, a.layout(), a.tiler(), *r, true);
    if (c.op == "left_inverse") return inverts(facts, a.layout(), a.layout().shape, *r);
    if (c.op == "logical_product") return repeats(facts, a.layout(), a.tiler(), *r);
    if (c.op == "make_ordered_layout" || c.op == "make_layout_like" || c.op == "make_fragment_like")
      return is_compact(facts, *r);
    if (c.op == "with_shape") return composes(facts, a.layout(), make_layout(a.target("shape")), *r);
  } catch (const Refusal&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace conformance
