// The third pass: which tiles in shared memory have several stages, so that some are written while
// others are read, and what tells that a copy is complete.
//
//   for k in sequence step 64 {                 pipeline k of 4 stages, 2 tiles ahead:
//     copy tile_A[m,k] <- A[m,k]                  tile_A by TMA, a part from each of 2 blocks
//     copy tile_B[n,k] <- B[n,k]                  tile_B by TMA
//     mma sum[m,n] += tile_A * tile_B over k
//   }                                           pipeline outputs of 2 stages:
//   copy staged_Y[m,n] <- sum[m,n]                staged_Y to global memory by TMA
//   copy Y[m,n] <- staged_Y[m,n]
//
// Round t of a pipeline, a tile of the loop or a part of the sums, is in stage t % stages. Laws:
//
//   - A stage is written only after all readers of its round before have given it back.
//   - A stage is read only when all copies of its round are complete.
//   - At most `stages` rounds are in flight: written, or being written, and not given back.
//
// The value stands beside the program and follows from it: it is printed (print_roles.h) and
// verified (verify_roles.h), and no text of a program says it.
#pragma once

#include <string>
#include <vector>

#include "backend/tile/program.h"

namespace lay::tile {

// How readers know that a copy is complete. It belongs to the instruction that copies.
enum class Completion {
  barrier,   // threads load and store it: those that have arrived at a barrier have stored
  group,     // cp.async: its group is waited for, then a barrier
  mbarrier,  // TMA, or stores to another block: an mbarrier counts the bytes
  bulk,      // TMA from shared memory: its bulk group has been read
};

// A tile of a stage.
struct StagedTile {
  TileId tile = -1;
  Completion completion = Completion::barrier;
  int blocks = 1;  // of the cluster that each write a part of it, to the stages of all of them

  friend bool operator==(const StagedTile&, const StagedTile&) = default;
};

struct Pipeline {
  // operands: what a loop multiplies, or what is reduced, on its way to shared memory; sums: of
  // parts of the loop, from the registers of one block to the shared memory of another; inputs,
  // outputs: of the epilogue.
  enum class Moves { operands, sums, inputs, outputs };

  std::string name;
  Moves moves = Moves::operands;
  // The loop that goes from round to round; over the grid: from tile to tile of a block. -1: a
  // round is a part of the sums, of sums all that a block adds up; of operands the only round.
  AxisId axis = -1;
  std::vector<StagedTile> tiles;
  int stages = 1;
  // Rounds that readers still hold behind the one that they read. 1: a stage is given back when the
  // products of the next round have been issued, so that the tensor cores do not run dry.
  int late = 0;
  // Warps or warpgroups that have stages of their own, and wait for no stage of another; 1: all
  // threads share the stages.
  int apart = 1;

  // Rounds that may be on their way while one is read.
  int ahead() const { return stages - 1 - late; }
  bool has(Completion completion) const;

  friend bool operator==(const Pipeline&, const Pipeline&) = default;
};

// Returns the pipelines of a bound program: those of the loops first, then those behind the sums.
// A program whose tiles in shared memory are written once, as a permutation, has none.
std::vector<Pipeline> pipeline(const Program& program);

// Returns true if an atom of warpgroups multiplies. Its products are issued and waited for apart.
bool is_by_warpgroups(const Stmt& stmt);
bool has_warpgroup_atom(const Program& program);

// Returns true if each warp has its own rows of a product's outputs, and of the inputs of their
// shape, travel through shared memory, and waits for no other warp.
bool moves_parts_by_warps(const Program& product);

}  // namespace lay::tile
