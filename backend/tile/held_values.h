// The nodes of the kernel that tiles hold at a place of the program: a map or a reduction reads
// them there instead of computing them.
//
//   HeldValues held(program);
//   for each statement in order: held.enter(loop), its body, held.leave(); held.after(statement)
//
// A copy or map holds its node from there on. A reduction, or a sum of products, is complete when
// the loop in sequence around it ends, where that walks its axis, and else at once; one that
// rescales others is held on its way too. Other nodes that a loop in sequence or over the grid
// holds are gone after the loop.
#pragma once

#include <map>
#include <vector>

#include "backend/tile/program.h"

namespace lay::tile {

class HeldValues {
 public:
  explicit HeldValues(const Program& program) : program_(program) {}

  void enter(const For& loop);
  void leave();
  // After a copy, map or reduction; a loop has enter and leave.
  void after(const Stmt& stmt);

  // Returns the tile in registers or shared memory that holds the node, or -1.
  TileId tile_of(sema::NodeId node) const;

  using Held = std::map<sema::NodeId, TileId>;
  const Held& all() const { return held_; }

 private:
  struct Loop {
    Walk walk;
    AxisId axis;
    Held before;
    std::vector<TileId> reductions;
  };

  void reduced(TileId out, AxisId over, bool on_its_way);
  void hold(TileId tile) { held_[program_.tile(tile).value] = tile; }

  const Program& program_;
  Held held_;
  std::vector<Loop> loops_;  // the innermost last
};

}  // namespace lay::tile
