#include "tests/tile/roles/simulate.h"

#include <algorithm>

#include "backend/tile/chained_products.h"
#include "backend/tile/products/product.h"
#include "tests/tile/roles/machine.h"

namespace lay::test {

namespace {

using tile::Barrier;
using tile::Completion;
using tile::Pipeline;
using tile::PipelineId;
using tile::Program;
using tile::Ring;
using tile::Specialised;
using Kind = Step::Kind;

constexpr int warpgroup = 128, warp = 32, tiles_of_block = 7;

// The place of a role in a ring, as the kernel moves it on.
struct Place {
  int stages = 1, phase = 0, slot = 0;

  void advance(int by = 1) {
    for (int i = 0; i < by; ++i)
      if (++slot == stages) {
        slot = 0;
        phase = 1 - phase;
      }
  }
};

class Simulation {
 public:
  Simulation(const Program& program, const Specialised& said, std::mt19937& random)
      : program_(program), said_(said), random_(random) {}

  std::string product() {
    parts_ = tile::parts_of(program_);
    for (int t = 0; t < tiles_of_block; ++t) steps_.push_back(static_cast<int>(random_() % 6));
    const PipelineId operands = said_.moving(Pipeline::Moves::operands);
    if (program_.warpgroups)
      ring(operands);
    else if (std::string fault = by_all_threads(said_.pipeline(operands)); !fault.empty())
      return fault;
    const PipelineId sums = said_.moving(Pipeline::Moves::sums);
    if (sums >= 0 && said_.barrier(Barrier::Use::drained, sums)) exchange(sums);
    return machine_.run(random_);
  }

  std::string chain() {
    const tile::ChainedProducts parts = tile::chained_products_of(program_);
    const std::array<PipelineId, 3> ids{said_.holding(parts.scores->a),
                                        said_.holding(parts.scores->b),
                                        said_.holding(parts.result->b)};
    for (int t = 0; t < tiles_of_block; ++t) steps_.push_back(static_cast<int>(random_() % 6));
    const int consumers = program_.warpgroups->consumers;
    std::vector<Step> copies;
    std::array<Place, 3> at;
    std::array<int, 3> round{};
    for (std::size_t i = 0; i < 3; ++i) {
      add_barriers(ids[i], 1);
      at[i] = place(Ring::Use::write, ids[i]);
    }
    const auto copy = [&](std::size_t i) {
      const std::string& name = said_.pipeline(ids[i]).name;
      machine_.add_round({name, 0, 0, round[i]}, 1, consumers);
      copies.push_back(
          {Kind::wait, slot_of(Barrier::Use::drained, ids[i], 0, at[i].slot), at[i].phase, {}});
      const Slot filled = slot_of(Barrier::Use::filled, ids[i], 0, at[i].slot);
      copies.push_back({Kind::arrive, filled, 1, {}});
      copies.push_back({Kind::write, filled, 0, {name, 0, 0, round[i]++}});
      at[i].advance();
    };
    for (const int steps : steps_) {
      copy(0);
      for (int s = 0; s < steps; ++s) {
        copy(1);
        copy(2);
      }
    }
    machine_.add_agent(std::move(copies));
    add_turns(1);
    for (int c = 0; c < consumers; ++c) machine_.add_agent(chain_consumer(ids, c));
    return machine_.run(random_);
  }

 private:
  const Barrier* barrier(Barrier::Use use, PipelineId id) const { return said_.barrier(use, id); }
  Place place(Ring::Use use, PipelineId id) const {
    const Ring* ring = said_.ring(use, id);
    return ring ? Place{ring->stages, ring->initial_phase} : Place{};
  }
  Slot slot_of(Barrier::Use use, PipelineId id, int block, int slot) const {
    return {block, barrier(use, id)->name, slot};
  }

  void add_barriers(PipelineId id, int blocks) {
    machine_.set_stages(said_.pipeline(id).name, said_.pipeline(id).stages);
    for (const auto use : {Barrier::Use::filled, Barrier::Use::drained})
      if (const Barrier* each = barrier(use, id))
        for (int b = 0; b < blocks; ++b)
          for (int s = 0; s < each->slots; ++s)
            machine_.add_barrier({b, each->name, s}, each->arrivals_of_phase());
  }
  void add_turns(int blocks) {
    const Barrier* turn = said_.barrier(Barrier::Use::turn);
    for (int b = 0; turn && b < blocks; ++b)
      for (int s = 0; s < turn->slots; ++s)
        machine_.add_barrier({b, turn->name, s}, turn->arrivals_of_phase());
  }

  // ---- a loop whose stages a producer fills

  // The blocks that a tile is the same in: along the axis of the cluster that it does not run
  // along.
  std::vector<int> blocks_that_share(const tile::StagedTile& staged, int block) const {
    const auto& cluster = program_.grid->cluster;
    const auto& axes = program_.tile(staged.tile).axes;
    const bool of_rows = std::ranges::find(axes, tile::row_axis) != axes.end();
    std::vector<int> found;
    for (int b = 0; b < cluster[0] * cluster[1]; ++b)
      if (of_rows ? b % cluster[0] == block % cluster[0] : b / cluster[0] == block / cluster[0])
        found.push_back(b);
    return found;
  }

  bool is_hopper() const { return parts_.mma->atom && parts_.mma->atom->kind == "warpgroup"; }

  void ring(PipelineId id) {
    const auto& cluster = program_.grid->cluster;
    const int blocks = cluster[0] * cluster[1];
    const Pipeline& pipeline = said_.pipeline(id);
    const int threads = program_.threads->threads();  // that share a tile
    const int all = is_hopper() ? warpgroup * program_.warpgroups->consumers : threads;
    const int groups = all / threads;
    const bool by_warps = !is_hopper() || parts_.operands[0].read || parts_.operands[1].read;
    const int readers = threads / (by_warps ? warp : warpgroup);
    add_barriers(id, blocks);
    add_turns(blocks);
    int rounds = 0;
    for (const int steps : steps_) rounds += steps;
    for (int b = 0; b < blocks; ++b) {
      int parts = 0, expected = 0;
      bool stored = false;
      for (const tile::StagedTile& each : pipeline.tiles) {
        const bool by_tma = program_.tile(each.tile).shared->by_tma();
        const int of_tile = by_tma ? static_cast<int>(blocks_that_share(each, b).size()) : 4;
        parts += of_tile;
        if (by_tma) expected += of_tile;
        stored = stored || !by_tma;
      }
      for (int r = 0; r < rounds; ++r) machine_.add_round({pipeline.name, b, 0, r}, parts, readers);
      if (expected > 0) machine_.add_agent(copies_by_tma(id, b, rounds, expected));
      for (int w = 0; stored && w < 4; ++w) machine_.add_agent(copies_by_warp(id, b, rounds));
      for (int g = 0; g < groups; ++g)
        for (int reader = 0; reader < readers; ++reader)
          machine_.add_agent(reads(id, b, {g, groups}, by_warps, blocks));
    }
  }

  std::vector<Step> copies_by_tma(PipelineId id, int block, int rounds, int expected) {
    const Pipeline& pipeline = said_.pipeline(id);
    std::vector<Step> made;
    Place at = place(Ring::Use::write, id);
    for (int r = 0; r < rounds; ++r, at.advance()) {
      made.push_back(
          {Kind::wait, slot_of(Barrier::Use::drained, id, block, at.slot), at.phase, {}});
      made.push_back(
          {Kind::arrive, slot_of(Barrier::Use::filled, id, block, at.slot), expected, {}});
      for (const tile::StagedTile& each : pipeline.tiles) {
        if (!program_.tile(each.tile).shared->by_tma()) continue;
        for (const int to : blocks_that_share(each, block))
          made.push_back({Kind::write,
                          slot_of(Barrier::Use::filled, id, to, at.slot),
                          0,
                          {pipeline.name, to, 0, r}});
      }
    }
    return made;
  }

  // A warp of the producer stores its quarter of each tile that goes through registers.
  std::vector<Step> copies_by_warp(PipelineId id, int block, int rounds) {
    const Pipeline& pipeline = said_.pipeline(id);
    std::vector<Step> made;
    Place at = place(Ring::Use::write, id);
    for (int r = 0; r < rounds; ++r, at.advance()) {
      made.push_back(
          {Kind::wait, slot_of(Barrier::Use::drained, id, block, at.slot), at.phase, {}});
      for (const tile::StagedTile& each : pipeline.tiles)
        if (!program_.tile(each.tile).shared->by_tma())
          made.push_back({Kind::write, {}, 0, {pipeline.name, block, 0, r}});
      made.push_back({Kind::arrive, slot_of(Barrier::Use::filled, id, block, at.slot), 0, {}});
    }
    return made;
  }

  // A warp or warpgroup of group `group[0]`, of `group[1]`, which take tiles in turn.
  std::vector<Step> reads(PipelineId id, int block, const std::array<int, 2>& group, bool by_warps,
                          int blocks) {
    const Pipeline& pipeline = said_.pipeline(id);
    std::vector<Step> made;
    Place at = place(Ring::Use::read, id), back = at, turn = place(Ring::Use::turn, -1);
    const Barrier* turns = said_.barrier(Barrier::Use::turn);
    int round = 0, released = 0;
    const auto release = [&] {
      made.push_back({Kind::release, {}, 0, {pipeline.name, block, 0, released++}});
      for (int b = 0; b < blocks; ++b)
        made.push_back({Kind::arrive, slot_of(Barrier::Use::drained, id, b, back.slot), 0, {}});
      back.advance();
    };
    for (int t = 0; t < tiles_of_block; ++t) {
      const int steps = steps_[static_cast<std::size_t>(t)];
      if (t % group[1] != group[0]) {
        at.advance(steps);
        back.advance(steps);
        round += steps;
        released += steps;
        turn.advance();
        continue;
      }
      if (turns)
        made.push_back({Kind::wait,
                        {block, turns->name, group[0]},
                        group[0] == 0 ? 1 - turn.phase : turn.phase,
                        {}});
      for (int s = 0; s < steps; ++s) {
        made.push_back(
            {Kind::wait, slot_of(Barrier::Use::filled, id, block, at.slot), at.phase, {}});
        made.push_back({Kind::read, {}, 0, {pipeline.name, block, 0, round++}});
        at.advance();
        if (s >= pipeline.late) release();
      }
      for (int w = 0; turns && w < (by_warps ? 1 : 4); ++w)
        made.push_back({Kind::arrive, {block, turns->name, (group[0] + 1) % group[1]}, 0, {}});
      while (released < round) release();
      turn.advance();
    }
    return made;
  }

  // ---- a loop that all threads copy ahead in, which meet once a round

  std::string by_all_threads(const Pipeline& pipeline) {
    const int ahead = pipeline.ahead();
    std::vector<int> held(static_cast<std::size_t>(pipeline.stages), -1);  // round of a stage
    int written = 0;
    const auto write = [&] {
      held[static_cast<std::size_t>(written % pipeline.stages)] = written;
      ++written;
    };
    if (ahead < 1) return "nothing is copied ahead";
    for (int r = 0; r < ahead; ++r) write();
    for (int r = 0; r < 4 * pipeline.stages; ++r) {
      // Between two barriers round r is read and a further one is written, in any order.
      if (held[static_cast<std::size_t>(r % pipeline.stages)] != r) return "a round is not there";
      if (written % pipeline.stages == r % pipeline.stages)
        return "a stage is written while it is read";
      write();
    }
    return "";
  }

  // ---- sums that blocks give each other

  void exchange(PipelineId id) {
    const std::string& name = said_.pipeline(id).name;
    const int blocks = parts_.sums->parts;
    add_barriers(id, blocks);
    const int consumers = program_.warpgroups->consumers;
    for (int b = 0; b < blocks; ++b)
      for (int c = 0; c < consumers; ++c) {
        for (int t = 0; t < tiles_of_block; ++t) machine_.add_round({name, b, c, t}, blocks - 1, 1);
        std::vector<Step> made;
        Place give = place(Ring::Use::write, id), take = place(Ring::Use::read, id);
        for (int t = 0; t < tiles_of_block; ++t, give.advance(), take.advance()) {
          made.push_back({Kind::wait, slot_of(Barrier::Use::drained, id, b, c), give.phase, {}});
          made.push_back({Kind::arrive, slot_of(Barrier::Use::filled, id, b, c), blocks - 1, {}});
          for (int to = 0; to < blocks; ++to)
            if (to != b)
              made.push_back(
                  {Kind::write, slot_of(Barrier::Use::filled, id, to, c), 0, {name, to, c, t}});
          made.push_back({Kind::wait, slot_of(Barrier::Use::filled, id, b, c), take.phase, {}});
          made.push_back({Kind::read, {}, 0, {name, b, c, t}});
          made.push_back({Kind::release, {}, 0, {name, b, c, t}});
          for (int w = 0; w < 4; ++w)
            for (int to = 0; to < blocks; ++to)
              made.push_back({Kind::arrive, slot_of(Barrier::Use::drained, id, to, c), 0, {}});
        }
        machine_.add_agent(std::move(made));
      }
  }

  // ---- chained products: the scores of a column tile before the result of the one before it

  std::vector<Step> chain_consumer(const std::array<PipelineId, 3>& ids, int consumer) {
    std::vector<Step> made;
    std::array<Place, 3> at;
    for (std::size_t i = 0; i < 3; ++i) at[i] = place(Ring::Use::read, ids[i]);
    std::array<int, 3> round{};
    Place turn = place(Ring::Use::turn, -1);
    const Barrier* turns = said_.barrier(Barrier::Use::turn);
    const int consumers = program_.warpgroups->consumers;
    const auto read = [&](std::size_t i) {
      made.push_back(
          {Kind::wait, slot_of(Barrier::Use::filled, ids[i], 0, at[i].slot), at[i].phase, {}});
      made.push_back({Kind::read, {}, 0, {said_.pipeline(ids[i]).name, 0, 0, round[i]}});
    };
    const auto release = [&](std::size_t i) {
      made.push_back({Kind::release, {}, 0, {said_.pipeline(ids[i]).name, 0, 0, round[i]++}});
      made.push_back({Kind::arrive, slot_of(Barrier::Use::drained, ids[i], 0, at[i].slot), 0, {}});
      at[i].advance();
    };
    for (const int steps : steps_) {
      read(0);
      if (steps > 0) {
        read(1);
        release(1);
        for (int s = 1; s < steps; ++s) {
          if (turns)
            made.push_back({Kind::wait,
                            {0, turns->name, consumer},
                            consumer == 0 ? 1 - turn.phase : turn.phase,
                            {}});
          read(1);
          read(2);
          for (int w = 0; turns && w < 4; ++w)
            made.push_back({Kind::arrive, {0, turns->name, (consumer + 1) % consumers}, 0, {}});
          if (turns) turn.advance();
          release(1);
          release(2);
        }
        read(2);
        release(2);
      }
      release(0);
    }
    return made;
  }

  const Program& program_;
  const Specialised& said_;
  std::mt19937& random_;
  tile::ProductParts parts_;
  std::vector<int> steps_;  // of each tile
  Machine machine_;
};

}  // namespace

std::string simulate(const Program& program, const Specialised& said, std::mt19937& random) {
  Simulation simulation(program, said, random);
  if (program.is_chain()) return simulation.chain();
  if (program.is_product()) return simulation.product();
  return "";
}

}  // namespace lay::test
