#pragma once

#include <compare>
#include <cstdint>

namespace lay {

// 128 bits for a sequence of numbers: two that differ have different ones, but for chances that do
// not come up.
struct Digest {
  uint64_t a = 0x9E3779B97F4A7C15u, b = 0xC2B2AE3D27D4EB4Fu;
  void mix(int64_t number) {
    a = (a ^ static_cast<uint64_t>(number)) * 0xFF51AFD7ED558CCDu;
    a ^= a >> 32;
    b = (b + static_cast<uint64_t>(number)) * 0xC4CEB9FE1A85EC53u;
    b ^= b >> 29;
  }
  auto operator<=>(const Digest&) const = default;
};

}  // namespace lay
