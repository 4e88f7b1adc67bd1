// A product one of whose factors is made of another product, as a tile program that never stores
// what is between them:
//
//   S[m,n] = sum[d](Q[m,d] * K[n,d])            scores
//   P[m,n] = an element function of S, coordinates and tensors, or exp(x - max[n](x)) of one
//   O[m,e] = sum[n](P[m,n] * V[n,e])            and what stands around it
//
// with further indices of the outputs as a batch: attention with any mask, heads that share keys,
// softcap and biases; two layers of an MLP. The columns n go by in tiles. A maximum over them is
// read on its way (online_softmax.h).
//
// Laws, beside that one: a factor that does not depend on n goes before the sum over n,
//
//   sum[n](f16(p / l) * v)   =   sum[n](f16(p) * v) / l
//
// up to rounding. Behind a cast this is done where p is exp(x - max(x)), which is at most 1:
// rounded to 16 bits it is as near as p / l would be. Weights that are 0 where a mask says so are
// not multiplied at all in tiles that have no others, so there 0 * inf is no NaN.
#pragma once

#include <string>
#include <variant>

#include "backend/tile/form.h"
#include "backend/tile/program.h"
#include "frontend/algebra/integers/facts.h"

namespace lay::tile {

// The axes of a program of chained products, in this order: rows m and columns n, the batch, the
// summed index of the scores and the columns of the result.
inline constexpr AxisId batch_axis = 2, summed_axis = 3, result_axis = 4;

// Returns an unbound program.
std::variant<Program, NotTiled> form_chained_products(const sema::Kernel& kernel,
                                                      const Facts& facts);

// The statements of a program of chained products that passes ask for.
struct ChainedProducts {
  const Mma* scores = nullptr;
  const Mma* result = nullptr;
  const Reduce* maximum = nullptr;        // null without one
  std::vector<const Reduce*> sums;        // over the columns
  std::vector<const Map*> before, after;  // maps of (m,n): before the maximum, and behind it
};
ChainedProducts chained_products_of(const Program& program);

}  // namespace lay::tile
