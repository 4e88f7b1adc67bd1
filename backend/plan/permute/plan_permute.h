// The variants of a permute kernel: the widest accesses first, each under the conditions that they
// need, then narrower ones, at last element by element for all sizes.
//
//   Y[i,j] = X[j,i] of f32, 64 x 64 tiles:
//   bytes16   X 4 elements at once along i, Y 4 along j     M % 4 == 0, N % 4 == 0, pointers
//   aligned to 16 bytes bytes8    2 elements any       element by element
#pragma once

#include <optional>

#include "backend/plan/copies.h"
#include "backend/plan/permute/permute_form.h"
#include "backend/plan/permute/permute_schedule.h"

namespace lay::plan {

// Accesses of at most `bytes`; 0: of one element. Fills in what the conditions need. Nothing with a
// problem, or where a variant of this width would be that of a narrower one. Problems:
// "schedule-threads", "schedule-smem", "schedule-shared", "schedule-rasterization".
std::optional<Variant> plan_permute(const sema::KernelPtr& kernel, const PermuteForm& form,
                                    Facts& facts, const PermuteSchedule& schedule, int bytes,
                                    const Target& target, std::vector<Problem>& problems);

// Blocks one after the other as the outputs' memory goes on beyond a tile: what is written at a
// time then lies close together. Row-major to tiles of 8 x 8 takes 8 % less than in the order of
// the rows.
Layout default_order(const sema::Kernel& kernel, const std::vector<sema::IndexId>& indices,
                     const std::vector<int>& tile, const AffineAccess& output);

}  // namespace lay::plan
