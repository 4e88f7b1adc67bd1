#pragma once

// A condition on integers: comparisons and divisibility, and their combinations. Immutable and
// cheap to copy.
//
//     both(divides(M, 128), less_equal(K, lda)).to_string()      "M % 128 == 0 and K <= lda"
//
// Conditions between literals are decided when they are made. Nothing else is: Facts::decide does
// that.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "frontend/algebra/integers/int.h"

namespace lay {

// Comparisons of two integers, divisibility, and combinations of two conditions.
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
  // The condition that always holds; or one that always or never does.
  Predicate();  // always
  explicit Predicate(bool value);

  const PredicateNode& node() const { return *node_; }
  const std::shared_ptr<const PredicateNode>& shared() const { return node_; }
  PredicateKind kind() const;
  bool is_always() const { return kind() == PredicateKind::always; }
  bool is_never() const { return kind() == PredicateKind::never; }

  // Lay text: "M % 96 == 0", "K <= lda", "M == N or K == 1".
  std::string to_string() const;

  // At given sizes; nothing where a number has no value there.
  std::optional<bool> evaluate(const Binding& binding) const;
  Predicate substitute(const std::map<DimId, Int>& replacement) const;
  void collect_dims(std::map<DimId, std::string>& dims) const;

  // The same condition in the same words.
  friend bool operator==(const Predicate& a, const Predicate& b) { return a.node_ == b.node_; }

  // Returns the predicate of a node, for instance the condition of a selection.
  static Predicate of(std::shared_ptr<const PredicateNode> node);

 private:
  explicit Predicate(std::shared_ptr<const PredicateNode> node) : node_(std::move(node)) {}
  // One object for equal ones.
  std::shared_ptr<const PredicateNode> node_;
};

// The parts of a condition; equal conditions share one node.
struct PredicateNode {
  PredicateKind kind;
  Int a, b;                                   // of comparisons: a op b; of divisibility: a % b == 0
  std::shared_ptr<const PredicateNode> left;  // of both and either: Predicate::of(node.left)
  std::shared_ptr<const PredicateNode> right;
  // Comparisons and atoms written out; more than 1,000 throws Refusal "limit"
  int weight = 1;
};

// The ways to make a condition. Differences that are literals are decided at once.
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
// A % by == 0.
Predicate divides(const Int& a, const Int& by);
Predicate both(const Predicate& a, const Predicate& b);
Predicate either(const Predicate& a, const Predicate& b);
Predicate negate(const Predicate& a);

}  // namespace lay
