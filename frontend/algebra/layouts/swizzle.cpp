#include "frontend/algebra/layouts/swizzle.h"

#include <algorithm>
#include <cstdlib>

#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

std::string text_of(int64_t b, int64_t m, int64_t s) {
  return "Sw<" + std::to_string(b) + "," + std::to_string(m) + "," + std::to_string(s) + ">";
}

// Bit k of x, as an integer: 0 or 1.
Int bit(const Int& x, int64_t k) {
  return mod(floor_div(x, int64_t{1} << k), 2);
}

}  // namespace

Swizzle::Swizzle(int64_t bits, int64_t base, int64_t shift) : b(bits), m(base), s(shift) {
  const std::string text = text_of(bits, base, shift);
  if (b < 0 || m < 0)
    throw refusal("swizzle", text + " counts bits below 0", "B and M are at least 0");
  if (s > 62 || s < -62 || b > 62 || m > 62 || b + m + std::abs(s) > 62) {
    throw refusal("swizzle", text + " reaches beyond bit 62");
  }
  if (std::abs(s) < b)
    throw refusal("swizzle", text + " shifts bits onto themselves", "|S| is at least B");
}

//     Sw<3,4,3>: source bits 7 8 9, target bits 4 5 6; with a negative S they change places
int64_t Swizzle::source_mask() const {
  return ((int64_t{1} << b) - 1) << (m + std::max<int64_t>(0, s));
}

int64_t Swizzle::target_mask() const {
  return ((int64_t{1} << b) - 1) << (m - std::min<int64_t>(0, s));
}

int64_t Swizzle::operator()(int64_t x) const {
  const int64_t source = x & source_mask();
  return x ^ (s >= 0 ? source >> s : source << -s);
}

Int Swizzle::operator()(const Int& x) const {
  if (x.is_literal()) return (*this)(x.value());
  Int result = x;
  // With symbols, bit by bit: z ^ y = z + y - 2*y*z, so the target bit grows by y - 2*y*z.
  for (int64_t k = 0; k < b; ++k) {
    const int64_t source = m + std::max<int64_t>(0, s) + k,
                  target = m - std::min<int64_t>(0, s) + k;
    const Int y = bit(x, source), z = bit(x, target);
    result += (y - y * z * 2) * (int64_t{1} << target);
  }
  return result;
}

std::string Swizzle::to_string() const {
  return text_of(b, m, s);
}

}  // namespace lay
