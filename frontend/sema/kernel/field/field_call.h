// Calls in field mode (field/number.h): the arrays of a call with numbers of the field in place of
// their elements, and what two runs of it differ in.
//
//   const KernelCall call = in_field(given);
//   difference(*call.kernel, run_reference(call), got)          nothing where they agree
#pragma once

#include <optional>
#include <string>

#include "frontend/sema/kernel/kernel_call.h"

namespace lay::sema {

// The call with each array as s64: a floating-point element by the bits of its number, an integer
// as it is.
KernelCall in_field(const KernelCall& call);

// How the outputs of two runs differ.
struct FieldDifference {
  std::string tensor;
  std::vector<std::int64_t> coordinate;  // of the first element that differs
  std::string expected, got;
  std::int64_t differing = 0, elements = 0;  // of this tensor
};

// Describes the first output that differs; elements of integer types are compared as they are.
std::optional<FieldDifference> difference(const Kernel& kernel, const KernelResult& expected,
                                          const KernelResult& got);

// Counts the elements of all outputs, and those among them that are NaN, of which nothing is known.
struct FieldCounts {
  std::int64_t elements = 0, nan = 0;
};
FieldCounts counts(const Kernel& kernel, const KernelResult& result);

}  // namespace lay::sema
