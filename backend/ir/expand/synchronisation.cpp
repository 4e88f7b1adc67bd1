#include "backend/ir/expand/synchronisation.h"

#include <algorithm>

namespace lay::ir {

Synchronisation::Synchronisation(Declared& declared, const tile::Program& program)
    : declared_(declared),
      b_(declared.b),
      said_(tile::specialised(program)),
      barriers_(said_.barriers.size()) {}

Synchronisation::Stages Synchronisation::declare(tile::PipelineId pipeline) {
  if (pipeline < 0) return {};
  const auto barrier = [&](tile::Barrier::Use use) {
    return declare(said_.barrier(use, pipeline));
  };
  const auto ring = [&](tile::Ring::Use use) { return declare(said_.ring(use, pipeline)); };
  Stages made;
  made.pipeline = &said_.pipeline(pipeline);
  made.filled = barrier(tile::Barrier::Use::filled);
  made.drained = barrier(tile::Barrier::Use::drained);
  made.stored = barrier(tile::Barrier::Use::stored);
  made.write = ring(tile::Ring::Use::write);
  made.read = ring(tile::Ring::Use::read);
  made.release = ring(tile::Ring::Use::release);
  if (const auto* drained = said_.barrier(tile::Barrier::Use::drained, pipeline))
    made.readers = drained->arrivals.front();
  return made;
}

Synchronisation::Turn Synchronisation::declare_turn() {
  return {declare(said_.barrier(tile::Barrier::Use::turn)),
          declare(said_.ring(tile::Ring::Use::turn))};
}

RingId Synchronisation::declare_direction() {
  return declare(said_.ring(tile::Ring::Use::direction));
}

BarrierId Synchronisation::declare_joined(tile::TileId reduction) {
  for (const tile::Barrier& each : said_.barriers)
    if (each.use == tile::Barrier::Use::joined && each.tile == reduction) return declare(&each);
  return {};
}

BarrierId Synchronisation::declare_counted() {
  return declare(said_.barrier(tile::Barrier::Use::counted));
}

BarrierId Synchronisation::declare_meeting(std::optional<tile::Barrier::Scope> scope) {
  const tile::Barrier* widest = nullptr;
  for (const tile::Barrier& each : said_.barriers) {
    const bool fits = each.use == tile::Barrier::Use::met && (!scope || each.scope == *scope);
    if (fits && (!widest || each.scope > widest->scope)) widest = &each;
  }
  return declare(widest);
}

BarrierId Synchronisation::declare(const tile::Barrier* barrier) {
  if (!barrier) return {};
  using Scope = tile::Barrier::Scope;
  const std::string name = declared_.name(barrier->name);
  const int arrivals = barrier->arrivals_of_phase();
  BarrierId& made = barriers_[static_cast<size_t>(barrier - said_.barriers.data())];
  if (barrier->is_mbarrier()) {
    made = b_.barrier({name, BarrierKind::mbarrier, barrier->slots, arrivals, 0});
  } else if (barrier->scope == Scope::block) {
    made = b_.block_barrier();
  } else if (barrier->scope == Scope::cluster) {
    made = b_.barrier({name, BarrierKind::cluster, barrier->slots, 0, 0});
  } else if (barrier->scope == Scope::warpgroup) {
    made = b_.barrier({name, BarrierKind::named, barrier->slots, arrivals, named_});
    named_ += barrier->slots;
  }
  return made;
}

RingId Synchronisation::declare(const tile::Ring* ring) {
  if (!ring) return {};
  return b_.ring(declared_.name(ring->name), ring->stages, ring->initial_phase);
}

void Synchronisation::initialise(tile::PipelineId pipeline) {
  initialise([&](const tile::Barrier& each) { return each.pipeline == pipeline; });
}

void Synchronisation::initialise() {
  initialise([](const tile::Barrier&) { return true; });
}

// Barriers of one pipeline have as many slots, and share a loop.
void Synchronisation::initialise(const std::function<bool(const tile::Barrier&)>& which) {
  struct Initialised {
    int slots = 1;
    std::vector<BarrierId> barriers;
  };
  std::vector<Initialised> groups;
  const tile::Barrier* before = nullptr;
  for (size_t i = 0; i < barriers_.size(); ++i) {
    const tile::Barrier& each = said_.barriers[i];
    if (!barriers_[i] || !each.is_mbarrier() || !which(each)) continue;
    const bool shares = before && each.pipeline >= 0 && each.pipeline == before->pipeline;
    if (!shares) groups.push_back({each.slots, {}});
    groups.back().barriers.push_back(barriers_[i]);
    before = &each;
  }
  // One lane initialises; the caller's barrier makes it visible to the threads of the block.
  b_.when(b_.special(Builtin::warp) == 0, [&] {
    b_.elect([&] {
      for (const Initialised& each : groups)
        b_.loop("s", b_.constant(std::int64_t{0}), b_.constant(std::int64_t{each.slots}),
                {.unrolled = true}, [&](Term slot) {
                  for (const BarrierId barrier : each.barriers)
                    b_.sync(barrier, slot, InitMbarrier{});
                });
      fence(tile::Fence::Use::initialised);
    });
  });
}

void Synchronisation::fence(tile::Fence::Use use) {
  if (!said_.has_fence(use)) return;
  switch (use) {
    case tile::Fence::Use::initialised:
      return b_.emit(Fence{FenceKind::mbarrier_init});
    case tile::Fence::Use::stored:
      return b_.emit(Fence{FenceKind::proxy_async});
    case tile::Fence::Use::registers:
      return b_.emit(Fence{FenceKind::wgmma});
  }
}

int Synchronisation::threads() const {
  int all = 0;
  for (const tile::Role& each : said_.roles) all += each.threads;
  return all;
}

void Synchronisation::role(tile::RoleId role, const std::function<void()>& body) {
  const tile::Role& said = said_.role(role);
  b_.role(said.name, said.first, said.threads, body,
          said.registers > 0 ? std::optional(said.registers) : std::nullopt);
}

}  // namespace lay::ir
