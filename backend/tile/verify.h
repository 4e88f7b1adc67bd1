// The rules of a tile program: what the passes, the interpreter and expand may rely on.
//
// Ids are in range and names are unique. An axis has the extent of its indices, a tile the axes
// that its values depend on. Loops nest: the grid outside, then the columns. A copy joins a tile in
// global memory and one in registers or shared memory of the same node, element and axes; in an
// elementwise program (rules/verify_elementwise.h) one in registers and one in shared memory too. A
// product adds up tiles whose values are the factors of its node. A maximum that is read on its way
// rescales every sum that reads it (online_softmax.h). A tile is written by one statement, before
// it is read; a reduction is read once it is complete, and a tile that a loop in sequence holds is
// read only inside that loop. Every output is stored once. A bound program has threads that cover
// the tile of its axes, and accesses that they can make.
//
// A problem found here is our bug, never the user's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/tile/program.h"

namespace lay::tile {

struct Problem {
  std::string code;       // "tile-axes"
  std::string message;    // one lower-case sentence
  std::string statement;  // its first line; empty for declarations
};

// In the order of the program. Where ids are out of range nothing else is looked at.
std::vector<Problem> verify(const Program& program);

// After a pass: std::logic_error that names it, if anything is wrong.
void verify_after(std::string_view pass, const Program& program);

}  // namespace lay::tile
