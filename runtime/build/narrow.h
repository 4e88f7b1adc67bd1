// The part of a script's plans that a command line asks for: a kernel, variants, sizes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backend/plan/narrow/drawn_sizes.h"
#include "backend/plan/narrow/narrow.h"
#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::runtime {

// The sizes of one problem by name, as `--size M=4096,N=4096` says them; under no name a number for
// all.
using plan::GivenSizes;

// Every size that is given belongs to one of the kernels. Error "no-parameter".
void require_dims(const std::vector<sema::KernelPtr>& kernels, const GivenSizes& given);

// The sizes by dim, which meet the kernel's guards. Errors: those of sizes that a call of the
// kernel gives.
Binding solved_sizes(const sema::Kernel& kernel, const GivenSizes& given);

// What a build of the kernel for these sizes is for. Of sizes that leave dims open, and where there
// are none, problems are drawn; where there are none, those that the script states count as much as
// all others. Errors as solved_sizes, of sizes that say all dims.
plan::Purpose purpose_of(const sema::Kernel& kernel, const std::vector<GivenSizes>& sizes,
                         std::size_t most);

// Adds to the plan what is searched for sizes (plan::add_for_sizes): those that are given, or,
// where they leave dims open, some problems that are drawn. Nothing where no dim is given. Errors
// as purpose_of.
void add_for_given(plan::Plan& plan, const GivenSizes& given, const Target& target);

// Adds what is searched for sizes that the script states and that leave dims open: plans have
// searched for those that say all dims.
void add_for_open_sizes(plan::Plan& plan, const Target& target);

// The error "unknown-variant" of a name that is none of these.
[[noreturn]] void refuse_variant(const sema::Kernel& kernel, const std::string& name,
                                 const std::vector<std::string>& known);

}  // namespace lay::runtime
