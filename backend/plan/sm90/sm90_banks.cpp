#include "backend/plan/sm90/sm90_banks.h"

#include <algorithm>
#include <array>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/banks.h"
#include "frontend/algebra/support/memo.h"

namespace lay::plan {

namespace {

constexpr int rows = 8, row_bytes = 16;

// Returns the most wavefronts of a matrix, in a stage of outer x k elements of `element` bytes.
int worst_of(const TmaOperand& operand, int outer, int k, int element) {
  const int across = row_bytes / element;
  const auto offsets = values(operand.shared);
  int worst = 0;
  // wgmma reads core matrices of 8 rows of 16 bytes (PTX ISA, matrix layouts of wgmma): each is one
  // access of eight 16-byte pieces, which one wavefront serves where they touch all 32 banks.
  for (int o = 0; o < outer; o += operand.along_k ? rows : across) {
    for (int i = 0; i < k; i += operand.along_k ? across : rows) {
      std::array<std::int64_t, rows> addresses;
      for (int row = 0; row < rows; ++row) {
        const int at = operand.along_k ? o + row + i * outer : o + (i + row) * outer;
        addresses[static_cast<std::size_t>(row)] = offsets[static_cast<std::size_t>(at)] * element;
      }
      worst = std::max(worst, wavefronts(addresses, row_bytes).taken);
    }
  }
  return worst;
}

}  // namespace

BankConflicts worst_matrix(const TmaOperand& operand, const Sm90Gemm& gemm,
                           const sema::Kernel& kernel, const std::string& name) {
  const int element = kernel.loaded(operand.load).element_bytes();
  const int outer = operand.extent, k = gemm.tile[2];
  // The layout follows from these (tma.h); the variants of a plan ask again.
  static Memo<std::array<int, 5>, int> counted;
  const int worst = counted({operand.along_k, operand.span, outer, k, element},
                            [&] { return worst_of(operand, outer, k, element); });
  return {"wgmma " + name, worst, 1, "a matrix"};
}

}  // namespace lay::plan
