// Types, numbers and names in PyTorch.
#pragma once

#include <string>

#include "frontend/algebra/memory/element.h"

namespace lay::bench::torch {

// Returns the name of a type: "torch.bfloat16". Throws NotInTorch.
std::string type_text(ElementType type);
// Returns a number as Python writes it, in as few digits as read back the same.
std::string real_text(double value);

// Returns whether a type is f16 or bf16, in which PyTorch's users compute.
bool is_half(ElementType type);
// Returns the type that the elements have in PyTorch, which has none of 4 bits.
ElementType stored(ElementType type);
// Returns whether each number of `narrow` is one of `wide`, which has more bits.
bool holds_all_of(ElementType wide, ElementType narrow);

// Returns whether a statement made the value, which otherwise is a view of an input.
bool is_computed(const std::string& name);
// Returns whether a parameter cannot have the name.
bool is_taken(const std::string& name);

}  // namespace lay::bench::torch
