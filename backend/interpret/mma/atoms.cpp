#include "backend/interpret/mma/atoms.h"

#include <algorithm>
#include <cstring>

#include "backend/interpret/placement.h"
#include "backend/interpret/shadow.h"
#include "backend/interpret/values/codec.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::interpret::atoms {
namespace {

const BufferPlan& plan_of(const Warp& warp, const Access& access) {
  return warp.program->buffers[access.buffer];
}

// The elements of a tile that a warp needs, as numbers: row-major, `depth` columns. Rows that it
// does not need are left.
template <class T>
struct Tile {
  std::vector<T> values;
  int depth;
  T& at(int row, int k) {
    return values[static_cast<size_t>(row) * static_cast<size_t>(depth) + static_cast<size_t>(k)];
  }
};

// ---- operands in registers

template <class T, class C>
void from_registers(Warp& warp, const Instruction& at, const Access& access,
                    const std::vector<Place>& places, int first_thread, Reading& reading,
                    Tile<T>& tile) {
  const BufferPlan& plan = plan_of(warp, access);
  const std::int64_t base = register_offset(warp, at, access, {}, 0);
  const Mode& mode = plan.placement.modes[0];
  const auto* rows =
      reinterpret_cast<const typename C::Bits*>(warp.registers + plan.place * kLanes);
  for (std::int64_t v = 0; v < mode.size; ++v) {
    const std::int64_t element = base + within(mode, v);
    if (warp.program->checks) note_register_read(warp, at, access, plan.shadow + element);
    if (plan.fragments) reading.fragments.push_back(plan.shadow + element);
    for (int lane = 0; lane < kLanes; ++lane) {
      const Place place = places[static_cast<size_t>((first_thread + lane) * mode.size + v)];
      tile.at(place.row, place.column) = operand_value<T>(C::decode(rows[element * kLanes + lane]));
    }
  }
}

// ---- operands in shared memory

template <class T, class C>
void from_shared(Warp& warp, const Instruction& at, const Access& access, int first_row, int rows,
                 Reading& reading, Tile<T>& tile) {
  const BufferPlan& plan = plan_of(warp, access);
  const auto start = [&](size_t mode) {
    return as<std::int64_t>(warp.slots[access.coordinate[mode]])[0];
  };
  const std::array<std::int64_t, 2> extents{first_row + rows, tile.depth};
  std::int64_t rest = plan.placement.offset;
  for (size_t m = 0; m < access.coordinate.size(); ++m) {
    const std::int64_t c = start(m), extent = m < 2 ? extents[m] : 1,
                       size = plan.placement.modes[m].size;
    if (c < 0 || c + extent > size) {
      Fault fault;
      fault.buffer = warp.program->kernel->buffers[access.buffer].name;
      fault.coordinate = coordinate_of(warp, access, 0);
      const std::string what = "elements " + std::to_string(c) + " to " +
                               std::to_string(c + extent - 1) + " of mode " + std::to_string(m) +
                               " of `" + fault.buffer + "` are outside 0.." + std::to_string(size);
      stop(warp, at, warp.mask, FaultCode::out_of_bounds, what, std::move(fault));
    }
    if (m >= 2) rest += within(plan.placement.modes[m], c);
  }
  const std::byte* memory = warp.block->shared.data() + plan.place;
  for (int row = first_row; row < first_row + rows; ++row) {
    const std::int64_t of_row = rest + within(plan.placement.modes[0], start(0) + row);
    for (int k = 0; k < tile.depth; ++k) {
      std::int64_t element = of_row + within(plan.placement.modes[1], start(1) + k);
      if (plan.placement.swizzle) element = (*plan.placement.swizzle)(element);
      begin_async_read(warp, at, access, element, 0, reading);
      typename C::Bits bits;
      std::memcpy(&bits, memory + element * plan.cell, sizeof bits);
      tile.at(row, k) = operand_value<T>(C::decode(bits));
    }
  }
}

template <class T>
Tile<T> operand(Warp& warp, const Instruction& at, const Access& access,
                const std::vector<Place>& places, int first_thread, int all_rows, int first_row,
                int rows, int depth, Reading& reading) {
  Tile<T> tile{std::vector<T>(static_cast<size_t>(all_rows * depth)), depth};
  with_codec(plan_of(warp, access).element, warp.program->arithmetic, [&](auto codec) {
    using C = decltype(codec);
    if (places.empty()) {
      from_shared<T, C>(warp, at, access, first_row, rows, reading, tile);
    } else {
      from_registers<T, C>(warp, at, access, places, first_thread, reading, tile);
    }
  });
  return tile;
}

// ---- the product

Mask zero_lanes(Warp& warp, const Instruction& at) {
  const std::int64_t* zero = slot<std::int64_t>(warp, at.a);
  Mask mask = 0;
  for (int i = 0; zero != nullptr && i < kLanes; ++i) mask |= static_cast<Mask>(zero[i] != 0) << i;
  return mask;
}

// Integers wrap in 32 bits, however wide their memory is.
template <class D, class S>
D accumulated(S sum) {
  if constexpr (std::is_integral_v<D>)
    return static_cast<std::int32_t>(sum);
  else
    return static_cast<D>(sum);
}

// D: the accumulator's type in memory. S: in which the products are summed.
template <class D, class S>
void multiply_tile(Warp& warp, const Instruction& at) {
  if (warp.mask != ~Mask{0}) {
    stop(warp, at, ~warp.mask, FaultCode::barrier_divergence,
         "expected all lanes of the warp at this multiplication");
  }
  const AtomPlan& plan = warp.program->atoms[at.detail];
  const bool asynchronous = plan.threads > kLanes;
  if (asynchronous && !warp.products_fenced) {
    stop(warp, at, warp.mask, FaultCode::missing_fence,
         "expected a fence wgmma between the last access to the accumulators, or to an operand in "
         "registers, and this multiplication");
  }
  const int first_thread = asynchronous ? warp.index % 4 * kLanes : 0;
  const BufferPlan& to = plan_of(warp, plan.d);
  const Mode& mode = to.placement.modes[0];
  const Place* d_places = &plan.d_places[static_cast<size_t>(first_thread * mode.size)];
  int low = plan.rows, high = 0;  // the rows that this warp holds
  for (std::int64_t i = 0; i < kLanes * mode.size; ++i) {
    low = std::min<int>(low, d_places[i].row);
    high = std::max<int>(high, d_places[i].row + 1);
  }
  Reading reading{&at, 0, {}, {}, {}};
  Tile<S> a = operand<S>(warp, at, plan.a, plan.a_places, first_thread, plan.rows, low, high - low,
                         plan.depth, reading);
  Tile<S> b = operand<S>(warp, at, plan.b, plan.b_places, first_thread, plan.columns, 0,
                         plan.columns, plan.depth, reading);
  const Mask zero = zero_lanes(warp, at);
  const std::int64_t base = register_offset(warp, at, plan.d, {}, 0);
  D* d = reinterpret_cast<D*>(warp.registers + to.place * kLanes);
  for (std::int64_t v = 0; v < mode.size; ++v) {
    const std::int64_t element = base + within(mode, v);
    const std::int64_t shadow = to.shadow + element;
    if (warp.program->checks && zero != ~Mask{0} && !is_being_multiplied(warp, shadow)) {
      note_register_read(warp, at, plan.d, shadow);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      const Place place = d_places[lane * mode.size + v];
      S sum{};
      for (int k = 0; k < plan.depth; ++k) sum = sum + a.at(place.row, k) * b.at(place.column, k);
      D& into = d[element * kLanes + lane];
      into = accumulated<D>((zero >> lane & 1) != 0 ? sum : static_cast<S>(into) + sum);
    }
    warp.initialised[shadow] = asynchronous ? 0 : ~Mask{0};
    if (asynchronous) reading.registers.push_back(shadow);
  }
  if (asynchronous) warp.products.push_back(std::move(reading));
}

void fence_products(Warp& warp, const Instruction&) {
  warp.products_fenced = true;
}

// ---- groups. A wgmma is one operation of its warpgroup: it is done for all four warps or for
// none.

template <class Do>
void for_warpgroup(Warp& warp, Do action) {
  const int first = warp.index / 4 * 4;
  for (Warp& other : warp.block->warps) {
    if (other.index >= first && other.index < first + 4) action(other);
  }
}

bool all_committed(Warp& warp, std::int64_t groups) {
  bool all = true;
  for_warpgroup(warp, [&](Warp& other) { all = all && other.committed_products >= groups; });
  return all;
}

void commit_products(Warp& warp, const Instruction&) {
  warp.product_groups.push_back(std::exchange(warp.products, {}));
  ++warp.committed_products;
  for_warpgroup(warp, [&](Warp& other) {
    if (other.awaited_products < 0 || !all_committed(warp, other.awaited_products)) return;
    other.awaited_products = -1;
    other.state = Warp::State::running;
  });
}

// The reads of a group, counted from 0, have ended; whoever waits for it knows that.
void end_reads(Warp& warp, std::int64_t group) {
  const int warpgroup = warp.cluster->warpgroup_of(warp);
  const auto time = static_cast<std::uint32_t>(group + 1);
  auto& known =
      warp.cluster->knows[static_cast<size_t>(warp.actor)].known[static_cast<size_t>(warpgroup)];
  known = std::max(known, time);
  for_warpgroup(warp, [&](Warp& other) {
    const std::int64_t first =
        other.committed_products - static_cast<std::int64_t>(other.product_groups.size());
    if (group < first) return;
    for (Reading& each : other.product_groups[static_cast<size_t>(group - first)]) {
      end_async_read(warp, each, static_cast<std::uint16_t>(warpgroup * kLanes + 1), time);
      each.shadows.clear();
    }
  });
}

void wait_for_products(Warp& warp, const Instruction& at) {
  const std::int64_t awaited = warp.committed_products - at.value;
  if (!all_committed(warp, awaited)) {  // again, when they have
    warp.awaited_products = awaited;
    warp.statement = at.statement;
    warp.state = Warp::State::waiting;
    --warp.pc;
    return;
  }
  while (static_cast<std::int64_t>(warp.product_groups.size()) > at.value) {
    end_reads(warp,
              warp.committed_products - static_cast<std::int64_t>(warp.product_groups.size()));
    const std::vector<Reading> done = std::move(warp.product_groups.front());
    warp.product_groups.pop_front();
    for (const Reading& each : done) {
      for (const std::int64_t element : each.registers) {
        if (!is_being_multiplied(warp, element)) warp.initialised[element] = ~Mask{0};
      }
    }
  }
  if (at.value == 0) warp.products_fenced = false;
}

bool small_integer(ElementType type) {
  return type == ElementType::s8 || type == ElementType::u8;
}

}  // namespace

Handler multiply(ElementType d, ElementType a, ElementType b, Arithmetic arithmetic) {
  const bool in_field = arithmetic == Arithmetic::field;
  if (d == ElementType::f32 && is_narrow_float(a) && is_narrow_float(b))
    return in_field ? multiply_tile<field::Number, field::Number> : multiply_tile<float, double>;
  if (d == ElementType::f64 && a == d && b == d)
    return in_field ? multiply_tile<field::Number, field::Number> : multiply_tile<double, double>;
  if (d == ElementType::s32 && small_integer(a) && small_integer(b))
    return in_field ? multiply_tile<std::int64_t, std::int64_t>
                    : multiply_tile<std::int32_t, std::int64_t>;
  return nullptr;
}

const Handler fence = fence_products;
const Handler commit = commit_products;
const Handler wait = wait_for_products;

std::vector<Place> places(const Layout& threads_values, int rows) {
  const std::int64_t threads = size(threads_values.shape[0]).value(),
                     count = size(threads_values.shape[1]).value();
  const std::vector<std::int64_t> all = values(threads_values);
  std::vector<Place> made(all.size());
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    for (std::int64_t v = 0; v < count; ++v) {
      const std::int64_t index = all[static_cast<size_t>(thread + threads * v)];
      made[static_cast<size_t>(thread * count + v)] = {static_cast<std::int16_t>(index % rows),
                                                       static_cast<std::int16_t>(index / rows)};
    }
  }
  return made;
}

}  // namespace lay::interpret::atoms
