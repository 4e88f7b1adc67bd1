// Products inside a checked kernel: sums of two factors.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// sum[k...](factors[0] * factors[1]). Each factor depends on every summed index and has an index
// of its own, that the other one lacks.
struct Product {
  sema::NodeId sum = -1;
  std::vector<sema::IndexId> k;
  std::array<sema::NodeId, 2> factors{-1, -1};
  std::array<std::vector<sema::IndexId>, 2> own;  // of the result, that one factor has
  std::vector<sema::IndexId> batch;               // the others of the result
};

// The product that a node is, a sum of two multiplicands; nothing for any other node.
std::optional<Product> product_at(const sema::Kernel& kernel, sema::NodeId sum);

// The first product of the kernel: inside its factors there is no other one.
std::optional<Product> first_product(const sema::Kernel& kernel);

// The kernel with a sum of more than two multiplicands made a product of two; nothing where there
// is none. Multiplicands that do not depend on the summed indices are multiplied after the sum, the
// others join the factor that has all of their indices:
//
//   sum[k](alpha * s[m,k//32] * A[m,k] * B[n,k])     alpha * sum[k]((s[m,k//32] * A[m,k]) * B[n,k])
//
// Law: equal up to rounding, and to overflow on the way.
std::optional<sema::Kernel> with_two_factors(const sema::Kernel& kernel);

// Returns true if a factor is an element of a tensor, or casts of one, at distinct bare indices.
bool is_plain(const sema::Kernel& kernel, sema::NodeId factor);

// Returns true if each value of a node is one of the type: storing it as that type loses nothing.
bool is_exact(const sema::Kernel& kernel, sema::NodeId node, ElementType type);

// The type that both factors can be stored as and that tensor cores multiply: that of a plain
// factor, else a narrow one. Nothing where there is none.
std::optional<ElementType> stored_type(const sema::Kernel& kernel, const Product& product);

}  // namespace lay::plan
