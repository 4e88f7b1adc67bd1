#pragma once

// XOR swizzles: x -> x ^ ((x & yyy) >> S), where yyy are B bits from M + max(0,S) up and the bits
// they go to start at M
// - min(0,S).
//
//     Sw<3,4,3>: bits 7,8,9 are XORed into bits 4,5,6      Sw<2,0,3>(8) == 9
//
// The low M bits never change and Sw o Sw is the identity. B = 0 is the identity. M and S count
// units of whatever the swizzle is applied to (bytes or elements); `upcast` and `downcast`
// (operations.h) convert. As in CuTe: B >= 0, M >= 0, |S| >= B. The unit that is counted may be
// said (`unit`); it is not printed and makes no difference to ==.

#include <cstdint>
#include <string>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/layouts/units.h"

namespace lay {

struct Swizzle {
  int64_t b = 0;
  int64_t m = 0;
  int64_t s = 0;
  Unit unit;  // of what it takes and gives

  // Refusal "swizzle" if the numbers do not make a swizzle of 62 bits.
  Swizzle() = default;
  Swizzle(int64_t bits, int64_t base, int64_t shift);

  int64_t source_mask() const;  // yyy
  int64_t target_mask() const;  // zzz

  int64_t operator()(int64_t x) const;  // x >= 0
  // On a symbolic x: an exact expression of its bits.
  Int operator()(const Int& x) const;

  std::string to_string() const;  // "Sw<3,4,3>"
  friend bool operator==(const Swizzle& x, const Swizzle& y) {
    return x.b == y.b && x.m == y.m && x.s == y.s;
  }
};

}  // namespace lay
