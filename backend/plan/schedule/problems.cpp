#include "backend/plan/schedule/problems.h"

#include <algorithm>

#include "backend/plan/chosen_copies.h"

namespace lay::plan {

Problem no_row(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& said,
               const std::string& target) {
  const auto type = [&](sema::NodeId factor) {
    return std::string(element_name(kernel.loaded(factor).element));
  };
  return {"schedule-entry",
          "a schedule for " + target + " without `mma` is completed by a row of the library, " +
              "which has none for " + type(form.a) + " by " + type(form.b) + " into " +
              std::string(element_name(kernel.node(form.contraction).type)),
          said.where,
          {},
          {{"help", "name an atom of these types as `mma`, or schedule the kernel for simt"}},
          {}};
}

Problem repack_without_atom(const TensorSchedule& said) {
  return {"schedule-entry",
          "`repack` goes with `mma`: without it rows of the library choose what they repack",
          said.at(said.repack_a ? "repack A" : "repack B"),
          {},
          {{"help", "name the atom as `mma`, or leave `repack` out"}},
          {}};
}

Problem operands_of_tensors(const TensorSchedule& said) {
  return {"unsupported",
          "`operands` is for convolutions, sums over several indices and products that share an "
          "operand, which TMA can read where they lie",
          said.at("operands"),
          {},
          {{"help", "leave `operands` out"}},
          {}};
}

Problem outputs_of_tiles(const ScheduleHead& said) {
  return {"unsupported",
          "`outputs` is permuted where neighbours of an output in memory are no neighbours in a "
          "tile of the product",
          said.at("outputs"),
          {},
          {{"help", "leave `outputs` out"}},
          {}};
}

Problem repack_in_place(const TensorSchedule& said, const GemmForm& form) {
  const std::string what = form.segments          ? "a grouped product"
                           : form.further.empty() ? "a convolution or a sum over several indices"
                                                  : "several products in one launch";
  return {"unsupported",
          "the operands of " + what + " are read as they lie",
          said.at(said.repack_a ? "repack A" : "repack B"),
          {},
          {{"help", "leave `repack` out"}},
          {}};
}

Problem no_vectors(const ScheduleHead& schedule) {
  return {"schedule-entry",
          "`accesses` in vectors needs a tensor that is contiguous along a mode of the product, "
          "with strides of whole vectors",
          schedule.at("accesses"),
          {},
          {{"works", "accesses = \"elements\""}},
          {}};
}

// A record's `since` is of the instruction itself. A schedule "for sm80" may be planned for any GPU
// from there on, so that its copies are compared with the GPU, as its atom is.
std::optional<Problem> copy_of_later_gpus(const TensorSchedule& said, const Target& target) {
  for (const sema::CopyInstruction& each : said.copies) {
    if (each.since <= target.capability) continue;
    return Problem{"schedule-capability",
                   each.name + " needs compute capability " + capability_text(each.since) +
                       ", and " + target.name + " has " + capability_text(target.capability),
                   said.at("copies"),
                   {},
                   {{"help", "a copy that the GPU has, or a schedule for a newer one"}},
                   {}};
  }
  return std::nullopt;
}

void check_copies(Plan& plan, const TensorSchedule& said, std::size_t first) {
  if (said.copies.empty() || first == plan.variants.size()) return;
  // A variant for single elements need not take what one in vectors does: any of them counts.
  std::vector<sema::CopyInstruction> found;
  for (std::size_t i = first; i < plan.variants.size(); ++i)
    for (const sema::CopyInstruction& each : copies_of(plan.variants[i]))
      if (std::ranges::find(found, each) == found.end()) found.push_back(each);
  for (const sema::CopyInstruction& each : said.copies) {
    if (std::ranges::find(found, each) != found.end()) continue;
    const std::string others =
        found.empty()
            ? ""
            : ", or put in its place a copy that does the same as one of " + copies_text(found);
    plan.problems.push_back({"schedule-copy",
                             each.name +
                                 " copies nothing of this schedule: no copy between its spaces "
                                 "has its bytes and the places of its values",
                             said.at("copies"),
                             {},
                             {{"help", "leave it out" + others}},
                             {}});
    return;
  }
}

}  // namespace lay::plan
