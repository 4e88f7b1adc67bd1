#pragma once

// Inside the algebra: a condition made ready for many sizes. The atoms that it is made of stand in
// one list, each once and behind those that it needs, so that what a condition says again and again
// is worked out once a look.

#include <optional>
#include <unordered_map>
#include <vector>

#include "frontend/algebra/integers/interval.h"
#include "frontend/algebra/integers/predicate.h"

namespace lay {

// A condition as a list of steps, evaluated at points and over boxes by the same code.
class SizePredicate {
 public:
  explicit SizePredicate(const Predicate& predicate);

  // Predicate::evaluate.
  std::optional<bool> at(const Binding& binding) const;
  // Returns what interval arithmetic shows; a comparison is one difference: equal parts cancel.
  Tri over(const Box& box) const;
  // Returns the cost of one look, in atoms.
  size_t atoms() const { return atoms_.size(); }

 private:
  // The polynomials of int.h, with atoms by their place in the list.
  struct Power {
    size_t atom;
    int exponent;
  };
  struct Product {
    int64_t coefficient;
    std::vector<Power> powers;
  };
  struct Sum {
    std::vector<Product> products;
    int64_t denominator = 1;
  };
  // One atom: a dim, or a function of sums.
  struct Step {
    AtomKind kind;
    DimId id;              // of a dim
    Sum a, b;              // the arguments of the others
    size_t condition = 0;  // of a selection
  };
  // A node of the predicate.
  struct Condition {
    PredicateKind kind;
    Sum a, b, difference;  // b - a of comparisons
    size_t left = 0, right = 0;
  };

  // Adds what is not there yet and returns its place.
  size_t ready(const Atom& atom);
  Sum ready(const Int& a);
  size_t ready(const PredicateNode& node);

  // Domain: numbers at a point, or intervals over a box (size_predicate.cpp).
  template <typename Domain>
  auto values_of(const Domain& domain) const;
  template <typename Domain>
  auto sum_of(const Domain& domain, const Sum& sum,
              const std::vector<typename Domain::Value>& values) const;
  std::optional<bool> holds(size_t condition,
                            const std::vector<std::optional<int64_t>>& values) const;
  Tri holds(size_t condition, const std::vector<Interval>& values) const;

  std::vector<Step> atoms_;
  std::vector<Condition> conditions_;
  size_t whole_ = 0;
  // While it is made ready: atoms and conditions by address.
  std::unordered_map<const void*, size_t> known_;
};

}  // namespace lay
