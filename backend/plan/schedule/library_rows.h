// The rows of the standard library's policies that a product may take.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/target/target.h"
#include "frontend/sema/library.h"

namespace lay::plan {

// Returns what the library's policies ask of a product. `in_parts`: with sums that are promoted
// every so much of K.
sema::ProductKind product_kind(const sema::Kernel& kernel, const GemmForm& form, Facts& facts,
                               bool in_parts, const Target& target);

// Returns what their conditions and costs are about, over the kernel's dims: of rows in segments
// the batches are the segments.
sema::ProblemSize product_size(const sema::Kernel& kernel, const GemmForm& form,
                               const Target& target);

// Returns the same as numbers; nothing where one of them is none, or below one.
std::optional<sema::ProblemSize> sized(const sema::ProblemSize& size, const Binding& sizes);

// Returns the rows of a family, "simt", "sm80" or "sm90", for the kernel's types, epilogue and
// operands: schedules in Lay, and the sizes that they are for. Tensor cores have none for operands
// that are as wide as their sum but f64, which they do not multiply: their libraries take longer to
// read than such a kernel to plan.
std::vector<sema::Policy> library_rows(const std::string& family, const sema::Kernel& kernel,
                                       const GemmForm& form, Facts& facts, bool in_parts,
                                       const Target& target);

}  // namespace lay::plan
