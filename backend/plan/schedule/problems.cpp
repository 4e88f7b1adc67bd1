#include "backend/plan/schedule/problems.h"

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

}  // namespace lay::plan
