// Operands on their way from shared memory to the registers that an atom reads
// (plan/fragments/fragment.h).
#pragma once

#include "backend/ir/lower/lower_parts.h"
#include "backend/plan/fragments/fragment.h"

namespace lay::ir {

// Where a lane reads its warp's part of an atom's operand: the row that it names to the
// fragment's copy, else its first value.
struct LanePlace {
  Term outer, k;
};
// Without the part that is the warp's.
LanePlace lane_place(Builder& b, const plan::Fragment& fragment);

// One atom's values. Registers hold them in mode 0, at `held` in the two others; the tile is
// shared[outer,k,stage].
struct FragmentRead {
  BufferId registers;
  std::array<Term, 2> held;
  BufferId shared;
  Term outer, k, stage;  // of the lane
};
void read_fragment(Builder& b, const plan::Fragment& fragment, const FragmentRead& read);

// A conversion of one atom's values in registers, mode 0 of both buffers: to each place of `to`
// goes the value of a factor where the element of `load` under it is that of `from`.
struct FragmentConversion {
  sema::NodeId load, value;
  ElementType type;  // of `to`
  BufferId from, to;
  std::vector<ExprId> from_at, to_at;  // the coordinates behind mode 0
};
void convert_fragment(Declared& declared, const plan::Fragment& fragment,
                      const FragmentConversion& how);

}  // namespace lay::ir
