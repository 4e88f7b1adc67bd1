#include <algorithm>
#include <optional>
#include <utility>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/polynomial.h"

namespace lay {
namespace {

struct Piece {
  bool negative;
  std::string text;
};

bool is_negated_ceiling(const Atom& atom);

// Returns true if the first term is written with a minus.
bool leads_negative(const Int& a) {
  if (a.is_literal()) return a.value() < 0;
  const Term& first = a.polynomial().terms[0];
  bool negative = first.coefficient < 0;
  for (const Factor& factor : first.factors)
    negative ^= factor.exponent % 2 == 1 && is_negated_ceiling(*factor.atom);
  return negative;
}

int64_t constant_of(const Int& a) {
  const Polynomial p = as_polynomial(a);
  return p.terms.empty() || !p.terms.back().factors.empty() ? 0 : p.terms.back().coefficient;
}

// The text of a quotient atom. A floor with q - 1 added is written as the ceiling that it is.
//     (M + 7)//8    is written as ceil_div(M,8)
std::string quotient_text(const Atom& atom, bool alone) {
  if (atom.b.is_literal() && constant_of(atom.a) == atom.b.value() - 1) {
    return "ceil_div(" + (atom.a - (atom.b - 1)).to_string() + "," + atom.b.to_string() + ")";
  }
  const std::string text = atom.a.to_factor_string() + "//" + atom.b.to_factor_string();
  return alone ? text : "(" + text + ")";
}

std::string atom_text(const Atom& atom, bool alone) {
  switch (atom.kind) {
    case AtomKind::dim:
      return atom.name;
    case AtomKind::floor_div:
      return quotient_text(atom, alone);
    case AtomKind::min:
      return "min(" + atom.a.to_string() + "," + atom.b.to_string() + ")";
    case AtomKind::max:
      return "max(" + atom.a.to_string() + "," + atom.b.to_string() + ")";
    case AtomKind::select:
      return "(if " + Predicate::of(atom.condition).to_string() + " then " + atom.a.to_string() +
             " else " + atom.b.to_string() + ")";
  }
  return {};
}

// A quotient by a symbol is kept as floor(-a / b) where it came from a ceiling: it is written as
// -ceil_div(a,b).
// For a symbolic divisor there is no q - 1 to recognise a ceiling by, but a leading minus above.
bool is_negated_ceiling(const Atom& atom) {
  return atom.kind == AtomKind::floor_div && !atom.b.is_literal() && leads_negative(atom.a);
}

Piece piece_of(const Term& term, int64_t denominator) {
  const int64_t common = gcd(term.coefficient, denominator);
  int64_t number = term.coefficient / common;
  denominator /= common;
  bool negative = number < 0;
  std::vector<std::string> parts;
  const bool alone = term.factors.size() == 1 && term.factors[0].exponent == 1 &&
                     denominator == 1 && (number == 1 || number == -1);
  for (const Factor& factor : term.factors) {
    for (int i = 0; i < factor.exponent; ++i) {
      if (is_negated_ceiling(*factor.atom)) {
        negative = !negative;
        parts.push_back("ceil_div(" + (-factor.atom->a).to_string() + "," +
                        factor.atom->b.to_string() + ")");
      } else {
        parts.push_back(atom_text(*factor.atom, alone && !negative));
      }
    }
  }
  std::string digits = std::to_string(number);
  if (digits[0] == '-') digits.erase(0, 1);
  std::string text = digits == "1" && !parts.empty() ? "" : digits;
  for (const std::string& part : parts) text += (text.empty() ? "" : "*") + part;
  if (denominator != 1) text += "/" + std::to_string(denominator);
  return {negative, text};
}

// Terms with a fraction of their own share one: (M + N)/128, so that reading the text raises one
// obligation, which holds.
void add_fraction(const Polynomial& p, std::vector<Piece>& pieces) {
  Polynomial fraction;
  for (const Term& term : p.terms) {
    if (term.coefficient % p.denominator != 0) fraction.terms.push_back(term);
  }
  if (fraction.terms.empty()) return;
  if (fraction.terms.size() == 1)
    return pieces.push_back(piece_of(fraction.terms[0], p.denominator));
  pieces.push_back({false, "(" + intern(std::move(fraction)).to_string() + ")/" +
                               std::to_string(p.denominator)});
}

// The quotient of which the term is -k times the divisor, and that k; nothing if there is none.
std::optional<std::pair<const Atom*, int64_t>> subtracted_quotient(const Term& term) {
  for (const Factor& factor : term.factors) {
    const Atom& atom = *factor.atom;
    if (atom.kind != AtomKind::floor_div || factor.exponent != 1 || constant_of(atom.a) != 0)
      continue;
    if (is_negated_ceiling(atom)) continue;
    const Polynomial divisor = as_polynomial(atom.b * as_int(atom));
    if (divisor.terms.size() != 1 || divisor.denominator != 1) continue;
    const Term& whole = divisor.terms[0];
    if (compare_monomials(whole, term) != 0 || term.coefficient % whole.coefficient != 0) continue;
    if (const int64_t k = -(term.coefficient / whole.coefficient); k > 0)
      return std::pair(&atom, k);
  }
  return std::nullopt;
}

// Recognises k*(a - q*floor(a/q)) inside the polynomial and writes it as k*(a % q).
//     M - 8*(M//8)    is written as M % 8
bool take_remainder(Int& rest, std::vector<Piece>& pieces) {
  if (rest.is_literal() || rest.polynomial().denominator != 1) return false;
  for (const Term& term : rest.polynomial().terms) {
    const auto quotient = subtracted_quotient(term);
    if (!quotient) continue;
    const auto& [found, k] = *quotient;
    const Atom& atom = *found;
    const Int left = rest - (atom.a - atom.b * as_int(atom)) * k;
    if (as_polynomial(left).terms.size() >= rest.polynomial().terms.size()) continue;
    const std::string text = atom.a.to_factor_string() + " % " + atom.b.to_factor_string();
    const bool alone = k == 1 && left.is(0);
    pieces.push_back({false, k == 1 ? (alone ? text : "(" + text + ")")
                                    : std::to_string(k) + "*(" + text + ")"});
    rest = left;
    return true;
  }
  return false;
}

// t - floor(a/q) is ceil_div(q*t - a, q): written so where the normal form has split a term of half
// a q in this way (q = 2 above all).
bool take_ceiling(Int& rest, std::vector<Piece>& pieces) {
  if (rest.is_literal() || rest.polynomial().denominator != 1) return false;
  for (const Term& term : rest.polynomial().terms) {
    if (term.factors.size() != 1 || term.factors[0].exponent != 1 || term.coefficient >= 0)
      continue;
    const Atom& atom = *term.factors[0].atom;
    if (atom.kind != AtomKind::floor_div || !atom.b.is_literal()) continue;
    Int half = 0;
    for (const Term& inside : as_polynomial(atom.a).terms) {
      if (inside.coefficient * 2 == atom.b.value())
        half += intern(Polynomial{1, {Term{1, inside.factors}}, 0, 0});
    }
    const int64_t k = -term.coefficient;
    const Int left = rest + as_int(atom) * k - half * k;
    if (left == rest || as_polynomial(left).terms.size() + 2 > rest.polynomial().terms.size())
      continue;
    const std::string text =
        "ceil_div(" + (half * atom.b - atom.a).to_string() + "," + atom.b.to_string() + ")";
    pieces.push_back({false, k == 1 ? text : std::to_string(k) + "*" + text});
    rest = left;
    return true;
  }
  return false;
}

// Remainders and ceilings first, as each takes several terms out of the polynomial; what is left is
// written term by term.
std::vector<Piece> pieces_of(const Int& a) {
  std::vector<Piece> pieces;
  Int rest = a;
  while (take_remainder(rest, pieces) || take_ceiling(rest, pieces)) {
  }
  if (rest.is_literal()) {
    if (!rest.is(0)) pieces.push_back(piece_of({rest.value(), {}}, 1));
    return pieces;
  }
  const Polynomial& p = rest.polynomial();
  add_fraction(p, pieces);
  for (const Term& term : p.terms) {
    if (term.coefficient % p.denominator == 0) pieces.push_back(piece_of(term, p.denominator));
  }
  return pieces;
}

}  // namespace

std::string Int::to_string() const {
  if (is_literal()) return std::to_string(value_);
  std::vector<Piece> pieces = pieces_of(*this);
  // "N - M", not "-M + N".
  std::stable_partition(pieces.begin(), pieces.end(),
                        [](const Piece& piece) { return !piece.negative; });
  std::string text = (pieces[0].negative ? "-" : "") + pieces[0].text;
  for (size_t i = 1; i < pieces.size(); ++i)
    text += (pieces[i].negative ? " - " : " + ") + pieces[i].text;
  return text;
}

std::string Int::to_factor_string() const {
  std::string text = to_string();
  // A number, a name or one call needs no parentheses as a factor.
  const bool simple = std::all_of(text.begin(), text.end(),
                                  [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  const bool one_call = !is_literal() && text.find("div(") != std::string::npos &&
                        dim_id() == std::nullopt && polynomial().terms.size() == 1 &&
                        polynomial().terms[0].coefficient == 1 &&
                        polynomial().terms[0].factors.size() == 1 && text.starts_with("ceil_div(");
  return simple || one_call ? text : "(" + text + ")";
}

}  // namespace lay
