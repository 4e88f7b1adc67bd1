// The common parts of kernels in which one role fills a ring of stages by TMA and other roles empty
// it: barriers, places in the ring, and the tensor maps of the copies.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/ir/lower/lower_parts.h"

namespace lay::ir {

// Until the phase of the barrier's slot at the ring's place is over.
void wait_at(Builder& b, BarrierId barrier, RingId ring);
// Arrives, and expects `bytes` more.
void expect_at(Builder& b, BarrierId barrier, RingId ring, int bytes);

// How TMA copies parts of a loaded tensor: `box` of it along (outer, k), the modes in `order`, onto
// modes 0 and 1 of the buffer in shared memory, in rows swizzled over `span` bytes, or 16 for rows
// as they are. Its number among the kernel's maps.
struct LoadedBoxes {
  sema::NodeId load = -1;
  sema::IndexId k = -1, outer = -1;
  const std::vector<int>& order;
  std::array<int, 2> box{};
  int span = 16;
};
int map_of_boxes(Declared& declared, const std::string& name, const LoadedBoxes& boxes);

// The map of these boxes without what its modes are: `add_modes` says for each of its order, which
// mode of the buffer in shared memory it runs along and how far.
int add_map(Declared& declared, const std::string& name, const LoadedBoxes& boxes,
            const std::function<void(TensorMap&)>& add_modes);

// The name of the instruction that copies the boxes of a map to there, to one block or to `blocks`
// of a cluster: the first of the program's that does, else of the library's.
std::string box_atom(Declared& declared, int map, sema::CopySpace to, int blocks = 1);

// Every box of a part of a tile, `slice` along (outer, k): where it begins in the part.
void each_box(Builder& b, const std::array<int, 2>& slice, const std::array<int, 2>& box,
              const std::function<void(Term, Term)>& body);

}  // namespace lay::ir
