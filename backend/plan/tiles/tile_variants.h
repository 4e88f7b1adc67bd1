// The variants of a kernel that reduces along rows: tile programs (tile/program.h), bound in
// several ways.
//
//   softmax of (M,N):(N,1), bf16     rows_256 ... rows_32768: a tile holds whole rows of up to so
//                                    many columns, each element is read once
//                                    streamed: rows of any length, read once for each reduction
//                                    ..._any: the same element by element
#pragma once

#include <optional>
#include <string>

#include "backend/plan/plan.h"
#include "backend/target/target.h"

namespace lay::plan {

// Returns whether there is a tile program of the kernel.
bool has_tiles(const sema::Kernel& kernel, const Facts& facts);

// Adds the variants, those of the script's schedules first, and problems of those. The last variant
// has conditions where rows or columns that are walked as one may be more than 2^31. Returns why
// the kernel is none of this kind, as a clause; nothing if it is.
std::optional<std::string> add_tile_variants(Plan& plan, const Facts& facts, const Target& target);

}  // namespace lay::plan
