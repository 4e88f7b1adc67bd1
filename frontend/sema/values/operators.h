// The operators on values: arithmetic, comparison, `:`, `o`, `@`. Internal to this folder.
#pragma once

#include "frontend/sema/session.h"

namespace lay::sema {

// An operand and its place.
struct Operand {
  Value value;
  Span span;
};

Value arithmetic(Session& session, syntax::ChainOperator op, const Operand& a, const Operand& b,
                 Span whole);
Value negated(Session& session, const Operand& a, Span whole);
Value compare(Session& session, syntax::BinaryOperator op, const Operand& a, const Operand& b,
              Span whole);
Value make_layout_value(const Operand& shape, const Operand& stride);

// x o y o z: an integer or coordinate strictly inside is an offset, other chains fold from the
// left.
Value compose(Session& session, const std::vector<Operand>& chain, Span whole);

// One value where the condition holds, the other elsewhere: integers become a selection, tuples and
// layouts of equal nesting go leaf by leaf, numbers in a kernel a select. Error `undecided` for
// anything else.
Value choose(Session& session, const Predicate& condition, const Operand& then,
             const Operand& otherwise, Span where);

// A number as a double; nothing for what is no number, or not known.
std::optional<double> real_of(const Value& v);
// a op b in f64, for the operators of arithmetic.
double on_reals(syntax::ChainOperator op, double a, double b);

// Equality as a condition; nothing if the two kinds cannot be equal or unequal.
std::optional<Predicate> equality(const Value& a, const Value& b);

}  // namespace lay::sema
