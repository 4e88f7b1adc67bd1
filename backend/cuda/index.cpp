#include "backend/cuda/index.h"

#include <bit>
#include <stdexcept>

#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::cuda {
namespace {

bool is_negative_leading(const Int& value) {
  if (value.is_literal()) return value.value() < 0;
  return value.polynomial().terms.front().coefficient < 0;
}

bool is_non_negative(const Int& value);

bool is_non_negative(const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::dim:
      return true;
    case AtomKind::floor_div:
    case AtomKind::min:
    case AtomKind::select:
      return is_non_negative(atom.a) && is_non_negative(atom.b);
    case AtomKind::max:
      return is_non_negative(atom.a) || is_non_negative(atom.b);
  }
  return false;
}

// ceil_div(p, q) is kept as -floor_div(-p, q).
bool is_ceil_div(const Term& term) {
  if (term.coefficient >= 0 || term.factors.size() != 1 || term.factors[0].exponent != 1)
    return false;
  const Atom& atom = *term.factors[0].atom;
  return atom.kind == AtomKind::floor_div && is_negative_leading(atom.a) &&
         is_non_negative(-atom.a);
}

bool is_non_negative(const Int& value) {
  if (value.is_literal()) return value.value() >= 0;
  for (const Term& term : value.polynomial().terms) {
    if (is_ceil_div(term)) continue;
    if (term.coefficient < 0) return false;
    for (const Factor& factor : term.factors)
      if (!is_non_negative(*factor.atom)) return false;
  }
  return true;
}

// No coefficient scales a size up: the term is at most about as large as a size.
bool fits_int(const Term& term) {
  const std::int64_t scale = term.coefficient < 0 ? -term.coefficient : term.coefficient;
  if (term.factors.empty()) return scale < (1LL << 30);
  if (term.factors.size() != 1 || term.factors[0].exponent != 1) return false;
  if (scale == 1) return true;
  const Atom& atom = *term.factors[0].atom;
  return atom.kind == AtomKind::floor_div && atom.b.is_literal() && scale <= atom.b.value();
}

class SizeWriter {
 public:
  SizeWriter(const SizeNames& names, bool wide) : names_(names), wide_(wide) {}

  Code value(const Int& number) const {
    if (number.is_literal()) return integer(number.value());
    const Polynomial& polynomial = number.polynomial();
    Code total = integer(0);
    for (const Term& term : polynomial.terms) {
      const bool positive_form = is_ceil_div(term);
      const std::int64_t coefficient = positive_form ? -term.coefficient : term.coefficient;
      const Code magnitude = product(factors(term, positive_form),
                                     integer(coefficient < 0 ? -coefficient : coefficient));
      total = coefficient < 0 ? difference(total, magnitude) : sum(total, magnitude);
    }
    return quotient(total, integer(polynomial.denominator));
  }

  Code condition(const PredicateNode& node) const {
    const auto compare = [&](std::string_view op, Binding binding) {
      return binary(value(node.a), op, value(node.b), binding);
    };
    const auto rest = [&] { return remainder(value(node.a), value(node.b)); };
    switch (node.kind) {
      case PredicateKind::always:
        return name("true");
      case PredicateKind::never:
        return name("false");
      case PredicateKind::equal:
        return compare("==", Binding::equality);
      case PredicateKind::not_equal:
        return compare("!=", Binding::equality);
      case PredicateKind::less:
        return compare("<", Binding::relation);
      case PredicateKind::less_equal:
        return compare("<=", Binding::relation);
      case PredicateKind::divides:
        return binary(rest(), "==", integer(0), Binding::equality);
      case PredicateKind::not_divides:
        return binary(rest(), "!=", integer(0), Binding::equality);
      case PredicateKind::both:
        return binary(condition(*node.left), "&&", condition(*node.right), Binding::logical_and);
      case PredicateKind::either:
        return binary(condition(*node.left), "||", condition(*node.right), Binding::logical_or);
    }
    return name("false");
  }

 private:
  Code factors(const Term& term, bool as_ceil_div) const {
    Code all = integer(1);
    for (const Factor& factor : term.factors)
      for (int i = 0; i < factor.exponent; ++i) {
        const Code next = atom(*factor.atom, as_ceil_div);
        all = product(all, wide_ && !all.wide ? widened(next) : next);
      }
    return all;
  }

  Code atom(const Atom& atom, bool as_ceil_div) const {
    switch (atom.kind) {
      case AtomKind::dim: {
        const auto found = names_.dims.find(atom.id);
        if (found == names_.dims.end())
          throw std::logic_error("internal: the size `" + atom.name +
                                 "` is no parameter of the kernel");
        return name(found->second);
      }
      case AtomKind::floor_div:
        if (as_ceil_div)
          return quotient(sum(value(-atom.a), difference(value(atom.b), integer(1))),
                          value(atom.b));
        if (is_non_negative(atom.a)) return quotient(value(atom.a), value(atom.b));
        names_.helpers->names.insert("floor_div");
        return wide(call("floor_div", value(atom.a).text + ", " + value(atom.b).text));
      case AtomKind::min:
      case AtomKind::max: {
        // Both sides of the same type, as the built-in function asks.
        const Code a = wide_ ? widened(value(atom.a)) : value(atom.a),
                   b = wide_ ? widened(value(atom.b)) : value(atom.b);
        const std::string type = wide_ ? "(long long)" : "";
        const auto side = [&](const Code& code) {
          return code.known ? type + inside(code, Binding::unary) : code.text;
        };
        Code code = call(atom.kind == AtomKind::min ? "min" : "max", side(a) + ", " + side(b));
        code.wide = wide_;
        return code;
      }
      case AtomKind::select: {
        const Code a = value(atom.a), b = value(atom.b);
        Code code{inside(condition(*atom.condition), Binding::logical_or) + " ? " +
                      inside(a, Binding::logical_or) + " : " + inside(b, Binding::conditional),
                  Binding::conditional, a.wide || b.wide};
        return code;
      }
    }
    return integer(0);
  }

  static Code wide(Code code) {
    code.wide = true;
    return code;
  }

  const SizeNames& names_;
  bool wide_;
};

bool fits_int(const Int& value);

bool arguments_fit_int(const Term& term) {
  for (const Factor& factor : term.factors) {
    const Atom& atom = *factor.atom;
    if (atom.kind != AtomKind::dim && (!fits_int(atom.a) || !fits_int(atom.b))) return false;
    // The general floor_div is computed wide.
    if (atom.kind == AtomKind::floor_div && !is_ceil_div(term) && !is_non_negative(atom.a))
      return false;
  }
  return true;
}

bool fits_int(const Int& value) {
  if (value.is_literal()) return value.value() > -(1LL << 31) && value.value() < (1LL << 31);
  const Polynomial& polynomial = value.polynomial();
  // Sums of several sizes may leave 32 bits.
  std::size_t sizes = 0;
  for (const Term& term : polynomial.terms) {
    if (!fits_int(term) || !arguments_fit_int(term)) return false;
    sizes += !term.factors.empty();
  }
  return sizes <= 1;
}

void collect_leaves(const Tuple& shape, const Tuple& stride, std::vector<Leaf>& out) {
  if (shape.is_tuple()) {
    for (int i = 0; i < shape.rank(); ++i) collect_leaves(shape[i], stride[i], out);
    return;
  }
  if (shape.value().is(1)) return;
  const Leaf leaf{shape.value(), stride.value()};
  if (!out.empty() && out.back().stride * out.back().extent == leaf.stride)
    out.back().extent = out.back().extent * leaf.extent;
  else
    out.push_back(leaf);
}

Code layout_code(const Layout& layout, const std::vector<Code>& coordinate, bool wide,
                 const SizeNames& names) {
  Code total = integer(0);
  // Where the layout's size fits an int, so do products of its extents.
  const auto size_code = [&](const Int& value) {
    return SizeWriter(names, wide && !fits_int(value)).value(value);
  };
  for (std::size_t mode = 0; mode < coordinate.size(); ++mode) {
    const std::vector<Leaf> leaves = leaves_of(layout[static_cast<int>(mode)]);
    const Code& rest = coordinate[mode];
    Int divisor = 1;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      Code digit = quotient(rest, size_code(divisor));
      if (i + 1 < leaves.size()) digit = remainder(digit, size_code(leaves[i].extent));
      divisor = divisor * leaves[i].extent;
      Code stride = size_code(leaves[i].stride);
      // A product of two ints may leave 32 bits; a coordinate alone does not.
      if (wide && !leaves[i].stride.is(1))
        (digit.known ? stride : digit) = widened(digit.known ? stride : digit);
      total = sum(total, product(digit, stride));
    }
  }
  return total;
}

// Returns true if Sw(x + y) = Sw(x) + y for every offset y of the mode: y has none of the bits that
// the swizzle reads or changes, and none below them.
bool steps_by_blocks(const Layout& mode, const Swizzle& swizzle) {
  const auto masks = static_cast<std::uint64_t>(swizzle.source_mask() | swizzle.target_mask());
  const auto block = std::int64_t{1} << std::bit_width(masks);
  const std::vector<Leaf> leaves = leaves_of(mode);
  return std::all_of(leaves.begin(), leaves.end(), [&](const Leaf& leaf) {
    return leaf.stride.is_literal() && leaf.stride.value() % block == 0;
  });
}

}  // namespace

Code size_code(const Int& value, const SizeNames& names) {
  return SizeWriter(names, !fits_int(value)).value(value);
}

Code condition_code(const Predicate& condition, const SizeNames& names) {
  return SizeWriter(names, true).condition(condition.node());
}

std::vector<Leaf> leaves_of(const Layout& mode) {
  std::vector<Leaf> leaves;
  collect_leaves(mode.shape, mode.stride, leaves);
  if (leaves.empty()) leaves.push_back({1, 0});
  return leaves;
}

std::optional<Code> offset_code(const AnyLayout& layout, const std::vector<Code>& coordinate,
                                bool wide, const SizeNames& names, WholeBlocks blocks) {
  if (const auto* plain = std::get_if<Layout>(&layout))
    return layout_code(*plain, coordinate, wide, names);
  const Composed& composed = std::get<Composed>(layout);
  const auto* swizzle = std::get_if<Swizzle>(&composed.outer);
  const auto* inner = std::get_if<Layout>(&composed.inner);
  if (!swizzle || !inner || !composed.offset.is_int()) return std::nullopt;
  std::vector<Code> inside = coordinate, behind(coordinate.size(), integer(0));
  for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
    if (blocks == WholeBlocks::behind &&
        steps_by_blocks((*inner)[static_cast<int>(mode)], *swizzle))
      std::swap(inside[mode], behind[mode]);
  const Code x =
      sum(layout_code(*inner, inside, wide, names), size_code(composed.offset.value(), names));
  const Code rest = layout_code(*inner, behind, wide, names);
  if (swizzle->b == 0) return sum(x, rest);
  if (x.known) return sum(integer((*swizzle)(*x.known)), rest);
  const std::string sign = swizzle->s < 0 ? "m" : "";
  const std::string helper = (x.wide ? "wide_swizzle_" : "swizzle_") + std::to_string(swizzle->b) +
                             "_" + std::to_string(swizzle->m) + "_" + sign +
                             std::to_string(swizzle->s < 0 ? -swizzle->s : swizzle->s);
  (x.wide ? names.helpers->wide_swizzles : names.helpers->swizzles).emplace(helper, *swizzle);
  Code made = call(helper, x.text);
  made.wide = x.wide;
  return sum(made, rest);
}

std::optional<std::int64_t> extent_in_elements(const AnyLayout& layout) {
  const auto* composed = std::get_if<Composed>(&layout);
  const Layout& inner = composed ? composed->layout() : std::get<Layout>(layout);
  if (!inner.is_known() || inner.has_basis()) return std::nullopt;
  std::vector<Leaf> leaves;
  collect_leaves(inner.shape, inner.stride, leaves);
  std::int64_t last = 0;
  for (const Leaf& leaf : leaves) last += (leaf.extent.value() - 1) * leaf.stride.value();
  if (!composed) return last + 1;
  const auto* swizzle = std::get_if<Swizzle>(&composed->outer);
  if (!swizzle || !composed->offset.is_int() || !composed->offset.value().is_literal())
    return std::nullopt;
  // The swizzle moves an offset inside its aligned block of this many elements only.
  const auto block = std::int64_t{1}
                     << std::bit_width(static_cast<std::uint64_t>(swizzle->target_mask()));
  return (last + composed->offset.value().value() + block) / block * block;
}

}  // namespace lay::cuda
