// The functions of reductions: one row each, which the checker, the reference, the lowering and the
// planner read.
//
//   find_reduce("max")->function == ReduceFunction::max
//   identity(ReduceFunction::max, ElementType::f32)     -inf
//   joining(ReduceFunction::max) == ElementFunction::max_nan: a maximum with a NaN is NaN
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "frontend/algebra/memory/element.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::sema {

// The result of a reduction: a number of the accumulator's type, a condition, or a position (s32).
enum class ReduceResult : std::uint8_t { number, condition, position };

struct ReduceRow {
  ReduceFunction function;
  std::string_view name;
  ReduceResult result;
  std::string_view law;  // what name[k](x) is
};

std::span<const ReduceRow> reduce_rows();
const ReduceRow& reduce_row(ReduceFunction function);
// Returns null for a name that is no reduction.
const ReduceRow* find_reduce(std::string_view name);

// Returns the function of two operands that joins two values. For argmax and argmin it joins the
// values that are compared.
ElementFunction joining(ReduceFunction function);

// Returns the value of the reduction over no values: what may stand first without a difference. For
// argmax and argmin it is that of the values that are compared; their position over no values does
// not exist.
std::variant<std::int64_t, double> identity(ReduceFunction function, ElementType type);

}  // namespace lay::sema
