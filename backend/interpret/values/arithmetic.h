// Element functions on the lanes of a warp. A handler reads slots a, b, c and writes slot dst; all
// 32 lanes are computed, and faults are raised for lanes at work only.
#pragma once

#include "backend/interpret/program.h"

namespace lay::interpret {

// The handler of a function on operands of this type; `checked`: signed overflow is a fault.
Handler arithmetic(ElementFunction function, ElementType type, Arithmetic of_floats, bool checked);

// The part of it for integers that are computed with (integers.cpp).
Handler integer_arithmetic(ElementFunction function, ElementType type, bool checked);

// Converts slot a from Instruction::type to ElementType(value).
Handler conversion(ElementType from, ElementType to, Arithmetic of_floats);

}  // namespace lay::interpret
