// What L2 still has of the operands of tiles that come in some order.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <utility>
#include <vector>

namespace lay::plan {

// An operand's panel, all of K for one row or column of tiles: which coordinates of a tile tell
// panels apart.
struct PanelAxis {
  int axis = 0;            // of the tile's coordinate: 0 for A, 1 for B
  std::vector<int> batch;  // and further ones
};

// The bytes that reading and writing tiles moves to and from global memory, through an LRU cache of
// a given size. Within a wave a panel is read once; a wave that uses more than the cache holds
// leaves nothing behind that the next could use.
class TileTraffic {
 public:
  TileTraffic(double cache_bytes, std::vector<PanelAxis> operands);

  // Bytes of this operand's panel that come from global memory: all, or none.
  double read(int operand, const std::vector<std::int64_t>& tile, double bytes);
  // Counts bytes of the output, which nothing reads again.
  void write(double bytes) { wave_bytes_ += bytes; }
  void end_wave();

 private:
  using Panel = std::pair<int, std::vector<std::int64_t>>;  // operand, coordinates

  double capacity_;
  std::vector<PanelAxis> operands_;
  std::map<Panel, double> wave_;  // used in this wave
  double wave_bytes_ = 0;
  std::list<std::pair<Panel, double>> held_;  // last used first; outputs as panels of operand -1
  std::map<Panel, std::list<std::pair<Panel, double>>::iterator> where_;
  double held_bytes_ = 0;
};

}  // namespace lay::plan
