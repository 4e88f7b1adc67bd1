#include <algorithm>
#include <set>

#include "backend/ir/text/text.h"
#include "backend/ir/verify/verifier.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::ir {

void Verifier::barriers() {
  std::set<int> numbers;
  for (const Barrier& barrier : kernel_.barriers) {
    const std::string name = quoted_name(barrier.name);
    const bool array = barrier.kind == BarrierKind::mbarrier || barrier.kind == BarrierKind::named;
    if (barrier.slots < 1 || (barrier.slots != 1 && !array)) {
      problem("barrier", name + " has " + std::to_string(barrier.slots) + " slots");
    }
    if (barrier.kind == BarrierKind::mbarrier &&
        (barrier.count < 1 || barrier.count > (1 << 20) - 1)) {
      problem("barrier", name + " completes after " + std::to_string(barrier.count) + " arrivals");
    }
    if (barrier.kind != BarrierKind::named) continue;
    for (int number = barrier.id; number < barrier.id + std::clamp(barrier.slots, 1, 16);
         ++number) {
      if (number < 1 || number > 15) {
        problem("barrier",
                name + " has number " + std::to_string(number) + "; named barriers are 1 to 15");
      }
      if (!numbers.insert(number).second) {
        problem("barrier", name + " has number " + std::to_string(number) + ", as another has");
      }
    }
    if (barrier.count < 32 || barrier.count % 32 != 0 || barrier.count > kernel_.launch.threads) {
      problem("barrier", name + " waits for " + std::to_string(barrier.count) + " threads, of " +
                             std::to_string(kernel_.launch.threads) + " in whole warps");
    }
  }
}

void Verifier::slot(BarrierId id, ExprId slot) {
  const Barrier& barrier = kernel_.barrier(id);
  const bool one = barrier.kind != BarrierKind::mbarrier && barrier.slots == 1;
  if (one) {
    if (slot) problem("barrier-slot", quoted_name(barrier.name) + " has no slots");
    return;
  }
  use_integer(slot, "the slot");
  if (!slot) return;
  const auto& node = kernel_.expr(slot).node;
  if (const auto* constant = std::get_if<Constant>(&node)) {
    const std::int64_t value = std::get<std::int64_t>(constant->value);
    if (value < 0 || value >= barrier.slots) {
      problem("barrier-slot", "slot " + std::to_string(value) + " of " + quoted_name(barrier.name) +
                                  ", which has " + std::to_string(barrier.slots));
    }
  }
  if (const auto* ring = std::get_if<RingSlot>(&node)) {
    const Ring& declared = kernel_.ring(ring->ring);
    if (declared.stages > barrier.slots) {
      problem("barrier-slot", quoted_name(declared.name) + " has " +
                                  std::to_string(declared.stages) + " stages and " +
                                  quoted_name(barrier.name) + " " + std::to_string(barrier.slots) +
                                  " slots");
    }
  }
}

void Verifier::check(const Sync& sync) {
  const Barrier& barrier = kernel_.barrier(sync.barrier);
  const std::string name = quoted_name(barrier.name);
  const BarrierKind expected = barrier_kind(sync.operation);
  if (barrier.kind != expected) {
    const auto kind = [](BarrierKind of) { return std::string(text::kBarriers[of]); };
    return problem("barrier-operation", std::string(text::kSyncs[sync.operation.index()]) +
                                            ": expected a barrier of kind " + kind(expected) +
                                            ", got " + name + " of kind " + kind(barrier.kind));
  }
  slot(sync.barrier, sync.slot);
  std::visit(overloaded{
                 [&](const WaitMbarrier& wait) { use_integer(wait.phase, "the phase"); },
                 [&](const ArriveExpectBytes& arrive) {
                   use_integer(arrive.bytes, "the number of bytes");
                 },
                 [&](const ArriveMbarrier& arrive) {
                   if (arrive.block) use_integer(arrive.block, "the remote block");
                 },
                 [](const auto&) {},
             },
             sync.operation);
  convergence(sync, barrier);
}

// bar.sync and barrier.cluster with .aligned are executed by all lanes of a warp (PTX ISA,
// "bar{.cta}", "barrier.cluster"); a block barrier by all threads of the block.
void Verifier::convergence(const Sync& sync, const Barrier& barrier) {
  const std::string name = quoted_name(barrier.name);
  if (barrier.kind == BarrierKind::named) named(barrier, sync.slot);
  if (barrier.kind == BarrierKind::cluster) needs(Uniformity::warp, name);
  if (barrier.kind != BarrierKind::block) return;
  needs(Uniformity::block, name);
  if (role_ != nullptr && role_->threads != kernel_.launch.threads) {
    problem("barrier-divergence", name + " waits for all threads and is in role " +
                                      quoted_name(role_->name) + " of " +
                                      std::to_string(role_->threads));
  }
}

void Verifier::named(const Barrier& barrier, ExprId slot) {
  const std::string name = quoted_name(barrier.name);
  needs(Uniformity::warp, name);
  if (!slot || uniform(slot) >= Uniformity::warp) return;
  problem("barrier-divergence", "the slot of " + name + " is not the same for all lanes of a warp");
}

// The threads that meet see one value. They are a warpgroup where all of it comes to one slot that
// counts no others.
void Verifier::check(const SyncAny& sync) {
  const Barrier& barrier = kernel_.barrier(sync.barrier);
  if (barrier.kind != BarrierKind::named)
    return problem("barrier-operation", "any: expected a barrier of kind named, got " +
                                            quoted_name(barrier.name) + " of kind " +
                                            std::string(text::kBarriers[barrier.kind]));
  use(sync.value, "the value", ElementType::pred);
  slot(sync.barrier, sync.slot);
  named(barrier, sync.slot);
  constexpr int warpgroup = 128;
  const bool of_warpgroup =
      barrier.count == warpgroup && control_ >= Uniformity::warpgroup &&
      (!sync.slot || uniform(sync.slot) >= Uniformity::warpgroup) &&
      (role_ == nullptr || (role_->first % warpgroup == 0 && role_->threads % warpgroup == 0));
  bind(sync.var, ElementType::pred, of_warpgroup ? Uniformity::warpgroup : Uniformity::warp, 1,
       false);
}

void Verifier::check(const Fence& fence) {
  if (fence.kind == FenceKind::grid_dependency_wait) {
    const auto is_this = [&](const Stmt& each) { return &each == statement_; };
    if (std::none_of(kernel_.prologue.begin(), kernel_.prologue.end(), is_this))
      problem("fence", "expected grid_dependency_wait in the prologue, outside of every branch");
    grid_dependencies_done_ = true;
  }
  if (fence.kind == FenceKind::warp) needs(Uniformity::warp, "the fence");
  if (fence.kind == FenceKind::wgmma) needs(Uniformity::warpgroup, "the fence");
}

void Verifier::check(const Commit& commit) {
  if (commit.kind == GroupKind::wgmma) needs(Uniformity::warpgroup, "the commit");
}

void Verifier::check(const Wait& wait) {
  if (wait.pending < 0)
    problem("group", "a wait leaves " + std::to_string(wait.pending) + " groups in flight");
  if (wait.read && wait.kind != GroupKind::bulk)
    problem("group", "only bulk groups are waited for until they are read");
  if (wait.kind == GroupKind::wgmma) needs(Uniformity::warpgroup, "the wait");
}

}  // namespace lay::ir
