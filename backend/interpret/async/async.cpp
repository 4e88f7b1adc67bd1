#include "backend/interpret/async/async.h"

#include <cstring>
#include <utility>

#include "backend/interpret/access.h"
#include "backend/interpret/shadow.h"
#include "backend/interpret/warp.h"

namespace lay::interpret::async {
namespace {

const CopyPlan& plan_of(const Warp& warp, const Instruction& at) {
  return warp.program->copies[at.detail];
}

size_t bytes_of(const Warp& warp, const CopyPlan& plan) {
  return static_cast<size_t>(plan.count) *
         static_cast<size_t>(warp.program->buffers[plan.dst.buffer].cell);
}

// Issues a cp.async: reads the source at once and keeps the bytes. The destination is written only
// when the group is waited for, so that a kernel that forgets to wait is found.
void start(Warp& warp, const Instruction& at, bool zeros) {
  const CopyPlan& plan = plan_of(warp, at);
  const size_t bytes = bytes_of(warp, plan);
  InFlight made;
  made.at = &at;
  made.mask = warp.mask;
  made.data.resize(bytes * kLanes);
  if (!zeros) {
    std::int64_t offset[kLanes];
    const std::byte* from =
        vector_address(warp, at, plan.src, {plan.src_mode, plan.count}, false, offset);
    const int element = warp.program->buffers[plan.src.buffer].cell;
    for_each_lane(warp.mask, [&](int i) {
      std::memcpy(&made.data[bytes * i], from + offset[i] * element, bytes);
    });
  }
  vector_address(warp, at, plan.dst, {plan.dst_mode, plan.count}, true, made.offset);
  note_in_flight(warp, plan.dst, made.offset, plan.count, true);
  warp.issued.push_back(std::move(made));
}

// Completes one copy: its bytes are there, as a write of the thread that issued it.
void arrive(Warp& warp, const InFlight& copy) {
  const CopyPlan& plan = plan_of(warp, *copy.at);
  const BufferPlan& to = warp.program->buffers[plan.dst.buffer];
  const size_t bytes = bytes_of(warp, plan);
  const Mask here = std::exchange(warp.mask, copy.mask);
  note_in_flight(warp, plan.dst, copy.offset, plan.count, false);
  note_write(warp, *copy.at, plan.dst, copy.offset, plan.count);
  std::byte* base = warp.block->shared.data() + to.place;
  for_each_lane(copy.mask, [&](int i) {
    std::memcpy(base + copy.offset[i] * to.cell, &copy.data[bytes * i], bytes);
  });
  warp.mask = here;
}

// Groups are counted by thread; here the lanes of a warp count together.
void together(Warp& warp, const Instruction& at) {
  if (warp.mask == warp.all) return;
  stop(warp, at, warp.all & ~warp.mask, FaultCode::unsupported,
       "expected all lanes of the warp: the host commits and waits for copies by warps");
}

void issue_copy(Warp& warp, const Instruction& at) {
  start(warp, at, false);
}

void issue_zero(Warp& warp, const Instruction& at) {
  start(warp, at, true);
}

void commit_group(Warp& warp, const Instruction& at) {
  together(warp, at);
  warp.groups.push_back(std::exchange(warp.issued, {}));
}

void wait_for_groups(Warp& warp, const Instruction& at) {
  together(warp, at);
  while (static_cast<std::int64_t>(warp.groups.size()) > at.value) {
    for (const InFlight& copy : warp.groups.front()) arrive(warp, copy);
    warp.groups.erase(warp.groups.begin());
  }
}

}  // namespace

const Handler issue = issue_copy;
const Handler issue_zeros = issue_zero;
const Handler commit = commit_group;
const Handler wait = wait_for_groups;

}  // namespace lay::interpret::async
