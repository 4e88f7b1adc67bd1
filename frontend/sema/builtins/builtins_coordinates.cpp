// Arithmetic on tuples, coordinates and slices, and the orders on profiles.

#include <functional>
#include <utility>

#include "frontend/algebra/claims/propositions.h"
#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {
namespace {

Value concatenate_(Arguments& a) {
  return Value(concatenate(a.tuple(0), a.tuple(1)));
}
Value wrap_(Arguments& a) {
  return Value(wrap(a.tuple(0)));
}
Value unwrap_(Arguments& a) {
  return Value(unwrap(a.tuple(0)));
}
Value product_each_(Arguments& a) {
  return Value(product_each(a.tuple(0)));
}
Value product_like_(Arguments& a) {
  return Value(product_like(a.tuple(0), a.tuple(1)));
}
Value inner_product_(Arguments& a) {
  return Value(inner_product(a.tuple(0), a.tuple(1)));
}

// A tuple of indices goes mode by mode.
Tuple coordinate_of(Facts& facts, const Tuple& index, const Tuple& shape, const Tuple* stride) {
  if (index.is_int()) {
    return stride ? idx2crd(facts, index.value(), shape, *stride)
                  : idx2crd(facts, index.value(), shape);
  }
  if (index.is_leaf() || index.rank() != shape.rank() ||
      (stride && stride->rank() != shape.rank())) {
    throw refusal("coordinate-rank", "the indices " + index.to_string() + " do not fit the shape " +
                                         shape.to_string());
  }
  std::vector<Tuple> modes;
  for (int i = 0; i < index.rank(); ++i) {
    if (!stride) {
      modes.push_back(coordinate_of(facts, index[i], shape[i], nullptr));
      continue;
    }
    const Tuple along = (*stride)[i];
    modes.push_back(coordinate_of(facts, index[i], shape[i], &along));
  }
  return Tuple(std::move(modes));
}

Value idx2crd_(Arguments& a) {
  return Value(coordinate_of(a.facts(), a.tuple(0), a.tuple(1), a.as<Tuple>(2)));
}

Value crd2idx_(Arguments& a) {
  if (a.count() == 3) return Value(crd2idx(a.facts(), a.tuple(0), a.tuple(1), a.tuple(2)));
  return Value(crd2idx(a.facts(), a.tuple(0), a.tuple(1)));
}

Value crd2crd_(Arguments& a) {
  return Value(crd2crd(a.facts(), a.tuple(0), a.tuple(1), a.tuple(2)));
}

Value slice_(Arguments& a) {
  if (const Layout* l = a.as<Layout>(1)) return Value(slice(a.tuple(0), *l));
  if (const Composed* c = a.as<Composed>(1)) return Value(slice(a.facts(), a.tuple(0), *c));
  return Value(slice(a.tuple(0), a.tuple(1)));
}

Value slice_and_offset_(Arguments& a) {
  if (const Composed* c = a.as<Composed>(1)) {  // the offset stays inside
    return make_tuple({Value(slice(a.facts(), a.tuple(0), *c)), Value(Tuple(0))});
  }
  lay::Slice cut = slice_and_offset(a.facts(), a.tuple(0), a.layout(1));
  return make_tuple({Value(cut.sub), Value(cut.offset)});
}

Value domain_offset_(Arguments& a) {
  if (const Composed* c = a.as<Composed>(1)) {  // the offset goes inside
    const Layout* inner = std::get_if<Layout>(&c->inner);
    if (!inner) a.wrong_kind(1, "a layout or a layout behind a swizzle");
    Composed moved = *c;
    moved.offset = add(c->offset, evaluate(a.facts(), *inner, a.tuple(0)));
    return make_tuple({Value(std::move(moved)), Value(Tuple(0))});
  }
  return make_tuple({Value(a.layout(1)), Value(evaluate(a.facts(), a.layout(1), a.tuple(0)))});
}

Value dice_(Arguments& a) {
  if (const Layout* l = a.as<Layout>(1)) return Value(dice(a.tuple(0), *l));
  if (const Composed* c = a.as<Composed>(1)) {
    Composed part = *c;
    part.inner = dice(a.tuple(0), c->layout());
    return Value(std::move(part));
  }
  return Value(dice(a.tuple(0), a.tuple(1)));
}

Tuple shape_or_tuple(Arguments& a, std::size_t i) {
  if (a.is_layout(i)) return a.inner_layout(i).shape;
  return a.tuple(i);
}

using Relation = std::function<Predicate(const Tuple&, const Tuple&)>;

// The deepest first mode at which a relation that goes mode by mode fails for all sizes, in words.
Failure first_conflict(const Tuple& a, const Tuple& b, const Relation& holds,
                       const std::string& path = "") {
  for (int i = 0; a.is_tuple() && b.is_tuple() && i < std::min(a.rank(), b.rank()); ++i) {
    if (holds(a[i], b[i]).is_never()) {
      return first_conflict(a[i], b[i], holds,
                            path + (path.empty() ? "" : ",") + std::to_string(i));
    }
  }
  const auto side = [](const Tuple& t) {
    return t.to_string() + (t.is_tuple() && !t.has_underscore()
                                ? ", of " + size(t).to_string() + " elements,"
                                : "");
  };
  Failure f;
  f.value = a.to_string();
  f.expected = b.to_string();
  f.sentence = (path.empty() ? "" : "mode " + path + " is ") + side(a) + " on the left and " +
               side(b) + " on the right";
  return f;
}

// Evaluates a relation; one that `prove` asks about and that fails for all sizes says where.
Value related(Arguments& a, const Relation& holds) {
  const bool asked = std::exchange(a.session.claiming, false);
  const Tuple left = shape_or_tuple(a, 0), right = shape_or_tuple(a, 1);
  Predicate result = holds(left, right);
  if (asked && result.is_never()) {
    Conclusion j;
    j.verdict = Verdict::refuted;
    j.never = true;
    j.failure = first_conflict(left, right, holds);
    a.session.refutation = std::move(j);
  }
  return Value(std::move(result));
}

Value congruent_(Arguments& a) {
  return related(a, [](const Tuple& x, const Tuple& y) { return Predicate(congruent(x, y)); });
}
Value weakly_congruent_(Arguments& a) {
  return related(a,
                 [](const Tuple& x, const Tuple& y) { return Predicate(weakly_congruent(x, y)); });
}
Value compatible_(Arguments& a) {
  return related(a, [](const Tuple& x, const Tuple& y) { return compatible(x, y); });
}
// A tile that is a layout divides a shape where it and the places of its copies have as many
// elements.
Predicate tiles_evenly(Facts& facts, const Tuple& shape, const Tiler& tiler) {
  if (const Layout* tile = std::get_if<Layout>(&tiler.value)) {
    return equal(size(shape), size(*tile) * size(complement(facts, *tile, shape)));
  }
  if (const Int* n = std::get_if<Int>(&tiler.value)) return evenly_divides(facts, shape, *n);
  Predicate all;
  if (const auto* modes = std::get_if<std::vector<Tiler>>(&tiler.value)) {
    if (static_cast<int>(modes->size()) > shape.rank()) return Predicate(false);
    for (std::size_t i = 0; i < modes->size(); ++i) {
      all = both(all, tiles_evenly(facts, shape[static_cast<int>(i)], (*modes)[i]));
    }
  }
  return all;
}

Value evenly_divides_(Arguments& a) {
  const Tuple shape = shape_or_tuple(a, 0);
  if (const Tuple* tiler = a.as<Tuple>(1); tiler && !tiler->has_underscore()) {
    return related(a,
                   [&](const Tuple& x, const Tuple& y) { return evenly_divides(a.facts(), x, y); });
  }
  return Value(tiles_evenly(a.facts(), shape, a.tiler(1)));
}

constexpr Builtin kCoordinatesRows[] = {
    {"concatenate", "concatenate(s, t)", "the modes of s, then those of t", 2, 2, concatenate_},
    {"wrap", "wrap(t)", "an integer becomes the tuple of one", 1, 1, wrap_},
    {"unwrap", "unwrap(t)", "tuples of one are opened", 1, 1, unwrap_},
    {"product_each", "product_each(t)", "the size of each mode", 1, 1, product_each_},
    {"product_like", "product_like(t, guide)", "the sizes of t at the leaves of guide", 2, 2,
     product_like_},
    {"inner_product", "inner_product(s, t)", "the sum of the products of the leaves", 2, 2,
     inner_product_},
    {"idx2crd", "idx2crd(i, S [, D])", "crd2idx(idx2crd(i, S), S) == i", 2, 3, idx2crd_},
    {"crd2idx", "crd2idx(c, S [, D])", "the inner product of the natural coordinate with D", 2, 3,
     crd2idx_},
    {"crd2crd", "crd2crd(c, S, T)",
     "idx2crd(crd2idx(c, S), T), mode by mode where all three are tuples", 3, 3, crd2crd_},
    {"slice", "slice(c, L)", "what stands under `_`", 2, 2, slice_},
    {"slice_and_offset", "slice_and_offset(c, L)", "(what stands under `_`, the value of the rest)",
     2, 2, slice_and_offset_},
    {"domain_offset", "domain_offset(c, L)",
     "(L, L(c)): the layout that begins at c, L(c + x) == L(x) + L(c)", 2, 2, domain_offset_},
    {"dice", "dice(c, L)", "what stands under integers", 2, 2, dice_},
    {"congruent", "congruent(A, B)", "the same nesting", 2, 2, congruent_},
    {"weakly_congruent", "weakly_congruent(A, B)", "B refines A's nesting", 2, 2,
     weakly_congruent_},
    {"compatible", "compatible(A, B)", "every coordinate of A is one of B", 2, 2, compatible_},
    {"evenly_divides", "evenly_divides(S, T)", "the tiler T divides the shape S, mode by mode", 2,
     2, evenly_divides_},
};

}  // namespace

std::span<const Builtin> coordinate_builtins() {
  return kCoordinatesRows;
}

}  // namespace lay::sema
