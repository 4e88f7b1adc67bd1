#include "backend/plan/chosen_copies.h"

#include <algorithm>

#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/sm90/sm90_store.h"
#include "backend/plan/sm90/tma.h"

namespace lay::plan {

namespace {

// Operands and boxes take the same instruction more often than not, which is named once.
void add_new(std::vector<sema::CopyInstruction>& found, const sema::CopyInstruction& copy) {
  if (std::ranges::find(found, copy) == found.end()) found.push_back(copy);
}

}  // namespace

// As a schedule says them: one alone, or several in parentheses.
std::string copies_text(const std::vector<sema::CopyInstruction>& copies) {
  std::string names;
  for (const sema::CopyInstruction& each : copies) names += (names.empty() ? "" : ", ") + each.name;
  return copies.size() == 1 ? names : "(" + names + ")";
}

std::vector<sema::CopyInstruction> copies_of(const sema::Kernel& /*kernel*/, const Sm80Gemm& gemm) {
  // A vector reaches shared memory by one copy, or through a register; from there a warp reads by
  // rows, or element by element.
  std::vector<sema::CopyInstruction> found;
  for (const Sm80Operand* each : {&gemm.a, &gemm.b}) {
    if (each->async) add_new(found, *each->async);
    if (each->fragment.copy) add_new(found, *each->fragment.copy);
  }
  return found;
}

std::vector<sema::CopyInstruction> copies_of(const sema::Kernel& kernel, const Sm90Gemm& gemm) {
  // As the expander asks for them (backend/ir/lower/lower_ring.h, box_atom): a map's box has as
  // many elements as the plan's, since all other modes have one.
  std::vector<sema::CopyInstruction> found;
  const auto modes = [](const std::vector<int>& order) { return static_cast<int>(order.size()); };
  const auto add_operand = [&](const TmaOperand& each, std::size_t axis) {
    const BoxCopy box{.modes = modes(each.order),
                      .bytes = each.box[0] * each.box[1] * each.element_bits / 8,
                      .span = each.span,
                      // Blocks along the other axis share an operand's tile, and load it together.
                      .blocks = gemm.cluster[1 - axis],
                      .pixels = each.view && !each.view->order.empty()};
    add_new(found, box_instruction(box, gemm.copies));
    if (each.fragment && each.fragment->copy) add_new(found, *each.fragment->copy);
  };
  add_operand(gemm.a, 0);
  add_operand(gemm.b, 1);
  for (const FurtherGemm& each : gemm.further) add_operand(each.b, 1);
  if (!gemm.store) return found;
  const auto add_staged = [&](const StagedTensor& each, sema::CopySpace to) {
    // An atom of 200 columns goes 128 at a time and leaves 72: boxes of two sizes.
    for (const int width : {gemm.store->width, gemm.store->rest}) {
      if (width == 0) continue;
      constexpr int warpgroup = 128;
      if (each.matrices)
        each_copy(each, width * rows_of_atom / warpgroup,
                  [&](const sema::CopyInstruction& copy, int, int) { add_new(found, copy); });
      if (each.tma)
        add_new(found, box_instruction({.to = to,
                                        .modes = modes(each.order),
                                        .bytes = each.box[0] * width *
                                                 kernel.tensor(each.tensor).element_bytes(),
                                        .span = each.span},
                                       gemm.copies));
    }
  };
  for (const StagedInput& each : gemm.store->inputs) add_staged(each, sema::CopySpace::shared);
  for (const StagedTensor& each : gemm.store->outputs) add_staged(each, sema::CopySpace::global);
  return found;
}

// Products on CUDA cores take no copy by name: their boxes are the library's.
std::vector<sema::CopyInstruction> copies_of(const Variant& variant) {
  const tile::Program* program = scheduled_program(variant);
  if (const auto gemm = sm90_of(variant)) return copies_of(*program->kernel, *gemm);
  if (const auto gemm = sm80_of(variant)) return copies_of(*program->kernel, *gemm);
  return {};
}

}  // namespace lay::plan
