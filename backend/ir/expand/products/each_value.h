// Loops over the values that a thread has of an accumulator.
#pragma once

#include <vector>

#include "backend/ir/expand/products/product_expander.h"

namespace lay::ir {

// Calls body(place) for each value: rows outermost, then columns from the slowest digit on, all
// unrolled. The innermost `kept` digits stay at 0.
template <class Body>
void each_value(Builder& b, const std::vector<ProductExpander::Digit>& digits, Body body,
                size_t kept = 0) {
  const Term zero = b.constant(std::int64_t{0});
  const auto nest = [&](const auto& self, size_t depth, const ProductExpander::Place& at) -> void {
    if (depth + kept >= digits.size()) return body(at);
    const ProductExpander::Digit& digit = digits[depth];
    const char* name = digit.row > 0 ? "row" : digit.column > 1 ? "part" : "element";
    b.loop(name, zero, b.constant(std::int64_t{digit.extent}), {.unrolled = true}, [&](Term i) {
      ProductExpander::Place here = at;
      here.value = here.value + i * digit.value;
      here.row = here.row + i * digit.row;
      here.column = here.column + i * digit.column;
      Term& counted = digit.row > 0 ? here.row_number : here.column_number;
      counted = counted * digit.extent + i;
      self(self, depth + 1, here);
    });
  };
  nest(nest, 0, {zero, zero, zero, zero, zero});
}

template <class Body>
void each_row(Builder& b, int rows, Body body) {
  const Term zero = b.constant(std::int64_t{0});
  b.loop("row", zero, b.constant(std::int64_t{rows}), {.unrolled = true}, body);
}

}  // namespace lay::ir
