// Rows that are on their way while others are reduced. A block of such a program takes tile after
// tile of the rows:
//
//   for m in grid step 1 {
//     for n whole 65536 {
//       copy ahead_X[m,n] <- X[m,n] by 8 along mode 1           by cp.async, some tiles ahead
//       copy tile_X[m,n] <- ahead_X[m,n] by 8 along mode 1      when its group has come
//       reduce all_max[m] = max over n of f32(tile_X[m,n])
//       ...
//
// Each thread copies to shared memory what it has of the rows by the program's threads, and reads
// no other's: it waits for its own groups, and for no barrier. What a stage held is in registers
// before the next row is copied there. A tile along the columns alone, a weight, is the same for
// all rows: it is copied once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/tile/program.h"
#include "frontend/sema/kernel/copy_instruction.h"

namespace lay::tile {

struct RowsAhead {
  int stages = 0;  // tiles of rows on their way at once; 0: none, and a block takes one tile
  int sms = 0;     // whose blocks take tile after tile
  // Copies of one thread from global to shared memory: each access takes one of as many bits.
  std::vector<sema::CopyInstruction> copies;
  bool columns = true;  // tiles along the columns alone are copied too
};

// Makes the bound program one that copies rows ahead. Returns false, and leaves it as it is, where
// no tile of rows can be: none is kept, no instruction copies an access, or its rows or its place
// depend on values that are read.
bool copy_rows_ahead(Program& program, const RowsAhead& ahead);

// Returns the program that it was made from, whose blocks take one tile of rows each.
Program without_rows_ahead(Program program);

// Returns true if the program's tile is one that threads copy ahead.
bool is_ahead(const Tile& tile);
// Returns why threads cannot have copied a tile in shared memory ahead, as a clause; nothing where
// they can.
std::optional<std::string> fault_of_ahead(const Program& program, const Tile& shared);
// Returns true if it has rows, and so a stage for each tile of them that is on its way.
bool has_rows(const Tile& tile);

// Returns the layout of what a block has of a tile with these axes, side by side as accesses are:
// coordinate in the tile -> offset in elements. What the other blocks of a cluster have lies in
// their own memory, at the same offsets.
Layout own_layout(const Distribution& threads, const std::vector<AxisId>& axes);

// Slots of what warps and blocks exchange of a tile of rows: what one of them has sent of the next
// may be there before another has read all of this one.
int exchange_slots(const Program& program);

// Tiles of rows that are on their way while one is reduced; 0 where none is.
int stages_ahead(const Program& program);

// Bytes of shared memory of a block: of one stage of all tiles with rows, and of those without.
struct AheadBytes {
  std::int64_t of_stage = 0, once = 0;
};
AheadBytes ahead_bytes(const Program& program);

}  // namespace lay::tile
