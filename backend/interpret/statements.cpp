#include "backend/interpret/statements.h"

#include <algorithm>

#include "backend/interpret/access.h"
#include "backend/interpret/async/async.h"
#include "backend/interpret/async/barriers.h"
#include "backend/interpret/async/count.h"
#include "backend/interpret/async/remote.h"
#include "backend/interpret/async/tma.h"
#include "backend/interpret/control.h"
#include "backend/interpret/mma/atoms.h"
#include "backend/interpret/mma/multiply.h"
#include "backend/interpret/mma/rows.h"
#include "backend/interpret/values/shuffle.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::interpret {

void Statements::block(const ir::Block& block) {
  for (const ir::Stmt& stmt : block) statement(stmt);
}

void Statements::scope(const ir::Block& body) {
  expr_.open();
  block(body);
  expr_.close();
}

void Statements::statement(const ir::Stmt& stmt) {
  expr_.statement(stmt);
  std::visit([this](const auto& node) { compile(node); }, stmt.node);
}

void Statements::compile(const ir::Let& let) {
  expr_.bind(let.var, expr_.value(let.value));
}

void Statements::compile(const ir::Shuffle& shuffle) {
  const ElementType type = program_.kernel->expr(shuffle.value).type;
  Instruction made{.run = interpret::shuffle(lane_type(type, program_.arithmetic)),
                   .a = expr_.value(shuffle.value)};
  made.dst = expr_.fresh();
  made.value = shuffle.lane_mask;
  expr_.emit(made);
  expr_.bind(shuffle.var, made.dst);
}

void Statements::compile(const ir::AtomicCount& count) {
  Instruction made{.run = count::add_one, .detail = static_cast<int>(program_.accesses.size())};
  Access at = expr_.access(count.at);
  program_.accesses.push_back(std::move(at));
  made.dst = expr_.fresh();
  expr_.emit(made);
  expr_.bind(count.var, made.dst);
}

void Statements::compile(const ir::SyncAny& sync) {
  Instruction made{.run = barriers::vote, .detail = sync.barrier.index};
  if (sync.slot) made.a = expr_.value(sync.slot);
  made.b = expr_.value(sync.value);
  expr_.emit(made);
  made.run = barriers::outcome;
  made.dst = expr_.fresh();
  expr_.emit(made);
  expr_.bind(sync.var, made.dst);
}

void Statements::compile(const ir::Assign& assign) {
  const int value = expr_.value(assign.value);
  Access to = expr_.access(assign.to);
  const BufferPlan& plan = program_.buffers[to.buffer];
  Instruction made{.run = store(plan.space, plan.element, program_.arithmetic), .a = value};
  made.value = expr_.bank_count(to.buffer);
  made.detail = static_cast<int>(program_.accesses.size());
  program_.accesses.push_back(std::move(to));
  expr_.emit(made);
}

void Statements::compile(const ir::Fill& fill) {
  const BufferPlan& plan = program_.buffers[fill.buffer.index];
  Instruction made{.run = interpret::fill(plan.element, program_.arithmetic),
                   .a = expr_.value(fill.value)};
  made.detail = fill.buffer.index;
  made.weight = static_cast<int>(plan.placement.cosize);
  expr_.emit(made);
}

template <class Then, class Otherwise>
void Statements::branch(int condition, Then then, Otherwise otherwise) {
  const int first = expr_.emit({.run = control::branch, .a = condition});
  expr_.open();
  then();
  expr_.close();
  const int second = emit(control::otherwise);
  expr_.open();
  otherwise();
  expr_.close();
  program_.code[first].target = second;
  program_.code[second].target = emit(control::join);
}

void Statements::compile(const ir::Copy& copy) {
  std::visit([&](const auto& how) { compile(copy, how); }, copy.how);
}

void Statements::compile(const ir::Copy& copy, const ir::PlainCopy& how) {
  const auto run_for = [&](bool zeros) {
    const BufferPlan& dst = program_.buffers[copy.dst.buffer.index];
    const BufferPlan& src = program_.buffers[copy.src.buffer.index];
    return zeros ? interpret::copy_zeros(dst.cell)
                 : interpret::copy(dst.space, src.space, dst.cell);
  };
  guarded(how.guard, [&](bool zeros) { copy_elements(copy, how.vector, run_for(zeros), zeros); });
}

void Statements::compile(const ir::Copy& copy, const ir::AsyncCopy& how) {
  guarded(how.guard, [&](bool zeros) {
    copy_elements(copy, how.vector, zeros ? async::issue_zeros : async::issue, zeros);
  });
}

// Compiles `body(zeros)` for the lanes whose predicate holds, and for the others where they write
// zeros.
template <class Body>
void Statements::guarded(const ir::CopyGuard& guard, Body body) {
  if (!guard.predicate) return body(false);
  branch(
      expr_.value(guard.predicate), [&] { body(false); },
      [&] {
        if (guard.zero_fill) body(true);
      });
}

void Statements::copy_box(int map, Handler run, const ir::Ref& tensor, const ir::Ref& shared,
                          Instruction made, int barrier, const std::vector<ir::ExprId>& offsets) {
  BoxPlan plan;
  plan.tensor = expr_.access(tensor);
  plan.shared = expr_.access(shared);
  plan.map = map;
  plan.barrier = barrier;
  const auto number = [&](const Int& value) {
    const auto known = value.evaluate(expr_.sizes());
    if (!known)
      expr_.refuse(FaultCode::overflow, "the size " + value.to_string() + " has no value here");
    return *known;
  };
  for (const ir::BasePixels& along : program_.kernel->tensor_maps[static_cast<size_t>(map)].im2col)
    plan.im2col.push_back({number(along.first), number(along.count), along.step});
  for (const ir::ExprId offset : offsets) plan.offsets.push_back(expr_.value(offset));
  made.run = run;
  made.detail = static_cast<int>(program_.boxes.size());
  for (const int extent : program_.kernel->tensor_maps[static_cast<size_t>(map)].box)
    made.weight *= extent;
  program_.boxes.push_back(std::move(plan));
  expr_.emit(made);
}

void Statements::compile(const ir::Copy& copy, const ir::TmaLoad& how) {
  Instruction made;
  made.a = expr_.value(how.completion.slot);
  if (how.multicast) made.b = expr_.value(how.multicast);
  copy_box(how.tensor_map, tma::load, copy.src, copy.dst, made, how.completion.barrier.index,
           how.offsets);
}

void Statements::compile(const ir::Copy& copy, const ir::TmaStore& how) {
  copy_box(how.tensor_map, tma::store, copy.dst, copy.src, {}, -1, {});
}

CopyPlan Statements::copy_plan(const ir::Copy& copy, const ir::CopyVector& vector) {
  return {expr_.access(copy.dst), expr_.access(copy.src), vector.count, vector.dst_mode,
          vector.src_mode};
}

void Statements::compile(const ir::Copy& copy, const ir::RemoteStore& how) {
  CopyPlan plan = copy_plan(copy, how.vector);
  plan.barrier = how.completion.barrier.index;
  Instruction made{.run = remote::store, .detail = static_cast<int>(program_.copies.size())};
  made.a = expr_.value(how.completion.slot);
  made.b = expr_.value(how.block);
  made.weight = how.vector.count;
  program_.copies.push_back(std::move(plan));
  expr_.emit(made);
}

void Statements::compile(const ir::Copy& copy, const ir::WarpCopy& how) {
  const ir::CopyAtom* atom = ir::copy_atom(*program_.kernel, how.atom);
  const bool load = atom && atom->from == ir::Space::shared;
  const ir::Ref& shared = load ? copy.src : copy.dst;
  const BufferPlan& in_memory = program_.buffers[shared.buffer.index];
  // The verifier has refused whatever has no handler or no rows.
  const Handler run = !atom || is_half_byte(in_memory.element)
                          ? nullptr
                          : rows::copy(static_cast<int>(in_memory.bytes(1)), in_memory.cell, load);
  auto rows = run ? copy_rows(atom->in_memory(), atom->in_registers(), bits(in_memory.element))
                  : std::nullopt;
  if (!rows || rows->values != how.vector.count)
    return static_cast<void>(emit(control::unsupported));
  CopyPlan plan = copy_plan(copy, how.vector);
  plan.rows = std::move(*rows);
  Instruction made{.run = run, .detail = static_cast<int>(program_.copies.size())};
  made.value = expr_.bank_count(shared.buffer.index);
  made.weight = how.vector.count;
  program_.copies.push_back(std::move(plan));
  expr_.emit(made);
}

void Statements::copy_elements(const ir::Copy& copy, const ir::CopyVector& vector, Handler run,
                               bool zeros) {
  CopyPlan plan;
  plan.dst = expr_.access(copy.dst);
  if (!zeros) plan.src = expr_.access(copy.src);
  plan.count = vector.count;
  plan.dst_mode = vector.dst_mode;
  plan.src_mode = vector.src_mode;
  Instruction made{.run = run};
  // Where both sides are memory the source's entry is the next one.
  made.value = expr_.bank_count(copy.dst.buffer.index);
  if (!zeros) {
    const int of_source = expr_.bank_count(copy.src.buffer.index);
    if (made.value < 0) made.value = of_source;
  }
  made.detail = static_cast<int>(program_.copies.size());
  made.weight = vector.count;
  program_.copies.push_back(std::move(plan));
  expr_.emit(made);
}

// The offsets of the elements of the first modes, the first running slowest.
std::vector<int> Statements::element_offsets(const Access& access, int modes) {
  std::vector<int> all{0};
  for (int m = 0; m < modes; ++m) {
    const Mode& mode = program_.buffers[access.buffer].placement.modes[m];
    std::vector<int> finer;
    for (const int base : all) {
      for (std::int64_t c = 0; c < mode.size; ++c)
        finer.push_back(base + static_cast<int>(within(mode, c)));
    }
    all = std::move(finer);
  }
  return all;
}

void Statements::multiply_atom(const ir::Mma& mma, Handler run) {
  const ir::MmaAtom& atom =
      *std::find_if(program_.kernel->atoms.begin(), program_.kernel->atoms.end(),
                    [&](const ir::MmaAtom& each) { return each.name == mma.atom; });
  AtomPlan plan;
  plan.rows = atom.shape[0];
  plan.columns = atom.shape[1];
  plan.depth = atom.shape[2];
  plan.threads = mma.kind == ir::MmaKind::wgmma ? 128 : 32;
  plan.d = expr_.access(mma.d, 1);
  plan.a = expr_.access(mma.a, atom.a ? 1 : 0);
  plan.b = expr_.access(mma.b, atom.b ? 1 : 0);
  plan.d_places = atoms::places(atom.d, plan.rows);
  if (atom.a) plan.a_places = atoms::places(*atom.a, plan.rows);
  if (atom.a && plan.threads > kLanes) program_.buffers[plan.a.buffer].fragments = true;
  if (atom.b) plan.b_places = atoms::places(*atom.b, plan.columns);
  Instruction made{.run = run, .detail = static_cast<int>(program_.atoms.size())};
  if (mma.zero) made.a = expr_.value(mma.zero);
  made.weight = plan.rows * plan.columns * plan.depth / plan.threads;
  program_.atoms.push_back(std::move(plan));
  expr_.emit(made);
}

void Statements::compile(const ir::Mma& mma) {
  const auto element = [&](const ir::Ref& ref) {
    return program_.buffers[ref.buffer.index].element;
  };
  const bool simt = mma.kind == ir::MmaKind::simt;
  const ElementType d = element(mma.d), a = element(mma.a), b = element(mma.b);
  const Handler run =
      simt ? multiply(d, a, b, program_.arithmetic) : atoms::multiply(d, a, b, program_.arithmetic);
  if (run == nullptr) return static_cast<void>(emit(control::unsupported));
  if (!simt) return multiply_atom(mma, run);
  MmaPlan plan;
  plan.d = expr_.access(mma.d, 2);
  plan.a = expr_.access(mma.a, 1);
  plan.b = expr_.access(mma.b, 1);
  plan.d_offsets = element_offsets(plan.d, 2);
  plan.a_offsets = element_offsets(plan.a, 1);
  plan.b_offsets = element_offsets(plan.b, 1);
  Instruction made{.run = run};
  if (mma.zero) made.a = expr_.value(mma.zero);
  made.detail = static_cast<int>(program_.mmas.size());
  made.weight = static_cast<int>(plan.d_offsets.size());
  program_.mmas.push_back(std::move(plan));
  expr_.emit(made);
}

void Statements::compile(const ir::For& loop) {
  const int begin = expr_.value(loop.begin), end = expr_.value(loop.end);
  const int var = expr_.fresh();
  expr_.bind(loop.var, var);
  expr_.emit({.run = control::begin_loop, .dst = var, .a = begin});
  const int test = expr_.emit({.run = control::test_loop, .dst = var, .b = end});
  scope(*loop.body);
  Instruction next{.run = control::next_loop, .dst = var, .target = test};
  next.value = loop.step;
  expr_.emit(next);
  program_.code[test].target = expr_.next();
}

void Statements::compile(const ir::If& branch_on) {
  branch(
      expr_.value(branch_on.condition), [&] { block(*branch_on.then); },
      [&] {
        if (branch_on.otherwise) block(*branch_on.otherwise);
      });
}

void Statements::compile(const ir::Elect& elect) {
  emit(control::elect);
  scope(*elect.body);
  emit(control::join);
}

void Statements::compile(const ir::TileLoop& tiles) {
  const int first = expr_.value(tiles.first), count = expr_.value(tiles.count),
            stride = expr_.value(tiles.stride);
  const int tile = expr_.fresh();
  expr_.bind(tiles.tile, tile);
  expr_.emit({.run = control::begin_loop, .dst = tile, .a = first});
  const int test = expr_.emit({.run = control::test_loop, .dst = tile, .b = count});
  scope(*tiles.body);
  expr_.emit({.run = control::next_tile, .dst = tile, .a = stride, .target = test});
  program_.code[test].target = expr_.next();
}

void Statements::compile(const ir::Sync& sync) {
  Instruction made{.detail = sync.barrier.index};
  if (sync.slot) made.a = expr_.value(sync.slot);
  std::visit(overloaded{
                 [&](const ir::InitMbarrier&) { made.run = barriers::init; },
                 [&](const ir::InvalidateMbarrier&) { made.run = barriers::invalidate; },
                 [&](const ir::ArriveMbarrier& arrive) {
                   made.run = barriers::arrive;
                   if (arrive.block) made.b = expr_.value(arrive.block);
                 },
                 [&](const ir::ArriveExpectBytes& expect) {
                   made.run = barriers::arrive_expect_bytes;
                   made.b = expr_.value(expect.bytes);
                 },
                 [&](const ir::WaitMbarrier& wait) {
                   made.run = barriers::wait;
                   made.b = expr_.value(wait.phase);
                 },
                 [&](const ir::SyncBlock&) { made.run = barriers::sync; },
                 [&](const ir::SyncNamed&) { made.run = barriers::sync; },
                 [&](const ir::ArriveNamed&) { made.run = barriers::arrive_named; },
                 [&](const ir::SyncCluster&) { made.run = barriers::cluster_sync; },
                 [&](const ir::ArriveCluster&) { made.run = barriers::cluster_arrive; },
                 [&](const ir::WaitCluster&) { made.run = barriers::cluster_wait; },
             },
             sync.operation);
  expr_.emit(made);
}

void Statements::compile(const ir::Fence& fence) {
  switch (fence.kind) {
    case ir::FenceKind::warp:
      emit(control::meet);
      return;
    case ir::FenceKind::proxy_async:
      emit(barriers::fence_proxy);
      return;
    case ir::FenceKind::mbarrier_init:
      emit(barriers::announce);
      return;
    case ir::FenceKind::wgmma:
      emit(atoms::fence);
      return;
    case ir::FenceKind::acq_rel_cluster:       // barriers order memory here
    case ir::FenceKind::grid_dependency_wait:  // one grid runs at a time
    case ir::FenceKind::branch:
      return;
  }
}

void Statements::compile(const ir::Commit& commit) {
  switch (commit.kind) {
    case ir::GroupKind::cp_async:
      emit(async::commit);
      return;
    case ir::GroupKind::bulk:
      emit(tma::commit);
      return;
    case ir::GroupKind::wgmma:
      emit(atoms::commit);
      return;
  }
}

void Statements::compile(const ir::Wait& wait) {
  Instruction made{.run = async::wait};
  if (wait.kind == ir::GroupKind::bulk) made.run = tma::wait;
  if (wait.kind == ir::GroupKind::wgmma) made.run = atoms::wait;
  made.value = wait.pending;
  expr_.emit(made);
}

void Statements::compile(const ir::Advance& advance) {
  Instruction made{.run = advance.count ? control::advance_by : control::advance,
                   .detail = advance.ring.index};
  if (advance.count) made.a = expr_.value(advance.count);
  expr_.emit(made);
}

}  // namespace lay::interpret
