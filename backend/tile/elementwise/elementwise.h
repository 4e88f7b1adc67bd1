// Programs of kernels that reduce nothing: each element of the outputs is computed by itself, from
// elements of the inputs that memory may hold in another order.
//
//   Y[i,j] = X[j,i]   formed                         bound, X and Y row-major
//
//   for i in grid {                                    for i in grid step 64 {
//     for j in grid {                                    for j in grid step 64 {
//       copy X_ahead[i,j] <- X[i,j]                        copy X_ahead[i,j] <- X[i,j] by 4 ...
//       copy Y[i,j] <- X_ahead[i,j]                        copy X_shared[i,j] <- X_ahead[i,j]
//     }                                                    copy X_here[i,j] <- X_shared[i,j] by 4
//   }                                                      copy Y[i,j] <- X_here[i,j] by 4 ...
//
// A load that runs along another axis than the outputs is shared out among the threads in the order
// of its own memory (Tile::threads), and goes through shared memory to those that need it; bind
// puts the two copies in between. A block takes a tile; tiles are of all axes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/tile/program.h"

namespace lay::tile {

// Returns the unbound program. `loads` are read ahead of the arithmetic, in this order: elements of
// inputs that the kernel reads wherever it writes. All outputs have the same indices, in any order.
Program form_elementwise(const sema::KernelPtr& kernel, const std::vector<sema::NodeId>& loads);

// How a load gets from the threads that read it to those that need it.
struct StagedLoad {
  Distribution threads;  // that read it
  AnyLayout shared;      // as SharedTile::layout
  int read_vector = 1;   // elements of an access that reads it back
};
struct ElementwiseLoad {
  sema::NodeId load = -1;
  int vector_mode = 0;  // the tensor's mode along which one access runs
  int vector = 1;       // elements of a global access
  std::optional<StagedLoad> staged = {};
};
struct ElementwiseStore {
  int vector_mode = 0, vector = 1;  // the same of an output
};

// What bind decides.
struct Elementwise {
  std::vector<int> tile;  // extents, an axis each
  Distribution threads;   // of the outputs, and of loads that are not staged
  Grid grid;
  int blocks_per_sm = 1;
  std::vector<ElementwiseLoad> loads;
  std::vector<ElementwiseStore> stores;  // by assignment
  // Where there are some, one axis walks these indices together, the last of them fastest, in place
  // of an axis each: of a program that reads nothing ahead (each_element.h).
  std::optional<std::vector<sema::IndexId>> joined = {};
};

Program bind_elementwise(const sema::KernelPtr& kernel, const Elementwise& how);

// The ways of a bound or unbound program's elements.
struct LoadWay {
  const Copy* load = nullptr;  // global -> registers
  const Copy* put = nullptr;   // registers -> shared, where it is staged
  const Copy* get = nullptr;   // shared -> registers

  bool is_staged() const { return put != nullptr; }
  // The tile in registers that computations read.
  TileId held() const { return get ? get->dst : load->dst; }
};
std::vector<LoadWay> loads_of(const Program& program);
std::vector<const Copy*> stores_of(const Program& program);  // in the order of the program

// The program as form_elementwise made it.
Program formed_of(const Program& bound);

// The kernel of some of its assignments alone: with the same nodes and tensors, of which those that
// it does not make are inputs.
sema::KernelPtr with_assignments(const sema::Kernel& kernel,
                                 std::vector<sema::Assignment> assignments);

// Bytes of shared memory that the tile takes, whole 128 bytes: what the next tile begins at.
std::int64_t staged_bytes(const AnyLayout& shared, ElementType element);

}  // namespace lay::tile
