#pragma once

// A condition on integers: comparisons and divisibility, and their combinations. Immutable and cheap to copy.
//
//     both(divides(M, 128), less_equal(K, lda)).to_string()      "M % 128 == 0 and K <= lda"
//
// Conditions between literals are decided when they are made. Nothing else is: Facts::decide does that.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "frontend/algebra/int.h"

namespace lay {

enum class PredicateKind : uint8_t {
  always,
  never,
  equal,
  not_equal,
  less,
  less_equal,
  divides,
  not_divides,
  both,
  either
};

struct PredicateNode;

class Predicate {
 public:
  Predicate();  // always
  explicit Predicate(bool value);

  const PredicateNode& node() const { return *node_; }
  PredicateKind kind() const;
  bool is_always() const { return kind() == PredicateKind::always; }
  bool is_never() const { return kind() == PredicateKind::never; }

  // Lay text: "M % 96 == 0", "K <= lda", "M == N or K == 1".
  std::string to_string() const;

  std::optional<bool> evaluate(const Binding& binding) const;
  Predicate substitute(const std::map<DimId, Int>& replacement) const;
  void collect_dims(std::map<DimId, std::string>& dims) const;

  // The same condition in the same words.
  friend bool operator==(const Predicate& a, const Predicate& b) { return a.node_ == b.node_; }

  static Predicate of(const PredicateNode* node);  // of an interned node, for instance the condition of a selection

 private:
  explicit Predicate(const PredicateNode* node) : node_(node) {}
  const PredicateNode* node_;
};

struct PredicateNode {
  PredicateKind kind;
  Int a, b;                             // of comparisons: a op b; of divisibility: a % b == 0
  const PredicateNode* left = nullptr;  // of both and either: Predicate::of(node.left)
  const PredicateNode* right = nullptr;
  int weight = 1;  // comparisons and atoms written out; more than 10,000 throws Refusal "limit"
};

Predicate equal(const Int& a, const Int& b);
Predicate not_equal(const Int& a, const Int& b);
Predicate less(const Int& a, const Int& b);
Predicate less_equal(const Int& a, const Int& b);
inline Predicate greater(const Int& a, const Int& b) {
  return less(b, a);
}
inline Predicate greater_equal(const Int& a, const Int& b) {
  return less_equal(b, a);
}
Predicate divides(const Int& a, const Int& by);  // a % by == 0
Predicate both(const Predicate& a, const Predicate& b);
Predicate either(const Predicate& a, const Predicate& b);
Predicate negate(const Predicate& a);

}  // namespace lay
