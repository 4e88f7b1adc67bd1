#include "backend/plan/sm90/sm90_parts.h"

#include "backend/plan/fragments/lane_rows.h"
#include "backend/plan/mask.h"
#include "backend/plan/sm90/sm90_store.h"
#include "frontend/sema/library.h"

namespace lay::plan {

namespace {

constexpr int warpgroup = 128, most_box = 256, swizzle_rows = 8, box_bytes = 128;

int row_of(const TmaOperand& operand) {
  return 8 * operand.span / operand.element_bits;
}

}  // namespace

int unit_of_slice(const TmaOperand& operand) {
  // K-major, a slice is rows of `span` bytes, which begin at multiples of 128 bytes: 4 rows of 32
  // bytes. Otherwise a row of shared memory runs along the outer index, and a slice is whole rows.
  return operand.along_k ? box_bytes / operand.span : row_of(operand);
}

std::optional<std::array<int, 2>> slice_of(const Sm90Gemm& gemm, const TmaOperand& operand,
                                           int axis) {
  const auto at = static_cast<std::size_t>(axis);
  const int outer = operand.extent, k = gemm.tile[2], blocks = gemm.cluster[1 - at];
  if (outer % (blocks * unit_of_slice(operand)) == 0) return std::array{outer / blocks, k};
  // Along k the slice is whole repeats of the swizzle, which are 8 rows.
  if (!operand.along_k && k % (blocks * swizzle_rows) == 0) return std::array{outer, k / blocks};
  return std::nullopt;
}

std::array<int, 2> box_of(const TmaOperand& operand) {
  const int row = row_of(operand);
  std::array<int, 2> box =
      operand.along_k ? std::array{operand.slice[0], row} : std::array{row, operand.slice[1]};
  int& long_side = box[operand.along_k ? 0 : 1];
  // A box side is at most 256 (cuTensorMapEncodeTiled): halves, of equal size.
  while (long_side > most_box) long_side /= 2;
  return box;
}

std::optional<Split> split_of(const Sm90Gemm& gemm) {
  if (gemm.cluster[2] == 1) return std::nullopt;
  constexpr int least = 8, most = 64;
  // Subtiles are the unit that blocks share out: block r adds up subtiles r * each to r * each +
  // each - 1.
  const int width = gemm.store ? gemm.store->width : pass_width(gemm, least, most);
  const int passes = gemm.repeats()[0] * gemm.repeats()[1] * gemm.mma.shape[1] / width;
  return Split{width * rows_of_atom / warpgroup, passes,
               (passes + gemm.cluster[2] - 1) / gemm.cluster[2]};
}

std::optional<Mask> mask_of_tiles(const sema::Kernel& kernel, const Sm90Gemm& gemm) {
  if (gemm.segments || !gemm.further.empty()) return std::nullopt;
  return mask_of(kernel, gemm.contraction);
}

Fragment fragment_of_operand(const Sm90Gemm& gemm, const TmaOperand& operand) {
  using enum sema::CopySpace;
  const sema::Atom& atom = gemm.mma;
  const auto by = [&](std::span<const sema::CopyInstruction> copies) {
    return fragment_from(atom.a, {atom.shape[0], atom.shape[2]}, operand.along_k,
                         operand.element_bits, copies);
  };
  Fragment made = by(warp_copies(gemm.copies, shared, registers));
  if (!made.copy) made = by(sema::library_copies(shared, registers, sm90_capability));
  if (operand.converted) read_together(made, operand.element_bits);
  return made;
}

}  // namespace lay::plan
