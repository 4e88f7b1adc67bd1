// Checked kernel -> plan.
//
// A kernel with one contraction over one index of a product of two loads, A[m,k] and B[n,k] with
// their modes in any order, becomes a product on CUDA cores (simt/bind_simt.h): one variant for
// each of its schedules, then the default ones, each vectorised as far as layouts and guards allow
// and followed by what is right without further conditions. Every other kernel runs one thread an
// element (tile/elementwise/each_element.h).
//
// Whatever cannot be planned is a Problem of the plan; nothing is thrown for a mistake of the
// user's.
#pragma once

#include <vector>

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/target/target.h"

namespace lay::plan {

// The sizes that a plan searches schedules for, beside the library's rows
// (schedule/stated_sizes.h): those that the script states for all dims, and those of a kernel
// without dims.
enum class Searched { nothing, stated_sizes };

// A schedule "for sm90" is passed over where the target is older, with a note.
Plan make_plan(sema::KernelPtr kernel, const Target& target = default_target(),
               Searched searched = Searched::stated_sizes);

// The same of the last of several launches, whose variants stand beside others in the plan of all:
// portfolios keep the numbers that schedules say.
Plan make_last_plan(sema::KernelPtr kernel, const Target& target);

// The facts that hold in every launch of the kernel: what its guards say.
Facts facts_of(const sema::Kernel& kernel);

// Puts a variant's conditions and cost into the form in which a script reads them back. Returns
// false for a variant that no launch takes, which is not compiled.
bool settle(const Facts& known, Variant& variant);

// The conditions under which coordinates of the indices that a product has joined fit 32 bits. The
// launcher holds each size below 2^31, not the products of sizes that joined indices run over.
std::vector<Predicate> bounds_of_joined(const sema::Kernel& kernel, const Gemm& gemm);

}  // namespace lay::plan
