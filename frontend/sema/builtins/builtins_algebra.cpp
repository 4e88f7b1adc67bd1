// The algebra of layouts. Divides and products are defs of stdlib/prelude.lay over these.

#include <numeric>

#include "frontend/algebra/layouts/into_coordinates.h"
#include "frontend/sema/apply.h"
#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {
namespace {

// Layouts: f(Layout) and f(Composed).
template <typename F>
Value on_layout(Arguments& a, F&& f) {
  if (const Layout* l = a.as<Layout>(0)) return to_value(f(*l));
  if (const Composed* c = a.as<Composed>(0)) return to_value(f(*c));
  a.wrong_kind(0, "a layout");
}

// f on the layout inside.
template <typename F>
Value inside_of(Arguments& a, F&& f) {
  if (const Layout* l = a.as<Layout>(0)) return Value(f(*l));
  if (const Composed* c = a.as<Composed>(0)) {
    Composed result = *c;
    result.inner = f(c->layout());
    return Value(std::move(result));
  }
  a.wrong_kind(0, "a layout");
}

// Joins neighbours in a shape that are both known, or both not, into one extent.
Tuple coalesced(const Tuple& shape) {
  std::vector<Tuple> modes;
  for (const Tuple& leaf : leaves(shape)) {
    const Int extent = leaf.value();
    const bool joins = !modes.empty() && modes.back().value().is_literal() == extent.is_literal();
    if (joins) {
      modes.back() = modes.back().value() * extent;
    } else {
      modes.emplace_back(extent);
    }
  }
  return modes.size() == 1 ? modes[0] : Tuple(std::move(modes));
}

Value coalesce_(Arguments& a) {
  if (const Tuple* t = a.as<Tuple>(0); t && a.count() == 1 && !t->has_underscore())
    return Value(coalesced(*t));
  if (a.as<Tuple>(0)) a.wrong_kind(0, "a layout");
  return inside_of(a, [&](const Layout& l) {
    return a.count() == 2 ? coalesce(a.facts(), l, a.tuple(1)) : coalesce(a.facts(), l);
  });
}

Value filter_(Arguments& a) {
  return inside_of(a, [&](const Layout& l) {
    return a.count() == 2 ? filter(a.facts(), l, a.tuple(1)) : filter(a.facts(), l);
  });
}

Value filter_zeros_(Arguments& a) {
  if (a.count() == 2 && a.as<Tuple>(0)) {  // of tuples: 1 where the first has 0
    return Value(filter_zeros(Layout(a.tuple(1), a.tuple(1)), a.tuple(0)).shape);
  }
  return inside_of(a, [&](const Layout& l) {
    return a.count() == 2 ? filter_zeros(l, a.tuple(1)) : filter_zeros(l);
  });
}

template <typename A>
Value composition_with(Arguments& a, const A& left) {
  if (const Layout* b = a.as<Layout>(1)) return to_value(composition(a.facts(), left, *b));
  if (const Composed* b = a.as<Composed>(1)) return to_value(composition(a.facts(), left, *b));
  if (const Swizzle* b = a.as<Swizzle>(1)) return to_value(composition(a.facts(), left, *b));
  return to_value(composition(a.facts(), left, a.tiler(1)));
}

Value composition_of_swizzle(Arguments& a, const Swizzle& left) {
  if (const Layout* b = a.as<Layout>(1)) return to_value(composition(left, *b));
  if (const Composed* b = a.as<Composed>(1)) return to_value(composition(a.facts(), left, *b));
  if (const Swizzle* b = a.as<Swizzle>(1)) return Value(composition(left, *b));
  a.wrong_kind(1, "a layout or a swizzle");
}

Value composition_(Arguments& a) {
  const Swizzle* swizzle = a.as<Swizzle>(0);
  if (a.count() == 3) {
    if (swizzle) return to_value(composition(*swizzle, a.tuple(1), a.layout(2)));
    a.wrong_kind(0, "a swizzle");
  }
  if (swizzle) return composition_of_swizzle(a, *swizzle);
  if (const Composed* c = a.as<Composed>(0)) return composition_with(a, *c);
  return composition_with(a, a.layout(0));
}

Value complement_(Arguments& a) {
  if (const Tuple* cotarget = a.as<Tuple>(1)) {
    for (const Tuple& extent : leaves(*cotarget)) {
      if (!extent.is_int() || (extent.value().is_literal() && extent.value().value() < 1)) {
        throw refusal("extent",
                      "the cotarget is an extent or a shape, of at least 1 everywhere, not " +
                          cotarget->to_string());
      }
    }
  }
  const Layout& l = a.inner_layout(0);
  const Tuple cotarget = a.count() == 2 ? a.tuple(1) : coshape(a.facts(), filter(a.facts(), l));
  if (l.has_basis() && cotarget.is_tuple())
    return Value(complement_of_coordinates(a.facts(), l, cotarget));
  return Value(a.count() == 2 ? complement(a.facts(), l, cotarget) : complement(a.facts(), l));
}

Value right_inverse_(Arguments& a) {
  if (const Swizzle* s = a.as<Swizzle>(0)) return Value(*s);
  if (const Layout* l = a.as<Layout>(0); l && l->has_basis()) {
    return Value(right_inverse_of_coordinates(a.facts(), *l));
  }
  return on_layout(a, [&](const auto& l) -> AnyLayout { return right_inverse(a.facts(), l); });
}

Value left_inverse_(Arguments& a) {
  if (const Swizzle* s = a.as<Swizzle>(0)) return Value(*s);
  if (const Layout* l = a.as<Layout>(0); l && l->has_basis())
    return Value(left_inverse_of_coordinates(a.facts(), *l));
  return on_layout(a, [&](const auto& l) -> AnyLayout { return left_inverse(a.facts(), l); });
}

// Where the layout inside stays at 0 a swizzle without an offset gives 0, and nothing else does: it
// is a bijection.
Value nullspace_(Arguments& a) {
  const Composed* c = a.as<Composed>(0);
  if (c && (!std::holds_alternative<Swizzle>(c->outer) || !c->offset.is_literal(0))) {
    throw refusal("offset", "the nullspace of " + c->to_string() + " needs a swizzle and offset 0");
  }
  return Value(nullspace(c ? c->layout() : a.layout(0)));
}
Value max_common_layout_(Arguments& a) {
  return Value(max_common_layout(a.facts(), a.any_layout(0), a.any_layout(1)));
}
Value max_common_vector_(Arguments& a) {
  return Value(max_common_vector(a.facts(), a.any_layout(0), a.any_layout(1)));
}
// Returns the alignment that the swizzle, the offset and the layout inside all keep.
Value alignment_of(Arguments& a, const Composed& c) {
  const auto* s = std::get_if<Swizzle>(&c.outer);
  if (!s || !c.offset.is_int()) a.wrong_kind(0, "a layout or a swizzled layout");
  const std::int64_t kept =
      std::gcd(max_alignment(*s).value(), a.facts().divisor(c.offset.value()));
  return Value(Int(std::gcd(kept, a.facts().divisor(max_alignment(a.facts(), c.layout())))));
}

Value max_alignment_(Arguments& a) {
  if (const Swizzle* s = a.as<Swizzle>(0)) return Value(max_alignment(*s));
  if (const Composed* c = a.as<Composed>(0)) return alignment_of(a, *c);
  return Value(max_alignment(a.facts(), a.layout(0)));
}
Value tile_starts_(Arguments& a) {
  return Value(tile_starts(a.facts(), a.layout(0), a.layout(1)));
}
Value domain_distribute_(Arguments& a) {
  return Value(domain_distribute(a.facts(), a.tuple(0), a.integer(1)));
}

Value with_shape_(Arguments& a) {
  std::vector<Tuple> modes;
  for (std::size_t i = 1; i < a.count(); ++i) modes.push_back(a.tuple(i));
  const Tuple shape = modes.size() == 1 ? modes[0] : Tuple(std::move(modes));
  return inside_of(a, [&](const Layout& l) { return with_shape(a.facts(), l, shape); });
}

Value zip2_by_(Arguments& a) {
  return inside_of(a, [&](const Layout& l) { return zip2_by(l, a.tiler(1)); });
}

// f(L_i, T_i) where T is a tuple, as deep as it is one; `_` and what lies beyond T stays as it is.
Value map_modes(Arguments& a, const Layout& l, const Value& tiler) {
  std::vector<Value> parts;
  if (const ListPtr* list = tiler.as<ListPtr>()) {
    parts = (*list)->elements;
  } else if (const Tuple* t = tiler.as<Tuple>(); t && t->is_tuple()) {
    for (int k = 0; k < t->rank(); ++k) parts.emplace_back((*t)[k]);
  } else {
    if (const Tuple* leaf = tiler.as<Tuple>(); leaf && leaf->is_underscore()) return Value(l);
    return apply(a.session, {a[0].value, a[0].span},
                 {{"", Value(l), a[1].span}, {"", tiler, a[2].span}}, a.whole());
  }
  if (static_cast<int>(parts.size()) > l.rank()) {
    throw refusal("rank", "the tiler has " + std::to_string(parts.size()) + " modes and " +
                              l.to_string() + " only " + std::to_string(l.rank()));
  }
  std::vector<Layout> modes;
  for (int k = 0; k < l.rank(); ++k) {
    if (k >= static_cast<int>(parts.size())) {
      modes.push_back(l[k]);
      continue;
    }
    Value mode = map_modes(a, l[k], parts[static_cast<std::size_t>(k)]);
    if (!mode.as<Layout>())
      throw refusal("argument-kind", "by_mode needs a function that gives layouts");
    modes.push_back(*mode.as<Layout>());
  }
  return Value(make_layout(modes));
}

Value by_mode_(Arguments& a) {
  if (const Composed* c = a.as<Composed>(1)) {
    Composed result = *c;
    Value inner = map_modes(a, c->layout(), a[2].value);
    if (!inner.as<Layout>())
      throw refusal("argument-kind", "by_mode needs a function that gives layouts");
    result.inner = *inner.as<Layout>();
    return Value(std::move(result));
  }
  return map_modes(a, a.layout(1), a[2].value);
}

// Returns a tiler as a layout: n is n:1 (and 1:0), a shape its compact layout.
Value tile_layout_(Arguments& a) {
  if (a.as<Layout>(0)) return a[0].value;
  return Value(make_layout(a.tuple(0)));
}

// The modes of the mode that the path names take its place; a tuple of one stays, as in CuTe.
Layout opened(const Layout& l, std::span<const int> path) {
  const int k = path.front();
  get(l, path.first(1));  // refuses a mode that is not there
  std::vector<Layout> modes;
  for (int i = 0; i < l.rank(); ++i) {
    if (i != k) {
      modes.push_back(l[i]);
    } else if (path.size() > 1) {
      modes.push_back(opened(l[i], path.subspan(1)));
    } else if (l[i].rank() == 1) {
      modes.push_back(l[i]);
    } else {
      for (int j = 0; j < l[i].rank(); ++j) modes.push_back(l[i][j]);
    }
  }
  return make_layout(modes);
}

Value open_mode_(Arguments& a) {
  const std::vector<int> path = a.path(1);
  return inside_of(a, [&](const Layout& l) { return opened(l, path); });
}

constexpr std::int64_t kMostTilesTried = std::int64_t{1} << 14;

// Returns the greatest tile below `tile` that divides n, if it is among the first that are looked
// at: counted down from `tile`, and as n/2, n/3, ... from the greatest divisor that fits. For large
// numbers neither list need end, so both are bounded.
std::optional<std::int64_t> greatest_fitting_tile(std::int64_t n, std::int64_t tile) {
  const std::int64_t below = tile - 1, fewest = below >= n ? 1 : n / below;
  for (std::int64_t step = 0; step < kMostTilesTried; ++step) {
    if (below - step >= 1 && n % (below - step) == 0) return below - step;
    const std::int64_t count = fewest + step;
    if (count <= n && n % count == 0 && n / count <= below) return n / count;
  }
  return std::nullopt;
}

// Refuses where whole tiles reach beyond a known mode: with the first index outside, and the
// greatest tile that fits.
void refuse_inexact(const Layout& l, const Int& tile) {
  const Int n = size(l);
  if (!n.is_literal() || !tile.is_literal() || tile.value() < 1 || mod(n, tile).is(0)) return;
  Refusal r = refusal("refuted", "divide_exactly: " + tile.to_string() + " does not divide the " +
                                     n.to_string() + " elements of " + l.to_string());
  r.operands = {l.to_string(), tile.to_string()};
  Counterexample w;
  w.index = n.value();
  w.expected = "nothing";
  w.got = "an element of the last tile";
  r.witness = std::move(w);
  if (const auto fits = greatest_fitting_tile(n.value(), tile.value()))
    r.works.push_back("a tile of " + std::to_string(*fits));
  throw r;
}

// Raises that every tile divides its mode; the layout stays as it is.
void require_exact(Arguments& a, const Layout& l, const Tiler& t) {
  Facts& facts = a.facts();
  if (const auto* modes = std::get_if<std::vector<Tiler>>(&t.value)) {
    for (std::size_t k = 0; k < modes->size() && static_cast<int>(k) < l.rank(); ++k) {
      require_exact(a, l[static_cast<int>(k)], (*modes)[k]);
    }
    return;
  }
  if (const Int* n = std::get_if<Int>(&t.value)) {
    refuse_inexact(l, *n);
    facts.require(divides(size(l), *n), "divide_exactly");
  }
  if (const Layout* tile = std::get_if<Layout>(&t.value)) {
    Int tiles = size(complement(facts, *tile, coalesce(facts, l).shape));
    facts.require(equal(size(l), size(*tile) * tiles), "divide_exactly");
  }
}

Value exactly_(Arguments& a) {
  if (const Composed* c = a.as<Composed>(0)) {
    require_exact(a, c->layout(), a.tiler(1));
  } else {
    require_exact(a, a.layout(0), a.tiler(1));
  }
  return a[0].value;
}

Value provided_(Arguments& a) {
  const auto* condition = a.as<Predicate>(1);
  if (!condition) a.wrong_kind(1, "a condition");
  if (condition->is_never()) throw refusal("refuted", a.string(2));
  a.facts().require(*condition, a.string(2));
  return a[0].value;
}

Value tile_to_shape_(Arguments& a) {
  return on_layout(a, [&](const auto& l) -> AnyLayout {
    if (a.count() == 2) return tile_to_shape(a.facts(), l, a.tuple(1));
    return tile_to_shape(a.facts(), l, a.tuple(1), a.tuple(2));
  });
}

constexpr Builtin kAlgebraRows[] = {
    {"coalesce", "coalesce(L [, profile])",
     "the same values with the fewest modes; of a shape, neighbours that are all known or all "
     "symbols as one extent",
     1, 2, coalesce_},
    {"filter", "filter(L [, profile])", "the same image without modes of stride 0", 1, 2, filter_},
    {"filter_zeros", "filter_zeros(L [, profile])",
     "extent 1 where the stride is 0; of tuples, filter_zeros(Z, T) is T with 1 where Z has 0", 1,
     2, filter_zeros_},
    {"composition", "composition(A, B)",
     "R(c) == A(B(c)); A o B is the same; a tuple tiles by mode", 2, 3, composition_},
    {"complement", "complement(L [, cotarget])",
     "what L leaves out of the cotarget: (L, R) is injective", 1, 2, complement_},
    {"right_inverse", "right_inverse(L)", "L(R(i)) == i for i < size(R)", 1, 1, right_inverse_},
    {"left_inverse", "left_inverse(L)", "L(R(L(i))) == L(i); R(L(i)) == i where L is injective", 1,
     1, left_inverse_},
    {"nullspace", "nullspace(L)", "L(R(i)) == 0", 1, 1, nullspace_},
    {"max_common_layout", "max_common_layout(A, B)", "A(R(i)) == B(R(i)) == i, as long as possible",
     2, 2, max_common_layout_},
    {"max_common_vector", "max_common_vector(A, B)",
     "how many elements both hold in the same order", 2, 2, max_common_vector_},
    {"max_alignment", "max_alignment(L)",
     "the most elements that lie side by side all through L, as whole words: upcast(L, n) is "
     "exact, and its words are "
     "full",
     1, 1, max_alignment_},
    {"domain_distribute", "domain_distribute(S, n)",
     "equal shares of the domain S for at most n workers", 2, 2, domain_distribute_},
    {"with_shape", "with_shape(L, S)", "L with another shape of the same size", 2, kMany,
     with_shape_},
    {"tile_starts", "tile_starts(L, T)",
     "where the tiles T of L begin: complement(T, shape(coalesce(L)))", 2, 2, tile_starts_},
    {"zip2_by", "zip2_by(L, T)", "((A,a),(B,b),c) -> ((A,B),(a,b,c)), guided by the tiler", 2, 2,
     zip2_by_},
    {"tile_layout", "tile_layout(T)",
     "what tiles as a layout: n is n:1, 1 is 1:0, a shape its compact layout", 1, 1, tile_layout_},
    {"open_mode", "open_mode(L, k, ...)",
     "the modes of the mode that the path names take its place", 2, kMany, open_mode_},
    {"exactly", "exactly(L, T)", "L, where every tile of T divides its mode", 2, 2, exactly_},
    {"provided", "provided(x, condition, words)",
     "x, where the condition holds; an error of these words where it never does", 3, 3, provided_},
    {"tile_to_shape", "tile_to_shape(L, S [, order])",
     "L repeated to fill the shape S, blocks left-most first or in the order", 2, 3,
     tile_to_shape_},
    {"by_mode", "by_mode(f, L, T)", "f(L_i, T_i) for the modes of a tuple T, f(L, T) else", 3, 3,
     by_mode_},
};

}  // namespace

std::span<const Builtin> algebra_builtins() {
  return kAlgebraRows;
}

}  // namespace lay::sema
