#include "backend/tile/held_values.h"

namespace lay::tile {

void HeldValues::enter(const For& loop) {
  loops_.push_back({loop.walk, loop.axis, held_, {}});
}

void HeldValues::leave() {
  Loop& loop = loops_.back();
  if (loop.walk != Walk::whole) held_ = std::move(loop.before);
  for (const TileId tile : loop.reductions) hold(tile);
  loops_.pop_back();
}

void HeldValues::after(const Stmt& stmt) {
  if (const auto* copy = std::get_if<Copy>(&stmt.node)) {
    if (program_.tile(copy->dst).space != Space::global) hold(copy->dst);
  } else if (const auto* map = std::get_if<Map>(&stmt.node)) {
    hold(map->out);
  } else if (const auto* reduce = std::get_if<Reduce>(&stmt.node)) {
    reduced(reduce->out, reduce->over, !reduce->rescales.empty());
  } else if (const auto* mma = std::get_if<Mma>(&stmt.node)) {
    reduced(mma->out, mma->over, false);
  }
}

void HeldValues::reduced(TileId out, AxisId over, bool on_its_way) {
  const bool later =
      !loops_.empty() && loops_.back().walk == Walk::sequence && loops_.back().axis == over;
  if (later) loops_.back().reductions.push_back(out);
  if (!later || on_its_way) hold(out);
}

TileId HeldValues::tile_of(sema::NodeId node) const {
  const auto found = held_.find(node);
  return found == held_.end() ? -1 : found->second;
}

}  // namespace lay::tile
