#include "backend/plan/model/tile_traffic.h"

namespace lay::plan {

TileTraffic::TileTraffic(double cache_bytes, std::vector<PanelAxis> operands)
    : capacity_(cache_bytes), operands_(std::move(operands)) {}

double TileTraffic::read(int operand, const std::vector<std::int64_t>& tile, double bytes) {
  const PanelAxis& axes = operands_[static_cast<std::size_t>(operand)];
  Panel panel{operand, {tile[static_cast<std::size_t>(axes.axis)]}};
  for (const int axis : axes.batch) panel.second.push_back(tile[static_cast<std::size_t>(axis)]);
  // A panel, the rows of A or columns of B of one tile along all of K, is loaded once a wave: the
  // tiles of a wave run at the same time, K tile by K tile.
  if (!wave_.emplace(panel, bytes).second) return 0;
  wave_bytes_ += bytes;
  return where_.contains(panel) ? 0 : bytes;
}

void TileTraffic::end_wave() {
  double written = wave_bytes_;
  for (const auto& [panel, bytes] : wave_) {
    written -= bytes;
    if (const auto known = where_.find(panel); known != where_.end()) {
      held_bytes_ -= known->second->second;
      held_.erase(known->second);
      where_.erase(known);
    }
  }
  // A wave that is larger than the cache leaves nothing of what was there before, nor of itself.
  if (wave_bytes_ > capacity_) {
    held_.clear();
    where_.clear();
    held_bytes_ = 0;
  } else {
    // Bytes that the wave wrote take room as well, but nothing reads them.
    held_.emplace_front(Panel{-1, {}}, written);
    for (const auto& [panel, bytes] : wave_) {
      held_.emplace_front(panel, bytes);
      where_[panel] = held_.begin();
    }
    held_bytes_ += wave_bytes_;
    // The least recently used go first.
    while (held_bytes_ > capacity_) {
      held_bytes_ -= held_.back().second;
      where_.erase(held_.back().first);
      held_.pop_back();
    }
  }
  wave_.clear();
  wave_bytes_ = 0;
}

}  // namespace lay::plan
