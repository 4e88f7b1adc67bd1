// Mma of kind simt: an outer product of register buffers, all lanes and all elements in one
// instruction.
#pragma once

#include "backend/interpret/program.h"

namespace lay::interpret {

// mmas[detail]; slot a, where there is one: "the first step", d = a * b. The element types of a and
// b are d's, or narrower floating-point types where d is f32, or 8-bit integers where d is s32;
// else there is no handler.
Handler multiply(ElementType d, ElementType a, ElementType b, Arithmetic arithmetic);

}  // namespace lay::interpret
