// Arithmetic and comparison of host arrays, element by element; a number stands for an array of
// itself, and two shapes broadcast as NumPy's do (aligned at the last axis, extents equal or 1).
// Internal to this folder.
#pragma once

#include <optional>

#include "frontend/sema/values/value.h"

namespace lay::sema {

// Nothing if an operand is neither an array nor a known number. Refusal "shape-mismatch".
std::optional<Array> array_arithmetic(syntax::ChainOperator op, const Value& a, const Value& b);
std::optional<Array> array_comparison(syntax::BinaryOperator op, const Value& a, const Value& b);

// The greater, or the lesser, of the elements that meet; a NaN loses to a number.
std::optional<Array> array_extreme(bool greatest, const Value& a, const Value& b);
// The shape of what these operations return of two arrays, known before they begin.
std::vector<std::int64_t> joint_shape(const Array& a, const Array& b);

// The part of the array from begin to end (excluded) on an axis. Refusal "range".
Array cut(const Array& array, std::size_t axis, std::int64_t begin, std::int64_t end);

}  // namespace lay::sema
