// Making layouts, asking them, and changing the width of their elements.

#include <algorithm>
#include <bit>

#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/builtins/cute_text.h"

namespace lay::sema {
namespace {

Value layout_(Arguments& a) {
  const Tuple& shape = a.tuple(0);
  if (a.count() == 1) return Value(make_layout(shape));
  if (const Tuple* stride = a.as<Tuple>(1)) return Value(Layout(shape, *stride));
  const std::string& order = a.string(1);
  if (order == "left") return Value(make_layout(shape));
  if (order == "right") return Value(make_layout_right(shape));
  throw refusal("argument-kind", "a compact layout goes left or right", "layout((4,2), right)");
}

// The integers that the swizzle permutes among themselves, under it.
Composed layout_of_swizzle(const Swizzle& s) {
  std::int64_t block = 1;
  while (block <= (s.source_mask() | s.target_mask())) block *= 2;
  return composition(s, Layout(block, 1));
}

Value make_layout_(Arguments& a) {
  if (const Swizzle* s = a.as<Swizzle>(0); s && a.count() == 1)
    return to_value(layout_of_swizzle(*s));
  if (a.as<Layout>(0)) {
    std::vector<Layout> modes;
    for (std::size_t i = 0; i < a.count(); ++i) modes.push_back(a.layout(i));
    return Value(make_layout(modes));
  }
  if (const ListPtr* list = a.as<ListPtr>(0)) {
    std::vector<Layout> modes;
    for (const Value& element : (*list)->elements) {
      const Layout* l = element.as<Layout>();
      if (!l) a.wrong_kind(0, "layouts");
      modes.push_back(*l);
    }
    return Value(make_layout(modes));
  }
  if (a.count() > 2) a.wrong_kind(0, "layouts");
  return layout_(a);
}

Value make_ordered_layout_(Arguments& a) {
  return Value(make_ordered_layout(a.tuple(0), a.tuple(1)));
}
Value make_layout_like_(Arguments& a) {
  return Value(make_layout_like(a.inner_layout(0)));
}
Value make_fragment_like_(Arguments& a) {
  if (const Tuple* t = a.as<Tuple>(0)) return Value(make_layout(*t));
  return Value(make_fragment_like(a.inner_layout(0)));
}
Value make_identity_layout_(Arguments& a) {
  return Value(make_identity_layout(a.tuple(0)));
}

Value cosize_(Arguments& a) {
  std::vector<int> path = a.path(1);
  if (const Composed* c = a.as<Composed>(0))
    return Value(cosize(a.facts(), get(c->layout(), path)));
  return Value(cosize(a.facts(), get(a.layout(0), path)));
}

Value coshape_(Arguments& a) {
  return Value(coshape(a.facts(), a.inner_layout(0)));
}

Value values_(Arguments& a) {
  Tuple result = value_tuple(a.facts(), a.any_layout(0));
  a.session.charge(result.rank(), a.whole());
  return Value(std::move(result));
}

// The value that the layout inside has where L has v: a swizzle is its own inverse.
Int inner_value(Arguments& a) {
  const Composed* c = a.as<Composed>(0);
  if (!c) return a.integer(1);
  const auto* s = std::get_if<Swizzle>(&c->outer);
  if (!s || !c->offset.is_int()) a.wrong_kind(0, "a layout or a swizzled layout");
  if (a.integer(1).is_literal() && a.literal(1) < 0) {
    throw refusal("not-compact", a.integer(1).to_string() + " is no value of " + c->to_string());
  }
  return (*s)(a.integer(1)) - c->offset.value();
}

Value get_hier_coord_(Arguments& a) {
  return Value(get_hier_coord(a.facts(), a.inner_layout(0), inner_value(a)));
}
Value get_flat_coord_(Arguments& a) {
  return Value(get_flat_coord(a.facts(), a.inner_layout(0), inner_value(a)));
}
Value get_1d_coord_(Arguments& a) {
  return Value(get_1d_coord(a.facts(), a.inner_layout(0), inner_value(a)));
}

Value upcast_(Arguments& a) {
  if (const Swizzle* s = a.as<Swizzle>(0)) return Value(upcast(*s, a.literal(1)));
  if (const Composed* c = a.as<Composed>(0)) return to_value(upcast(a.facts(), *c, a.integer(1)));
  return Value(upcast(a.facts(), a.layout(0), a.integer(1)));
}

Value downcast_(Arguments& a) {
  if (const Swizzle* s = a.as<Swizzle>(0)) return Value(downcast(*s, a.literal(1)));
  if (const Composed* c = a.as<Composed>(0)) return to_value(downcast(a.facts(), *c, a.integer(1)));
  return Value(downcast(a.facts(), a.layout(0), a.integer(1)));
}

// The width of an element type, or a number of bits.
int width(Arguments& a, std::size_t i) {
  if (!a.as<Tuple>(i)) return bits(a.type(i));
  const std::int64_t n = a.literal(i);
  if (n < 1 || n > 1024)
    throw refusal("argument-kind", "an element has from 1 to 1024 bits, not " + std::to_string(n));
  return static_cast<int>(n);
}

Value recast_(Arguments& a) {
  const auto *from_type = a.as<ElementType>(1), *to_type = a.as<ElementType>(2);
  const Layout* layout = a.as<Layout>(0);
  if (from_type && to_type) {
    if (layout) return Value(recast(a.facts(), *layout, *from_type, *to_type));
    if (const Swizzle* s = a.as<Swizzle>(0)) return Value(recast(*s, *from_type, *to_type));
    if (const Composed* c = a.as<Composed>(0))
      return to_value(recast(a.facts(), *c, *from_type, *to_type));
  }
  const int from = width(a, 1), to = width(a, 2);
  if (layout) return Value(recast(a.facts(), *layout, from, to));
  if (const Swizzle* s = a.as<Swizzle>(0)) return Value(recast(*s, from, to));
  if (const Composed* c = a.as<Composed>(0)) return to_value(recast(a.facts(), *c, from, to));
  a.wrong_kind(0, "a layout or a swizzle");
}

Value bits_(Arguments& a) {
  return Value(Int(bits(a.type(0))));
}

Value cute_(Arguments& a) {
  return read_cute(a.string(0));
}

// One run of ones, or none.
bool is_run(std::int64_t mask) {
  const auto bits = static_cast<std::uint64_t>(mask);
  return mask >= 0 && (mask == 0 || std::has_single_bit((bits >> std::countr_zero(bits)) + 1));
}

Value make_swizzle_(Arguments& a) {
  const std::int64_t from = a.literal(0), to = a.literal(1);
  const int count = std::popcount(static_cast<std::uint64_t>(from));
  if (!is_run(from) || !is_run(to) || count != std::popcount(static_cast<std::uint64_t>(to))) {
    throw refusal("swizzle",
                  "no swizzle reads the bits of " + std::to_string(from) +
                      " and changes those of " + std::to_string(to),
                  "both masks are one run of ones, equally long");
  }
  if (count == 0) return Value(Swizzle(0, 4, 3));  // moves nothing: CuTe's
  const std::int64_t low_from = std::countr_zero(static_cast<std::uint64_t>(from)),
                     low_to = std::countr_zero(static_cast<std::uint64_t>(to));
  return Value(Swizzle(count, std::min(low_from, low_to), low_from - low_to));
}

constexpr Builtin kLayoutsRows[] = {
    {"layout", "layout(S [, right])",
     "the compact layout of a shape, left-most fastest or right-most", 1, 2, layout_},
    {"make_layout", "make_layout(L, M, ...)",
     "one mode for each layout; of a shape, the compact layout; of a swizzle, the integers that it "
     "permutes",
     1, kMany, make_layout_},
    {"make_ordered_layout", "make_ordered_layout(S, order)",
     "compact, strides ascending in the order given", 2, 2, make_ordered_layout_},
    {"make_layout_like", "make_layout_like(L)", "compact, L's shape and the order of its strides",
     1, 1, make_layout_like_},
    {"make_fragment_like", "make_fragment_like(L)",
     "registers for a tile of L: mode 0 first, left-most fastest", 1, 1, make_fragment_like_},
    {"make_identity_layout", "make_identity_layout(S)", "L(c) == c", 1, 1, make_identity_layout_},
    {"cosize", "cosize(L [, path...])", "1 + the largest value", 1, kMany, cosize_},
    {"coshape", "coshape(L)", "the exclusive upper corner of the values", 1, 1, coshape_},
    {"values", "values(L)", "L(0), L(1), ..., L(size(L) - 1)", 1, 1, values_},
    {"get_hier_coord", "get_hier_coord(L, i)", "L(get_hier_coord(L, i)) == i, nested as L's shape",
     2, 2, get_hier_coord_},
    {"get_flat_coord", "get_flat_coord(L, i)", "the same, one index a top-level mode", 2, 2,
     get_flat_coord_},
    {"get_1d_coord", "get_1d_coord(L, i)", "the same, as one index", 2, 2, get_1d_coord_},
    {"upcast", "upcast(L, n)", "n neighbouring elements become one", 2, 2, upcast_},
    {"downcast", "downcast(L, n)", "every element becomes n", 2, 2, downcast_},
    {"recast", "recast(L, from, to)",
     "L in elements of another type, or number of bits: recast(L, f16, u32)", 3, 3, recast_},
    {"make_swizzle", "make_swizzle(from, to)",
     "XORs the bits of the mask `from` into those of the mask `to`", 2, 2, make_swizzle_},
    {"cute", "cute(\"...\")", "what CuTe printed, as the value it shows", 1, 1, cute_},
    {"bits", "bits(T)", "the width of an element type", 1, 1, bits_},
};

}  // namespace

std::span<const Builtin> layout_builtins() {
  return kLayoutsRows;
}

}  // namespace lay::sema
