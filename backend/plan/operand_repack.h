// Factors of a GEMM that TMA cannot read as they lie are copied into workspace first, in a layout
// that it can read:
//
//   every row begins on a whole line
//     A: bf16 (M,K):(K,1) with K odd     A_rows: bf16 (M,K):(64*ceil_div(K,64),1)
//   transposed: wgmma reads it along k
//     B: tf32 (N,K):(1,N)                B_rows: tf32 (N,K):(32*ceil_div(K,32),1)
//
// One launch copies all of them. The kernel that follows is the same kernel with those tensors in
// other layouts; what pads a row is neither written nor read.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "backend/plan/copies.h"
#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/schedule.h"
#include "backend/target/target.h"
#include "frontend/sema/library.h"

namespace lay::plan {

// Which factors a variant copies first.
struct CopiedFactors {
  bool a = false, b = false;
  bool transposed = false;  // each of them to the other major-ness, which takes wide accesses where
                            // sizes allow them
};

// The sizes that the library's costs are about where factors have been copied: k in whole lines of
// memory where both run along it and are, as rows of copies begin with lines.
sema::ProblemSize size_on_copies(const sema::Kernel& kernel, const GemmForm& form, Facts& facts,
                                 const CopiedFactors& factors, const Target& target);

// The choices of factors to copy that are worth a variant, the fewest copies first. All choices
// have the factors that TMA reads at no sizes. A factor that TMA reads wherever it reads the other
// is in none alone: then both are copied, which also serves pointers that are not aligned. Empty
// where a factor that needs a copy cannot be copied.
struct CopyChoices {
  std::vector<CopiedFactors> all;
  bool needed = false;  // TMA reads the factors as they lie at no sizes
};
CopyChoices copy_choices(const sema::Kernel& kernel, const GemmForm& form,
                         const TensorSchedule& schedule, const Facts& facts);

// Returns the factors that the schedule's `repack` names, as operands of the instruction, which are
// among those that are worth a copy; else nothing, and a problem "schedule-entry".
std::optional<CopiedFactors> said_factors(const sema::Kernel& kernel, const GemmForm& form,
                                          const TensorSchedule& schedule, const Facts& facts,
                                          std::vector<Problem>& problems);

// The copying launches of one kernel for one target, by factors, whether each of them may run along
// the output, and bytes: to choose how a tile lies in shared memory takes long, and many schedules
// begin with the same copies.
using KnownCopies = std::map<std::tuple<bool, bool, bool, bool, int>, std::optional<Variant>>;

// The schedule's variant on copies: its name with `_copy`, `_A` and `_B` behind it. Accesses of the
// copying launch are of at most `bytes`, 0: of one element. Nothing where the schedule's own
// variant would be nothing, or the copies take no accesses of that width.
std::optional<Variant> copying_variant(const sema::Kernel& kernel, const GemmForm& form,
                                       const TensorSchedule& schedule, const CopiedFactors& factors,
                                       int bytes, Width width, const Target& target,
                                       const Facts& facts, KnownCopies& known,
                                       std::vector<Problem>& problems);

// Returns the name of the kernel by which a print of the plan writes out the copy of `source`, an
// input of the repack's kernel: gemm_repack_A.
std::string repack_name(const sema::Kernel& repack, const sema::Tensor& source);

// Returns those names for all repacks of the plan. Where a print is pasted behind its script they
// are kernels of the script, but still part of this plan.
std::set<std::string> repack_names(const Plan& plan);

}  // namespace lay::plan
