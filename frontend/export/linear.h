#pragma once

// Layouts as linear maps over bits: layout(i) is the XOR of the bases of the bits of i.
//
//     bases_of(((2,2),2):((4,1),2))      mode 0: 4, 1    mode 1: 2
//
// A layout is one exactly if its extents are powers of two and no two bases share a bit, so that
// adding never carries.

#include <string>
#include <variant>
#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay::exports {

// A value of a layout: its coordinates, one for a layout into integers.
using Point = std::vector<std::int64_t>;

struct LinearMap {
  int rank = 1;  // of the values
  // They are coordinates, by basis strides.
  bool coordinates = false;
  // For each mode its bases, lowest bit first.
  std::vector<std::vector<Point>> modes;
};

// Refusal "export" with what stands in the way: an extent that is no power of two, bases that
// carry, an offset.
LinearMap bases_of(const std::variant<Layout, Composed, Swizzle>& value);

// Refusal "export": this is no linear layout of Triton.
[[noreturn]] void cannot(const std::string& why);

}  // namespace lay::exports
