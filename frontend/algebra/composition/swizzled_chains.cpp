// Compositions of which a side is composed already.

#include <bit>

#include "frontend/algebra/layouts/codomain.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

// A swizzle of a sum is no sum of swizzles.
template <typename A, typename B>
void require_no_offset(const A& a, const Tuple& offset, const B& b) {
  if (offset.is_literal(0)) return;
  throw refusal(
      "offset",
      a.to_string() + " o " + b.to_string() + ": a swizzle meets the offset " + offset.to_string(),
      "subtract the offset first: a swizzle of a sum is no sum of swizzles");
}

// a o b is known where b has coordinates: the swizzle must not lead past its end.
void require_within(Facts& facts, const Layout& a, const Swizzle& s) {
  if (s.b == 0 || facts.try_require(divides(size(a), swizzle_block(s)), "composition")) return;
  throw refusal("swizzle-unrepresentable",
                s.to_string() + " leads past the end of " + a.to_string(),
                "the size must be a multiple of " + std::to_string(swizzle_block(s)));
}

// Returns an end that no value of s o offset o inner reaches: a swizzle permutes blocks of a power
// of two. A swizzle XORs bits below the highest one: values below 2^k stay below 2^k.
Int end_of_values(const Swizzle& s, const Composed& b, const Int& reach) {
  if (s.b == 0 || !reach.is_literal() || !b.offset.is_known() || !b.offset.is_int()) return reach;
  const Int last = max(0, reach - 1 + b.offset.value());
  return int64_t{1} << std::bit_width(static_cast<uint64_t>(last.value()));
}

}  // namespace

AnyLayout composition(Facts& facts, const Layout& a, const Composed& b) {
  const Swizzle& s = outer_swizzle("composition", b);
  const Layout& inner = b.layout();
  if (s.b == 0 && b.offset.is_literal(0)) return composition(facts, a, inner);
  trace::Operation operation("composition", a, b);
  const Int reach = cosize(facts, inner);
  // a o (s o offset o inner) is s' o a(offset) o (a o inner) where a maps each bit that s moves to
  // a bit of its own: then XOR before a is XOR of the images behind it.
  const Swizzle moved = move_swizzle(facts, a, s, end_of_values(s, b, reach));
  const Tuple offset = evaluate(facts, a, b.offset);
  // The offset goes through a by itself only where no carry can come between it and the inner
  // layout.
  if (!b.offset.is_literal(0)) {
    const trace::Quiet quiet;
    // a(offset + x) == a(offset) + a(x) for all x below `reach`: what composing a with
    // (2,reach):(offset,1) requires, whose refusal says what is lacking.
    const Layout both(tuple(2, reach), tuple(b.offset, 1));
    static_cast<void>(composition(facts, a, both));
  }
  return operation.gives(Composed{moved, offset, composition(facts, a, inner)});
}

AnyLayout composition(Facts& facts, const Composed& a, const Layout& b) {
  trace::Operation operation("composition", a, b);
  const Swizzle* inner = std::get_if<Swizzle>(&a.inner);
  if (!inner)
    return operation.gives(
        AnyLayout(Composed{a.outer, a.offset, composition(facts, a.layout(), b)}));
  require_no_offset(a, a.offset, b);
  return operation.gives(composition(facts, std::get<Layout>(a.outer), composition(*inner, b)));
}

Composed composition(Facts& facts, const Composed& a, const Swizzle& b) {
  trace::Operation operation("composition", a, b);
  if (const Swizzle* inner = std::get_if<Swizzle>(&a.inner)) {
    return operation.gives(Composed{a.outer, a.offset, composition(*inner, b)});
  }
  require_no_offset(a, a.offset, b);
  return operation.gives(
      Composed{composition(outer_swizzle("composition", a), move_swizzle(facts, a.layout(), b)), 0,
               a.inner});
}

Composed composition(Facts& facts, const Swizzle& a, const Composed& b) {
  trace::Operation operation("composition", a, b);
  if (const Swizzle* outer = std::get_if<Swizzle>(&b.outer)) {
    return operation.gives(Composed{composition(a, *outer), b.offset, b.inner});
  }
  require_no_offset(a, b.offset, b);
  return operation.gives(
      composition(facts, composition(a, std::get<Layout>(b.outer)), std::get<Swizzle>(b.inner)));
}

AnyLayout composition(Facts& facts, const Composed& a, const Composed& b) {
  trace::Operation operation("composition", a, b);
  // Composition is associative: of a o (layout o swizzle) the layout is composed with a first, and
  // the swizzle stays outermost on the right.
  if (const Swizzle* last = std::get_if<Swizzle>(&b.inner)) {
    require_no_offset(a, b.offset, b);
    const Layout& before = std::get<Layout>(b.outer);
    require_within(facts, before, *last);
    const AnyLayout first = composition(facts, a, before);
    return operation.gives(
        std::visit([&](const auto& l) { return AnyLayout(composition(facts, l, *last)); }, first));
  }
  if (const Swizzle* last = std::get_if<Swizzle>(&a.inner)) {
    require_no_offset(a, a.offset, b);
    return operation.gives(
        composition(facts, std::get<Layout>(a.outer), composition(facts, *last, b)));
  }
  const AnyLayout right = composition(facts, a.layout(), b);
  if (const Layout* l = std::get_if<Layout>(&right))
    return operation.gives(AnyLayout(Composed{a.outer, a.offset, *l}));
  require_no_offset(a, a.offset, b);
  return operation.gives(
      AnyLayout(composition(facts, outer_swizzle("composition", a), std::get<Composed>(right))));
}

}  // namespace lay
