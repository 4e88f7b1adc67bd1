// The barriers, rings, roles and fences that tile::specialise says, as declarations of the kernel
// IR: in one place for all expanders, which ask for them by what they are for. How many slots a
// barrier has, how many arrivals it expects and where a ring begins stands in the data alone, and
// so does whether there is a fence.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "backend/ir/lower/lower_parts.h"
#include "backend/tile/roles/specialise.h"

namespace lay::ir {

class Synchronisation {
 public:
  Synchronisation(Declared& declared, const tile::Program& program);

  const tile::Specialised& said() const { return said_; }

  // The barriers and rings of a pipeline; an id that the data has no counterpart of is not valid.
  struct Stages {
    const tile::Pipeline* pipeline = nullptr;  // null: the program has none such
    BarrierId filled, drained, stored;
    RingId write, read, release;
    tile::Arrivals readers;  // that give a stage back, where there is a barrier for it
  };
  struct Turn {
    BarrierId barrier;
    RingId ring;
  };

  // Each of these declares what it returns, in the order of calls.
  Stages declare(tile::PipelineId pipeline);
  Stages declare(tile::Pipeline::Moves moves, std::optional<tile::Completion> by = {}) {
    return declare(said_.moving(moves, by));
  }
  Turn declare_turn();
  RingId declare_direction();
  BarrierId declare_joined(tile::TileId reduction);
  BarrierId declare_counted();
  // The barrier that all threads meet at: of the scope, or of the widest that the data has.
  BarrierId declare_meeting(std::optional<tile::Barrier::Scope> scope = {});

  // Initialises the mbarriers that have been declared, in the order of the data: those of one
  // pipeline, or all.
  void initialise(tile::PipelineId pipeline);
  void initialise();

  // Orders what threads have written before what is read next by another way, where the data says
  // that any statement does.
  void fence(tile::Fence::Use use);

  // Threads of the block: those of all roles.
  int threads() const;
  // Adds a role of the kernel with the threads and the registers that the data gives it.
  void role(tile::RoleId role, const std::function<void()>& body);

 private:
  BarrierId declare(const tile::Barrier* barrier);
  RingId declare(const tile::Ring* ring);
  void initialise(const std::function<bool(const tile::Barrier&)>& which);

  Declared& declared_;
  Builder& b_;
  const tile::Specialised said_;
  std::vector<BarrierId> barriers_;  // of said_.barriers, as far as they are declared
  int named_ = 1;                    // the next number of a named barrier: 0 is the block's
};

}  // namespace lay::ir
