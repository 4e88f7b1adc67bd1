#include "backend/interpret/mma/multiply_add.h"

#include <cmath>

#if defined(__x86_64__)
#define LAY_TARGETS 1
#endif

namespace lay::interpret {
namespace {

template <class T>
[[gnu::always_inline]] inline T one(T a, T b, T c) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    return static_cast<T>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b) +
                          static_cast<std::uint32_t>(c));
  } else if constexpr (std::is_same_v<T, float>) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
}

template <class T>
[[gnu::always_inline]] inline T product(T a, T b) {
  if constexpr (std::is_same_v<T, std::int32_t>) return one(a, b, 0);
  return a * b;
}

template <class T>
[[gnu::always_inline]] inline void lanes(T* dst, const T* a, const T* b, const T* c) {
  for (int i = 0; i < kLanes; ++i) dst[i] = one(a[i], b[i], c[i]);
}

template <class T>
[[gnu::always_inline]] inline void full(const OuterProduct<T>& p) {
  for (int i = 0; i < p.rows; ++i) {
    const T* a = p.a + p.a_offsets[i] * kLanes;
    for (int j = 0; j < p.columns; ++j) {
      const T* b = p.b + p.b_offsets[j] * kLanes;
      T* __restrict d = p.d + p.d_offsets[i * p.columns + j] * kLanes;  // no element of a or b
      for (int lane = 0; lane < kLanes; ++lane) d[lane] = one(a[lane], b[lane], d[lane]);
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void any(const OuterProduct<T>& p) {
  if (p.mask == ~Mask{0} && !p.first) return full(p);
  for (int i = 0; i < p.rows; ++i) {
    const T* a = p.a + p.a_offsets[i] * kLanes;
    for (int j = 0; j < p.columns; ++j) {
      const T* b = p.b + p.b_offsets[j] * kLanes;
      T* d = p.d + p.d_offsets[i * p.columns + j] * kLanes;
      for (int lane = 0; lane < kLanes; ++lane) {
        if ((p.mask >> lane & 1) == 0) continue;
        d[lane] = p.first ? product(a[lane], b[lane]) : one(a[lane], b[lane], d[lane]);
      }
    }
  }
}

// The functions for what every processor of the family has, and once more for those with FMA.
#define LAY_VARIANT(NAME, ATTRIBUTE)                                                    \
  ATTRIBUTE void NAME(const OuterProduct<float>& p) {                                   \
    any(p);                                                                             \
  }                                                                                     \
  ATTRIBUTE void NAME(const OuterProduct<double>& p) {                                  \
    any(p);                                                                             \
  }                                                                                     \
  ATTRIBUTE void NAME(const OuterProduct<std::int32_t>& p) {                            \
    any(p);                                                                             \
  }                                                                                     \
  ATTRIBUTE void NAME(float* dst, const float* a, const float* b, const float* c) {     \
    lanes(dst, a, b, c);                                                                \
  }                                                                                     \
  ATTRIBUTE void NAME(double* dst, const double* a, const double* b, const double* c) { \
    lanes(dst, a, b, c);                                                                \
  }

LAY_VARIANT(plain, )
#ifdef LAY_TARGETS
LAY_VARIANT(with_fma, __attribute__((target("avx2,fma"))))
#endif
#undef LAY_VARIANT

#ifdef LAY_TARGETS
const bool kHasFma = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}();
#endif

template <class... Arguments>
void dispatch(const Arguments&... arguments) {
#ifdef LAY_TARGETS
  if (kHasFma) return with_fma(arguments...);
#endif
  plain(arguments...);
}

}  // namespace

void fused_multiply_add(float* dst, const float* a, const float* b, const float* c) {
  dispatch(dst, a, b, c);
}

void fused_multiply_add(double* dst, const double* a, const double* b, const double* c) {
  dispatch(dst, a, b, c);
}

void outer_product(const OuterProduct<float>& p) {
  dispatch(p);
}

void outer_product(const OuterProduct<double>& p) {
  dispatch(p);
}

void outer_product(const OuterProduct<std::int32_t>& p) {
  dispatch(p);
}

}  // namespace lay::interpret
