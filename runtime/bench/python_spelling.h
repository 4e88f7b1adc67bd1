// Functions of elements as text of Python, for kernels that are written in PyTorch and in Triton.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "frontend/algebra/memory/element.h"

namespace lay::bench {

// A function with $0, $1, $2 for its operands: "$0 + $1".
struct PythonSpelling {
  ElementFunction function;
  const char* text;
};

// Returns the function's text in Python's operators, else that of the library's table, else null.
const char* python_spelling(ElementFunction function, std::span<const PythonSpelling> library);

// Returns the text with each $i replaced by the operand.
std::string filled(const char* text, const std::vector<std::string>& operands);

}  // namespace lay::bench
