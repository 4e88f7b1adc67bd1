// Integers and conditions of a kernel as nodes, and the obligations of its indices.

#include <algorithm>

#include "frontend/sema/kernel/kernel_builder.h"

namespace lay::sema {

bool KernelBuilder::has_index(const Int& value) const {
  std::map<DimId, std::string> dims;
  value.collect_dims(dims);
  return std::any_of(dims.begin(), dims.end(),
                     [&](const auto& dim) { return symbols_.contains(dim.first); });
}

NodeId KernelBuilder::integer_node(ElementFunction function, NodeId a, NodeId b, Span where) {
  return add({Apply{function, {a, b}}, ElementType::s64, where});
}

bool KernelBuilder::is_natural(NodeId id) const {
  const Node& n = kernel.node(id);
  if (const auto* literal = std::get_if<Literal>(&n.what)) {
    const auto* integer = std::get_if<std::int64_t>(&literal->value);
    return integer && *integer >= 0;
  }
  if (std::holds_alternative<IndexValue>(n.what)) return true;
  const auto* apply = std::get_if<Apply>(&n.what);
  const bool is_cast = apply && apply->function == ElementFunction::cast;
  if (is_cast && !is_float(type_of(apply->operands[0]))) return is_natural(apply->operands[0]);
  const bool is_loaded = std::holds_alternative<Load>(n.what);
  return is_loaded && !is_signed(n.type) && bits(n.type) < 64;
}

// The operations divide towards zero: where the remainder has the other sign than the divisor, the
// quotient is one less and the remainder a divisor more.
Value KernelBuilder::floor_divided(bool remainder, const Operand& a, const Operand& b, Span whole) {
  const ElementType type = common_type({a, b}, 0, whole);
  if (is_float(type)) {
    fail("operand-kind", std::string(remainder ? "%" : "//") + " takes integers in a kernel", whole,
         {},
         {{"help", remainder ? "x - y * floor(x / y) is the remainder of real numbers"
                             : "floor(x / y) rounds a quotient of real numbers down"}});
  }
  const Int* divisor = b.value.is_int() ? &b.value.as<Tuple>()->value() : nullptr;
  if (divisor && divisor->is(0))
    fail("division-by-zero", "an integer of the kernel is divided by 0", whole);
  const NodeId n = node(a, type), d = node(b, type);
  const auto applied = [&](ElementFunction function, std::vector<NodeId> operands,
                           ElementType result) {
    return add({Apply{function, std::move(operands)}, result, whole});
  };
  const NodeId towards_zero =
      applied(remainder ? ElementFunction::rem : ElementFunction::div, {n, d}, type);
  const bool is_positive = divisor && session_.facts.proves(less_equal(1, *divisor));
  if (is_positive && is_natural(n)) return Value(Element{towards_zero});
  const NodeId rest = applied(ElementFunction::rem, {n, d}, type);
  const NodeId zero = add({Literal{std::int64_t{0}}, type, whole});
  const auto is_negative = [&](NodeId id) {
    return applied(ElementFunction::lt, {id, zero}, ElementType::pred);
  };
  const auto exceeds_zero = [&](NodeId id) {
    return applied(ElementFunction::lt, {zero, id}, ElementType::pred);
  };
  const auto both = [&](NodeId x, NodeId y) {
    return applied(ElementFunction::and_, {x, y}, ElementType::pred);
  };
  NodeId other_sign = is_negative(rest);
  if (!is_positive) {
    other_sign = applied(
        ElementFunction::or_,
        {both(is_negative(rest), exceeds_zero(d)), both(exceeds_zero(rest), is_negative(d))},
        ElementType::pred);
  }
  const NodeId step = remainder ? d : add({Literal{std::int64_t{1}}, type, whole});
  const NodeId moved =
      applied(remainder ? ElementFunction::add : ElementFunction::sub, {towards_zero, step}, type);
  return Value(Element{applied(ElementFunction::select, {other_sign, moved, towards_zero}, type)});
}

NodeId KernelBuilder::lower(const Int& value, Span where) {
  const NodeId id = lowered(value, where);
  integers_.emplace(id, value);
  return id;
}

NodeId KernelBuilder::lower(const Predicate& condition, Span where) {
  const NodeId id = lowered(condition, where);
  conditions_.emplace(id, condition);
  return id;
}

// A polynomial is a sum of products; what holds no index stays one SizeValue.
NodeId KernelBuilder::lowered(const Int& value, Span where) {
  if (value.is_literal()) return add({Literal{value.value()}, ElementType::s64, where});
  if (!has_index(value)) return add({SizeValue{value}, ElementType::s64, where});
  if (auto index = index_of(value)) return add({IndexValue{*index}, ElementType::s64, where});
  const Polynomial& p = value.polynomial();
  std::optional<NodeId> sum;
  Int sizes = 0;  // the terms without an index
  for (const Term& term : p.terms) {
    Int coefficient = term.coefficient;
    std::optional<NodeId> product;
    for (const Factor& factor : term.factors) {
      for (int n = 0; n < factor.exponent; ++n) {
        Int atom = as_int(*factor.atom);
        if (!has_index(atom)) {
          coefficient *= atom;
          continue;
        }
        NodeId id = lower_atom(*factor.atom, where);
        product = product ? integer_node(ElementFunction::mul, *product, id, where) : id;
      }
    }
    if (!product) {
      sizes += coefficient;
      continue;
    }
    bool minus = coefficient.is(-1) && sum;
    if (!coefficient.is(1) && !minus) {
      product = integer_node(ElementFunction::mul, lower(coefficient, where), *product, where);
    }
    sum = !sum ? *product
               : integer_node(minus ? ElementFunction::sub : ElementFunction::add, *sum, *product,
                              where);
  }
  if (!sizes.is(0)) sum = integer_node(ElementFunction::add, *sum, lower(sizes, where), where);
  if (p.denominator == 1) return *sum;
  return integer_node(ElementFunction::div, *sum, lower(Int(p.denominator), where), where);
}

NodeId KernelBuilder::lower_atom(const lay::Atom& atom, Span where) {
  switch (atom.kind) {
    case AtomKind::dim:
      return lower(as_int(atom), where);
    case AtomKind::floor_div:
      if (!session_.facts.proves(less_equal(0, atom.a)) ||
          !session_.facts.proves(less(0, atom.b))) {
        fail("unsupported",
             "in a kernel " + as_int(atom).to_string() + " needs a dividend that is not negative",
             where);
      }
      return integer_node(ElementFunction::div, lower(atom.a, where), lower(atom.b, where), where);
    case AtomKind::min:
      return integer_node(ElementFunction::min, lower(atom.a, where), lower(atom.b, where), where);
    case AtomKind::max:
      return integer_node(ElementFunction::max, lower(atom.a, where), lower(atom.b, where), where);
    case AtomKind::select: {
      NodeId condition = lower(Predicate::of(atom.condition), where);
      return add(
          {Apply{ElementFunction::select, {condition, lower(atom.a, where), lower(atom.b, where)}},
           ElementType::s64, where});
    }
  }
  throw std::logic_error("internal: atom");
}

NodeId KernelBuilder::lowered(const Predicate& condition, Span where) {
  const PredicateNode& n = condition.node();
  auto compared = [&](ElementFunction function, const Int& a, const Int& b) {
    return add({Apply{function, {lower(a, where), lower(b, where)}}, ElementType::pred, where});
  };
  auto remainder = [&](ElementFunction function) {
    if (!session_.facts.proves(less_equal(0, n.a))) {
      fail("unsupported", "in a kernel a remainder needs a dividend that is not negative", where);
    }
    NodeId rest = integer_node(ElementFunction::rem, lower(n.a, where), lower(n.b, where), where);
    return add({Apply{function, {rest, lower(Int(0), where)}}, ElementType::pred, where});
  };
  auto combined = [&](ElementFunction function) {
    return add({Apply{function,
                      {lower(Predicate::of(n.left), where), lower(Predicate::of(n.right), where)}},
                ElementType::pred, where});
  };
  switch (n.kind) {
    case PredicateKind::always:
    case PredicateKind::never:
      return add(
          {Literal{std::int64_t{n.kind == PredicateKind::always}}, ElementType::pred, where});
    case PredicateKind::equal:
      return compared(ElementFunction::eq, n.a, n.b);
    case PredicateKind::not_equal:
      return compared(ElementFunction::ne, n.a, n.b);
    case PredicateKind::less:
      return compared(ElementFunction::lt, n.a, n.b);
    case PredicateKind::less_equal:
      return compared(ElementFunction::le, n.a, n.b);
    case PredicateKind::divides:
      return remainder(ElementFunction::eq);
    case PredicateKind::not_divides:
      return remainder(ElementFunction::ne);
    case PredicateKind::both:
      return combined(ElementFunction::and_);
    case PredicateKind::either:
      return combined(ElementFunction::or_);
  }
  throw std::logic_error("internal: condition");
}

void KernelBuilder::require_extent(IndexId id, const Int& extent, Span where) {
  const Index& index = kernel.indices[static_cast<std::size_t>(id)];
  if (session_.facts.try_require(equal(index.extent, extent), "index")) return;
  fail("extent-mismatch",
       index.name + " runs to " + index.extent.to_string() + ", and here to " + extent.to_string(),
       where, {{index.where, "runs to " + index.extent.to_string()}});
}

// The greatest or least value over all indices; nothing if the value does not rise or fall with
// each of them.
std::optional<Int> KernelBuilder::extreme(const Int& value, bool greatest) const {
  std::map<DimId, std::string> dims;
  value.collect_dims(dims);
  std::map<DimId, Int> replacement;
  for (const auto& [dim, id] : symbols_) {
    if (!dims.contains(dim)) continue;
    int sign = 0;
    for (const Term& term : value.polynomial().terms) {
      for (const Factor& factor : term.factors) {
        Int atom = as_int(*factor.atom);
        std::map<DimId, std::string> inner;
        atom.collect_dims(inner);
        if (!inner.contains(dim)) continue;
        int now = term.coefficient > 0 ? 1 : -1;
        if (factor.exponent != 1 || factor.atom->kind != AtomKind::dim ||
            (sign != 0 && sign != now))
          return std::nullopt;
        sign = now;
      }
    }
    bool last = (sign > 0) == greatest;
    replacement[dim] = last ? kernel.indices[static_cast<std::size_t>(id)].extent - 1 : Int(0);
  }
  return value.substitute(replacement);
}

void KernelBuilder::require_inside(const Int& value, const Int& extent, const Operand& index) {
  Facts& facts = session_.facts;
  bool above = facts.proves(less_equal(0, value)), below = facts.proves(less(value, extent));
  if (above && below) return;
  auto outside = [&](const std::string& what) {
    fail("bounds",
         "the index " + value.to_string() + what + ", and the mode has " + extent.to_string() +
             " elements",
         index.span, {},
         {{"help", "an `if` around the access, or `where` in the signature, bounds it"}});
  };
  if (value.is_literal()) {
    if (!above || !facts.try_require(less(value, extent), "bounds")) outside(" lies outside");
    return;
  }
  auto least = extreme(value, false), most = extreme(value, true);
  if (!least || !most || !facts.path().is_always()) outside(" is not known to lie inside");
  if (!above && !facts.try_require(less_equal(0, *least), "bounds"))
    outside(" reaches " + least->to_string());
  if (!below && !facts.try_require(less_equal(*most + 1, extent), "bounds"))
    outside(" reaches " + most->to_string());
}

}  // namespace lay::sema
