#include "backend/plan/fragments/worst_access.h"

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/banks.h"

namespace lay::plan {

WorstAccess::WorstAccess(const AnyLayout& shared, int outer, int element_bits, int access_bytes)
    : offsets_(values(shared)),
      outer_(outer),
      element_bits_(element_bits),
      access_bytes_(access_bytes) {}

void WorstAccess::count(const std::array<std::array<std::int64_t, 2>, lanes>& at,
                        std::size_t count) {
  std::array<std::int64_t, lanes> addresses{};
  // Lanes without an access, as those beyond 8 or 16 of a small ldmatrix, ask for nothing.
  addresses.fill(-1);
  for (std::size_t lane = 0; lane < count; ++lane) {
    addresses[lane] =
        offsets_[static_cast<std::size_t>(at[lane][0] + outer_ * at[lane][1])] * element_bits_ / 8;
  }
  const Wavefronts taken = wavefronts(addresses, access_bytes_);
  // The worst is the access that loses most, not the one that takes most: wide ones take more
  // anyway.
  if (taken.taken - taken.least >= worst_.taken - worst_.least) worst_ = {taken.taken, taken.least};
}

}  // namespace lay::plan
