#include "tests/conformance/contract.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/conformance/tiling.h"

namespace conformance {
namespace {

using namespace lay;

constexpr int64_t kMost = 4096;

int64_t span_of(const Tuple& shape) {
  return std::min(size(shape).value(), kMost);
}

const Tuple& shape_of(const AnyLayout& a) {
  if (const Layout* layout = std::get_if<Layout>(&a)) return layout->shape;
  return std::get<Composed>(a).layout().shape;
}

bool has_shape(const AnyLayout& a) {
  const auto* composed = std::get_if<Composed>(&a);
  return !composed || std::holds_alternative<Layout>(composed->inner);
}

// R(i) == A(B(i)) for all i, by values.
template <typename Outer>
bool composes(Facts& facts, const Outer& a, const Layout& b, const AnyLayout& r) {
  if (!has_shape(r) || !(size(shape_of(r)) == size(b))) return false;
  for (int64_t i = 0; i < span_of(b.shape); ++i) {
    if (!same_value(evaluate(facts, r, i), evaluate(facts, a, evaluate(facts, b, i)))) return false;
  }
  return true;
}

// The same for a tiler, mode by mode.
bool composes_by_mode(Facts& facts, const Layout& a, const Tiler& tiler, const Layout& r) {
  if (std::holds_alternative<Tiler::Keep>(tiler.value)) return a == r;
  if (const auto* modes = std::get_if<std::vector<Tiler>>(&tiler.value)) {
    for (size_t i = 0; i < modes->size(); ++i) {
      const int k = static_cast<int>(i);
      if (r.rank() <= k || !composes_by_mode(facts, a[k], (*modes)[i], r[k])) return false;
    }
    return true;
  }
  return composes(facts, a, tiler.layout(), r);
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
bool inverts(Facts& facts, const AnyLayout& a, const AnyLayout& r) {
  for (int64_t i = 0; i < span_of(shape_of(a)); ++i) {
    const Tuple v = evaluate(facts, a, i);
    if (!(evaluate(facts, a, evaluate(facts, r, v)) == v)) return false;
  }
  return true;
}

// A(R(i)) == i for all i.
bool is_right_inverse(Facts& facts, const AnyLayout& a, const AnyLayout& r) {
  for (int64_t i = 0; i < span_of(shape_of(r)); ++i) {
    if (!same_value(evaluate(facts, a, evaluate(facts, r, i)), i)) return false;
  }
  return true;
}

// offset + R(i) == Sw(o + L(c)), where c has i spread over the underscores.
bool slices(Facts& facts, const Composed& a, const Tuple& coordinate, const Outcome& outcome) {
  const Slice inner = slice_and_offset(facts, coordinate, a.layout());
  const AnyLayout& r = std::get<AnyLayout>(outcome.result);
  for (int64_t i = 0; i < span_of(inner.sub.shape); ++i) {
    const Tuple at = add(add(a.offset, inner.offset), evaluate(facts, inner.sub, i));
    const int64_t expected = std::get<Swizzle>(a.outer)(at.value().value());
    if (!(add(outcome.offset, evaluate(facts, r, i)) == Tuple(expected))) return false;
  }
  return true;
}

// R(i) == A(Sw(i)) for all i.
bool follows(Facts& facts, const Layout& a, const Swizzle& s, const AnyLayout& r) {
  for (int64_t i = 0; i < span_of(a.shape); ++i) {
    if (!(evaluate(facts, r, i) == evaluate(facts, a, s(i)))) return false;
  }
  return true;
}

bool steps_down(const Layout& a) {
  const std::vector<Tuple> strides = leaves(a.stride);
  return std::any_of(strides.begin(), strides.end(),
                     [](const Tuple& d) { return d.value().value() < 0; });
}

// The values of R are the n elements of every word of A, each as often as the word occurs. Where A
// steps down, whose words are counted from the far end, only their number is held against the law.
bool splits(const Layout& a, int64_t n, const Layout& r) {
  std::vector<int64_t> expected;
  for (const int64_t word : values(a)) {
    for (int64_t j = 0; j < n; ++j) expected.push_back(word * n + j);
  }
  if (steps_down(a)) return size(r) == Int(expected.size());
  std::vector<int64_t> actual = values(r);
  std::sort(expected.begin(), expected.end());
  std::sort(actual.begin(), actual.end());
  return expected == actual;
}

// The values of R are the parts (all of them) of the words that the elements of A lie in.
std::optional<bool> gathers(const Layout& a, int64_t n, int64_t parts, const Layout& r) {
  if (steps_down(a)) return std::nullopt;
  std::set<int64_t> expected;
  for (const int64_t element : values(a)) {
    for (int64_t j = 0; j < parts; ++j) expected.insert(element / n * parts + j);
  }
  const std::vector<int64_t> words = values(r);
  return std::set<int64_t>(words.begin(), words.end()) == expected;
}

// From `from` bits to `to` bits: into the words of both, then into their elements.
std::optional<bool> casts(Facts& facts, const Layout& a, int64_t from, int64_t to,
                          const Layout& r) {
  const int64_t common = std::gcd(from, to);
  if (from != common) {
    try {
      return splits(upcast(facts, a, to / common), from / common, r);
    } catch (const Refusal&) {  // its words are those of no layout: their set still is known
    }
  }
  return gathers(a, to / common, from / common, r);
}

// Tests downcast and recast, also of the layout inside a composed one; a swizzle that moves nothing
// is left out.
std::optional<bool> keeps_cast(Facts& facts, const Case& c, const AnyLayout& r) {
  const bool down = c.op.ends_with("downcast"), up = c.op.ends_with("upcast");
  const int64_t n = down || up ? c.args.at("N").get<int64_t>() : 1;
  const int64_t from = down ? n : up ? 1 : c.args.at("old_bits").get<int64_t>();
  const int64_t to = up ? n : down ? 1 : c.args.at("new_bits").get<int64_t>();
  const Layout a =
      is_composed(c.in.at(0)) ? as_composed(c.in.at(0)).layout() : as_layout(c.in.at(0));
  const auto* composed = std::get_if<Composed>(&r);
  return casts(facts, a, from, to, composed ? composed->layout() : std::get<Layout>(r));
}

// A tuple stands for the modes of its own tiler, anything else composes as a whole.
std::optional<bool> keeps_composed(Facts& facts, const Case& c, const AnyLayout& r) {
  const Tiler rhs = as_tiler(c.args.at("rhs"));
  const auto* b = std::get_if<Layout>(&rhs.value);
  if (!b) return std::nullopt;
  return composes(facts, as_composed(c.in.at(0)), *b, r);
}

AnyLayout operand(const Case& c, size_t i = 0) {
  return is_composed(c.in.at(i)) ? AnyLayout(as_composed(c.in.at(i)))
                                 : AnyLayout(as_layout(c.in.at(i)));
}

std::optional<bool> keeps(Facts& facts, const Case& c, const Outcome& outcome,
                          const AnyLayout& any) {
  const std::string& op = c.op;
  if (op == "layout_compose_swizzle")
    return follows(facts, as_layout(c.in.at(0)), as_swizzle(c.in.at(1)), any);
  if (op == "composed_slice_and_offset") {
    return slices(facts, as_composed(c.in.at(0)), as_tuple(c.args.at("coord")), outcome);
  }
  if (op.ends_with("upcast") || op.ends_with("downcast") || op == "recast_layout" ||
      op == "composed_recast") {
    return keeps_cast(facts, c, any);
  }
  if (op == "composed_compose") return keeps_composed(facts, c, any);
  if (op == "left_inverse" || op == "composed_left_inverse") return inverts(facts, operand(c), any);
  if (op == "right_inverse" || op == "composed_right_inverse")
    return is_right_inverse(facts, operand(c), any);
  if (op == "max_common_layout" || op == "composed_max_common_layout") {
    return is_right_inverse(facts, operand(c, 0), any) &&
           is_right_inverse(facts, operand(c, 1), any);
  }
  const Layout* r = std::get_if<Layout>(&any);
  if (!r || c.in.empty() || !c.in.at(0).is_object()) {
    return op == "make_ordered_layout" && r ? std::optional<bool>(is_compact(facts, *r))
                                            : std::nullopt;
  }
  if (is_composed(c.in.at(0)) || c.in.at(0).contains("swizzle")) return std::nullopt;
  const Layout a = as_layout(c.in.at(0));
  if (op == "composition" || op == "composition_basis")
    return composes(facts, a, as_layout(c.in.at(1)), *r);
  if (op == "composition_tiler")
    return composes_by_mode(facts, a, as_tiler(c.args.at("tiler")), *r);
  if (op == "composition_shape")
    return composes_by_mode(facts, a, as_tiler(c.args.at("shape_tiler")), *r);
  if (op == "identity_composition")
    return composes_by_mode(facts, a, as_tiler(c.args.at("tiler")), *r);
  if (op == "with_shape") return composes(facts, a, make_layout(as_tuple(c.args.at("shape"))), *r);
  if (op == "coalesce" || op == "flatten") return composes(facts, a, make_layout(size(a)), *r);
  if (op == "make_layout_like" || op == "make_fragment_like") return is_compact(facts, *r);
  return keeps_tiling(facts, c, *r);
}

}  // namespace

std::optional<bool> keeps_contract(const Case& c, const Outcome& outcome) {
  const auto* any = std::get_if<AnyLayout>(&outcome.result);
  if (!any || !outcome.table.empty()) return std::nullopt;
  Facts facts;
  try {
    return keeps(facts, c, outcome, *any);
  } catch (const Refusal&) {  // the definition itself has no value here
    return std::nullopt;
  }
}

bool same_function(const Outcome& ours, const Outcome& theirs) {
  if (ours.table != theirs.table) return false;
  const auto *s = std::get_if<Swizzle>(&ours.result), *t = std::get_if<Swizzle>(&theirs.result);
  if (s && t) {
    for (int64_t x = 0; x < kMost; ++x) {
      if ((*s)(x) != (*t)(x)) return false;
    }
    return true;
  }
  const auto *a = std::get_if<AnyLayout>(&ours.result), *b = std::get_if<AnyLayout>(&theirs.result);
  if (!a || !b || !has_shape(*b) || (has_shape(*a) && !(size(shape_of(*a)) == size(shape_of(*b)))))
    return false;
  Facts facts;
  for (int64_t i = 0; i < span_of(shape_of(*b)); ++i) {
    if (!same_value(add(ours.offset, evaluate(facts, *a, i)),
                    add(theirs.offset, evaluate(facts, *b, i))))
      return false;
  }
  return true;
}

}  // namespace conformance
