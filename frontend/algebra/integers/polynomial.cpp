#include "frontend/algebra/integers/polynomial.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

// Limits of an integer. They are met only where sizes are left open in many cases, and stop an
// operation before it takes long.
constexpr size_t kMaxTerms = 1000;
constexpr int kMaxDepth = 48;
constexpr int kMaxExponent = 64;
constexpr int kMaxWeight = 1000;

Refusal too_long(const std::string& what) {
  return refusal("limit",
                 what + " of more than " + std::to_string(kMaxWeight) + " symbols, written out",
                 "assume what divides what, so that fewer cases are left open");
}

size_t mix(size_t seed, size_t value) {
  return (seed ^ value) * 0x9E3779B97F4A7C15ull + (seed >> 29);
}

size_t hash(const Int& a) {
  return a.is_literal() ? mix(1, static_cast<size_t>(a.value()))
                        : mix(2, reinterpret_cast<size_t>(&a.polynomial()));
}

size_t hash(const Polynomial& p) {
  size_t h = static_cast<size_t>(p.denominator);
  for (const Term& term : p.terms) {
    h = mix(h, static_cast<size_t>(term.coefficient));
    for (const Factor& factor : term.factors) {
      h = mix(mix(h, reinterpret_cast<size_t>(factor.atom)), static_cast<size_t>(factor.exponent));
    }
  }
  return h;
}

// Atoms are interned, so comparing monomials compares addresses first.
bool same(const Polynomial& a, const Polynomial& b) {
  return a.denominator == b.denominator &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                    [](const Term& x, const Term& y) {
                      return x.coefficient == y.coefficient && compare_monomials(x, y) == 0;
                    });
}

size_t hash(const Atom& a) {
  size_t h = mix(static_cast<size_t>(a.kind), a.id);
  return mix(mix(mix(h, hash(a.a)), hash(a.b)), reinterpret_cast<size_t>(a.condition.get()));
}

bool same(const Atom& a, const Atom& b) {
  return a.kind == b.kind && a.id == b.id && a.a == b.a && a.b == b.b && a.condition == b.condition;
}

size_t hash(const PredicateNode& n) {
  size_t h = mix(mix(static_cast<size_t>(n.kind), hash(n.a)), hash(n.b));
  return mix(mix(h, reinterpret_cast<size_t>(n.left.get())),
             reinterpret_cast<size_t>(n.right.get()));
}

bool same(const PredicateNode& a, const PredicateNode& b) {
  return a.kind == b.kind && a.a == b.a && a.b == b.b && a.left == b.left && a.right == b.right;
}

// Keeps its nodes for ever.
// Polynomials refer to atoms by address, without counting: an atom is small, and there are as many
// as a program has symbols and quotients.
class AtomStore {
 public:
  const Atom* intern(Atom atom) {
    const size_t h = hash(atom);
    std::lock_guard lock(mutex_);
    auto [begin, end] = index_.equal_range(h);
    for (auto it = begin; it != end; ++it) {
      if (same(*it->second, atom)) return it->second;
    }
    atoms_.push_back(std::move(atom));
    index_.emplace(h, &atoms_.back());
    return &atoms_.back();
  }

 private:
  std::mutex mutex_;
  std::deque<Atom> atoms_;
  std::unordered_multimap<size_t, const Atom*> index_;
};

// Knows the nodes that somebody holds; a node that nobody holds takes itself out.
template <typename Node>
class LiveStore {
 public:
  std::shared_ptr<const Node> intern(Node node) {
    const size_t h = hash(node);
    std::lock_guard lock(mutex_);
    auto [begin, end] = index_.equal_range(h);
    for (auto it = begin; it != end; ++it) {
      if (!same(*it->second.first, node)) continue;
      // A node whose last holder is letting go of it cannot be revived: a new one is made beside
      // it.
      if (auto live = it->second.second.lock()) return live;
    }
    auto* raw = new Node(std::move(node));
    std::shared_ptr<const Node> fresh(raw, [this, h](const Node* dead) { remove(h, dead); });
    index_.emplace(h, std::pair<const Node*, std::weak_ptr<const Node>>{raw, fresh});
    return fresh;
  }

 private:
  void remove(size_t h, const Node* dead) {
    {
      std::lock_guard lock(mutex_);
      auto [begin, end] = index_.equal_range(h);
      for (auto it = begin; it != end; ++it) {
        if (it->second.first != dead) continue;
        index_.erase(it);
        break;
      }
    }
    delete dead;  // outside the lock: it may let go of others
  }

  std::mutex mutex_;
  std::unordered_multimap<size_t, std::pair<const Node*, std::weak_ptr<const Node>>> index_;
};

// Never destroyed: an Int may outlive every other static object.
template <typename Store>
Store& the() {
  static auto* s = new Store;
  return *s;
}

int degree(const Term& term) {
  int d = 0;
  for (const Factor& factor : term.factors) d += factor.exponent;
  return d;
}

// (4*M + 8)/12 is (M + 2)/3.
void cancel(Polynomial& p) {
  int64_t common = p.denominator;
  for (const Term& term : p.terms) common = gcd(common, term.coefficient);
  if (common <= 1) return;
  p.denominator /= common;
  for (Term& term : p.terms) term.coefficient /= common;
}

// In place: `used` terms are merged and nonzero but perhaps the last, which may still cancel.
void sort_and_merge(std::vector<Term>& terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compare_monomials(a, b) < 0; });
  size_t used = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (used > 0 && compare_monomials(terms[used - 1], terms[i]) == 0) {
      terms[used - 1].coefficient = checked_add(terms[used - 1].coefficient, terms[i].coefficient);
    } else {
      if (used > 0 && terms[used - 1].coefficient == 0) --used;
      if (used != i) terms[used] = std::move(terms[i]);
      ++used;
    }
  }
  if (used > 0 && terms[used - 1].coefficient == 0) --used;
  terms.resize(used);
}

int weight(const Int& a) {
  return a.is_literal() ? 0 : a.polynomial().weight;
}

Term multiply(const Term& a, const Term& b) {
  Term product{checked_mul(a.coefficient, b.coefficient), {}};
  auto x = a.factors.begin(), y = b.factors.begin();
  while (x != a.factors.end() || y != b.factors.end()) {
    const int order = x == a.factors.end()   ? 1
                      : y == b.factors.end() ? -1
                                             : compare(*x->atom, *y->atom);
    if (order < 0) {
      product.factors.push_back(*x++);
    } else if (order > 0) {
      product.factors.push_back(*y++);
    } else {
      product.factors.push_back({x->atom, x->exponent + y->exponent});
      if (product.factors.back().exponent > kMaxExponent)
        throw refusal("limit", "this integer has a power beyond 64");
      ++x, ++y;
    }
  }
  return product;
}

}  // namespace

int64_t gcd(int64_t a, int64_t b) {
  return std::gcd(a, b);
}

Polynomial as_polynomial(const Int& a) {
  if (!a.is_literal()) return a.polynomial();
  Polynomial p;
  if (a.value() != 0) p.terms.push_back({a.value(), {}});
  return p;
}

// The one way to an Int with symbols: terms sorted, equal monomials merged, common divisors taken
// out of numerator and denominator. So equal polynomials are one node, and == compares addresses.
Int intern(Polynomial p) {
  sort_and_merge(p.terms);
  cancel(p);
  if (p.terms.empty()) return 0;
  if (p.denominator == 1 && p.terms.size() == 1 && p.terms[0].factors.empty())
    return p.terms[0].coefficient;
  if (p.terms.size() > kMaxTerms) throw refusal("limit", "this integer has more than 1000 terms");
  p.depth = p.weight = 0;
  for (const Term& term : p.terms) {
    for (const Factor& factor : term.factors) {
      p.depth = std::max(p.depth, factor.atom->depth);
      p.weight += factor.atom->weight * factor.exponent;
      if (p.weight > kMaxWeight) throw too_long("an integer");
    }
  }
  Int result;
  result.polynomial_ = the<LiveStore<Polynomial>>().intern(std::move(p));
  return result;
}

Int intern_atom(Atom atom) {
  // `depth` bounds the recursion of everything that walks through an integer, `weight` the time.
  atom.depth = atom.weight = 1;
  const auto add_part = [&](const Int& part) {
    if (part.is_literal()) return;
    atom.depth = std::max(atom.depth, part.polynomial().depth + 1);
    atom.weight += part.polynomial().weight;
  };
  add_part(atom.a);
  add_part(atom.b);
  if (atom.condition) atom.weight += atom.condition->weight;
  if (atom.weight > kMaxWeight) throw too_long("an integer");
  if (atom.depth > kMaxDepth)
    throw refusal("limit", "this integer nests divisions and minima deeper than 48");
  return as_int(*the<AtomStore>().intern(std::move(atom)));
}

Int as_int(const Atom& atom) {
  return intern(Polynomial{1, {Term{1, {Factor{&atom, 1}}}}, 0, 0});
}

std::shared_ptr<const PredicateNode> intern_node(PredicateNode node) {
  node.weight = 1 + weight(node.a) + weight(node.b);
  if (node.left) node.weight += node.left->weight;
  if (node.right) node.weight += node.right->weight;
  if (node.weight > kMaxWeight) throw too_long("a condition");
  return the<LiveStore<PredicateNode>>().intern(std::move(node));
}

// By content, not by address, so that texts and normal forms are the same on every run.
int compare(const Atom& a, const Atom& b) {
  if (&a == &b) return 0;
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.id != b.id) return a.id < b.id ? -1 : 1;
  if (const int order = compare(a.a, b.a)) return order;
  if (const int order = compare(a.b, b.b)) return order;
  return compare(a.condition.get(), b.condition.get());
}

// Graded: the greatest degree first, then by atoms; so the constant term is last.
int compare_monomials(const Term& a, const Term& b) {
  if (const int da = degree(a), db = degree(b); da != db) return da > db ? -1 : 1;
  for (size_t i = 0; i < std::min(a.factors.size(), b.factors.size()); ++i) {
    if (const int order = compare(*a.factors[i].atom, *b.factors[i].atom)) return order;
    if (a.factors[i].exponent != b.factors[i].exponent)
      return a.factors[i].exponent > b.factors[i].exponent ? -1 : 1;
  }
  return 0;
}

int compare(const Int& a, const Int& b) {
  if (a == b) return 0;
  const Polynomial p = as_polynomial(a), q = as_polynomial(b);
  for (size_t i = 0; i < std::min(p.terms.size(), q.terms.size()); ++i) {
    if (const int order = compare_monomials(p.terms[i], q.terms[i])) return order;
    if (p.terms[i].coefficient != q.terms[i].coefficient) {
      return p.terms[i].coefficient < q.terms[i].coefficient ? -1 : 1;
    }
  }
  if (p.terms.size() != q.terms.size()) return p.terms.size() > q.terms.size() ? -1 : 1;
  return p.denominator == q.denominator ? 0 : p.denominator < q.denominator ? -1 : 1;
}

int compare(const PredicateNode* a, const PredicateNode* b) {
  if (a == b) return 0;
  if (!a || !b) return a ? 1 : -1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (const int order = compare(a->a, b->a)) return order;
  if (const int order = compare(a->b, b->b)) return order;
  if (const int order = compare(a->left.get(), b->left.get())) return order;
  return compare(a->right.get(), b->right.get());
}

Polynomial add(const Polynomial& a, const Polynomial& b) {
  const int64_t common = std::gcd(a.denominator, b.denominator);
  Polynomial sum = scale(a, b.denominator / common);
  const Polynomial other = scale(b, a.denominator / common);
  sum.denominator = checked_mul(a.denominator, b.denominator / common);
  sum.terms.insert(sum.terms.end(), other.terms.begin(), other.terms.end());
  return sum;
}

Polynomial multiply(const Polynomial& a, const Polynomial& b) {
  if (a.terms.size() * b.terms.size() > 64 * kMaxTerms)
    throw refusal("limit", "this integer has more than 1000 terms");
  Polynomial product;
  product.denominator = checked_mul(a.denominator, b.denominator);
  product.terms.reserve(a.terms.size() * b.terms.size());
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) product.terms.push_back(multiply(x, y));
  }
  return product;
}

Polynomial scale(Polynomial a, int64_t by) {
  if (by == 1) return a;
  for (Term& term : a.terms) term.coefficient = checked_mul(term.coefficient, by);
  return a;
}

// Exponents are subtracted; nothing where one would fall below 0. Coefficients are left to the
// caller.
std::optional<Term> divide_monomial(const Term& a, const Term& b) {
  Term quotient{a.coefficient, {}};
  size_t matched = 0;
  for (const Factor& factor : a.factors) {
    int exponent = factor.exponent;
    for (const Factor& divisor : b.factors) {
      if (divisor.atom == factor.atom) exponent -= divisor.exponent, ++matched;
    }
    if (exponent < 0) return std::nullopt;
    if (exponent > 0) quotient.factors.push_back({factor.atom, exponent});
  }
  if (matched != b.factors.size()) return std::nullopt;
  return quotient;
}

}  // namespace lay
