// The asynchronous machine in PTX: barriers, groups, and what a warp-specialised kernel is
// made of.
#include <algorithm>

#include "backend/cuda/emitter.h"

namespace lay::cuda {
namespace {

std::string volatile_asm(const std::string& instruction) {
  return "asm volatile(\"" + instruction + ";\" ::: \"memory\");";
}

}  // namespace

void Emitter::need(std::string_view helper) {
  helpers_.names.insert(helper);
  const std::string_view without_address[] = {"elect_one", "tensor_map", "same_in_warp",
                                              "atomic_count", "sync_any"};
  if (std::ranges::find(without_address, helper) == std::end(without_address))
    helpers_.names.insert("shared_address");
}

// An mbarrier's address: that of the array's first word plus 8 bytes a slot.
std::string Emitter::barrier_at(ir::BarrierId barrier, ir::ExprId slot) {
  constexpr int bytes = 8;
  need("kept");
  return sum(name(barrier_names_[static_cast<std::size_t>(barrier.index)]),
             product(slot ? expression(slot) : integer(0), integer(bytes)))
      .text;
}

// The address of an element without the swizzle: TMA applies its own to the address it is given.
std::string Emitter::plain_address(const ir::Ref& ref) {
  const ir::Buffer& of = buffer(ref.buffer);
  AnyLayout layout = of.layout;
  if (const auto* composed = std::get_if<Composed>(&of.layout)) layout = composed->layout();
  const auto code = offset_code(layout, coordinate(ref), false, sizes_);
  if (!code) unsupported("the layout of " + comment_text(of.name));
  return "&" + buffer_name(ref.buffer) + "[" + code->text + "]";
}

// ---- stores to other blocks of the cluster

namespace {

std::string_view st_async_helper(ElementType type, int count) {
  if (bits(type) == 64) return count == 1 ? "st_async_1_b64" : "st_async_2_b64";
  return count == 1 ? "st_async_1" : count == 2 ? "st_async_2" : "st_async_4";
}

// The value's bits, as an unsigned integer of its width.
std::string bits_of(const std::string& value, ElementType type) {
  if (type == ElementType::f64) return "(unsigned long long)__double_as_longlong(" + value + ")";
  if (is_float(type)) return "__float_as_uint(" + value + ")";
  return (bits(type) == 64 ? "(unsigned long long)" : "(unsigned)") + value;
}

}  // namespace

void Emitter::copy(const ir::Copy& copy, const ir::RemoteStore& how, int line) {
  const ElementType type = buffer(copy.src.buffer).element;
  if (bits(type) != 32 && bits(type) != 64)
    unsupported("a store of " + std::string(element_name(type)) + " to another block");
  const std::string_view helper = st_async_helper(type, how.vector.count);
  need(helper);
  std::string words;
  for (int i = 0; i < how.vector.count; ++i) {
    words +=
        ", " +
        bits_of(place_at(copy.src.buffer, shifted_offset(copy.src, how.vector.src_mode, i)).text,
                type);
  }
  out_.line(std::string(helper) + "(&" + place_at(copy.dst.buffer, offset(copy.dst)).text + ", " +
                barrier_at(how.completion.barrier, how.completion.slot) + ", " +
                expression(how.block).text + words + ");",
            line);
}

// ---- threads of several blocks

void Emitter::atomic_count(const ir::AtomicCount& count, int line) {
  need("atomic_count");
  const std::string at = place_at(count.at.buffer, offset(count.at)).text;
  out_.line("const int " + declare(count.var) + " = atomic_count(&" + at + ");", line);
}

// The compiler knows by same_in_warp that the lanes of a warp take one way behind it.
void Emitter::sync_any(const ir::SyncAny& sync, int line) {
  need("sync_any");
  need("same_in_warp");
  const ir::Barrier& barrier = kernel_.barrier(sync.barrier);
  std::string number = std::to_string(barrier.id);
  if (sync.slot) number += " + " + inside(expression(sync.slot), Binding::additive);
  const std::string value = expression(sync.value).text;
  out_.line("const bool " + declare(sync.var) + " = same_in_warp(sync_any<" +
                std::to_string(barrier.count) + ">(" + number + ", " + value + ")) != 0;  // " +
                comment_text(barrier.name),
            line);
}

// ---- fences and groups

// PTX ISA: membar/fence (proxy.async, mbarrier_init, acq_rel), wgmma.fence, griddepcontrol.
void Emitter::fence(const ir::Fence& fence, int line) {
  switch (fence.kind) {
    case ir::FenceKind::warp:
      return out_.line("__syncwarp();", line);
    case ir::FenceKind::proxy_async:
      return out_.line(volatile_asm("fence.proxy.async.shared::cta"), line);
    case ir::FenceKind::mbarrier_init:
      return out_.line(volatile_asm("fence.mbarrier_init.release.cluster"), line);
    case ir::FenceKind::wgmma:
      hold_accumulators(line);
      return out_.line(volatile_asm("wgmma.fence.sync.aligned"), line);
    case ir::FenceKind::acq_rel_cluster:
      return out_.line(volatile_asm("fence.acq_rel.cluster"), line);
    case ir::FenceKind::grid_dependency_wait:  // and the grid after this one may begin
      if (target_.capability < 90) return;
      out_.line(volatile_asm("griddepcontrol.launch_dependents"), line);
      return out_.line(volatile_asm("griddepcontrol.wait"), line);
    case ir::FenceKind::branch:
      return out_.line("asm volatile(\"\");  // stays a branch", line);
  }
}

void Emitter::commit(const ir::Commit& commit, int line) {
  switch (commit.kind) {
    case ir::GroupKind::cp_async:
      return out_.line(volatile_asm("cp.async.commit_group"), line);
    case ir::GroupKind::bulk:
      return out_.line(volatile_asm("cp.async.bulk.commit_group"), line);
    case ir::GroupKind::wgmma:
      return out_.line(volatile_asm("wgmma.commit_group.sync.aligned"), line);
  }
}

void Emitter::wait(const ir::Wait& wait, int line) {
  const std::string pending = " " + std::to_string(wait.pending);
  switch (wait.kind) {
    case ir::GroupKind::cp_async:
      return out_.line(volatile_asm("cp.async.wait_group" + pending), line);
    case ir::GroupKind::bulk:
      return out_.line(volatile_asm("cp.async.bulk.wait_group" +
                                    std::string(wait.read ? ".read" : "") + pending),
                       line);
    case ir::GroupKind::wgmma:
      out_.line(volatile_asm("wgmma.wait_group.sync.aligned" + pending), line);
      return hold_accumulators(line);
  }
}

// ---- the parts of a warp-specialised kernel

void Emitter::elect(const ir::Elect& elect, int line) {
  need("elect_one");
  out_.open("if (elect_one()) {", line);
  block(*elect.body);
  out_.close();
}

void Emitter::tiles(const ir::TileLoop& loop, int line) {
  const Code first = expression(loop.first), stride = expression(loop.stride);
  const std::string count = inside(expression(loop.count), Binding::shift);
  const std::string tile = declare(loop.tile);
  out_.open("for (int " + tile + " = " + first.text + "; " + tile + " < " + count + "; " + tile +
                " += " + stride.text + ") {",
            line);
  block(*loop.body);
  names_.release(tile);
  in_scope_.pop_back();
  out_.close();
}

// The slot goes round the ring and the phase flips at each turn. By `count` stages at once the
// number of whole turns decides: slot / stages & 1.
void Emitter::advance(const ir::Advance& advance, int line) {
  const auto at = static_cast<std::size_t>(advance.ring.index);
  const std::string &ring = ring_names_[at], stages = std::to_string(kernel_.rings[at].stages);
  if (advance.count) {
    out_.line(ring + "slot += " + expression(advance.count).text + ", " + ring + "phase ^= " +
                  ring + "slot / " + stages + " & 1, " + ring + "slot %= " + stages + ";",
              line);
    return;
  }
  out_.line(
      "if (++" + ring + "slot == " + stages + ") " + ring + "slot = 0, " + ring + "phase ^= 1;",
      line);
}

// Returns the condition under which a thread has the role; setmaxnreg moves registers between
// roles. Where warpgroups multiply, it compares numbers that the compiler knows to be the same in a
// warp: the compiler then keeps descriptors in the registers that a warp has once, where `wgmma`
// takes them. By thread numbers it would make them in every lane, and move four registers for each
// instruction.
std::string Emitter::is_of(const ir::Role& role) {
  constexpr int warpgroup = 128;
  const int end = role.first + role.threads;
  const bool by_warpgroups =
      multiplies_by_warpgroups() && role.first % warpgroup == 0 && end % warpgroup == 0;
  const int unit = by_warpgroups ? warpgroup : 1;
  const std::string from = std::to_string(role.first / unit), to = std::to_string(end / unit);
  const std::string number = by_warpgroups ? "warpgroup" : "thread";
  if (by_warpgroups) specials_.insert(ir::Builtin::warpgroup);
  if (by_warpgroups && role.threads == warpgroup) return number + " == " + from;
  return (role.first == 0 ? "" : number + " >= " + from + " && ") + number + " < " + to;
}

void Emitter::roles() {
  if (kernel_.roles.size() == 1 && kernel_.roles[0].threads == kernel_.launch.threads) {
    return statements(kernel_.roles[0].body);
  }
  if (multiplies_by_warpgroups()) need("same_in_warp");
  const int given = 65536 / kernel_.launch.threads / kernel_.launch.blocks_per_sm / 8 * 8;
  for (const ir::Role& role : kernel_.roles) {
    out_.open("if (" + is_of(role) + ") {  // " + comment_text(role.name));
    if (role.registers) {
      out_.line(volatile_asm("setmaxnreg." + std::string(*role.registers > given ? "inc" : "dec") +
                             ".sync.aligned.u32 " + std::to_string(*role.registers)));
    }
    block(role.body);
    out_.close();
  }
}

// Barriers go by the addresses of their first words.
void Emitter::write_barriers() {
  for (std::size_t i = 0; i < kernel_.barriers.size(); ++i) {
    const ir::Barrier& barrier = kernel_.barriers[i];
    if (barrier.kind != ir::BarrierKind::mbarrier) continue;
    const std::string words = names_.add(barrier.name + "_words");
    out_.line("__shared__ __align__(8) unsigned long long " + words + "[" +
              std::to_string(barrier.slots) + "];  // " + std::to_string(barrier.count) +
              " arrivals");
    out_.line("const unsigned " + barrier_names_[i] + " = kept(shared_address(" + words + "));");
  }
  for (std::size_t i = 0; i < kernel_.rings.size(); ++i) {
    out_.line("int " + ring_names_[i] + "slot = 0, " + ring_names_[i] +
              "phase = " + std::to_string(kernel_.rings[i].initial_phase) + ";");
  }
}

}  // namespace lay::cuda
