// Division of whole numbers, rounded down.
#pragma once

#include <cstdint>

#include "frontend/algebra/integers/int.h"

namespace lay {

// The greatest q with q*b <= a for b > 0, with q*b >= a for b < 0. Requires b != 0; a refusal
// "overflow" where q needs more than 64 bits.
inline int64_t floor_of(int64_t a, int64_t b) {
  if (a == INT64_MIN && b == -1) return checked_sub(0, a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace lay
