// The arithmetic of a kernel as text, with tiles in place of what they hold.
//
//   %6: f32 = exp(f32(X[m,n]) - %5)        by itself
//   exp(f32(tile_X[m,n]) - all_max[m])     where tiles hold X[m,n] and %5
//
// Reductions, and arithmetic that several nodes use, have a line of their own (`value %6: f32 =
// ...`). A reduction stands as %5 where no tile holds it, and so does what a line would say twice.
#pragma once

#include <string>
#include <vector>

#include "backend/tile/held_values.h"

namespace lay::tile {

class ValueText {
 public:
  explicit ValueText(const Program& program);

  // Returns what the node is; tiles stand for what they hold.
  std::string operator()(sema::NodeId node, const HeldValues& held) const;

  // Returns the nodes that have a line of their own, in their order: those written as %6, what
  // tiles hold, and the segments of rows.
  const std::vector<sema::NodeId>& written() const { return written_; }

  // "tile_X[m,n]"
  std::string tile(TileId id) const;

 private:
  struct Writer;

  const Program& program_;
  std::vector<char> apart_;  // by NodeId: stands as %6
  std::vector<sema::NodeId> written_;
};

}  // namespace lay::tile
