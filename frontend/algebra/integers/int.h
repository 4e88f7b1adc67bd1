#pragma once

// The one integer of Lay: a literal, held inline, or an exact expression in sizes that are not
// known yet.
//
//     Int M = Int::dim("M");
//     (M * 128).to_string()                     "128*M"
//     ceil_div(M, 96).to_string()               "ceil_div(M,96)"
//     divided(M, 128) * 128 == M                true: both have one normal form
//     ceil_div(ceil_div(M, 4), 8) == ceil_div(M, 32)
//
// A symbolic Int is an interned polynomial with rational coefficients over atoms: dims,
// floor_div(p,q), min(a,b), max(a,b) and selections. `p % q` is p - q*floor_div(p,q) and
// ceil_div(p,q) is -floor_div(-p,q), so equal integers mostly have equal normal forms, and `==` on
// Int compares normal forms (it never asks the facts: that is Facts::decide).
//
// Arithmetic is exact in 64 bits. A number that does not fit throws Refusal "overflow"; dividing by
// literal 0 throws "division-by-zero"; a polynomial of more than 1,000 terms or nesting beyond 48
// throws "limit".

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lay {

struct Polynomial;
struct Atom;
class Predicate;

using DimId = uint32_t;

// Values of dims, for instance those known at a launch.
using Binding = std::map<DimId, int64_t>;

class Int {
 public:
  Int() = default;
  template <std::integral T>
  Int(T value) : value_(static_cast<int64_t>(value)) {}

  // A fresh symbol: a second dim("M") is another M. Without a declaration in Facts it is an integer
  // >= 1.
  static Int dim(std::string_view name);

  bool is_literal() const { return polynomial_ == nullptr; }
  bool is(int64_t value) const { return is_literal() && value_ == value; }
  int64_t value() const { return value_; }  // of a literal

  // The dim this is, if it is nothing but a dim.
  std::optional<DimId> dim_id() const;

  // The normal form of a symbolic Int; not for literals.
  const Polynomial& polynomial() const { return *polynomial_; }

  // Lay text that reads back as the same Int: "M/128", "ceil_div(M,96)", "128*K", "M*N + 1".
  std::string to_string() const;
  // The same, in parentheses if it would not bind as a factor of a product.
  std::string to_factor_string() const;

  // The value under a binding. Nothing if a dim is not bound, a division is not exact or by zero,
  // or the value overflows.
  std::optional<int64_t> evaluate(const Binding& binding) const;

  // Every dim replaced by what the map says (dims that it does not name stay).
  Int substitute(const std::map<DimId, Int>& replacement) const;

  // The dims that occur, by id, and the name of each.
  void collect_dims(std::map<DimId, std::string>& dims) const;

  friend bool operator==(const Int& a, const Int& b) {
    return a.polynomial_ == b.polynomial_ && a.value_ == b.value_;
  }

 private:
  // polynomial.h.
  friend Int intern(Polynomial polynomial);
  int64_t value_ = 0;
  // One object for equal ones, as long as somebody holds it.
  std::shared_ptr<const Polynomial> polynomial_;
};

Int operator+(const Int& a, const Int& b);
Int operator-(const Int& a, const Int& b);
Int operator-(const Int& a);
Int operator*(const Int& a, const Int& b);
inline Int& operator+=(Int& a, const Int& b) {
  return a = a + b;
}
inline Int& operator-=(Int& a, const Int& b) {
  return a = a - b;
}
inline Int& operator*=(Int& a, const Int& b) {
  return a = a * b;
}

// floor(a / b), rounding towards minus infinity. Law: b*floor_div(a,b) <= a < b*floor_div(a,b) + b
// for b > 0. A symbolic b is taken to be nonzero: whoever divides by it has that as an obligation
// (Facts::require).
Int floor_div(const Int& a, const Int& b);
// -floor_div(-a, b).
Int ceil_div(const Int& a, const Int& b);
// a - b*floor_div(a, b).
Int mod(const Int& a, const Int& b);
Int min(const Int& a, const Int& b);
Int max(const Int& a, const Int& b);
// `a` where the condition holds, else `b`.
Int select(const Predicate& condition, const Int& a, const Int& b);

// a / b as a number, where b divides a: the polynomial a/b for a literal b or an exact polynomial
// quotient, else floor_div(a,b). The caller answers for the divisibility (Facts::exact_div raises
// it as an obligation).
Int divided(const Int& a, const Int& b);

// A total order of normal forms, for printing and canonical sorting; it says nothing about values.
int compare(const Int& a, const Int& b);

// -------------------------------------------------------------------------------------------------
// The structure of a symbolic Int, for those who turn it into code: value = sum(terms) /
// denominator, exactly.

enum class AtomKind : uint8_t { dim, floor_div, min, max, select };

struct Factor {
  const Atom* atom;
  int exponent;  // >= 1
};

struct Term {
  int64_t coefficient;  // nonzero
  // Sorted; empty for the constant term.
  std::vector<Factor> factors;
};

struct Polynomial {
  // > 0, without a common factor with all coefficients.
  int64_t denominator = 1;
  // Sorted: higher degree first, the constant last.
  std::vector<Term> terms;
  int depth = 0;  // of nested atoms
  // Atoms written out: the length of the text, roughly.
  int weight = 0;
};

struct Atom {
  AtomKind kind;
  DimId id = 0;      // of a dim
  std::string name;  // of a dim
  // The arguments of the others.
  Int a, b;
  std::shared_ptr<const struct PredicateNode> condition;  // of a selection
  int depth = 0;
  int weight = 1;
};

// The atom as an Int of its own.
Int as_int(const Atom& atom);

// 64-bit arithmetic that throws Refusal "overflow".
int64_t checked_add(int64_t a, int64_t b);
int64_t checked_sub(int64_t a, int64_t b);
int64_t checked_mul(int64_t a, int64_t b);

}  // namespace lay
