#include "backend/tile/roles/verify_roles.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>

#include "backend/tile/products/product.h"
#include "backend/tile/text/print.h"

namespace lay::tile {

namespace {

// Limits of every GPU.
constexpr int registers_of_sm = 65536, registers_of_thread = 256, named_barriers = 15;

using Moves = Pipeline::Moves;
using Rank = std::array<int, 3>;  // of a block in its cluster: along rows, columns, parts of a loop

class RolesVerifier {
 public:
  RolesVerifier(const Program& program, const Specialised& specialised)
      : program_(program), said_(specialised) {
    if (program.is_product()) parts_ = parts_of(program);
  }

  std::vector<Problem> run() {
    pipelines();
    if (!has_roles()) return std::move(problems_);
    threads();
    statements();
    registers();
    for (const Barrier& each : said_.barriers) barrier(each);
    for (const Ring& each : said_.rings) ring(each);
    fences();
    return std::move(problems_);
  }

 private:
  void problem(const char* code, std::string message, std::string statement = "") {
    problems_.push_back({code, std::move(message), std::move(statement)});
  }

  // ---- pipelines

  void pipelines() {
    std::map<TileId, int> held;
    for (const Pipeline& each : said_.pipelines) {
      for (const StagedTile& staged : each.tiles) {
        const Tile& tile = program_.tile(staged.tile);
        if (each.moves == Moves::sums) continue;
        ++held[staged.tile];
        if (!tile.shared)
          problem("pipeline-tile", "`" + tile.name + "` is not in shared memory");
        else if (tile.shared->stages != each.stages)
          problem("pipeline-stages",
                  "`" + tile.name + "` has " + std::to_string(tile.shared->stages) +
                      " stages, and its pipeline " + std::to_string(each.stages));
      }
      if (each.stages < 1 || each.late < 0 || each.late >= each.stages)
        problem("pipeline-stages", "`" + each.name + "` has " + std::to_string(each.stages) +
                                       " stages, of which readers hold " +
                                       std::to_string(each.late) + " more");
      for (const StagedTile& staged : each.tiles) blocks(each, staged);
    }
    // Elements of an elementwise program are written once.
    if (program_.is_elementwise()) return;
    for (std::size_t i = 0; i < program_.tiles.size(); ++i) {
      const Tile& tile = program_.tiles[i];
      const int found = held[static_cast<TileId>(i)];
      if (tile.space == Space::shared && found != 1)
        problem("pipeline-tile",
                "`" + tile.name + "` is in " + std::to_string(found) + " pipelines, expected 1");
    }
  }

  // Returns true if the block of this rank has the same coordinates of the tile as the first block
  // of the cluster, whose parts of it so reach that block.
  bool is_reached(const Pipeline& pipeline, const StagedTile& staged, const Rank& rank) const {
    const Tile& tile = program_.tile(staged.tile);
    // The sums of a tile are those of all parts of the loop.
    if (pipeline.moves == Moves::sums) return rank[0] == 0 && rank[1] == 0;
    // Threads write to their own block, and behind the sums each block has a tile of its own.
    const bool is_multicast =
        pipeline.moves == Moves::operands && tile.shared && tile.shared->by_tma();
    if (!is_multicast) return rank == Rank{};
    // A tile of the rows is the same in the blocks along the columns, and the other way round.
    const auto differs = [&](AxisId axis) {
      const bool runs = std::ranges::find(tile.axes, axis) != tile.axes.end();
      return runs && rank[static_cast<std::size_t>(axis)] != 0;
    };
    return rank[2] == 0 && !differs(row_axis) && !differs(column_axis);
  }

  void blocks(const Pipeline& pipeline, const StagedTile& staged) {
    int reached = 0;
    for (const Rank& rank : ranks()) reached += is_reached(pipeline, staged, rank);
    if (staged.blocks != reached)
      problem("pipeline-tile", "`" + program_.tile(staged.tile).name + "` has parts from " +
                                   std::to_string(staged.blocks) + " blocks, and " +
                                   std::to_string(reached) + " share it");
  }

  // ---- roles

  // Returns true if arrivals can be counted over the roles and their groups.
  bool has_roles() {
    if (said_.roles.empty()) problem("role-threads", "there are no roles");
    bool all = !said_.roles.empty();
    for (const Role& each : said_.roles) {
      if (each.groups >= 1) continue;
      problem("role-threads", "`" + each.name + "` has " + std::to_string(each.groups) +
                                  " groups, expected at least 1");
      all = false;
    }
    return all;
  }

  int threads_of_block() const {
    if (program_.grid) return program_.grid->threads;
    return program_.warpgroups ? program_.warpgroups->threads() : program_.threads->threads();
  }

  void threads() {
    std::vector<int> roles(static_cast<std::size_t>(threads_of_block()));
    for (const Role& each : said_.roles) {
      if (each.threads % each.groups != 0)
        problem("role-threads", "`" + each.name + "` has no groups of equal threads");
      for (int t = each.first; t < each.first + each.threads; ++t) {
        if (t < 0 || t >= threads_of_block())
          return problem("role-threads", "`" + each.name + "` has thread " + std::to_string(t) +
                                             ", and the block has " +
                                             std::to_string(threads_of_block()));
        ++roles[static_cast<std::size_t>(t)];
      }
    }
    for (std::size_t t = 0; t < roles.size(); ++t)
      if (roles[t] != 1)
        return problem("role-threads", "thread " + std::to_string(t) + " has " +
                                           std::to_string(roles[t]) + " roles, expected 1");
  }

  // Returns the roles of the statements of a block, which are numbered from `number` on.
  std::set<RoleId> roles_of(const Block& block, int& number) {
    std::set<RoleId> all;
    for (const Stmt& stmt : block) {
      const int here = number++;
      std::set<RoleId> roles;
      for (std::size_t i = 0; i < said_.roles.size(); ++i) {
        const auto& statements = said_.roles[i].statements;
        if (std::ranges::find(statements, here) != statements.end())
          roles.insert(static_cast<RoleId>(i));
      }
      if (const auto* loop = std::get_if<For>(&stmt.node)) {
        if (roles != roles_of(loop->body, number))
          problem("role-statements", "a loop has other roles than what is in it",
                  print_first_line(program_, stmt));
      } else if (roles.size() != 1) {
        problem("role-statements",
                "a statement has " + std::to_string(roles.size()) + " roles, expected 1",
                print_first_line(program_, stmt));
      }
      all.insert(roles.begin(), roles.end());
    }
    return all;
  }

  void statements() {
    int number = 0;
    roles_of(program_.body, number);
  }

  void registers() {
    std::int64_t all = 0;
    for (const Role& each : said_.roles) {
      if (each.registers % 8 != 0 || each.registers > registers_of_thread)
        problem("role-registers", "`" + each.name + "` has " + std::to_string(each.registers) +
                                      " registers, expected eights up to 256");
      all += std::int64_t{each.threads} * each.registers;
    }
    if (all * program_.blocks_per_sm > registers_of_sm)
      problem("role-registers", "the roles of " + std::to_string(program_.blocks_per_sm) +
                                    " blocks have " + std::to_string(all * program_.blocks_per_sm) +
                                    " registers, and an SM 65536");
  }

  // ---- barriers

  std::vector<Rank> ranks() const {
    std::array<int, 3> extents{1, 1, 1};
    if (parts_.sums)
      extents = {program_.grid->cluster[0], program_.grid->cluster[1], parts_.sums->parts};
    std::vector<Rank> all;
    for (int p = 0; p < extents[2]; ++p)
      for (int n = 0; n < extents[1]; ++n)
        for (int m = 0; m < extents[0]; ++m) all.push_back({m, n, p});
    return all;
  }

  // Threads that are the first of `each` of one group of the role.
  int first_threads(const Role& role, int each) const {
    int count = 0;
    for (int t = 0; t < role.threads / role.groups; ++t) count += t % each == 0;
    return count;
  }

  // Threads of one block that arrive for a stage which they have read: one of each warp that has
  // read it to registers, else one of each warpgroup, whose instruction reads it.
  int readers_of_block() const {
    bool to_registers = !has_warpgroup_atom(program_);
    for (const ProductParts::Operand& each : parts_.operands)
      to_registers = to_registers || each.read;
    return first_threads(said_.roles.back(), to_registers ? 32 : 128);
  }

  // Counts the arrivals at the first block of the cluster for a stage that has been read: those of
  // its readers, and where TMA copies, of the readers of all blocks with the same part of the loop.
  int arrivals_of_readers(const Pipeline& pipeline) const {
    const bool by_tma = std::ranges::any_of(pipeline.tiles, [&](const StagedTile& each) {
      const auto& shared = program_.tile(each.tile).shared;
      return shared && shared->by_tma();
    });
    int arrivals = 0;
    for (const Rank& rank : ranks())
      if (rank == Rank{} || (by_tma && rank[2] == 0)) arrivals += readers_of_block();
    return arrivals;
  }

  // Threads of one slot of a barrier whose slots share the threads of the role.
  static int threads_of_slot(const Role& role, int slots) {
    int count = 0;
    for (int t = 0; t < role.threads; ++t) count += t * slots / role.threads == 0;
    return count;
  }

  int expected_arrivals(const Barrier& barrier) const {
    const Role& last = said_.roles.back();
    switch (barrier.use) {
      case Barrier::Use::filled: {
        const Pipeline& pipeline = said_.pipeline(barrier.pipeline);
        // The thread that announces the bytes, and each warp that stores.
        int writers = pipeline.has(Completion::mbarrier) ? 1 : 0;
        if (pipeline.has(Completion::barrier)) writers += first_threads(said_.roles.front(), 32);
        return writers;
      }
      case Barrier::Use::drained: {
        const Pipeline& pipeline = said_.pipeline(barrier.pipeline);
        if (pipeline.moves == Moves::operands) return arrivals_of_readers(pipeline);
        // The warps that add up a slot's sums, in every block that has been given a part of them.
        int warps = 0;
        for (const Rank& rank : ranks())
          for (int t = 0; t < threads_of_slot(last, pipeline.apart); ++t)
            warps += rank[0] == 0 && rank[1] == 0 && t % 32 == 0;
        return warps;
      }
      case Barrier::Use::turn:
        return first_threads(last, 32) * last.groups / barrier.slots;
      case Barrier::Use::joined:
        return 1;  // the thread that announces the bytes
      case Barrier::Use::stored:
      case Barrier::Use::counted:
        return threads_of_slot(last, barrier.slots);
      case Barrier::Use::met:
        return 0;
    }
    return 0;
  }

  // Copies of a stage reach blocks that must give it back before it is written again.
  void given_back(const Barrier& barrier, const Pipeline& pipeline) {
    if (barrier.use != Barrier::Use::drained || barrier.scope == Barrier::Scope::cluster) return;
    for (const StagedTile& each : pipeline.tiles)
      for (const Rank& rank : ranks())
        if (rank != Rank{} && is_reached(pipeline, each, rank))
          return problem("barrier-arrivals", "a block that `" + program_.tile(each.tile).name +
                                                 "` reaches does not give its stage back");
  }

  // Returns true if copies complete bytes at the barrier.
  bool expects_bytes(const Barrier& barrier) const {
    if (barrier.use == Barrier::Use::joined) return true;
    return barrier.use == Barrier::Use::filled &&
           said_.pipeline(barrier.pipeline).has(Completion::mbarrier);
  }

  void barrier(const Barrier& barrier) {
    const std::string name = "`" + barrier.name + "`";
    if (barrier.slots < 1) return problem("barrier-slots", name + " has no slots");
    if (barrier.pipeline >= 0) {
      const Pipeline& pipeline = said_.pipeline(barrier.pipeline);
      const bool is_counted = barrier.is_mbarrier();
      const int slots = (is_counted ? pipeline.stages : 1) * pipeline.apart;
      if (barrier.slots != slots)
        problem("barrier-slots", name + " has " + std::to_string(barrier.slots) +
                                     " slots, expected " + std::to_string(slots));
      given_back(barrier, pipeline);
    }
    const int of_rows = program_.sms > 0 ? 2 : 1;
    if (barrier.use == Barrier::Use::joined && barrier.slots != of_rows)
      problem("barrier-slots", name + " has " + std::to_string(barrier.slots) +
                                   " slots, expected " + std::to_string(of_rows));
    const bool by_bytes = expects_bytes(barrier);
    if (barrier.bytes != by_bytes)
      problem("barrier-arrivals", name + (by_bytes ? " expects no bytes, which its copies complete"
                                                   : " expects bytes, and no copy completes any"));
    const int expected = expected_arrivals(barrier);
    if (barrier.arrivals_of_phase() != expected)
      problem("barrier-arrivals", name + " expects " + std::to_string(barrier.arrivals_of_phase()) +
                                      " arrivals, and " + std::to_string(expected) + " come");
    const int met = barrier.scope == Barrier::Scope::warp ? 32 : 128;
    const bool shares = barrier.use == Barrier::Use::stored || barrier.use == Barrier::Use::counted;
    if (shares && expected != met)
      problem("barrier-arrivals", name + " is a barrier of " + std::to_string(met) +
                                      " threads, and " + std::to_string(expected) +
                                      " share a slot");
    if (barrier.scope == Barrier::Scope::warpgroup) named_ += barrier.slots;
    if (barrier.scope == Barrier::Scope::warpgroup && named_ > named_barriers)
      problem("barrier-slots", name + " has " + std::to_string(barrier.slots) +
                                   " slots, and a block 15 named barriers");
  }

  // ---- rings

  void ring(const Ring& ring) {
    const std::string name = "`" + ring.name + "`";
    if (ring.pipeline >= 0 && said_.pipeline(ring.pipeline).stages != ring.stages)
      problem("ring", name + " has " + std::to_string(ring.stages) + " stages, and its pipeline " +
                          std::to_string(said_.pipeline(ring.pipeline).stages));
    const bool waits_for_empty = ring.use == Ring::Use::write && ring.pipeline >= 0 &&
                                 said_.barrier(Barrier::Use::drained, ring.pipeline);
    if (ring.initial_phase != (waits_for_empty ? 1 : 0))
      problem("ring", name + " begins at phase " + std::to_string(ring.initial_phase) +
                          (waits_for_empty ? ", and its stages are free" : ", and none is full"));
  }

  // ---- fences

  // What a statement reads by another way than threads write: registers by an atom of warpgroups,
  // shared memory by TMA.
  std::optional<Fence::Use> reads_behind(const Stmt& stmt) const {
    if (is_by_warpgroups(stmt)) return Fence::Use::registers;
    const auto* copy = std::get_if<Copy>(&stmt.node);
    if (!copy || program_.tile(copy->dst).space != Space::global) return {};
    const auto& shared = program_.tile(copy->src).shared;
    return shared && shared->by_tma() ? std::optional(Fence::Use::stored) : std::nullopt;
  }

  void fences() {
    std::size_t expected = 0;
    // Those of the use before the statement, by a role that runs it.
    const auto count = [&](Fence::Use use, int statement) {
      ++expected;
      return std::ranges::count_if(said_.fences, [&](const Fence& each) {
        if (each.use != use || each.statement != statement) return false;
        if (statement < 0) return each.role < 0;
        if (each.role < 0 || each.role >= static_cast<RoleId>(said_.roles.size())) return false;
        const auto& runs = said_.role(each.role).statements;
        return std::ranges::find(runs, statement) != runs.end();
      });
    };
    if (said_.has_mbarriers() && count(Fence::Use::initialised, -1) != 1)
      problem("fence", "mbarriers are seen without a fence behind their initialisation");
    int number = 0;
    for_each(program_.body, [&](const Stmt& stmt) {
      const int here = number++;
      const auto use = reads_behind(stmt);
      if (use && count(*use, here) != 1)
        problem("fence", "a statement reads what threads have written, without a fence before it",
                print_first_line(program_, stmt));
    });
    if (said_.fences.size() != expected)
      problem("fence", "there are " + std::to_string(said_.fences.size()) + " fences, expected " +
                           std::to_string(expected));
  }

  const Program& program_;
  const Specialised& said_;
  ProductParts parts_;  // of a product; of others empty
  int named_ = 0;       // barriers, so far
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> verify(const Program& program, const Specialised& specialised) {
  return RolesVerifier(program, specialised).run();
}

void verify_after(std::string_view pass, const Program& program, const Specialised& specialised) {
  const auto problems = verify(program, specialised);
  if (problems.empty()) return;
  const Problem& first = problems.front();
  throw std::logic_error("internal: the roles of the tile program are broken after `" +
                         std::string(pass) + "`: " + first.message + " (" + first.code + ")" +
                         (first.statement.empty() ? "" : " in `" + first.statement + "`"));
}

}  // namespace lay::tile
