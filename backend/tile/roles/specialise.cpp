#include "backend/tile/roles/specialise.h"

#include <algorithm>

#include "backend/tile/bind.h"
#include "backend/tile/products/product.h"
#include "backend/tile/roles/verify_roles.h"

namespace lay::tile {

namespace {

using Moves = Pipeline::Moves;

// Returns the statements that copy ahead to the stages of a loop: those that store to them, and
// those that load to registers on the way.
std::vector<int> statements_ahead(const Program& program, const std::vector<Pipeline>& pipelines) {
  const auto is_staged = [&](TileId id) {
    return std::ranges::any_of(pipelines, [&](const Pipeline& each) {
      return each.moves == Moves::operands &&
             std::ranges::find(each.tiles, id, &StagedTile::tile) != each.tiles.end();
    });
  };
  std::vector<int> found;
  int number = 0;
  const auto walk = [&](const auto& self, const Block& block, bool in_sequence) -> bool {
    bool any = false;
    for (const Stmt& stmt : block) {
      const int here = number++;
      bool ahead = false;
      if (const auto* loop = std::get_if<For>(&stmt.node)) {
        ahead = self(self, loop->body, in_sequence || loop->walk == Walk::sequence);
      } else if (const auto* copy = std::get_if<Copy>(&stmt.node)) {
        const bool loads =
            program.is_product() && in_sequence && program.tile(copy->src).space == Space::global;
        ahead = is_staged(copy->dst) || loads;
      } else if (const auto* map = std::get_if<Map>(&stmt.node)) {
        ahead = is_staged(map->out);
      }
      if (ahead) found.push_back(here);
      any = any || ahead;
    }
    return any;
  };
  walk(walk, program.body, false);
  std::ranges::sort(found);
  return found;
}

// All other statements; a loop belongs to every role that has something in it.
std::vector<int> statements_behind(const Program& program, const std::vector<int>& ahead) {
  std::vector<int> found;
  int number = 0;
  for_each(program.body, [&](const Stmt& stmt) {
    const bool is_loop = std::holds_alternative<For>(stmt.node);
    if (is_loop || !std::ranges::binary_search(ahead, number)) found.push_back(number);
    ++number;
  });
  return found;
}

class Specialiser {
 public:
  Specialiser(const Program& program, std::vector<Pipeline> pipelines) : program_(program) {
    made_.pipelines = std::move(pipelines);
    if (program.is_product()) parts_ = parts_of(program);
  }

  Specialised run() {
    roles();
    for (std::size_t i = 0; i < made_.pipelines.size(); ++i) {
      const auto id = static_cast<PipelineId>(i);
      if (made_.pipeline(id).moves == Moves::operands && program_.warpgroups) operands(id);
      if (made_.pipeline(id).moves == Moves::sums) sums(id);
    }
    turns();
    if (parts_.sums && parts_.sums->alternates)
      made_.rings.push_back({"way", Ring::Use::direction, consumer()});
    for (std::size_t i = 0; i < made_.pipelines.size(); ++i) {
      const auto id = static_cast<PipelineId>(i);
      const Pipeline& each = made_.pipeline(id);
      if (each.moves == Moves::inputs && each.has(Completion::mbarrier)) inputs(id);
      if (each.moves == Moves::outputs) outputs(id);
    }
    tail();
    reductions();
    all_meet();
    fences();
    return std::move(made_);
  }

 private:
  RoleId producer() const { return 0; }
  RoleId consumer() const { return static_cast<RoleId>(made_.roles.size()) - 1; }

  void roles() {
    const auto all = [&] {
      std::vector<int> numbers;
      for_each(program_.body,
               [&](const Stmt&) { numbers.push_back(static_cast<int>(numbers.size())); });
      return numbers;
    };
    if (!program_.warpgroups) {
      const int threads = program_.grid ? program_.grid->threads : program_.threads->threads();
      made_.roles.push_back({"all", 0, threads, 0, all()});
      return;
    }
    const Warpgroups& groups = *program_.warpgroups;
    const std::vector<int> ahead = statements_ahead(program_, made_.pipelines);
    Role copies{"producer", 0, threads_of_warpgroup, groups.registers[0], ahead};
    Role multiplies{"consumer", threads_of_warpgroup, groups.consumers * threads_of_warpgroup,
                    groups.registers[1], statements_behind(program_, ahead)};
    if (has_warpgroup_atom(program_)) {
      // More consumers than share a tile are groups that take tiles in turn.
      if (program_.threads) multiplies.groups = multiplies.threads / program_.threads->threads();
    } else {
      // On CUDA cores threads that multiply are counted from 0: the assembler gives the
      // accumulators of the role that comes last the banks that they need.
      copies.name = "copying";
      multiplies.name = "multiplying";
      multiplies.threads = program_.grid->threads - threads_of_warpgroup;
      multiplies.first = 0;
      copies.first = multiplies.threads;
    }
    made_.roles = {std::move(copies), std::move(multiplies)};
  }

  // Stages of a loop: `filled` says that their copies are complete, `drained` that they may be
  // written again.
  void operands(PipelineId id) {
    const Pipeline& each = made_.pipeline(id);
    const bool alone = parts_.sums != nullptr;  // the only pipeline of a loop
    const std::string prefix = alone ? "" : each.name + "_", suffix = alone ? "" : "_" + each.name;
    Barrier filled{prefix + "filled", Barrier::Use::filled};
    filled.slots = each.stages;
    filled.waits = consumer();
    filled.pipeline = id;
    // By TMA the thread that announces the bytes arrives; of threads that store each warp.
    filled.bytes = each.has(Completion::mbarrier);
    if (filled.bytes) filled.arrivals.push_back({producer(), Agent::thread, 1});
    if (each.has(Completion::barrier))
      filled.arrivals.push_back({producer(), Agent::warp, warps_of_warpgroup});

    Barrier drained{prefix + "drained", Barrier::Use::drained};
    drained.slots = each.stages;
    drained.waits = producer();
    drained.pipeline = id;
    drained.arrivals.push_back(readers(each));
    if (drained.arrivals.front().blocks > 1) drained.scope = Barrier::Scope::cluster;
    made_.barriers.push_back(std::move(filled));
    made_.barriers.push_back(std::move(drained));

    write_and_read(id, "load" + suffix, producer(), 1, "use" + suffix);
    // Where products are waited for apart, a stage is given back behind others that are read.
    if (alone && has_warpgroup_atom(program_))
      made_.rings.push_back({"freed", Ring::Use::release, consumer(), each.stages, 0, id});
  }

  // Returns the readers that give a stage back: the warpgroups of one group of consumers, or its
  // warps where they read the stage to registers, and on CUDA cores. In a cluster the readers of
  // all blocks with the same part of the loop count, since blocks copy to each other's stages.
  Arrivals readers(const Pipeline& each) const {
    const Role& role = made_.role(consumer());
    const int threads = role.threads / role.groups;
    const bool by_warps = !has_warpgroup_atom(program_) ||
                          (parts_.sums && (parts_.operands[0].read || parts_.operands[1].read));
    Arrivals made{consumer(), Agent::warpgroup, threads / threads_of_warpgroup};
    if (by_warps) made = {consumer(), Agent::warp, threads / threads_of_warp};
    if (parts_.sums && each.has(Completion::mbarrier))
      made.blocks = program_.grid->cluster[0] * program_.grid->cluster[1];
    return made;
  }

  // Each block of the cluster gives the others their part of the sums of a tile, and says when it
  // has read what it was given. A block that has one tile is given something once.
  void sums(PipelineId id) {
    filled_apart("given", id);
    if (!program_.warpgroups || program_.warpgroups->sms == 0) return;
    const Pipeline& each = made_.pipeline(id);
    made_.barriers.push_back({"taken",
                              Barrier::Use::drained,
                              Barrier::Scope::cluster,
                              each.stages * each.apart,
                              {{consumer(), Agent::warp, warps_of_warpgroup, parts_.sums->parts}},
                              false,
                              consumer(),
                              id});
    write_and_read(id, "give", consumer(), 1, "take");
  }

  // The barrier of stages that warps or warpgroups of the consumer have apart: a thread of each
  // announces the bytes that are copied to its own.
  void filled_apart(const char* name, PipelineId id) {
    const Pipeline& each = made_.pipeline(id);
    made_.barriers.push_back({name,
                              Barrier::Use::filled,
                              Barrier::Scope::block,
                              each.stages * each.apart,
                              {{consumer(), Agent::thread, 1}},
                              true,
                              consumer(),
                              id});
  }

  // The ring of the role that writes the stages, and that of the consumer, which reads them.
  void write_and_read(PipelineId id, const std::string& write, RoleId writer, int phase,
                      const std::string& read) {
    const int stages = made_.pipeline(id).stages;
    made_.rings.push_back({write, Ring::Use::write, writer, stages, phase, id});
    made_.rings.push_back({read, Ring::Use::read, consumer(), stages, 0, id});
  }

  // Groups of consumers, and those that a chain of products has, issue their products one after the
  // other, so that one computes while the tensor cores work for another. A slot each, at which the
  // warps of the one before arrive.
  void turns() {
    if (!program_.warpgroups || !has_warpgroup_atom(program_)) return;
    const Role& role = made_.role(consumer());
    const bool chain = program_.is_chain();
    const int groups = chain ? program_.warpgroups->consumers : role.groups;
    if (groups == 1) return;
    Barrier turn{chain ? "turn" : "pingpong", Barrier::Use::turn};
    turn.slots = groups;
    turn.arrivals.push_back({consumer(), Agent::warp, role.threads / groups / threads_of_warp});
    turn.waits = consumer();
    made_.barriers.push_back(std::move(turn));
    // A group of consumers walks past the tiles of the others; a chain has all tiles in all groups.
    made_.rings.push_back(
        {chain ? "turns" : "pingpong_turn", Ring::Use::turn, consumer(), chain ? 1 : groups});
  }

  // The readers of inputs copy the next ones themselves, when they have read.
  void inputs(PipelineId id) {
    filled_apart("arrived", id);
    write_and_read(id, "load_input", consumer(), 0, "arrive");
  }

  // Threads that store a part meet before it is copied out: those of a warp, or of a warpgroup at a
  // barrier of its own, since the producer stores none and other consumers are at other tiles.
  void outputs(PipelineId id) {
    const Pipeline& each = made_.pipeline(id);
    const bool by_warps = each.apart > program_.warpgroups->consumers;
    Barrier stored{"stored", Barrier::Use::stored,
                   by_warps ? Barrier::Scope::warp : Barrier::Scope::warpgroup};
    stored.slots = each.apart;
    stored.arrivals.push_back(
        {consumer(), Agent::thread, by_warps ? threads_of_warp : threads_of_warpgroup});
    stored.waits = consumer();
    stored.pipeline = id;
    made_.barriers.push_back(std::move(stored));
    // Where the stages do not divide the parts of a tile, the next tile does not begin with the
    // first. Blocks that share sums wait for all stores of a tile before the next.
    const int width = (*program_.tile(each.tiles.front().tile).shared->part)[1];
    if (parts_.sums->parts == 1 && parts_of_sums(width) % each.stages != 0)
      made_.rings.push_back({"out", Ring::Use::write, consumer(), each.stages, 0, id});
  }

  // Each warpgroup that multiplies leaves its sums of a part to those of the same number in the
  // other clusters, and counts. It waits for no other.
  void tail() {
    if (!parts_.sums || parts_.sums->tail == 1) return;
    Barrier counted{"counted", Barrier::Use::counted, Barrier::Scope::warpgroup};
    counted.slots = program_.warpgroups->consumers;
    counted.arrivals.push_back({consumer(), Agent::thread, threads_of_warpgroup});
    counted.waits = consumer();
    made_.barriers.push_back(std::move(counted));
  }

  // Parts of a tile's sums that a warpgroup stores one after the other: those of an atom's columns,
  // of which the last may be narrower, and of each atom.
  int parts_of_sums(int width) const {
    const auto& shape = parts_.mma->atom->shape;
    const int warpgroups = program_.threads->threads() / threads_of_warpgroup;
    const int atoms = program_.axis(row_axis).tile * program_.axis(column_axis).tile /
                      (warpgroups * shape[0] * shape[1]);
    return atoms * ((shape[1] + width - 1) / width);
  }

  // Blocks that share rows send each other what they have of them, once a tile of rows.
  void reductions() {
    if (!program_.threads || program_.threads->blocks() == 1) return;
    for_each(program_.body, [&](const Stmt& stmt) {
      const auto* reduce = std::get_if<Reduce>(&stmt.node);
      if (!reduce) return;
      Barrier joined{"arrived_" + program_.tile(reduce->out).name, Barrier::Use::joined};
      joined.arrivals.push_back({consumer(), Agent::thread, 1});
      joined.bytes = true;
      joined.slots = exchange_slots(program_);
      joined.tile = reduce->out;
      made_.barriers.push_back(std::move(joined));
    });
  }

  // The threads of a block wait for each other, and the blocks of a cluster: mbarriers are
  // initialised before another block arrives at them.
  void all_meet() {
    const auto meet = [&](const char* name, Barrier::Scope scope) {
      made_.barriers.push_back({name, Barrier::Use::met, scope});
    };
    const int blocks = blocks_of_cluster();
    const bool are_all = made_.roles.size() == 1 || blocks == 1 || !has_warpgroup_atom(program_);
    if (are_all && needs_block_barrier()) meet("all", Barrier::Scope::block);
    if (blocks > 1 && made_.has_mbarriers()) meet("blocks", Barrier::Scope::cluster);
  }

  void fences() {
    if (made_.has_mbarriers()) made_.fences.push_back({});
    int number = 0;
    for_each(program_.body, [&](const Stmt& stmt) {
      const int here = number++;
      const auto add = [&](Fence::Use use) { made_.fences.push_back({use, role_of(here), here}); };
      if (is_by_warpgroups(stmt)) add(Fence::Use::registers);
      const auto* copy = std::get_if<Copy>(&stmt.node);
      if (copy && is_stored_in_bulk(copy->src)) add(Fence::Use::stored);
    });
  }

  bool is_stored_in_bulk(TileId id) const {
    return std::ranges::any_of(made_.pipelines, [&](const Pipeline& each) {
      return std::ranges::any_of(each.tiles, [&](const StagedTile& staged) {
        return staged.tile == id && staged.completion == Completion::bulk;
      });
    });
  }

  // The role of a statement that is no loop.
  RoleId role_of(int statement) const {
    const auto found = std::ranges::find_if(made_.roles, [&](const Role& each) {
      return std::ranges::binary_search(each.statements, statement);
    });
    return static_cast<RoleId>(found - made_.roles.begin());
  }

  int blocks_of_cluster() const {
    if (parts_.sums)
      return program_.grid->cluster[0] * program_.grid->cluster[1] * parts_.sums->parts;
    return program_.threads ? program_.threads->blocks() : 1;
  }

  // Products store stages that other threads read; rows that several warps share are joined through
  // shared memory.
  bool needs_block_barrier() const {
    if (program_.has_products()) return true;
    if (program_.is_elementwise())
      return std::ranges::any_of(program_.tiles,
                                 [](const Tile& each) { return each.space == Space::shared; });
    return column_threads(*program_.threads).warps > 1;
  }

  const Program& program_;
  ProductParts parts_;  // of a product; of others empty
  Specialised made_;
};

}  // namespace

int Barrier::arrivals_of_phase() const {
  int all = 0;
  for (const Arrivals& each : arrivals) all += each.count * each.blocks;
  return all;
}

PipelineId Specialised::moving(Pipeline::Moves moves, std::optional<Completion> by) const {
  const auto found = std::ranges::find_if(pipelines, [&](const Pipeline& each) {
    return each.moves == moves && (!by || each.has(*by));
  });
  return found == pipelines.end() ? -1 : static_cast<PipelineId>(found - pipelines.begin());
}

PipelineId Specialised::holding(TileId tile) const {
  const auto found = std::ranges::find_if(pipelines, [&](const Pipeline& each) {
    return std::ranges::find(each.tiles, tile, &StagedTile::tile) != each.tiles.end();
  });
  return found == pipelines.end() ? -1 : static_cast<PipelineId>(found - pipelines.begin());
}

const Barrier* Specialised::barrier(Barrier::Use use, PipelineId pipeline) const {
  const auto found = std::ranges::find_if(
      barriers, [&](const Barrier& each) { return each.use == use && each.pipeline == pipeline; });
  return found == barriers.end() ? nullptr : &*found;
}

const Ring* Specialised::ring(Ring::Use use, PipelineId pipeline) const {
  const auto found = std::ranges::find_if(
      rings, [&](const Ring& each) { return each.use == use && each.pipeline == pipeline; });
  return found == rings.end() ? nullptr : &*found;
}

bool Specialised::has_mbarriers() const {
  return std::ranges::any_of(barriers, &Barrier::is_mbarrier);
}

bool Specialised::has_fence(Fence::Use use) const {
  return std::ranges::find(fences, use, &Fence::use) != fences.end();
}

Specialised specialise(const Program& program, std::vector<Pipeline> pipelines) {
  return Specialiser(program, std::move(pipelines)).run();
}

Specialised specialised(const Program& program) {
  Specialised made = specialise(program, pipeline(program));
  verify_after("specialise", program, made);
  return made;
}

}  // namespace lay::tile
