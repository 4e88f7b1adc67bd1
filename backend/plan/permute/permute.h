// A permute kernel: outputs that are computed element by element from inputs whose memory runs
// along other indices.
//
//   Y[i,j] = X[j,i]      X (N,M):(M,1), Y (M,N):(N,1):  X runs along i, Y along j
//
// A block takes one tile of the outputs' index space. Inputs that run along another index than the
// outputs are read in the order of their own memory, put into shared memory, and read from there in
// the order of the outputs' memory; the others come straight to the thread that needs them. Nothing
// is staged where everything runs along one index.
#pragma once

#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::plan {

// An element that the kernel reads wherever it writes, read ahead of the computation.
struct PermuteLoad {
  sema::NodeId load = -1;
  bool staged = false;  // through shared memory
  int vector_mode = 0;  // the tensor's mode along which one access runs
  int run_axis = -1;    // and that mode's place in Permute::indices
  int vector = 1;       // elements a global access
  // For a staged load:
  Layout threads;    // (thread, (element of the access, access)) -> coordinate in the tile: basis
                     // strides
  AnyLayout shared;  // coordinate in the tile -> offset in elements; extent 1 for indices that it
                     // does not depend on
  int read_vector = 1;  // elements of an access when it is read back
};

struct PermuteStore {
  int assignment = 0;   // in Kernel::assignments
  int vector_mode = 0;  // the tensor's mode along which one access runs
  int vector = 1;       // elements a global access
};

struct Permute {
  std::vector<sema::IndexId>
      indices;            // of the outputs, in the order of the first one: the axes of a tile
  std::vector<int> tile;  // extents
  int threads = 256;
  int access_bytes = 16;  // of the widest access to global memory; 0: of one element
  int run_axis = 0;       // along which a thread's elements lie side by side
  int vector = 1;         // that many
  Layout work;            // (thread, (element, access)) -> coordinate in the tile: basis strides
  std::vector<PermuteLoad> loads;
  std::vector<PermuteStore> stores;
  Layout order;  // block index -> coordinate of the tile: basis strides; tiles outside are skipped
  int blocks_per_sm = 1;

  // Threads that have work, which may be fewer than the block has.
  int workers() const;
  int accesses() const;  // of a thread, `vector` elements each
};

// Threads and accesses of a thread in a thread-value layout.
int threads_of(const Layout& thread_value);
int accesses_of(const Layout& thread_value);

}  // namespace lay::plan
