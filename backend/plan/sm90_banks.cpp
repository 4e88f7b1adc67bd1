#include "backend/plan/sm90_banks.h"

#include <algorithm>
#include <array>

#include "frontend/algebra/banks.h"
#include "frontend/algebra/operations.h"

namespace lay::plan {

BankConflicts worst_matrix(const TmaOperand& operand, const Sm90Gemm& gemm, const sema::Kernel& kernel,
                           const std::string& name) {
  constexpr int rows = 8, row_bytes = 16;
  const int element = kernel.loaded(operand.load).element_bytes(), across = row_bytes / element;
  const int outer = gemm.tile[operand.outer == gemm.m ? 0 : 1], k = gemm.tile[2];
  const auto offsets = values(operand.shared);
  BankConflicts worst{"wgmma " + name, 0, 1, "a matrix"};
  for (int o = 0; o < outer; o += operand.along_k ? rows : across) {
    for (int i = 0; i < k; i += operand.along_k ? across : rows) {
      std::array<std::int64_t, rows> addresses;
      for (int row = 0; row < rows; ++row) {
        const int at = operand.along_k ? o + row + i * outer : o + (i + row) * outer;
        addresses[static_cast<std::size_t>(row)] = offsets[static_cast<std::size_t>(at)] * element;
      }
      worst.wavefronts = std::max(worst.wavefronts, wavefronts(addresses, row_bytes).taken);
    }
  }
  return worst;
}

}  // namespace lay::plan
