// Fused multiply-add, the one operation that the speed of the interpreter hangs on: the same bits
// on every host, through the processor's own instruction where it has one.
#pragma once

#include <cstdint>

#include "backend/interpret/lanes.h"

namespace lay::interpret {

// dst = a*b + c in every lane, rounded once.
void fused_multiply_add(float* dst, const float* a, const float* b, const float* c);
void fused_multiply_add(double* dst, const double* a, const double* b, const double* c);

// d[i,j] = a[i]*b[j] + d[i,j] in the lanes of the mask, for i < rows, j < columns; `first`: d[i,j]
// = a[i]*b[j]. A row of 32 lanes of element e of x lies at x + 32*e; d's element is
// d_offsets[i*columns + j], a's a_offsets[i], b's b_offsets[j]. Integers wrap.
template <class T>
struct OuterProduct {
  T* d;
  const T* a;
  const T* b;
  const int *d_offsets, *a_offsets, *b_offsets;
  int rows, columns;
  Mask mask;
  bool first;
};
void outer_product(const OuterProduct<float>& p);
void outer_product(const OuterProduct<double>& p);
void outer_product(const OuterProduct<std::int32_t>& p);

}  // namespace lay::interpret
