#include "backend/plan/simt/simt_ring.h"

#include <algorithm>

#include "backend/plan/sm90/tma.h"
#include "backend/plan/text.h"
#include "backend/target/target.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

constexpr int warpgroup = 128, most_of_a_box = 256, row_bits = 128;

// Rows of the tile, one K step after the other, as they lie in memory: the layout that a box of TMA
// has.
void choose_boxes(const SimtGemm& gemm, const sema::Kernel& kernel, OperandCopy& copy,
                  const std::optional<AnyLayout>& asked, Facts& facts, Conditions& conditions) {
  const sema::Load& load = kernel.load(copy.load);
  const ElementType element = kernel.loaded(copy.load).element;
  const int outer = gemm.tile[copy.outer == gemm.m ? 0 : 1], k = gemm.tile[2];
  // TMA moves bytes: it neither converts nor transposes, and a row of a box is a multiple of 16
  // bytes.
  if (copy.value != copy.load || element != gemm.accumulator ||
      outer * bits(element) % row_bits != 0)
    return;
  // The layout that TMA writes without a swizzle: outer index fastest, one row for each k.
  const Layout rows(tuple(outer, k), tuple(1, outer));
  if (outer > most_of_a_box || k > most_of_a_box ||
      (asked && to_string(*asked) != rows.to_string()))
    return;
  Conditions needed;
  const auto order = tma_order(kernel, load.tensor, facts, needed);
  if (!order ||
      bare_index(kernel, load.coordinate[static_cast<std::size_t>(order->front())]) != copy.outer)
    return;
  add(conditions, needed);
  copy.boxes = TmaBoxes{*order, {outer, k}};
  copy.along_k = false;
  copy.shared = rows;
}

}  // namespace

bool choose_ring(SimtGemm& gemm, const sema::Kernel& kernel, Facts& facts, const Target& target,
                 Width width, const SimtSchedule& schedule, Conditions& conditions,
                 std::vector<Problem>& problems) {
  constexpr int since = 90;
  if (target.capability < since) {
    problems.push_back(
        {"schedule-capability",
         "more than two stages are filled by threads that hand their registers to the others, from "
         "compute capability " +
             capability_text(since) + " on, and " + target.name + " has " +
             capability_text(target.capability),
         schedule.at("stages"),
         {},
         {{"help", "2 stages"}},
         {}});
    return false;
  }
  const int multiplying = gemm.threads();
  // setmaxnreg is for whole warpgroups, and a warpgroup has one number.
  if (gemm.groups[2] != 1 || multiplying % warpgroup != 0 ||
      multiplying + warpgroup > target.block_threads) {
    problems.push_back(
        {"schedule-threads",
         "beside the producer warpgroup of more than two stages the groups are whole "
         "warpgroups, of at "
         "most " +
             std::to_string(target.block_threads - warpgroup) +
             " threads, that share no K, and not " + tuple_text(gemm.groups),
         schedule.at("groups"),
         {},
         {{"help", "4, 8, ... groups over M and N together, or 2 stages"}},
         {}});
    return false;
  }
  if (width == Width::vectors) {
    choose_boxes(gemm, kernel, gemm.a, schedule.shared_a, facts, conditions);
    choose_boxes(gemm, kernel, gemm.b, schedule.shared_b, facts, conditions);
  }
  // Registers move in eights, and no more of them than the threads begin with (PTX ISA,
  // setmaxnreg).
  constexpr int copying = 56, most = 240;
  const int groups = multiplying / warpgroup;
  // With 256 threads that multiply: 65536 / 384 = 170, so 168 each to begin with; 3 * 168 - 56 =
  // 448 for two warpgroups, 224 each.
  const int begun = target.sm_registers / (multiplying + warpgroup) / 8 * 8;
  gemm.registers = {copying, std::min(most, (begun * (groups + 1) - copying) / groups / 8 * 8)};
  return true;
}

}  // namespace lay::plan
