// The part of a script's plans that a command line asks for: a kernel, variants, sizes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backend/plan/plan.h"

namespace lay::runtime {

// The sizes of one problem by name, as `--size M=4096,N=4096` says them; under no name a number for
// all.
using GivenSizes = std::map<std::string, std::int64_t>;

// Every size that is given belongs to one of the kernels. Error "no-parameter".
void require_dims(const std::vector<sema::KernelPtr>& kernels, const GivenSizes& given);

// The sizes by dim, which meet the kernel's guards. Errors: those of sizes that a call of the
// kernel gives.
Binding solved_sizes(const sema::Kernel& kernel, const GivenSizes& given);

// Returns the variants, in the plan's order, that launches of these sizes take: of each problem the
// one for aligned pointers, and the one for any. Errors as solved_sizes.
std::vector<plan::Variant> taken_at(const plan::Plan& plan, const std::vector<GivenSizes>& sizes);

// The error "unknown-variant" of a name that is none of these.
[[noreturn]] void refuse_variant(const sema::Kernel& kernel, const std::string& name,
                                 const std::vector<std::string>& known);

}  // namespace lay::runtime
