#include "backend/interpret/placement.h"

#include <algorithm>

#include "frontend/algebra/support/refusal.h"

namespace lay::interpret {
namespace {

// The leaves of a mode, left to right. False if a stride is no integer or a symbol has no value.
bool collect(const Tuple& shape, const Tuple& stride, const Binding& sizes,
             std::vector<Leaf>& leaves) {
  if (shape.is_tuple()) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (!collect(shape[i], stride[i], sizes, leaves)) return false;
    }
    return true;
  }
  if (!shape.is_int() || !stride.is_int()) return false;
  const auto extent = shape.value().evaluate(sizes), step = stride.value().evaluate(sizes);
  if (!extent || !step || *extent < 0 || *step < 0) return false;
  leaves.push_back({*extent, *step});
  return true;
}

std::optional<Mode> mode_of(const Tuple& shape, const Tuple& stride, const Binding& sizes,
                            std::int64_t& cosize) {
  Mode mode;
  if (!collect(shape, stride, sizes, mode.leaves)) return std::nullopt;
  for (const Leaf& leaf : mode.leaves) {
    mode.size = checked_mul(mode.size, leaf.extent);
    if (leaf.extent > 0) cosize = checked_add(cosize, checked_mul(leaf.extent - 1, leaf.stride));
  }
  // A split of one is no split, and modes of extent 1 add nothing.
  std::erase_if(mode.leaves, [](const Leaf& leaf) { return leaf.extent == 1; });
  if (mode.leaves.empty()) mode.leaves.push_back({1, 0});
  return mode;
}

// A swizzle permutes blocks of this many offsets.
std::int64_t swizzle_block(const Swizzle& swizzle) {
  const auto bits = static_cast<std::uint64_t>(swizzle.source_mask() | swizzle.target_mask());
  return bits == 0 ? 1 : std::int64_t{1} << (64 - __builtin_clzll(bits));
}

std::optional<Placement> modes_of(const Layout& layout, const Binding& sizes) {
  Placement made;
  for (int i = 0; i < layout.shape.rank(); ++i) {
    const auto mode = layout.shape.is_tuple()
                          ? mode_of(layout.shape[i], layout.stride[i], sizes, made.cosize)
                          : mode_of(layout.shape, layout.stride, sizes, made.cosize);
    if (!mode) return std::nullopt;
    made.modes.push_back(*mode);
  }
  // Without an element there is no memory: K = 0 is a legal size.
  for (const Mode& mode : made.modes) {
    if (mode.size == 0) made.cosize = 0;
  }
  return made;
}

std::optional<Placement> composed(const Composed& layout, const Binding& sizes) {
  const auto* swizzle = std::get_if<Swizzle>(&layout.outer);
  const auto* inner = std::get_if<Layout>(&layout.inner);
  if (swizzle == nullptr || inner == nullptr || !layout.offset.is_int()) return std::nullopt;
  auto made = modes_of(*inner, sizes);
  const auto offset = layout.offset.value().evaluate(sizes);
  if (!made || !offset || *offset < 0) return std::nullopt;
  made->offset = *offset;
  made->swizzle = *swizzle;
  const std::int64_t block = swizzle_block(*swizzle);
  made->cosize = checked_mul((checked_add(made->cosize, *offset) + block - 1) / block, block);
  return made;
}

[[noreturn]] void outside(Warp& warp, const Instruction& at, const Access& access, int mode,
                          int lane, Run run) {
  const BufferPlan& plan = warp.program->buffers[access.buffer];
  const std::string& name = warp.program->kernel->buffers[access.buffer].name;
  std::int64_t c = as<std::int64_t>(warp.slots[access.coordinate[mode]])[lane];
  Fault details;
  details.buffer = name;
  details.coordinate = coordinate_of(warp, access, lane);
  const int whole = access.first_mode + mode;
  const std::int64_t size = plan.placement.modes[whole].size;
  std::string what;
  if (run.mode == whole && run.count > 1 && c >= 0 && c < size) {
    what = "elements " + std::to_string(c) + " to " + std::to_string(c + run.count - 1);
  } else {
    what = "coordinate " + std::to_string(c);
  }
  stop(warp, at, Mask{1} << lane, FaultCode::out_of_bounds,
       what + " of mode " + std::to_string(whole) + " of `" + name + "` is outside 0.." +
           std::to_string(size),
       details);
}

void check(Warp& warp, const Instruction& at, const Access& access, int mode, std::int64_t size,
           Run run) {
  const std::int64_t* c = as<std::int64_t>(warp.slots[access.coordinate[mode]]);
  const std::int64_t last = size - (run.mode == access.first_mode + mode ? run.count : 1);
  for_each_lane(warp.mask, [&](int i) {
    if (c[i] < 0 || c[i] > last) outside(warp, at, access, mode, i, run);
  });
}

// Returns true if all 32 coordinates lie in 0..last: the quick look before the lane-by-lane one.
bool all_inside(const std::int64_t* c, std::int64_t last) {
  std::int64_t outside = 0;
  for (int i = 0; i < kLanes; ++i) outside |= c[i] | (last - c[i]);
  return outside >= 0;
}

void add_mode(const Mode& mode, const std::int64_t* c, std::int64_t* out) {
  if (mode.leaves.size() == 1) {
    const std::int64_t stride = mode.leaves[0].stride;
    for (int i = 0; i < kLanes; ++i) {
      out[i] += static_cast<std::int64_t>(static_cast<std::uint64_t>(c[i]) *
                                          static_cast<std::uint64_t>(stride));
    }
    return;
  }
  for (int i = 0; i < kLanes; ++i) out[i] += within(mode, c[i]);
}

}  // namespace

std::optional<Placement> place(const AnyLayout& layout, const Binding& sizes) {
  try {
    if (const auto* plain = std::get_if<Layout>(&layout)) return modes_of(*plain, sizes);
    return composed(std::get<Composed>(layout), sizes);
  } catch (const Refusal&) {
    return std::nullopt;  // overflow
  }
}

Placement one_mode(Placement placement) {
  Mode whole;
  for (const Mode& mode : placement.modes) {
    whole.size *= mode.size;
    whole.leaves.insert(whole.leaves.end(), mode.leaves.begin(), mode.leaves.end());
  }
  placement.modes = {whole};
  return placement;
}

std::int64_t within(const Mode& mode, std::int64_t coordinate) {
  std::int64_t sum = 0;
  for (size_t i = 0; i + 1 < mode.leaves.size(); ++i) {
    sum += coordinate % mode.leaves[i].extent * mode.leaves[i].stride;
    coordinate /= mode.leaves[i].extent;
  }
  return sum + coordinate * mode.leaves.back().stride;
}

void offsets(Warp& warp, const Instruction& at, const Access& access, Run run, std::int64_t* out) {
  const Placement& placement = warp.program->buffers[access.buffer].placement;
  std::fill(out, out + kLanes, 0);
  for (size_t k = 0; k < access.coordinate.size(); ++k) {
    const int whole = access.first_mode + static_cast<int>(k);
    const Mode& mode = placement.modes[whole];
    const std::int64_t* c = as<std::int64_t>(warp.slots[access.coordinate[k]]);
    if (!all_inside(c, mode.size - (run.mode == whole ? run.count : 1))) {
      check(warp, at, access, static_cast<int>(k), mode.size, run);
      std::int64_t safe[kLanes] = {};
      for_each_lane(warp.mask, [&](int i) { safe[i] = c[i]; });
      add_mode(mode, safe, out);
    } else {
      add_mode(mode, c, out);
    }
  }
  if (placement.offset == 0 && !placement.swizzle) return;
  for (int i = 0; i < kLanes; ++i) out[i] = offset_of(placement, out[i]);
}

std::int64_t register_offset(Warp& warp, const Instruction& at, const Access& access, Run run,
                             int e) {
  const Placement& placement = warp.program->buffers[access.buffer].placement;
  const int lane = first_lane(warp.mask);
  std::int64_t sum = 0;
  for (size_t k = 0; k < access.coordinate.size(); ++k) {
    const int whole = access.first_mode + static_cast<int>(k);
    const Mode& mode = placement.modes[whole];
    std::int64_t c = as<std::int64_t>(warp.slots[access.coordinate[k]])[lane];
    if (run.mode == whole) c += e;
    if (c < 0 || c >= mode.size) outside(warp, at, access, static_cast<int>(k), lane, {});
    sum += within(mode, c);
  }
  return offset_of(placement, sum);
}

std::vector<std::int64_t> coordinate_of(Warp& warp, const Access& access, int lane) {
  std::vector<std::int64_t> coordinate;
  for (const int slot : access.coordinate)
    coordinate.push_back(as<std::int64_t>(warp.slots[slot])[lane]);
  return coordinate;
}

}  // namespace lay::interpret
