// The variants of a product of two factors: those of the script's schedules, of `lay tune` and of
// the library's policies, in the order in which the launcher tries them.
#pragma once

#include <optional>
#include <string>

#include "backend/plan/plan.h"
#include "backend/plan/recognise.h"
#include "backend/target/target.h"
#include "frontend/sema/library.h"

namespace lay::plan {

// Returns true if a family of plans, given by its name in schedules, multiplies products that have
// scales.
inline bool takes_scales(const std::string& family) {
  return family == "sm90" || family == "sm80";
}

// The same of products whose rows lie in segments.
inline bool takes_segments(const std::string& family) {
  return family == "sm90";
}

// The same of products whose operands lie in memory by views.
inline bool takes_views(const std::string& family) {
  return family == "sm90";
}

// The same of several products that share an operand.
inline bool takes_further(const std::string& family) {
  return family == "sm90";
}

// The same of a product of this form.
inline bool takes_form(const std::string& family, const GemmForm& form) {
  return (form.scales.empty() || takes_scales(family)) &&
         (!form.segments || takes_segments(family)) && (!form.has_views() || takes_views(family)) &&
         (form.further.empty() || takes_further(family));
}

// Returns true for what TMA and its boxes take alone: rows in segments, windows, sums over indices
// that lie apart, several products. No launch before repacks an operand, and CUDA cores do not take
// it.
inline bool is_read_as_it_lies(const GemmForm& form) {
  return form.segments || form.has_views() || !form.further.empty();
}

// Returns true if a schedule is for GPUs of a later compute capability: "for sm90" is for those
// from 9.0 on.
bool is_too_new(const sema::Schedule& schedule, const Target& target);

// Adds variants until one takes all sizes. Where none does, the caller adds one that does. A
// product with scales, with rows in segments or with views gets variants of the families that take
// it alone.
void add_gemm_variants(Plan& plan, const GemmForm& form, Facts& facts, const Target& target);

// Returns the family of schedules that the variant's own launch is of, "simt", "sm80" or "sm90";
// nothing where it is no product.
std::optional<std::string> product_family(const Variant& variant);

// Returns the variant of one row of the library for a family, as add_gemm_variants would add it;
// nothing where the row does not keep the planner's laws. It accesses memory by vectors, or as
// `like`, a variant of the family, does, and copies the factors first that that one copies.
std::optional<Variant> row_variant(const sema::KernelPtr& kernel, const GemmForm& form,
                                   Facts& facts, const Target& target, const std::string& family,
                                   const sema::Policy& row, const Variant* like = nullptr);

}  // namespace lay::plan
