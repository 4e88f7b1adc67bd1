#include "backend/interpret/async/tma.h"

#include <cstring>
#include <functional>

#include "backend/interpret/async/barriers.h"
#include "backend/interpret/placement.h"
#include "backend/interpret/shadow.h"

namespace lay::interpret::tma {
namespace {

// An element of a box: its offset in shared memory, and in the tensor where it lies inside.
struct BoxElement {
  std::int64_t shared = 0;
  std::optional<std::int64_t> tensor;
};

class Box {
 public:
  Box(Warp& warp, const Instruction& at, int lane)
      : warp_(warp),
        at_(at),
        lane_(lane),
        plan_(warp.program->boxes[at.detail]),
        map_(warp.program->kernel->tensor_maps[plan_.map]),
        tensor_(warp.program->buffers[plan_.tensor.buffer]),
        shared_(warp.program->buffers[plan_.shared.buffer]) {}

  // The elements in the order in which TMA writes them.
  std::vector<BoxElement> elements();

 private:
  std::int64_t coordinate(const Access& access, size_t mode) {
    return as<std::int64_t>(warp_.slots[access.coordinate[mode]])[lane_];
  }
  void check_inside();
  void check_start();
  void check_base_pixel();
  // Where the element with these coordinates in the box lies in the tensor; nothing outside of it.
  std::optional<std::int64_t> in_tensor(const std::vector<std::int64_t>& inside) const;
  void go_to_pixel(std::int64_t number);
  std::vector<std::int64_t> in_shared(const std::vector<std::int64_t>& inside) const;
  std::int64_t linear(const std::vector<std::int64_t>& inside) const;
  BoxElement element(const std::vector<std::int64_t>& inside, std::int64_t number);

  Warp& warp_;
  const Instruction& at_;
  const int lane_;
  const BoxPlan& plan_;
  const ir::TensorMap& map_;
  const BufferPlan& tensor_;
  const BufferPlan& shared_;
  std::vector<std::int64_t> tensor_start_, shared_start_;
  std::vector<std::int64_t> offsets_, pixel_;  // of im2col: the copy's, and where it reads a pixel
  std::int64_t first_ = 0;                     // the box's first element, before the swizzle
};

// The box lies inside the buffer.
void Box::check_inside() {
  for (size_t m = 0; m < shared_start_.size(); ++m) {
    std::int64_t extent = 1;
    for (size_t i = 0; i < map_.order.size(); ++i) {
      if (static_cast<size_t>(map_.shared_mode(i)) == m)
        extent = std::max<std::int64_t>(extent, map_.box[i]);
    }
    const std::int64_t size = shared_.placement.modes[m].size;
    if (shared_start_[m] >= 0 && shared_start_[m] + extent <= size) continue;
    Fault fault;
    fault.buffer = warp_.program->kernel->buffers[plan_.shared.buffer].name;
    fault.coordinate = shared_start_;
    const std::string what = "elements " + std::to_string(shared_start_[m]) + " to " +
                             std::to_string(shared_start_[m] + extent - 1) + " of mode " +
                             std::to_string(m) + " of `" + fault.buffer + "` are outside 0.." +
                             std::to_string(size);
    stop(warp_, at_, Mask{1} << lane_, FaultCode::out_of_bounds, what, std::move(fault));
  }
}

// TMA begins a box at whole 16 bytes of the tensor's fastest mode; elsewhere a GPU stops with an
// illegal instruction (seen on an H200).
void Box::check_start() {
  constexpr std::int64_t unit = 16;  // bytes
  const std::int64_t first = tensor_start_[static_cast<size_t>(map_.order.front())];
  if (first * tensor_.bytes(1) % unit == 0) return;
  Fault fault;
  fault.buffer = warp_.program->kernel->buffers[plan_.tensor.buffer].name;
  fault.coordinate = tensor_start_;
  const std::string what = "the box of `" + map_.name + "` begins at element " +
                           std::to_string(first) + " of the fastest mode of `" + fault.buffer +
                           "`, " + std::to_string(first * tensor_.bytes(1)) +
                           " bytes, which is no multiple of 16";
  stop(warp_, at_, Mask{1} << lane_, FaultCode::misaligned, what, std::move(fault));
}

// A column of pixels begins at a base pixel, and its offsets go forwards, as far as the instruction
// can say (PTX ISA, im2colOffsets: 16 bits for all of them).
void Box::check_base_pixel() {
  const auto wrong = [&](const std::string& what) {
    Fault fault;
    fault.buffer = warp_.program->kernel->buffers[plan_.tensor.buffer].name;
    fault.coordinate = tensor_start_;
    stop(warp_, at_, Mask{1} << lane_, FaultCode::out_of_bounds, what, std::move(fault));
  };
  constexpr int offset_bits = 16;
  const std::int64_t most =
      (std::int64_t{1} << (offset_bits / static_cast<int>(std::max<size_t>(1, offsets_.size())))) -
      1;
  for (size_t i = 0; i < plan_.im2col.size(); ++i) {
    const auto& along = plan_.im2col[i];
    const auto mode = static_cast<size_t>(map_.order[i + 1]);
    const std::int64_t steps = tensor_start_[mode] - along.first;
    if (steps < 0 || steps % along.step != 0 || steps / along.step >= along.count)
      wrong("element " + std::to_string(tensor_start_[mode]) + " of mode " + std::to_string(mode) +
            " is no base pixel of `" + map_.name + "`, which has " + std::to_string(along.count) +
            " from " + std::to_string(along.first) + " on, " + std::to_string(along.step) +
            " apart");
    if (offsets_[i] < 0 || offsets_[i] > most)
      wrong("the offset " + std::to_string(offsets_[i]) + " of `" + map_.name + "` is outside 0.." +
            std::to_string(most));
  }
}

// Reads the pixel that comes so many behind the column's first one.
void Box::go_to_pixel(std::int64_t number) {
  pixel_ = tensor_start_;
  for (size_t i = 0; i < plan_.im2col.size(); ++i) {
    const auto& along = plan_.im2col[i];
    std::int64_t& here = pixel_[static_cast<size_t>(map_.order[i + 1])];
    const std::int64_t steps = (here - along.first) / along.step + number;
    here = along.first + steps % along.count * along.step + offsets_[i];
    number = steps / along.count;
  }
  pixel_[static_cast<size_t>(map_.order.back())] += number;
}

std::optional<std::int64_t> Box::in_tensor(const std::vector<std::int64_t>& inside) const {
  const bool im2col = !plan_.im2col.empty();
  const std::vector<std::int64_t>& start = im2col ? pixel_ : tensor_start_;
  std::int64_t offset = tensor_.placement.offset;
  for (size_t m = 0; m < inside.size(); ++m) {
    // Of a column of pixels the box goes on along the channels alone.
    const bool goes_on = !im2col || static_cast<int>(m) == map_.order.front();
    const std::int64_t c = start[m] + (goes_on ? inside[m] : 0);
    if (c < 0 || c >= tensor_.placement.modes[m].size) return std::nullopt;
    offset += within(tensor_.placement.modes[m], c);
  }
  return offset;
}

// Where the element with these coordinates in the box lies, as a coordinate of the buffer.
std::vector<std::int64_t> Box::in_shared(const std::vector<std::int64_t>& inside) const {
  std::vector<std::int64_t> at = shared_start_;
  for (size_t i = 0; i < map_.order.size(); ++i) {
    at[static_cast<size_t>(map_.shared_mode(i))] += inside[static_cast<size_t>(map_.order[i])];
  }
  return at;
}

std::int64_t Box::linear(const std::vector<std::int64_t>& inside) const {
  std::int64_t sum = shared_.placement.offset;
  const std::vector<std::int64_t> at = in_shared(inside);
  for (size_t m = 0; m < at.size(); ++m) sum += within(shared_.placement.modes[m], at[m]);
  return sum;
}

// TMA writes a box without gaps from its first element on, but that each row takes a whole span of
// a swizzle, and swizzles the address; the buffer's layout must say so.
BoxElement Box::element(const std::vector<std::int64_t>& inside, std::int64_t number) {
  BoxElement made;
  const std::int64_t sum = linear(inside);
  made.shared = shared_.placement.swizzle ? (*shared_.placement.swizzle)(sum) : sum;
  const std::int64_t row = map_.box.front();
  const std::int64_t pitch =
      map_.swizzle ? (std::int64_t{16} << map_.swizzle->b) / shared_.bytes(1) : row;
  std::int64_t byte =
      shared_.start + (first_ + number / row * pitch + number % row) * shared_.bytes(1);
  if (map_.swizzle) byte = (*map_.swizzle)(byte);
  if (byte != shared_.start + made.shared * shared_.bytes(1)) {
    Fault fault;
    fault.buffer = warp_.program->kernel->buffers[plan_.shared.buffer].name;
    fault.coordinate = in_shared(inside);
    const std::string what = "the layout of `" + fault.buffer + "` is not that of the box of `" +
                             map_.name + "`: expected element " + std::to_string(number) +
                             " at byte " + std::to_string(byte - shared_.start) + ", got " +
                             std::to_string(made.shared * shared_.bytes(1));
    stop(warp_, at_, Mask{1} << lane_, FaultCode::misaligned, what, std::move(fault));
  }
  made.tensor = in_tensor(inside);
  return made;
}

std::vector<BoxElement> Box::elements() {
  for (size_t m = 0; m < plan_.tensor.coordinate.size(); ++m)
    tensor_start_.push_back(coordinate(plan_.tensor, m));
  for (size_t m = 0; m < plan_.shared.coordinate.size(); ++m)
    shared_start_.push_back(coordinate(plan_.shared, m));
  for (const int offset : plan_.offsets)
    offsets_.push_back(as<std::int64_t>(warp_.slots[offset])[lane_]);
  check_inside();
  check_start();
  check_base_pixel();
  const size_t modes = map_.order.size();
  std::vector<std::int64_t> inside(modes, 0);
  first_ = linear(inside);
  std::int64_t count = 1;
  for (const int extent : map_.box) count *= extent;
  std::vector<BoxElement> all;
  all.reserve(static_cast<size_t>(count));
  for (std::int64_t number = 0; number < count; ++number) {
    std::int64_t rest = number;
    for (size_t i = 0; i < modes; ++i) {
      inside[static_cast<size_t>(map_.order[i])] = rest % map_.box[i];
      rest /= map_.box[i];
    }
    if (!plan_.im2col.empty() && number % map_.box.front() == 0)
      go_to_pixel(number / map_.box.front());
    all.push_back(element(inside, number));
  }
  return all;
}

const GlobalMemory& global_of(const Warp& warp, const BoxPlan& plan) {
  return (
      *warp.block->global)[static_cast<size_t>(warp.program->buffers[plan.tensor.buffer].global)];
}

// Issues cp.async.bulk.tensor: the box is read now and delivered later, in any order of copies (see
// deliver), to each block of the multicast mask. Elements outside the tensor arrive as zeros, and
// their bytes count at the mbarrier as well.
void load_box(Warp& warp, const Instruction& at, int lane) {
  Cluster& cluster = *warp.cluster;
  const BoxPlan& plan = warp.program->boxes[at.detail];
  const auto bytes = static_cast<size_t>(warp.program->buffers[plan.shared.buffer].cell);
  const std::vector<BoxElement> elements = Box(warp, at, lane).elements();
  Transfer made{
      &at, warp.actor, cluster.clock[static_cast<size_t>(warp.actor)], plan.shared.buffer, {}, -1,
      {},  {}};
  const std::int64_t* mask = slot<std::int64_t>(warp, at.b);
  for (int rank = 0; rank < warp.program->cluster_blocks; ++rank) {
    if (mask == nullptr ? rank == warp.block->rank : (mask[lane] >> rank & 1) != 0)
      made.ranks.push_back(rank);
  }
  const std::int64_t slot_at = as<std::int64_t>(warp.slots[at.a])[lane];
  for (const int rank : made.ranks)
    made.slot = barriers::mbarrier_slot(warp, at, plan.barrier, slot_at, rank, lane);
  const GlobalMemory& global = global_of(warp, plan);
  made.data.resize(elements.size() * bytes);
  for (size_t i = 0; i < elements.size(); ++i) {
    made.offsets.push_back(elements[i].shared);
    if (elements[i].tensor) {
      if (global.written != nullptr) {
        const Mask saved = std::exchange(warp.mask, Mask{1} << lane);
        std::int64_t offset[kLanes];
        offset[lane] = *elements[i].tensor;
        note_read(warp, at, plan.tensor, offset, 1);
        warp.mask = saved;
      }
      std::memcpy(&made.data[i * bytes],
                  global.data + *elements[i].tensor * static_cast<std::int64_t>(bytes), bytes);
    }
    for (const int rank : made.ranks) {
      note_async_write(warp, at, plan.shared, cluster.blocks[static_cast<size_t>(rank)],
                       elements[i].shared, lane, true);
    }
  }
  ++cluster.clock[static_cast<size_t>(warp.actor)];
  cluster.transfers.push_back(std::move(made));
}

// Stores a box. Global memory is written at once; shared memory counts as being read until the bulk
// group is waited for.
void store_box(Warp& warp, const Instruction& at, int lane) {
  const BoxPlan& plan = warp.program->boxes[at.detail];
  const BufferPlan& from = warp.program->buffers[plan.shared.buffer];
  const GlobalMemory& global = global_of(warp, plan);
  Reading reading{&at, lane, {}, {}, {}};
  const Mask saved = std::exchange(warp.mask, Mask{1} << lane);
  for (const BoxElement& element : Box(warp, at, lane).elements()) {
    begin_async_read(warp, at, plan.shared, element.shared, lane, reading);
    if (!element.tensor) continue;
    std::int64_t offset[kLanes];
    offset[lane] = *element.tensor;
    note_write(warp, at, plan.tensor, offset, 1);
    std::memcpy(global.data + *element.tensor * from.cell,
                warp.block->shared.data() + from.place + element.shared * from.cell,
                static_cast<size_t>(from.cell));
  }
  warp.mask = saved;
  warp.stores.push_back(std::move(reading));
}

void load_boxes(Warp& warp, const Instruction& at) {
  for_each_lane(warp.mask, [&](int lane) { load_box(warp, at, lane); });
}

void store_boxes(Warp& warp, const Instruction& at) {
  for_each_lane(warp.mask, [&](int lane) { store_box(warp, at, lane); });
}

void commit_stores(Warp& warp, const Instruction&) {
  warp.store_groups.push_back(std::exchange(warp.stores, {}));
}

void wait_for_stores(Warp& warp, const Instruction& at) {
  while (static_cast<std::int64_t>(warp.store_groups.size()) > at.value) {
    for (const Reading& each : warp.store_groups.front()) end_async_read(warp, each);
    warp.store_groups.pop_front();
  }
}

}  // namespace

const Handler load = load_boxes;
const Handler store = store_boxes;
const Handler commit = commit_stores;
const Handler wait = wait_for_stores;

bool deliver(Cluster& cluster) {
  if (cluster.transfers.empty()) return false;
  const Transfer transfer = std::move(cluster.transfers.front());
  cluster.transfers.pop_front();
  barriers::check_targets(cluster.warp(transfer.actor), *transfer.at, transfer.ranks);
  const BufferPlan& plan = cluster.program->buffers[transfer.buffer];
  const auto bytes = static_cast<size_t>(plan.cell);
  for (const int rank : transfer.ranks) {
    Block& block = cluster.blocks[static_cast<size_t>(rank)];
    for (size_t i = 0; i < transfer.offsets.size(); ++i) {
      std::memcpy(block.shared.data() + plan.place + transfer.offsets[i] * plan.cell,
                  &transfer.data[i * bytes], bytes);
      if (cluster.program->checks) note_arrival(block, plan, transfer.offsets[i]);
    }
    const auto slots = static_cast<size_t>(cluster.program->barrier_slots);
    Arrivals& at =
        cluster.arrivals[static_cast<size_t>(rank) * slots + static_cast<size_t>(transfer.slot)];
    auto& known = at.knowledge.known[static_cast<size_t>(transfer.actor)];
    known = std::max(known, transfer.issued_at);
    barriers::bytes_arrive(cluster, at,
                           static_cast<std::int64_t>(transfer.offsets.size()) * plan.bytes(1));
  }
  return true;
}

void check_idle(Cluster& cluster) {
  for (Block& block : cluster.blocks) {
    for (Warp& warp : block.warps) {
      const std::vector<Reading>* open = nullptr;
      if (!warp.stores.empty()) open = &warp.stores;
      for (const auto& group : warp.store_groups) {
        if (!group.empty()) open = &group;
      }
      if (open == nullptr) continue;
      stop(warp, open->front().at->statement, FaultCode::in_flight,
           "expected a wait for this store of shared memory before the block ends");
    }
  }
}

}  // namespace lay::interpret::tma
