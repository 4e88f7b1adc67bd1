#include "frontend/algebra/integers/predicate.h"

#include "frontend/algebra/integers/polynomial.h"

namespace lay {
namespace {

Predicate make(PredicateKind kind, const Int& a, const Int& b) {
  return Predicate::of(intern_node(PredicateNode{kind, a, b, nullptr, nullptr, 1}));
}

Predicate join(PredicateKind kind, const Predicate& a, const Predicate& b) {
  return Predicate::of(intern_node(PredicateNode{kind, 0, 0, a.shared(), b.shared(), 1}));
}

// Never destroyed, as the stores are not.
const std::shared_ptr<const PredicateNode>& constant(bool value) {
  using Shared = std::shared_ptr<const PredicateNode>;
  static const Shared& always =
      *new Shared(intern_node({PredicateKind::always, 0, 0, nullptr, nullptr, 1}));
  static const Shared& never =
      *new Shared(intern_node({PredicateKind::never, 0, 0, nullptr, nullptr, 1}));
  return value ? always : never;
}

// The sign of a - b, where the difference is a literal.
// M + 1 and M + 3 are ordered whatever M is: their normal forms differ by a literal.
std::optional<int> literal_order(const Int& a, const Int& b) {
  if (a.is_literal() && b.is_literal())
    return a.value() < b.value() ? -1 : a.value() > b.value() ? 1 : 0;
  if (a.is_literal() != b.is_literal()) return std::nullopt;
  const Int d = a - b;
  if (!d.is_literal()) return std::nullopt;
  return d.value() < 0 ? -1 : d.value() > 0 ? 1 : 0;
}

// Everything divides 0, and 1 divides everything, also where the other side is a symbol.
std::optional<bool> literal_divides(const Int& a, const Int& by) {
  if (a.is(0) || by.is(1) || by.is(-1)) return true;
  if (!a.is_literal() || !by.is_literal() || by.is(0)) return std::nullopt;
  return a.value() % by.value() == 0;
}

std::string side(const Predicate& p, bool inside_both) {
  return inside_both && p.kind() == PredicateKind::either ? "(" + p.to_string() + ")"
                                                          : p.to_string();
}

}  // namespace

Predicate::Predicate() : Predicate(true) {}

Predicate::Predicate(bool value) : node_(constant(value)) {}

Predicate Predicate::of(std::shared_ptr<const PredicateNode> node) {
  return Predicate(std::move(node));
}

PredicateKind Predicate::kind() const {
  return node_->kind;
}

std::string Predicate::to_string() const {
  const std::string a = node_->a.to_string(), b = node_->b.to_string();
  switch (node_->kind) {
    case PredicateKind::always:
      return "true";
    case PredicateKind::never:
      return "false";
    case PredicateKind::equal:
      return a + " == " + b;
    case PredicateKind::not_equal:
      return a + " != " + b;
    case PredicateKind::less:
      return a + " < " + b;
    case PredicateKind::less_equal:
      return a + " <= " + b;
    case PredicateKind::divides:
      return node_->a.to_factor_string() + " % " + node_->b.to_factor_string() + " == 0";
    case PredicateKind::not_divides:
      return node_->a.to_factor_string() + " % " + node_->b.to_factor_string() + " != 0";
    case PredicateKind::both:
      return side(of(node_->left), true) + " and " + side(of(node_->right), true);
    case PredicateKind::either:
      return side(of(node_->left), false) + " or " + side(of(node_->right), false);
  }
  return {};
}

std::optional<bool> evaluate(const Predicate& p, const IntValues& value) {
  const PredicateNode& n = p.node();
  if (p.is_always() || p.is_never()) return p.is_always();
  if (n.left) {
    // A side without a value does not matter where the other settles it: `M == 0 or N % M == 0`.
    const bool settles = n.kind == PredicateKind::either;
    const auto left = evaluate(Predicate::of(n.left), value);
    if (left == settles) return left;
    const auto right = evaluate(Predicate::of(n.right), value);
    return left || right == settles ? right : std::nullopt;
  }
  const auto a = value(n.a), b = value(n.b);
  return a && b ? evaluate(n.kind, *a, *b) : std::nullopt;
}

std::optional<bool> evaluate(PredicateKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case PredicateKind::equal:
      return a == b;
    case PredicateKind::not_equal:
      return a != b;
    case PredicateKind::less:
      return a < b;
    case PredicateKind::less_equal:
      return a <= b;
    default:
      break;
  }
  // 0 divides nothing, and "is not divided by 0" is no fact either.
  if (b == 0) return std::nullopt;
  // INT64_MIN % -1 traps on some machines, though its value is 0.
  const bool exact = b == -1 || a % b == 0;
  return exact == (kind == PredicateKind::divides);
}

namespace {

// What stands behind `and` need not exist where what stands before it does not hold: M % 64 == 0
// and M/64 <= 8. Likewise `or`.
Predicate rewritten(const PredicateNode& n, const Rewriting& rule) {
  const bool conjunction = n.kind == PredicateKind::both;
  const Predicate left = rewrite(Predicate::of(n.left), rule);
  if (conjunction ? left.is_never() : left.is_always()) return left;
  const Predicate right = rewrite(Predicate::of(n.right), rule);
  return conjunction ? both(left, right) : either(left, right);
}

}  // namespace

Predicate rewrite(const Predicate& p, const Rewriting& rule) {
  const PredicateNode& n = p.node();
  if (n.kind == PredicateKind::both || n.kind == PredicateKind::either) return rewritten(n, rule);
  const Int a = rewrite(n.a, rule), b = rewrite(n.b, rule);
  switch (n.kind) {
    case PredicateKind::always:
    case PredicateKind::never:
      return p;
    case PredicateKind::equal:
      return equal(a, b);
    case PredicateKind::not_equal:
      return not_equal(a, b);
    case PredicateKind::less:
      return less(a, b);
    case PredicateKind::less_equal:
      return less_equal(a, b);
    case PredicateKind::divides:
      return divides(a, b);
    case PredicateKind::not_divides:
      return negate(divides(a, b));
    case PredicateKind::both:
    case PredicateKind::either:
      break;
  }
  return p;
}

Predicate Predicate::substitute(const std::map<DimId, Int>& replacement) const {
  return rewrite(*this, [&](const Atom& atom) -> std::optional<Int> {
    if (atom.kind != AtomKind::dim) return std::nullopt;
    const auto found = replacement.find(atom.id);
    return found == replacement.end() ? std::nullopt : std::optional(found->second);
  });
}

void Predicate::collect_dims(std::map<DimId, std::string>& dims) const {
  node_->a.collect_dims(dims);
  node_->b.collect_dims(dims);
  if (node_->left) of(node_->left).collect_dims(dims);
  if (node_->right) of(node_->right).collect_dims(dims);
}

Predicate equal(const Int& a, const Int& b) {
  if (const auto order = literal_order(a, b)) return Predicate(*order == 0);
  return make(PredicateKind::equal, a, b);
}

Predicate not_equal(const Int& a, const Int& b) {
  if (const auto order = literal_order(a, b)) return Predicate(*order != 0);
  return make(PredicateKind::not_equal, a, b);
}

Predicate less(const Int& a, const Int& b) {
  if (const auto order = literal_order(a, b)) return Predicate(*order < 0);
  return make(PredicateKind::less, a, b);
}

Predicate less_equal(const Int& a, const Int& b) {
  if (const auto order = literal_order(a, b)) return Predicate(*order <= 0);
  return make(PredicateKind::less_equal, a, b);
}

Predicate divides(const Int& a, const Int& by) {
  if (const auto known = literal_divides(a, by)) return Predicate(*known);
  if (!a.is_literal() && by.is_literal() &&
      a.polynomial().denominator > 1) {  // of M/12 by 4: of M by 48
    const Int whole = a.polynomial().denominator;
    return make(PredicateKind::divides, a * whole, by * whole);
  }
  return make(PredicateKind::divides, a, by);
}

Predicate both(const Predicate& a, const Predicate& b) {
  if (a.is_never() || b.is_always() || a == b) return a;
  if (b.is_never() || a.is_always()) return b;
  return join(PredicateKind::both, a, b);
}

Predicate either(const Predicate& a, const Predicate& b) {
  if (a.is_always() || b.is_never() || a == b) return a;
  if (b.is_always() || a.is_never()) return b;
  return join(PredicateKind::either, a, b);
}

// By De Morgan's rules down to comparisons, so that no predicate holds a negation.
Predicate negate(const Predicate& p) {
  const PredicateNode& n = p.node();
  switch (n.kind) {
    case PredicateKind::always:
      return Predicate(false);
    case PredicateKind::never:
      return Predicate(true);
    case PredicateKind::equal:
      return not_equal(n.a, n.b);
    case PredicateKind::not_equal:
      return equal(n.a, n.b);
    case PredicateKind::less:
      return less_equal(n.b, n.a);
    case PredicateKind::less_equal:
      return less(n.b, n.a);
    case PredicateKind::divides:
      return make(PredicateKind::not_divides, n.a, n.b);
    case PredicateKind::not_divides:
      return divides(n.a, n.b);
    case PredicateKind::both:
      return either(negate(Predicate::of(n.left)), negate(Predicate::of(n.right)));
    case PredicateKind::either:
      return both(negate(Predicate::of(n.left)), negate(Predicate::of(n.right)));
  }
  return p;
}

}  // namespace lay
