#pragma once

// The operations that are drawn, and how often.

#include <span>

#include "tests/fuzz/fuzz.h"

namespace fuzz {

struct Row {
  const char* name;
  int weight;
  Outcome (*run)(laws::Random&, Report&);
};

std::span<const Row> layout_rows();    // literal.cpp
std::span<const Row> swizzled_rows();  // swizzled.cpp

}  // namespace fuzz
