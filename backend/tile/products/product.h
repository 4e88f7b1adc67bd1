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
// Where K is split, the blocks of a cluster share the loop over k (For::parts), or clusters do in a
// last wave that is not whole (For::tail).
//
// Scales that are constant within groups of k multiply the sums of intervals (Mma):
//
//         mma sum[m,n] += tile_A[m,k] * tile_B[n,k] over k in groups times s[m,k / 128]
//
// An operand may be a window that zeros surround (Copy), at coordinates of rows and of k:
//
//         copy tile_X[m,k] <- X[m,k] with zeros around
//
// and rows may have segments that select the part of B that they meet (Segments):
//
//   for t in grid within segments {
//     for n in grid {
//       for k in sequence {
//         copy tile_W[n,k] <- W[n,k]             value %6: bf16 = W[segment[t],n,k]
//
// Bound, the threads of the program hold the sums. Those of an operand's own read it, in the order
// of its memory, and put it into shared memory as the sum's type; or TMA does:
//
//         copy A_next[m,k] <- A[m,k] by 4 along mode 1      by threads of its own
//         copy tile_A[m,k] <- A_next[m,k]                   or map tile_A[m,k] = f32(A_next[m,k])
//         copy tile_B[n,k] <- B[n,k]                        by TMA, into one of the stages
//
// An atom multiplies elements as memory has them. It reads them from shared memory, or the threads
// that multiply read fragments of them first, and convert what the atom has as another type:
//
//         copy tile_A[m,k] <- A[m,k] by 8 along mode 1      by threads of its own, by "..."
//         copy tile_B[n,k] <- B[n,k] by 16 along mode 1
//         copy fragment_A[m,k] <- tile_A[m,k]               as the atom's layout says, by "..."
//         map fragment_B[n,k] = bf16(tile_B[n,k])
//         mma sum[m,n] += fragment_A[m,k] * fragment_B[n,k] over k by "..." in intervals of 128
//
// What no two warps multiply is its thread's own: lanes copy what the instruction gives them, so
// that each reads what it has copied, in another order of k:
//
//         tile_B ... as ... own stages 3 by threads ((4,8),8,(32,2)) -> (n,k)
//
// On Hopper's tensor cores TMA copies A and B, perhaps by views (operand_view.h). Behind the sums
// what the outputs read of their own shape comes through shared memory, vectors come to registers,
// and outputs leave through shared memory, by TMA or by threads:
//
//         copy tile_X[m,k] <- X[m,k]
//         copy tile_W[n,k] <- W[n,k]
//         mma sum[m,n] += tile_X[m,k] * tile_W[n,k] over k by "sm90.wgmma(...)"
//       }
//       copy staged_C[m,n] <- C[m,n]
//       copy ahead_bias[n] <- bias[n] by 4 along mode 0
//       map out_Y[m,n] = sum[m,n] + ahead_bias[n] + staged_C[m,n]
//       copy staged_Y[m,n] <- out_Y[m,n]
//       copy Y[m,n] <- staged_Y[m,n]
//
// With the factors exchanged, `tile_W[n,k] * tile_X[m,k]`, the instruction's rows are n.
//
// Products of one operand with several others have a loop in common. Each has a sum of its own, and
// the outputs are computed of all of them:
//
//         copy tile_X[m,k] <- X[m,k]
//         copy tile_G[n,k] <- G[n,k]
//         copy tile_U[n,k] <- U[n,k]
//         mma sum[m,n] += tile_X[m,k] * tile_G[n,k] over k
//         mma sum2[m,n] += tile_X[m,k] * tile_U[n,k] over k
//       }
//       map out_Y[m,n] = silu(sum[m,n]) * sum2[m,n]
//
// All of them are bound alike: by one atom, without intervals, and with operands of one layout.
//
// Threads that differ in k only are slices: each adds the products of its part of every tile of k,
// and the sums of the slices are added up in their order.
//
// Law: a sum may be added up in parts, and its parts in order, up to rounding.
#pragma once

#include <array>
#include <optional>
#include <variant>
#include <vector>

#include "backend/tile/form.h"
#include "backend/tile/program.h"

namespace lay::tile {

// A product of the same rows of A with another B.
struct FurtherProduct {
  sema::NodeId sum = -1;  // over the same k alone
  sema::NodeId b = -1;    // the load, of n and k

  friend bool operator==(const FurtherProduct&, const FurtherProduct&) = default;
};

// Which nodes and indices of a kernel the product is made of.
struct Product {
  sema::NodeId sum = -1;  // over k alone
  sema::IndexId m = -1, n = -1, k = -1;
  std::vector<sema::IndexId> batch;       // further indices of the outputs
  sema::NodeId a = -1, b = -1;            // the loads: a of m and k, b of n and k
  int parts = 1;                          // of K, a block each
  std::optional<Segments> segments = {};  // of the rows
  std::vector<FurtherProduct> further = {};

  friend bool operator==(const Product&, const Product&) = default;
};

// The axes of a product's program: rows m, columns n, those of the batch, and k.
inline AxisId summed_axis_of(const Program& program) {
  return static_cast<AxisId>(program.axes.size()) - 1;
}

// Returns the unbound program. NotTiled: A or B is no factor of the sum, or has rows or columns of
// the other one; another factor depends on k otherwise than through quotients; of several products
// one has scales, or their rows have segments.
std::variant<Program, NotTiled> form_product(const sema::KernelPtr& kernel, const Product& product);

// How an operand gets to the threads that multiply it.
struct BoundOperand {
  SharedTile shared;  // of the factor, as the sum's type; under an atom of the load, as it is
  std::optional<Distribution> threads = {};  // that read it; none where TMA copies it
  // By which they copy it to shared memory; else through registers.
  std::optional<sema::CopyInstruction> async = {};
  // The type of fragments in registers; none where shared memory is what is multiplied.
  std::optional<ElementType> fragment = {};
  bool converted = false;  // fragments hold the factor, not what is loaded
  std::optional<sema::CopyInstruction> fragment_copy = {};  // by which warps read fragments
  int vector_mode = 0, vector = 1;                          // of an access to global memory
  int store_vector = 1;  // elements of an access that stores to shared memory
};
// An access to global memory. Through shared memory, where there is a layout: by TMA, or by these
// threads.
struct BoundOutput {
  int vector_mode = 0, vector = 1;
  std::optional<SharedTile> shared = {};
  std::optional<Distribution> threads = {};
};
// What is read before the outputs are computed; into registers without a layout.
struct BoundInput {
  sema::NodeId load = -1;
  BoundOutput how;
};

// What bind decides.
struct BoundProduct {
  std::array<int, 3> tile{};  // extents along m, n and k; of the batch it is 1
  Distribution threads;       // (thread, value) -> the sums of a tile, and the slice's first k
  Grid grid;
  std::optional<Warpgroups> warpgroups;  // where a producer fills the stages
  std::optional<sema::Atom> atom;        // that multiplies
  bool exchanged = false;                // the atom's rows are the columns
  int interval = 0, sets = 1;            // of k (Mma)
  bool alternates = false;               // the loop over k
  int tail = 1;                          // parts of it, in a last wave that is not whole
  int blocks_per_sm = 1;
  std::array<BoundOperand, 2> operands;
  std::vector<BoundOperand> further;  // the B of each further product
  std::vector<BoundInput> inputs;
  std::vector<BoundOutput> outputs;           // by assignment
  std::vector<sema::CopyInstruction> copies;  // that stand before the library's
};

// Law: the product can be formed.
Program bind_product(const sema::KernelPtr& kernel, const Product& product,
                     const BoundProduct& how);

// The statements of a product's program that passes ask for.
struct ProductParts {
  struct Operand {
    const Copy* load = nullptr;  // from global memory
    const Stmt* put = nullptr;   // into shared memory, where `load` does not go there
    const Stmt* read = nullptr;  // into registers, where fragments are multiplied
    TileId shared = -1;          // the tile in shared memory
  };
  // A further product, and its operand of the columns: it shares that of the rows.
  struct Further {
    const Mma* mma = nullptr;
    Operand operand;
  };
  const For* sums = nullptr;        // the loop over k
  const Mma* mma = nullptr;         // the first
  std::array<Operand, 2> operands;  // of rows, of columns
  std::vector<Further> further;     // in the order of the program
  bool exchanged = false;           // the atom's rows are the columns
  std::vector<const Copy*> inputs;  // from global memory, behind the sums
  std::vector<const Copy*> stores;  // to global memory, in the order of the program
};
ProductParts parts_of(const Program& product);

// Returns what a product's program was formed of.
Product product_of(const Program& program);

// The slices of a bound product's threads.
int slices_of(const Program& product);

}  // namespace lay::tile
