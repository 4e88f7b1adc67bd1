#include "backend/plan/scales/print_scales.h"

#include "backend/tile/held_values.h"
#include "backend/tile/text/value_text.h"

namespace lay::plan {

std::vector<std::string> scale_lines(const sema::KernelPtr& kernel, const TensorGemm& gemm) {
  if (gemm.scales.empty()) return {};
  // Values are written as in a tile program; nothing is held here, so that each is written whole.
  tile::Program program;
  program.kernel = kernel;
  const tile::ValueText text(program);
  const tile::HeldValues none(program);
  // "sums of 128 of k are multiplied by", then "a[m,k / 128], 2 numbers a thread" of each.
  const std::string& k = kernel->index(gemm.k).name;
  std::vector<std::string> lines{"  // sums of " + std::to_string(gemm.promotion_interval) +
                                 " of " + k + " are multiplied by"};
  for (const ProductScale& scale : gemm.scales)
    lines.push_back("  //   " + text(scale.factor.value, none) + ", " +
                    std::to_string(scale.count) + (scale.count == 1 ? " number" : " numbers") +
                    " a thread");
  return lines;
}

}  // namespace lay::plan
