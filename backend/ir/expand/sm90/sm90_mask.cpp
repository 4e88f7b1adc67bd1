// Tiles where no product counts, decided by the kernel as it comes to them (plan/mask_range.h).
#include "backend/ir/expand/sm90/sm90_expander.h"
#include "backend/plan/mask_range.h"

namespace lay::ir {

namespace {

// The arithmetic of the emitted kernel, for a cluster's tile.
struct Terms {
  Builder& b;
  Declared& declared;
  const plan::Sm90Gemm& gemm;
  const std::vector<Term>& tile;

  Term number(std::int64_t value) const { return b.constant(value); }
  Term size(const Int& value) const { return b.size(value); }
  Term truth(bool value) const { return number(0) == number(value ? 0 : 1); }

  std::optional<std::pair<Term, Term>> range(sema::IndexId index) const {
    for (size_t axis = 0; axis < 2; ++axis) {
      if (index != (axis == 0 ? gemm.m : gemm.n)) continue;
      const int extent = gemm.cluster_tile()[axis];
      const Term first = tile[axis] * extent;
      return std::pair{first, b.min(first + (extent - 1), declared.extent(index) - 1)};
    }
    for (size_t i = 0; i < gemm.batch.size(); ++i) {
      if (index == gemm.batch[i]) return std::pair{tile[i + 2], tile[i + 2]};
    }
    return std::nullopt;
  }
};

}  // namespace

Term Sm90Expander::has_products(const std::vector<Term>& tile) {
  Terms terms{b_, declared_, gemm_, tile};
  return plan::MaskRange(declared_.kernel, terms).maybe(gemm_.mask->condition, gemm_.mask->when);
}

}  // namespace lay::ir
