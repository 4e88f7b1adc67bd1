// The coefficients of what a launch costs on a GPU: the record `cost_coefficients` of
// stdlib/targets/gpu.lay as data. Only Lay text knows what they mean: the policies that use them,
// and the comments of the record. C++ carries them from a GPU to its policies, and fits them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lay::sema {

struct Record;

// A field of the record: an integer, or a tuple of them.
struct Coefficient {
  std::string name;
  std::vector<std::int64_t> numbers;  // at least one
  bool is_tuple = false;

  friend bool operator==(const Coefficient&, const Coefficient&) = default;
};

// In the record's order.
using Coefficients = std::vector<Coefficient>;

// Returns the fields of a record. std::invalid_argument with the reason where one of them is
// neither an integer from 0 to 2^20 nor a tuple of such integers: of more, sums of costs might not
// fit 64 bits.
Coefficients coefficients_of(const Record& record);

// Returns the numbers as Lay: "74" or "(0,0,5)".
std::string numbers_text(const Coefficient& coefficient);

// Returns the call that makes the record: "cost_coefficients(row = 74, ..., missing = (0,0,5))".
std::string coefficients_text(const Coefficients& coefficients);

}  // namespace lay::sema
