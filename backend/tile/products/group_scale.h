// Factors of a product that are constant within groups of K.
//
//   sum[k](a[m,k//128] * A[m,k] * b[n//128,k//128] * B[n,k])
//
// has two, a and b, whose groups are of 128 products. Law, with s the product of such factors, up
// to rounding:
//
//   sum[k](s(m,n,k // G) * A[m,k] * B[n,k])
//     = sum over parts of K of s(m,n,first // G) * sum[k of the part](A[m,k] * B[n,k])
//
// wherever no part of K reaches over a multiple of G. That holds for parts that begin at multiples
// of P, of at most P products, where P divides G.
#pragma once

#include <optional>
#include <vector>

#include "frontend/algebra/integers/int.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::tile {

// A factor that depends on k through quotients of it alone, at least one.
struct GroupScale {
  // A node `k // group`; the group is at least 1.
  struct Quotient {
    sema::NodeId node = -1;
    Int group;

    friend bool operator==(const Quotient&, const Quotient&) = default;
  };

  sema::NodeId value = -1;
  std::vector<Quotient> quotients;

  friend bool operator==(const GroupScale&, const GroupScale&) = default;
};

// Returns nothing where the factor depends on k in another way or not at all, or reduces
// something itself.
std::optional<GroupScale> group_scale(const sema::Kernel& kernel, sema::NodeId value,
                                      sema::IndexId k);

// Returns a number of neighbours along an index, from each multiple of it on, for which the value
// is the same: 128 of b[n//128,k//128] along n, and 1 where it depends on the index itself. 0
// where it does not depend on the index.
std::int64_t constant_run(const sema::Kernel& kernel, sema::NodeId value, sema::IndexId index);

// Returns the greatest number that divides all groups whose size is a number; 0 where none is.
std::int64_t common_group(const std::vector<GroupScale>& scales);

}  // namespace lay::tile
