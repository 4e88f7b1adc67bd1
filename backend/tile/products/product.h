// A product as a tile program:
//
//   C[m,n] = f(sum[k](A[m,k] * B[n,k]), m, n)
//
//   for m in grid {
//     for n in grid {
//       for k in sequence {
//         copy tile_A[m,k] <- A[m,k]
//         copy tile_B[n,k] <- B[n,k]
//         mma sum[m,n] += tile_A[m,k] * tile_B[n,k] over k
//       }
//       map out_C[m,n] = max(sum[m,n], 0.0)
//       copy C[m,n] <- out_C[m,n]
//     }
//   }
//
// with further indices of the outputs as a batch, an axis each. Factors may be casts of A and B.
// Where K is split, the blocks of a cluster share the loop over k (For::parts).
//
// Law: a sum may be added up in parts, and its parts in order, up to rounding.
#pragma once

#include <variant>
#include <vector>

#include "backend/tile/form.h"
#include "backend/tile/program.h"

namespace lay::tile {

// Which nodes and indices of a kernel the product is made of.
struct Product {
  sema::NodeId sum = -1;  // over k alone
  sema::IndexId m = -1, n = -1, k = -1;
  std::vector<sema::IndexId> batch;  // further indices of the outputs
  sema::NodeId a = -1, b = -1;       // the loads: a of m and k, b of n and k
  int parts = 1;                     // of K, a block each

  friend bool operator==(const Product&, const Product&) = default;
};

// The axes of a product's program: rows m, columns n, those of the batch, and k.
inline AxisId summed_axis_of(const Program& program) {
  return static_cast<AxisId>(program.axes.size()) - 1;
}

// Returns the unbound program. NotTiled: the product has more factors than A and B, or an operand
// that is no tensor of its own indices.
std::variant<Program, NotTiled> form_product(const sema::KernelPtr& kernel, const Product& product);

}  // namespace lay::tile
