#pragma once

// Inside the algebra: polynomials as values, and the stores that make equal ones one object, so
// that `==` on Int and Predicate compares pointers. Polynomials and conditions live as long as
// somebody holds them, atoms as long as the program. The stores are locked; what is in them never
// changes.

#include <functional>
#include <optional>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/predicate.h"

namespace lay {

// The terms of any Int, a literal included.
Polynomial as_polynomial(const Int& a);
// Brings to normal form (sorts, merges, cancels) and interns. A constant integer becomes a literal.
Int intern(Polynomial polynomial);
Int intern_atom(Atom atom);
std::shared_ptr<const PredicateNode> intern_node(PredicateNode node);

int compare(const Atom& a, const Atom& b);
// Graded: the greater monomial first. 0 means the same monomial.
int compare_monomials(const Term& a, const Term& b);
int compare(const PredicateNode* a, const PredicateNode* b);

Polynomial add(const Polynomial& a, const Polynomial& b);
Polynomial multiply(const Polynomial& a, const Polynomial& b);
Polynomial scale(Polynomial a, int64_t by);

// a / b of two monomials with coefficients, if the exponents allow it; the coefficient is not
// divided.
std::optional<Term> divide_monomial(const Term& a, const Term& b);

// Takes the greatest monomial and number that divide both out of both; b is not 0.
void cancel_common(Int& a, Int& b);

// Without the symbols that are in every term and positive, as the rule says: p compared with 0
// gives the same.
using IsPositive = std::function<bool(const Int&)>;
Polynomial without_common(Polynomial p, const IsPositive& is_positive);

int64_t gcd(int64_t a, int64_t b);

// The value of an integer whose atoms have the values that the rule gives. Nothing where one has
// none, a number does not fit 64 bits, or a quotient is inexact.
using AtomValues = std::function<std::optional<int64_t>(const Atom&)>;
std::optional<int64_t> evaluate(const Int& a, const AtomValues& value);
// The same of an atom that is no dim, and of a condition, whose integers have the values that the
// rule gives.
using IntValues = std::function<std::optional<int64_t>(const Int&)>;
std::optional<int64_t> evaluate(const Atom& atom, const IntValues& value);
std::optional<bool> evaluate(const Predicate& p, const IntValues& value);
// The value of a division, minimum or maximum of two numbers; nothing where a divisor is 0.
std::optional<int64_t> evaluate(AtomKind kind, int64_t a, int64_t b);
// A comparison or a divisibility of two numbers; nothing where a divisor is 0.
std::optional<bool> evaluate(PredicateKind kind, int64_t a, int64_t b);

// Replaces atoms by what the rule gives for them and rebuilds the rest; a selection between equal
// arms or under a decided condition goes. Refusal "inexact" where a fraction of literals is left.
using Rewriting = std::function<std::optional<Int>(const Atom&)>;
Int rewrite(const Int& a, const Rewriting& rule);
Predicate rewrite(const Predicate& p, const Rewriting& rule);

// The same condition for a reader: comparisons about one monomial are solved for it (P + 5 < 8 is P
// <= 2), and common factors go, of symbols those that are positive (4*P < 6*Q is 2*P < 3*Q, M*N <=
// N is M <= 1).
Predicate solved(const Predicate& p, const IsPositive& is_positive);

}  // namespace lay
