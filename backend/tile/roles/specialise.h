// The fourth pass: which threads of a block run which statements of the program, and the barriers
// and fences between them.
//
//   role producer of threads 0 to 127       copies to the stages of the pipeline k
//   role consumer of threads 128 to 383     multiplies, and stores
//   barrier filled, a slot a stage          the producer's thread arrives, and the bytes by TMA
//   barrier drained, a slot a stage         2 consumers of each of 2 blocks arrive
//   ring load of the producer               begins at phase 1: all stages are free
//   ring use of the consumers               begins at phase 0: no stage is full
//   fence of the consumers                  their registers are written before wgmma reads them
//
// Laws:
//
//   - Each thread of the block has one role, and each statement is run by one role.
//   - A phase of a slot is over when each of its arrivals has come once: those of the stage's
//     readers in every block that its tiles are written from, or those of its writers.
//   - A role that waits for full slots begins at phase 0. A role that waits for empty slots begins
//     at phase 1, the phase before the first, which counts as complete (PTX ISA,
//     mbarrier.test_wait).
//   - All roles have no more registers together than the SM has for a block.
//   - What reads by another way than threads write has a fence before it: TMA and wgmma what
//   threads
//     have stored (PTX ISA, memory consistency model, proxies), wgmma the registers that it
//     multiplies and adds to (PTX ISA, wgmma.fence), and other blocks and TMA the mbarriers that a
//     thread has initialised (PTX ISA, fence.mbarrier_init).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/tile/program.h"
#include "backend/tile/roles/pipeline.h"

namespace lay::tile {

using RoleId = int;      // into Specialised::roles
using PipelineId = int;  // into Specialised::pipelines

// Threads that run the same statements. With several groups each has its own tiles of the grid: of
// the tiles that a block takes one after the other group g takes the tiles t with t % groups == g
// (ping-pong). One group is cooperative: all its threads share each tile.
struct Role {
  std::string name;
  int first = 0, threads = 0;   // of the block
  int registers = 0;            // of a thread; 0: as many as the launch gives
  std::vector<int> statements;  // counted in the order of the program, loops around them too
  int groups = 1;

  friend bool operator==(const Role&, const Role&) = default;
};

// Threads that arrive at a barrier once in a phase: `count` threads, warps or warpgroups of a role,
// in each of `blocks` blocks of the cluster.
enum class Agent { thread, warp, warpgroup };
struct Arrivals {
  RoleId role = 0;
  Agent agent = Agent::thread;
  int count = 1, blocks = 1;

  friend bool operator==(const Arrivals&, const Arrivals&) = default;
};

// A barrier that threads wait at. An mbarrier counts arrivals, at others all threads of the scope
// meet.
struct Barrier {
  // filled: the copies of a stage are complete; drained: all readers have read it; stored: threads
  // have stored a part to shared memory, or have read it there; turn: a group may issue its
  // products; joined: the parts of a reduction have come; counted: the sums of a part of the tail
  // are in global memory, and it is known whether it was the last; met: all threads are there.
  enum class Use { filled, drained, stored, turn, joined, counted, met };
  enum class Scope { warp, warpgroup, block, cluster };

  std::string name;
  Use use = Use::met;
  Scope scope = Scope::block;           // of the threads that arrive
  int slots = 1;                        // an mbarrier a slot, or a named barrier
  std::vector<Arrivals> arrivals = {};  // of a phase of a slot; none where all threads meet
  bool bytes = false;                   // and the bytes that an arrival has announced
  RoleId waits = 0;                     // the role that waits
  PipelineId pipeline = -1;             // of stages; -1: of none
  TileId tile = -1;                     // of a reduction

  bool is_mbarrier() const { return use != Use::stored && use != Use::counted && use != Use::met; }
  int arrivals_of_phase() const;

  friend bool operator==(const Barrier&, const Barrier&) = default;
};

// A slot and a phase that a role keeps and moves on, from slot 0 on.
struct Ring {
  // write: the next stage to be written; read: to be read; release: to be given back, where that is
  // not the stage that was read last; turn: whose products are next; direction: its phase says
  // whether a loop that alternates runs backwards.
  enum class Use { write, read, release, turn, direction };

  std::string name;
  Use use = Use::read;
  RoleId role = 0;
  int stages = 1;
  int initial_phase = 0;
  PipelineId pipeline = -1;

  friend bool operator==(const Ring&, const Ring&) = default;
};

// Orders what threads of a role have written before what a statement reads by another way.
struct Fence {
  // initialised: mbarriers, before anybody but the thread arrives at them or waits; stored: shared
  // memory that TMA reads; registers: of wgmma.
  enum class Use { initialised, stored, registers };

  Use use = Use::initialised;
  // The role that runs the statement, as they are counted in the order of the program; of
  // mbarriers, before the roles part, none.
  RoleId role = -1;
  int statement = -1;

  friend bool operator==(const Fence&, const Fence&) = default;
};

// The result of the third and the fourth pass for a bound program. Barriers are initialised in this
// order.
struct Specialised {
  std::vector<Pipeline> pipelines;
  std::vector<Role> roles;
  std::vector<Barrier> barriers;
  std::vector<Ring> rings;
  std::vector<Fence> fences;

  const Pipeline& pipeline(PipelineId id) const { return pipelines[static_cast<std::size_t>(id)]; }
  const Role& role(RoleId id) const { return roles[static_cast<std::size_t>(id)]; }
  // The number of the pipeline that moves this, some of it by these copies, or of the tile; -1
  // without one.
  PipelineId moving(Pipeline::Moves moves, std::optional<Completion> by = {}) const;
  PipelineId holding(TileId tile) const;
  // Null where there is none.
  const Barrier* barrier(Barrier::Use use, PipelineId pipeline = -1) const;
  const Ring* ring(Ring::Use use, PipelineId pipeline = -1) const;
  bool has_mbarriers() const;
  bool has_fence(Fence::Use use) const;

  friend bool operator==(const Specialised&, const Specialised&) = default;
};

Specialised specialise(const Program& program, std::vector<Pipeline> pipelines);

// Both passes, verified.
Specialised specialised(const Program& program);

}  // namespace lay::tile
