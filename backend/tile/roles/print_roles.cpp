#include "backend/tile/roles/print_roles.h"

#include <algorithm>

#include "backend/tile/text/statement_text.h"

namespace lay::tile {

namespace {

std::string counted(int count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// ---- pipelines

std::string_view how(Completion completion) {
  switch (completion) {
    case Completion::barrier:
      return "by threads";
    case Completion::group:
      return "by cp.async";
    case Completion::mbarrier:
    case Completion::bulk:
      return "by TMA";
  }
  return "";
}

std::string rounds_text(const Program& program, const Pipeline& pipeline) {
  if (pipeline.moves == Pipeline::Moves::sums) return "sums of a tile";
  if (pipeline.axis < 0)
    return pipeline.moves == Pipeline::Moves::operands ? "tiles once" : "parts of the sums";
  return "tiles of " + program.axis(pipeline.axis).name;
}

std::string pipeline_text(const Program& program, const Pipeline& pipeline) {
  using Moves = Pipeline::Moves;
  std::string text = "  pipeline " + pipeline.name + ": " + rounds_text(program, pipeline) +
                     " in " + counted(pipeline.stages, "stage");
  if (pipeline.ahead() > 0) text += ", " + std::to_string(pipeline.ahead()) + " ahead";
  if (pipeline.late > 0) text += ", given back a round late";
  if (pipeline.apart > 1) text += ", " + std::to_string(pipeline.apart) + " apart";
  text += "\n";
  for (const StagedTile& each : pipeline.tiles) {
    text += "    " + program.tile(each.tile).name;
    if (pipeline.moves == Moves::sums) {
      text += " to the other blocks, of " + std::to_string(each.blocks) + "\n";
      continue;
    }
    if (pipeline.moves == Moves::outputs) text += " to global memory";
    text += " " + std::string(how(each.completion));
    if (each.blocks > 1) text += ", a part from each of " + counted(each.blocks, "block");
    text += "\n";
  }
  return text;
}

// ---- roles

std::string first_lines_of(const Program& program, const Role& role) {
  const ValueText values(program);
  HeldValues held(program);
  std::string text;
  int number = 0;
  const auto walk = [&](const auto& self, const Block& block, int depth) -> void {
    const std::string blanks(static_cast<std::size_t>(2 * depth), ' ');
    for (const Stmt& stmt : block) {
      const bool runs = std::ranges::find(role.statements, number++) != role.statements.end();
      if (runs) text += blanks + first_line(program, values, held, stmt) + "\n";
      if (const auto* loop = std::get_if<For>(&stmt.node)) {
        held.enter(*loop);
        self(self, loop->body, depth + 1);
        held.leave();
        if (runs) text += blanks + "}\n";
      } else {
        held.after(stmt);
      }
    }
  };
  walk(walk, program.body, 2);
  return text;
}

std::string role_text(const Program& program, const Role& role) {
  std::string text = "  role " + role.name + ": threads " + std::to_string(role.first) + " to " +
                     std::to_string(role.first + role.threads - 1);
  if (role.registers > 0) text += ", " + std::to_string(role.registers) + " registers";
  if (role.groups > 1)
    text += ", " + std::to_string(role.groups) + " groups of " +
            std::to_string(role.threads / role.groups) + " take tiles in turn";
  return text + "\n" + first_lines_of(program, role);
}

std::string kind_text(const Barrier& barrier) {
  using Scope = Barrier::Scope;
  if (barrier.is_mbarrier())
    return barrier.scope == Scope::cluster ? "mbarrier over the cluster" : "mbarrier";
  switch (barrier.scope) {
    case Scope::warp:
      return "syncwarp";
    case Scope::warpgroup:
      return "named barrier";
    case Scope::block:
      return "syncthreads";
    case Scope::cluster:
      return "cluster barrier";
  }
  return "";
}

std::string agent_text(Agent agent) {
  return agent == Agent::thread ? "thread" : agent == Agent::warp ? "warp" : "warpgroup";
}

// ", 4 slots, 2 arrivals: 1 warpgroup of consumer in each of 2 blocks"
std::string arrivals_text(const Specialised& specialised, const Barrier& barrier) {
  std::string text;
  if (barrier.slots > 1) text += ", " + std::to_string(barrier.slots) + " slots";
  if (barrier.arrivals.empty()) return text;
  text += ", " + counted(barrier.arrivals_of_phase(), "arrival");
  std::string from;
  for (const Arrivals& each : barrier.arrivals) {
    from += (from.empty() ? ": " : ", ") + counted(each.count, agent_text(each.agent)) + " of " +
            specialised.role(each.role).name;
    if (each.blocks > 1) from += " in each of " + counted(each.blocks, "block");
  }
  return text + from + (barrier.bytes ? ", and the bytes" : "");
}

std::string of_pipeline(const Specialised& specialised, PipelineId id) {
  return id < 0 ? "" : " of " + specialised.pipeline(id).name;
}

std::string purpose(const Program& program, const Specialised& specialised,
                    const Barrier& barrier) {
  const std::string of = of_pipeline(specialised, barrier.pipeline);
  const std::string& role = specialised.role(barrier.waits).name;
  const std::string wait = specialised.roles.size() == 1 ? "all threads wait" : role + " waits";
  switch (barrier.use) {
    case Barrier::Use::filled:
      return wait + " until a stage" + of + " is complete";
    case Barrier::Use::drained:
      return wait + " until a stage" + of + " has been read";
    case Barrier::Use::stored:
      return wait + " until a part" + of + " is in shared memory";
    case Barrier::Use::turn:
      return wait + " until its group may issue products";
    case Barrier::Use::joined:
      return wait + " for " + program.tile(barrier.tile).name + " of all blocks";
    case Barrier::Use::counted:
      return wait + " until it has counted a part of the tail";
    case Barrier::Use::met:
      return "all threads meet";
  }
  return "";
}

std::string barrier_text(const Program& program, const Specialised& specialised,
                         const Barrier& barrier) {
  return "  barrier " + barrier.name + ": " + purpose(program, specialised, barrier) + "\n    " +
         kind_text(barrier) + arrivals_text(specialised, barrier) + "\n";
}

std::string ring_text(const Specialised& specialised, const Ring& ring) {
  const std::string stage = "stage" + of_pipeline(specialised, ring.pipeline);
  const auto what = [&]() -> std::string {
    switch (ring.use) {
      case Ring::Use::write:
        return "the " + stage + " to write";
      case Ring::Use::read:
        return "the " + stage + " to read";
      case Ring::Use::release:
        return "the " + stage + " to give back";
      case Ring::Use::turn:
        return "the group whose products are next";
      case Ring::Use::direction:
        return "in phase 1 the loop runs backwards";
    }
    return "";
  };
  return "  ring " + ring.name + " of " + specialised.role(ring.role).name + ": " + what() + ", " +
         counted(ring.stages, "stage") + " from phase " + std::to_string(ring.initial_phase) + "\n";
}

std::string fence_text(const Program& program, const Specialised& specialised, const Fence& fence) {
  if (fence.use == Fence::Use::initialised)
    return "  fence: mbarriers are initialised before the cluster and TMA see them\n"
           "    fence.mbarrier_init\n";
  TileId tile = -1;
  int number = 0;
  for_each(program.body, [&](const Stmt& stmt) {
    if (number++ != fence.statement) return;
    if (const auto* mma = std::get_if<Mma>(&stmt.node)) tile = mma->out;
    if (const auto* copy = std::get_if<Copy>(&stmt.node)) tile = copy->src;
  });
  const std::string name = program.tile(tile).name;
  const std::string text = "  fence of " + specialised.role(fence.role).name + ": ";
  if (fence.use == Fence::Use::stored)
    return text + "a part of " + name + " is stored before TMA reads it\n    fence.proxy.async\n";
  return text + "registers are written before wgmma adds to " + name + "\n    wgmma.fence\n";
}

}  // namespace

std::string print_pipelines(const Program& program, const std::vector<Pipeline>& pipelines) {
  const std::string& name = program.kernel->name;
  if (pipelines.empty()) return "no pipelines of " + name + ": nothing is copied ahead\n";
  std::string text = "pipelines of " + name + "\n";
  for (const Pipeline& each : pipelines) text += pipeline_text(program, each);
  return text;
}

std::string print_roles(const Program& program, const Specialised& specialised) {
  std::string text = "roles of " + program.kernel->name + "\n";
  for (const Role& each : specialised.roles) text += role_text(program, each);
  for (const Barrier& each : specialised.barriers) text += barrier_text(program, specialised, each);
  for (const Ring& each : specialised.rings) text += ring_text(specialised, each);
  for (const Fence& each : specialised.fences) text += fence_text(program, specialised, each);
  return text;
}

}  // namespace lay::tile
