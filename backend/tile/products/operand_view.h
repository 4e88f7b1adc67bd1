// How an operand of a product lies in a tensor whose modes are not its rows, its sum and its
// batches, one of each: parts of its rows and of its sum along modes of their own, and windows.
//
//   sum[k,l](A[k,m,l] * B[k,n,l])      A[m,x] = A[x // L, m, x % L] with x = k * L + l
//   sum[r,s,c](X[n,p+r-1,q+s-1,c] * W[f,r,s,c])
//                                      X[y,x] = X[y // (P*Q), y // Q % P + x // (S*C) - 1,
//                                                 y % Q + x // C % S - 1, x % C]
//
// and zeros outside of X. By TMA no such operand is copied first: it takes tensors of up to five
// modes, and its im2col mode walks the pixels of a window (PTX ISA, tensor copy).
#pragma once

#include <optional>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// The part of an index of several that one of them is: index // below % extent. The slowest one
// needs no remainder.
struct Digit {
  Int below = 1;
  Int extent = 1;
  bool remainder = false;

  friend bool operator==(const Digit&, const Digit&) = default;
};

// Where an element of the operand lies along a mode of the tensor:
//
//   first + step * base + dilation * k's digit
//
// Its base is a digit of the outer index, an index of the product's batches, or 0. A mode without a
// digit of k or without a base lacks that part.
struct ViewedMode {
  Int extent = 1;  // of the tensor
  std::optional<Digit> outer, k;
  sema::IndexId batch = -1;
  Int count = 1;  // values of the base
  Int first = 0;
  int step = 1;
  std::int64_t dilation = 1;

  bool has_base() const { return outer || batch >= 0; }
  // The element is found at offsets from base pixels, not at one index.
  bool is_window() const {
    return !first.is(0) || step != 1 || dilation != 1 || has_base() == k.has_value();
  }

  friend bool operator==(const ViewedMode&, const ViewedMode&) = default;
};

struct OperandView {
  std::vector<ViewedMode> modes;  // of the tensor
  // With windows the tensor's modes as im2col takes them: channels, then pixels as the rows count
  // them, then batches. Empty without.
  std::vector<int> order;
  int run = -1;  // the mode that is side by side in memory

  bool runs_along_k() const { return modes[static_cast<std::size_t>(run)].k.has_value(); }

  friend bool operator==(const OperandView&, const OperandView&) = default;
};

}  // namespace lay::tile
