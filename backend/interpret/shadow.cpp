#include "backend/interpret/shadow.h"

#include <algorithm>
#include <atomic>

#include "backend/interpret/placement.h"

namespace lay::interpret {
namespace {

Fault details(Warp& warp, const Access& access, int lane) {
  Fault fault;
  fault.buffer = warp.program->kernel->buffers[access.buffer].name;
  fault.coordinate = coordinate_of(warp, access, lane);
  return fault;
}

[[noreturn]] void uninitialised(Warp& warp, const Instruction& at, const Access& access, int lane) {
  Fault fault = details(warp, access, lane);
  const std::string name = fault.buffer;
  stop(warp, at, Mask{1} << lane, FaultCode::uninitialised,
       "`" + name + "` is read before it is written", std::move(fault));
}

[[noreturn]] void race(Warp& warp, const Instruction& at, const Access& access, int lane,
                       const std::string& now, const std::string& before, std::uint16_t other) {
  Fault fault = details(warp, access, lane);
  fault.other_thread = other - 1;
  const std::string what = now + " of `" + fault.buffer + "` races with the " + before + " by " +
                           thread_name(warp, other) + ": expected a barrier between them";
  stop(warp, at, Mask{1} << lane, FaultCode::race, what, std::move(fault));
}

void in_flight(Warp& warp, const Instruction& at, const Access& access, int lane,
               std::uint16_t writer) {
  Fault fault = details(warp, access, lane);
  fault.other_thread = writer - 1;
  const std::string what = "`" + fault.buffer +
                           "`: expected a wait for the copy into it, issued by " +
                           thread_name(warp, writer) + ", before this access";
  stop(warp, at, Mask{1} << lane, FaultCode::in_flight, what, std::move(fault));
}

[[noreturn]] void being_read(Warp& warp, const Instruction& at, const Access& access, int lane) {
  Fault fault = details(warp, access, lane);
  const std::string name = fault.buffer;
  stop(warp, at, Mask{1} << lane, FaultCode::in_flight,
       "`" + name +
           "`: expected a wait for the copy or multiplication that reads it before this write",
       std::move(fault));
}

// Returns true if the access of `other` at time `then` happened before this thread's access now.
//
// Each warp has a clock that counts the barriers it has passed; an access is stamped with the clock
// of its warp. A barrier hands the clocks that its arrivals know to all that it releases (a vector
// clock, see Knowledge). So an access by warp w at time t happened before now if and only if
// known[w] of this warp is at least t. Accesses of one thread are in program order.
bool before(const Warp& warp, std::uint16_t me, std::uint16_t other, std::uint32_t then) {
  return other == me ||
         then <= warp.cluster->knows[static_cast<size_t>(warp.actor)].known[(other - 1) / kLanes];
}

struct Now {
  std::uint32_t time;
  std::uint16_t thread;  // of lane 0, counted from 1
};

Now now(const Warp& warp) {
  return {warp.cluster->clock[static_cast<size_t>(warp.actor)],
          static_cast<std::uint16_t>(warp.actor * kLanes + 1)};
}

// A read of what has been written, and has happened before.
void check_read(Warp& warp, const Instruction& at, const Access& access, const Shadow& shadow,
                int lane, Now when) {
  const auto me = static_cast<std::uint16_t>(when.thread + lane);
  if (shadow.writer == 0) uninitialised(warp, at, access, lane);
  if (shadow.in_flight) in_flight(warp, at, access, lane, shadow.writer);
  if (!before(warp, me, shadow.writer, shadow.written_at)) {
    race(warp, at, access, lane, "the read", "write", shadow.writer);
  }
}

// Keeps two readers of an element. A reader that happened before this one gives its place away: a
// write that comes after this read comes after that one too. Three unordered readers do not fit,
// and the third takes the second's place.
void remember_reader(const Warp& warp, Shadow& shadow, std::uint16_t me, std::uint32_t time) {
  const int same = shadow.reader[1] == me ? 1 : 0;
  const bool displace = shadow.reader[same] != me && shadow.reader[0] != 0 &&
                        !before(warp, me, shadow.reader[0], shadow.read_at[0]);
  const int place = displace ? 1 : same;
  shadow.reader[place] = me;
  shadow.read_at[place] = time;
}

void shared_read(Warp& warp, const Instruction& at, const Access& access, Shadow& shadow, int lane,
                 Now when) {
  check_read(warp, at, access, shadow, lane, when);
  remember_reader(warp, shadow, static_cast<std::uint16_t>(when.thread + lane), when.time);
}

// A write comes after the last write and after the reads that are remembered, and no copy into the
// element and no asynchronous read of it is in flight.
void shared_write(Warp& warp, const Instruction& at, const Access& access, Shadow& shadow, int lane,
                  Now when) {
  const auto me = static_cast<std::uint16_t>(when.thread + lane);
  if (shadow.in_flight) in_flight(warp, at, access, lane, shadow.writer);
  if (shadow.being_read != 0) being_read(warp, at, access, lane);
  if (shadow.writer != 0 && !before(warp, me, shadow.writer, shadow.written_at)) {
    race(warp, at, access, lane, "the write", "write", shadow.writer);
  }
  for (int i = 0; i < 2; ++i) {
    if (shadow.reader[i] != 0 && !before(warp, me, shadow.reader[i], shadow.read_at[i])) {
      race(warp, at, access, lane, "the write", "read", shadow.reader[i]);
    }
  }
  shadow.writer = me;
  shadow.written_at = when.time;
  shadow.by_async_proxy = false;
}

template <class Note>
void for_each_element(Warp& warp, const std::int64_t* offset, int count, Note note) {
  for_each_lane(warp.mask, [&](int lane) {
    for (int e = 0; e < count; ++e) note(lane, offset[lane] + e);
  });
}

const GlobalMemory& memory(const Warp& warp, const BufferPlan& plan) {
  return (*warp.block->global)[plan.global];
}

// ---- workspace that blocks of a launch write for one another

// This lane, counted from 1 over all clusters.
std::int64_t number_in_launch(const Warp& warp, int lane) {
  return (warp.cluster->number * warp.cluster->actors() + warp.actor) * kLanes + lane + 1;
}

bool happened_before(const Warp& warp, int lane, const LastWrite& write) {
  if (write.thread == 0 || write.thread == number_in_launch(warp, lane)) return true;
  const Cluster& cluster = *warp.cluster;
  const std::int64_t of_warp = (write.thread - 1) / kLanes, actors = cluster.actors();
  const auto actor = static_cast<std::size_t>(of_warp % actors);
  const Knowledge& mine = cluster.knows[static_cast<std::size_t>(warp.actor)];
  if (of_warp / actors == cluster.number) return write.at <= mine.known[actor];
  const auto found = mine.foreign.find(of_warp / actors);
  return found != mine.foreign.end() && write.at <= found->second[actor];
}

void check_order(Warp& warp, const Instruction& at, const Access& access, int lane,
                 const LastWrite& write, const std::string& now) {
  if (happened_before(warp, lane, write)) return;
  const std::int64_t threads = std::int64_t{warp.cluster->actors()} * kLanes;
  Fault fault = details(warp, access, lane);
  fault.other_thread = static_cast<int>((write.thread - 1) % threads);
  const std::string what = now + " of `" + fault.buffer + "` races with the write by thread " +
                           std::to_string((write.thread - 1) % threads) + " of cluster " +
                           std::to_string((write.thread - 1) / threads) +
                           ": expected a barrier, or a number that both count up, between them";
  stop(warp, at, Mask{1} << lane, FaultCode::race, what, std::move(fault));
}

// Other host threads run other clusters.
LastWrite load(LastWrite& from) {
  return {std::atomic_ref(from.thread).load(std::memory_order_relaxed),
          std::atomic_ref(from.at).load(std::memory_order_relaxed)};
}

void store(LastWrite& to, const LastWrite& write) {
  std::atomic_ref(to.thread).store(write.thread, std::memory_order_relaxed);
  std::atomic_ref(to.at).store(write.at, std::memory_order_relaxed);
}

// Workspace is read after some block has written it. Blocks of other host threads use the same
// flags, so they are atomic; the order of the blocks is that of the launches, so relaxed is enough.
void workspace_read(Warp& warp, const Instruction& at, const Access& access,
                    const std::int64_t* offset, int count, const GlobalMemory& global) {
  for_each_element(warp, offset, count, [&](int lane, std::int64_t element) {
    if (std::atomic_ref(global.written[element]).load(std::memory_order_relaxed) == 0)
      uninitialised(warp, at, access, lane);
    if (global.last) check_order(warp, at, access, lane, load(global.last[element]), "the read");
  });
}

// Marks workspace as written, and with options.write_once finds two threads that write one element.
// The owner is exchanged, not compared: whichever thread comes second finds the first.
void global_write(Warp& warp, const Instruction& at, const Access& access,
                  const std::int64_t* offset, int count, const GlobalMemory& global) {
  const std::int64_t threads = warp.program->kernel->launch.threads;
  const std::int64_t first = warp.block->number * threads + warp.index * kLanes;
  for_each_element(warp, offset, count, [&](int lane, std::int64_t element) {
    if (global.written != nullptr)
      std::atomic_ref(global.written[element]).store(1, std::memory_order_relaxed);
    if (global.last) {
      check_order(warp, at, access, lane, load(global.last[element]), "the write");
      store(global.last[element], {number_in_launch(warp, lane), now(warp).time});
    }
    if (global.owner == nullptr) return;
    const std::int64_t me = first + lane + 1;
    const std::int64_t other =
        std::atomic_ref(global.owner[element]).exchange(me, std::memory_order_relaxed);
    if (other == 0 || other == me) return;
    Fault fault = details(warp, access, lane);
    fault.other_thread = static_cast<int>((other - 1) % threads);
    const std::string what = "expected one write of this element of `" + fault.buffer +
                             "`, got a second one: the first is by thread " +
                             std::to_string((other - 1) % threads) + " of block " +
                             std::to_string((other - 1) / threads);
    stop(warp, at, Mask{1} << lane, FaultCode::written_twice, what, std::move(fault));
  });
}

}  // namespace

void note_read(Warp& warp, const Instruction& at, const Access& access, const std::int64_t* offset,
               int count) {
  const BufferPlan& plan = warp.program->buffers[access.buffer];
  if (plan.space == ir::Space::global) {
    const GlobalMemory& global = memory(warp, plan);
    if (global.written != nullptr) workspace_read(warp, at, access, offset, count, global);
  } else if (warp.program->checks) {
    const Now when = now(warp);
    Shadow* shadows = warp.block->shadows.data() + plan.shadow;
    for_each_element(warp, offset, count, [&](int lane, std::int64_t element) {
      shared_read(warp, at, access, shadows[element], lane, when);
    });
  }
}

void note_write(Warp& warp, const Instruction& at, const Access& access, const std::int64_t* offset,
                int count) {
  const BufferPlan& plan = warp.program->buffers[access.buffer];
  if (plan.space == ir::Space::global) {
    const GlobalMemory& global = memory(warp, plan);
    if (global.written != nullptr || global.owner != nullptr)
      global_write(warp, at, access, offset, count, global);
  } else if (warp.program->checks) {
    const Now when = now(warp);
    Shadow* shadows = warp.block->shadows.data() + plan.shadow;
    for_each_element(warp, offset, count, [&](int lane, std::int64_t element) {
      shared_write(warp, at, access, shadows[element], lane, when);
    });
  }
}

void note_counted(Warp& warp, const Instruction& at, const Access& access,
                  const std::int64_t* offset) {
  const GlobalMemory& global = memory(warp, warp.program->buffers[access.buffer]);
  if (global.written != nullptr) workspace_read(warp, at, access, offset, 1, global);
}

void note_in_flight(Warp& warp, const Access& access, const std::int64_t* offset, int count,
                    bool in_flight) {
  if (!warp.program->checks) return;
  Shadow* shadows = warp.block->shadows.data() + warp.program->buffers[access.buffer].shadow;
  for_each_element(warp, offset, count,
                   [&](int, std::int64_t element) { shadows[element].in_flight = in_flight; });
}

void note_register_read(Warp& warp, const Instruction& at, const Access& access,
                        std::int64_t element) {
  const Mask missing = warp.mask & ~warp.initialised[element];
  if (missing == 0) return;
  if (is_being_multiplied(warp, element)) {
    const std::string& name = warp.program->kernel->buffers[access.buffer].name;
    stop(warp, at, missing, FaultCode::in_flight,
         "`" + name + "`: expected a wait for the multiplication into it before this read", {});
  }
  uninitialised(warp, at, access, first_lane(missing));
}

namespace {

// Returns true if that list of some multiplication in flight has the register element.
bool any_product(const Warp& warp, std::vector<std::int64_t> Reading::*list, std::int64_t element) {
  const auto has = [&](const Reading& each) {
    return std::find((each.*list).begin(), (each.*list).end(), element) != (each.*list).end();
  };
  const auto group_has = [&](const std::vector<Reading>& group) {
    return std::any_of(group.begin(), group.end(), has);
  };
  return group_has(warp.products) ||
         std::any_of(warp.product_groups.begin(), warp.product_groups.end(), group_has);
}

}  // namespace

bool is_being_multiplied(const Warp& warp, std::int64_t element) {
  return any_product(warp, &Reading::registers, element);
}

void note_fragment_write(Warp& warp, const Instruction& at, int buffer, std::int64_t element) {
  warp.products_fenced = false;
  if (!any_product(warp, &Reading::fragments, element)) return;
  stop(warp, at, warp.mask, FaultCode::in_flight,
       "`" + warp.program->kernel->buffers[static_cast<size_t>(buffer)].name +
           "`: expected a wait for the multiplication that reads it before this write",
       {});
}

// ---- the async proxy
//
// TMA and wgmma access shared memory through the async proxy (PTX ISA, "Memory Consistency Model:
// Proxies"). A store by a thread goes through the generic proxy, and the async proxy sees it only
// after a fence.proxy.async that follows the store. `visible` of a warp's Knowledge is the clock up
// to which stores of each warp are so fenced; a fence raises it to `known`.

void note_async_write(Warp& warp, const Instruction& at, const Access& access, Block& where,
                      std::int64_t element, int lane, bool by_async_proxy) {
  if (!warp.program->checks) return;
  const BufferPlan& plan = warp.program->buffers[access.buffer];
  Shadow& shadow = where.shadows[static_cast<size_t>(plan.shadow + element)];
  shared_write(warp, at, access, shadow, lane, now(warp));
  shadow.in_flight = true;
  shadow.by_async_proxy = by_async_proxy;
}

void note_arrival(Block& where, const BufferPlan& plan, std::int64_t element) {
  where.shadows[static_cast<size_t>(plan.shadow + element)].in_flight = false;
}

void begin_async_read(Warp& warp, const Instruction& at, const Access& access, std::int64_t element,
                      int lane, Reading& reading) {
  if (!warp.program->checks) return;
  const std::int64_t index = warp.program->buffers[access.buffer].shadow + element;
  Shadow& shadow = warp.block->shadows[static_cast<size_t>(index)];
  check_read(warp, at, access, shadow, lane, now(warp));
  const auto& visible = warp.cluster->knows[static_cast<size_t>(warp.actor)].visible;
  if (!shadow.by_async_proxy && shadow.written_at > visible[(shadow.writer - 1) / kLanes]) {
    Fault fault = details(warp, access, lane);
    fault.other_thread = shadow.writer - 1;
    const std::string what = "`" + fault.buffer +
                             "`: expected a fence proxy_async between the write by " +
                             thread_name(warp, shadow.writer) + " and this read by the async proxy";
    stop(warp, at, Mask{1} << lane, FaultCode::missing_fence, what, std::move(fault));
  }
  ++shadow.being_read;
  reading.shadows.push_back(index);
}

// From here on the read counts as one by `reader`, so that a later write must come after a barrier.
void end_async_read(Warp& warp, const Reading& reading, std::uint16_t reader, std::uint32_t time) {
  for (const std::int64_t index : reading.shadows) {
    Shadow& shadow = warp.block->shadows[static_cast<size_t>(index)];
    --shadow.being_read;
    remember_reader(warp, shadow, reader, time);
  }
}

void end_async_read(Warp& warp, const Reading& reading) {
  const Now when = now(warp);
  end_async_read(warp, reading, static_cast<std::uint16_t>(when.thread + reading.lane), when.time);
}

}  // namespace lay::interpret
