#include "frontend/algebra/integers/int.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "frontend/algebra/integers/floor.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

[[noreturn]] void overflow(const char* sign, int64_t a, int64_t b) {
  throw refusal(
      "overflow",
      std::to_string(a) + " " + sign + " " + std::to_string(b) + " does not fit a 64-bit integer",
      "integers in Lay are exact; use smaller sizes or strides");
}

Int min_or_max(AtomKind kind, const Int& a, const Int& b) {
  const bool minimum = kind == AtomKind::min;
  const Int difference = a - b;
  // M + 1 and M + 3: which is smaller does not depend on M.
  if (difference.is_literal()) return (difference.value() <= 0) == minimum ? a : b;
  // min(a,b) and min(b,a) are one atom.
  const bool in_order = compare(a, b) <= 0;
  return intern_atom(Atom{kind, 0, {}, in_order ? a : b, in_order ? b : a, nullptr, 0, 1});
}

// One rewriting of one integer: what stands in it again and again is rewritten once.
class Rewriter {
 public:
  explicit Rewriter(const Rewriting& rule) : rule_(rule) {}

  // Polynomial by polynomial from the outside; sums and products are made anew, which brings them
  // into normal form.
  Int operator()(const Int& a) {
    if (a.is_literal()) return a;
    Int sum = 0;
    for (const Term& term : a.polynomial().terms) {
      Int product = term.coefficient;
      for (const Factor& factor : term.factors) {
        const Int value = rewritten(*factor.atom);
        for (int i = 0; i < factor.exponent; ++i) product *= value;
      }
      sum += product;
    }
    return divided(sum, a.polynomial().denominator);
  }

 private:
  Int rewritten(const Atom& atom) {
    if (atom.weight < kLong) return rewritten_now(atom);
    if (const auto known = known_.find(&atom); known != known_.end()) return known->second;
    return known_[&atom] = rewritten_now(atom);
  }

  Int rewritten_now(const Atom& atom) {
    // The rule sees the whole atom before its parts: M//8 may be replaced as one.
    if (const auto replaced = rule_(atom)) return *replaced;
    if (atom.kind == AtomKind::dim) return as_int(atom);
    if (atom.kind == AtomKind::select) return selected(atom);
    const Int a = (*this)(atom.a), b = (*this)(atom.b);
    if (atom.kind == AtomKind::floor_div) return floor_div(a, b);
    return atom.kind == AtomKind::min ? min(a, b) : max(a, b);
  }

  // An arm that is not taken need not exist: K/64 of K = 100 where K % 64 == 0.
  Int selected(const Atom& atom) {
    const Predicate condition = rewrite(Predicate::of(atom.condition), rule_);
    if (condition.is_always()) return (*this)(atom.a);
    if (condition.is_never()) return (*this)(atom.b);
    return select(condition, (*this)(atom.a), (*this)(atom.b));
  }

  static constexpr int kLong = 8;  // shorter ones are rewritten sooner than found

  const Rewriting& rule_;
  std::unordered_map<const Atom*, Int> known_;
};

}  // namespace

int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) overflow("+", a, b);
  return r;
}

int64_t checked_sub(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) overflow("-", a, b);
  return r;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) overflow("*", a, b);
  return r;
}

Int Int::dim(std::string_view name) {
  static std::atomic<DimId> next{1};
  return intern_atom(Atom{AtomKind::dim, next++, std::string(name), {}, {}, nullptr, 0, 1});
}

std::optional<DimId> Int::dim_id() const {
  if (is_literal() || polynomial_->denominator != 1 || polynomial_->terms.size() != 1)
    return std::nullopt;
  const Term& term = polynomial_->terms[0];
  if (term.coefficient != 1 || term.factors.size() != 1 || term.factors[0].exponent != 1)
    return std::nullopt;
  if (term.factors[0].atom->kind != AtomKind::dim) return std::nullopt;
  return term.factors[0].atom->id;
}

Int operator+(const Int& a, const Int& b) {
  if (a.is_literal() && b.is_literal()) return checked_add(a.value(), b.value());
  return intern(add(as_polynomial(a), as_polynomial(b)));
}

Int operator-(const Int& a, const Int& b) {
  if (a.is_literal() && b.is_literal()) return checked_sub(a.value(), b.value());
  return intern(add(as_polynomial(a), scale(as_polynomial(b), -1)));
}

Int operator-(const Int& a) {
  return Int(0) - a;
}

Int operator*(const Int& a, const Int& b) {
  if (a.is_literal() && b.is_literal()) return checked_mul(a.value(), b.value());
  if (a.is(0) || b.is(0)) return 0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  return intern(multiply(as_polynomial(a), as_polynomial(b)));
}

Int min(const Int& a, const Int& b) {
  return min_or_max(AtomKind::min, a, b);
}

Int max(const Int& a, const Int& b) {
  return min_or_max(AtomKind::max, a, b);
}

// Both arms alike: the condition does not matter.
Int select(const Predicate& condition, const Int& a, const Int& b) {
  if (condition.is_always() || a == b) return a;
  if (condition.is_never()) return b;
  return intern_atom(Atom{AtomKind::select, 0, {}, a, b, condition.shared(), 0});
}

std::optional<int64_t> evaluate(const Int& a, const AtomValues& value_of) {
  if (a.is_literal()) return a.value();
  int64_t sum = 0;
  for (const Term& term : a.polynomial().terms) {
    int64_t product = term.coefficient;
    for (const Factor& factor : term.factors) {
      const auto value = value_of(*factor.atom);
      if (!value) return std::nullopt;
      for (int i = 0; i < factor.exponent; ++i) {
        if (__builtin_mul_overflow(product, *value, &product)) return std::nullopt;
      }
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  const int64_t denominator = a.polynomial().denominator;
  // An exact quotient has no value at sizes where it does not divide.
  return sum % denominator == 0 ? std::optional(sum / denominator) : std::nullopt;
}

std::optional<int64_t> evaluate(const Atom& atom, const IntValues& value) {
  if (atom.kind == AtomKind::select) {
    const auto condition = evaluate(Predicate::of(atom.condition), value);
    return condition ? value(*condition ? atom.a : atom.b) : std::nullopt;
  }
  const auto a = value(atom.a), b = value(atom.b);
  return a && b ? evaluate(atom.kind, *a, *b) : std::nullopt;
}

std::optional<int64_t> evaluate(AtomKind kind, int64_t a, int64_t b) {
  if (kind == AtomKind::min) return std::min(a, b);
  if (kind == AtomKind::max) return std::max(a, b);
  // INT64_MIN / -1 is 2^63.
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  return floor_of(a, b);
}

Int rewrite(const Int& a, const Rewriting& rule) {
  return a.is_literal() ? a : Rewriter(rule)(a);
}

Int Int::substitute(const std::map<DimId, Int>& replacement) const {
  return rewrite(*this, [&](const Atom& atom) -> std::optional<Int> {
    if (atom.kind != AtomKind::dim) return std::nullopt;
    const auto found = replacement.find(atom.id);
    return found == replacement.end() ? std::nullopt : std::optional(found->second);
  });
}

void Int::collect_dims(std::map<DimId, std::string>& dims) const {
  if (is_literal()) return;
  for (const Term& term : polynomial_->terms) {
    for (const Factor& factor : term.factors) {
      const Atom& atom = *factor.atom;
      if (atom.kind == AtomKind::dim) {
        dims.emplace(atom.id, atom.name);
        continue;
      }
      atom.a.collect_dims(dims);
      atom.b.collect_dims(dims);
      if (atom.condition) Predicate::of(atom.condition).collect_dims(dims);
    }
  }
}

}  // namespace lay
