// Schedules that were found by measuring (frontend/sema/kernel/tuned_rows.h), for the product at
// hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/plan/recognise.h"
#include "backend/target/target.h"
#include "frontend/sema/kernel/tuned_rows.h"

namespace lay::plan {

// The class of a product, its sizes apart. Nothing for a kernel with several outputs, or with an
// operand or output in which no index has neighbours side by side.
std::optional<sema::TunedClass> tuned_class(const sema::Kernel& kernel, const GemmForm& form,
                                            const Target& target);

// The families of schedules that a GPU runs, in the order in which their rows are asked: "sm90",
// "sm80", "simt".
std::vector<std::string> tuned_families(const Target& target);

// The rows of a family for products of this class.
std::vector<sema::TunedRow> tuned_rows(const std::string& family, const sema::TunedClass& of);

}  // namespace lay::plan
