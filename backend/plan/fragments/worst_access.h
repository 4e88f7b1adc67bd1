// Wavefronts of the accesses of warps to a tile in shared memory, the worst of many.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay::plan {

// The wavefronts of an access, and the least that one of that width can take.
struct Wavefront {
  int taken = 0, least = 0;
};

class WorstAccess {
 public:
  static constexpr int lanes = 32;

  // `shared`: (outer, k) -> offset in elements, of a tile of `outer` rows.
  WorstAccess(const AnyLayout& shared, int outer, int element_bits, int access_bytes);

  // An access whose first `count` lanes begin at these (outer, k).
  void count(const std::array<std::array<std::int64_t, 2>, lanes>& at, std::size_t count = lanes);
  Wavefront worst() const { return worst_; }

 private:
  std::vector<std::int64_t> offsets_;
  std::int64_t outer_;
  int element_bits_, access_bytes_;
  Wavefront worst_;
};

}  // namespace lay::plan
