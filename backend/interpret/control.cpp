#include "backend/interpret/control.h"

#include "backend/interpret/placement.h"
#include "backend/interpret/warp.h"

namespace lay::interpret::control {
namespace {

Mask truth(Warp& warp, int slot) {
  const std::int64_t* value = as<std::int64_t>(warp.slots[slot]);
  Mask mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= static_cast<Mask>(value[i] != 0) << i;
  return mask;
}

Mask pop_saved(Warp& warp) {
  const Mask mask = warp.saved.back();
  warp.saved.pop_back();
  return mask;
}

template <class T>
void move_lanes(Warp& warp, const Instruction& at) {
  T* dst = as<T>(warp.slots[at.dst]);
  const T* a = as<T>(warp.slots[at.a]);
  for_each_lane(warp.mask, [&](int i) { dst[i] = a[i]; });
}

void branch_lanes(Warp& warp, const Instruction& at) {
  const Mask holds = at.value == 0 ? truth(warp, at.a) : ~truth(warp, at.a);
  warp.saved.push_back(warp.mask);
  warp.saved.push_back(warp.mask & ~holds);
  warp.mask &= holds;
  if (warp.mask == 0) warp.pc = at.target;
}

void otherwise_lanes(Warp& warp, const Instruction& at) {
  warp.mask = warp.saved.back();
  if (warp.mask == 0) warp.pc = at.target;
}

void join_lanes(Warp& warp, const Instruction&) {
  warp.saved.pop_back();
  warp.mask = pop_saved(warp);
}

void elect_lane(Warp& warp, const Instruction&) {
  warp.saved.push_back(warp.mask);
  warp.saved.push_back(0);
  warp.mask &= ~(warp.mask - 1);
}

void begin(Warp& warp, const Instruction& at) {
  warp.slots[at.dst] = warp.slots[at.a];
  warp.saved.push_back(warp.mask);
}

void test(Warp& warp, const Instruction& at) {
  const std::int64_t* i = as<std::int64_t>(warp.slots[at.dst]);
  const std::int64_t* end = as<std::int64_t>(warp.slots[at.b]);
  Mask goes_on = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    goes_on |= static_cast<Mask>(i[lane] < end[lane]) << lane;
  warp.mask &= goes_on;
  if (warp.mask != 0) return;
  warp.mask = pop_saved(warp);
  warp.pc = at.target;
}

// Lanes that are done may count beyond 64 bits.
std::int64_t added(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

void next(Warp& warp, const Instruction& at) {
  std::int64_t* i = as<std::int64_t>(warp.slots[at.dst]);
  for (int lane = 0; lane < kLanes; ++lane) i[lane] = added(i[lane], at.value);
  warp.pc = at.target;
}

void next_by_stride(Warp& warp, const Instruction& at) {
  std::int64_t* i = as<std::int64_t>(warp.slots[at.dst]);
  const std::int64_t* stride = as<std::int64_t>(warp.slots[at.a]);
  if (stride[first_lane(warp.mask)] <= 0) {
    stop(warp, at, warp.mask, FaultCode::limit, "expected a positive stride of the tile loop");
  }
  for (int lane = 0; lane < kLanes; ++lane) i[lane] = added(i[lane], stride[lane]);
  warp.pc = at.target;
}

void layout_value(Warp& warp, const Instruction& at) {
  const Placement& placement = warp.program->placements[at.detail];
  const std::int64_t* index = as<std::int64_t>(warp.slots[at.a]);
  std::int64_t* dst = as<std::int64_t>(warp.slots[at.dst]);
  for_each_lane(warp.mask, [&](int i) {
    dst[i] = offset_of(placement, within(placement.modes[0], index[i]));
  });
}

void slot_of_ring(Warp& warp, const Instruction& at) {
  std::int64_t* dst = as<std::int64_t>(warp.slots[at.dst]);
  for (int i = 0; i < kLanes; ++i) dst[i] = warp.rings[at.detail] % at.value;
}

void phase_of_ring(Warp& warp, const Instruction& at) {
  std::int64_t* dst = as<std::int64_t>(warp.slots[at.dst]);
  const std::int64_t* start = as<std::int64_t>(warp.slots[at.a]);
  for (int i = 0; i < kLanes; ++i) dst[i] = (warp.rings[at.detail] / at.value + start[i]) % 2;
}

void advance_ring(Warp& warp, const Instruction& at) {
  ++warp.rings[at.detail];
}

void advance_ring_by(Warp& warp, const Instruction& at) {
  const std::int64_t* count = as<std::int64_t>(warp.slots[at.a]);
  const std::int64_t stages = count[first_lane(warp.mask)];
  for_each_lane(warp.mask, [&](int lane) {
    if (count[lane] >= 0 && count[lane] == stages) return;
    stop(warp, at, Mask{1} << lane, FaultCode::limit,
         "expected one number of stages, 0 or more, for all lanes of the warp, got " +
             std::to_string(count[lane]));
  });
  warp.rings[at.detail] += stages;
}

void all_arrive(Warp& warp, const Instruction& at) {
  if (warp.mask == warp.all) return;
  stop(warp, at, warp.all & ~warp.mask, FaultCode::barrier_divergence,
       "expected all lanes of the warp at this barrier, and this one is not");
}

void meet_in_warp(Warp& warp, const Instruction& at) {
  all_arrive(warp, at);
  const auto me = static_cast<size_t>(warp.actor);
  warp.cluster->knows[me].known[me] = warp.cluster->clock[me]++;
}

void role(Warp& warp, const Instruction&) {
  const int index = warp.program->role_of_warp[warp.index];
  warp.pc = index < 0 ? warp.program->epilogue_entry : warp.program->role_entry[index];
}

void go(Warp& warp, const Instruction& at) {
  warp.pc = at.target;
}

void done(Warp& warp, const Instruction&) {
  warp.state = Warp::State::done;
}

void not_executed(Warp& warp, const Instruction& at) {
  stop(warp, at, warp.mask, FaultCode::unsupported, "this statement is not executed on the host");
}

}  // namespace

Handler move(LaneType type) {
  switch (type) {
    case LaneType::single:
      return move_lanes<float>;
    case LaneType::real:
      return move_lanes<double>;
    case LaneType::number:
      return move_lanes<field::Number>;
    case LaneType::integer:
      break;
  }
  return move_lanes<std::int64_t>;
}

const Handler branch = branch_lanes;
const Handler otherwise = otherwise_lanes;
const Handler join = join_lanes;
const Handler elect = elect_lane;
const Handler begin_loop = begin;
const Handler test_loop = test;
const Handler next_loop = next;
const Handler next_tile = next_by_stride;
const Handler at_layout = layout_value;
const Handler ring_slot = slot_of_ring;
const Handler ring_phase = phase_of_ring;
const Handler advance = advance_ring;
const Handler advance_by = advance_ring_by;
const Handler meet = meet_in_warp;
const Handler enter_role = role;
const Handler jump = go;
const Handler finish = done;
const Handler unsupported = not_executed;

}  // namespace lay::interpret::control
