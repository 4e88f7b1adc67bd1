#include "backend/plan/sm80/sm80.h"

#include <algorithm>

#include "backend/plan/fragments/lane_rows.h"
#include "backend/plan/scales/promotion.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/shared_layout.h"
#include "backend/plan/simt/simt.h"
#include "backend/plan/sm80/sm80_operand.h"
#include "backend/plan/text.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/library.h"

namespace lay::plan {

namespace {

constexpr int widest_access = 16;  // bytes

// The copy of one thread from global to shared memory of that many bits, of `chosen` or, if the
// machine has one, of the library: cp.async of 16 bytes for a vector of eight bf16, none for a
// single one.
std::optional<sema::CopyInstruction> async_copy(const std::vector<sema::CopyInstruction>& chosen,
                                                int bits, int capability) {
  using enum sema::CopySpace;
  const auto library = sema::library_copies(global, shared, capability);
  for (const auto* known : {&chosen, &library})
    for (const sema::CopyInstruction& each : *known)
      if (each.is_async() && each.bits() == bits) return each;
  return std::nullopt;
}

// Bits of the widest access to global memory: of the widest of the chosen copies, where there are.
int widest_access_bits(const std::vector<sema::CopyInstruction>& chosen) {
  int widest = 0;
  for (const sema::CopyInstruction& each : chosen)
    if (each.is_async() && each.bits() <= 8 * widest_access)
      widest = std::max(widest, static_cast<int>(each.bits()));
  return widest > 0 ? widest : 8 * widest_access;
}

class Shaper {
 public:
  explicit Shaper(const TensorShaping& at) : at_(at) {}
  std::optional<Sm80Gemm> run();

 private:
  bool choose_tile();
  bool choose_operand(Sm80Operand& operand, int axis);
  bool choose_way(Sm80Operand& operand, int axis);
  bool choose_own(Sm80Operand& operand, int axis);
  bool choose_operands();
  int shared_vector(const Sm80Operand& operand, const std::array<int, 2>& tile, int widest) const;
  bool choose_shared(Sm80Operand& operand, int axis, const std::optional<AnyLayout>& asked);
  bool choose_order();
  bool choose_room();

  const TensorShaping& at_;
  Sm80Gemm gemm_;
};

bool Shaper::choose_tile() {
  const auto& shape = gemm_.mma.shape;
  // 128 x 128 x 32 for m16n8k16.
  gemm_.tile =
      at_.schedule.tile.value_or(std::array<int, 3>{8 * shape[0], 16 * shape[1], 2 * shape[2]});
  gemm_.groups = at_.schedule.groups.value_or(std::array<int, 4>{2, 2, 1, 1});
  gemm_.stages = at_.schedule.stages.value_or(3);
  if (at_.schedule.cluster && *at_.schedule.cluster != std::array<int, 3>{1, 1, 1}) {
    return at_.wrong("unsupported", "cluster", "blocks of compute capability 8 form no clusters");
  }
  if (gemm_.groups[3] != 1) {
    return at_.wrong("unsupported", "groups",
                     "groups over successive tiles are not supported for sm80",
                     {{"help", "write 1 for the last number"}});
  }
  if (!check_threads(at_, gemm_.threads(), "the groups")) return false;
  if (gemm_.stages < 2) {
    return at_.wrong("schedule-entry", "stages",
                     "the next K tile is on its way during the products: at least 2 stages");
  }
  // One step of K is read while another is multiplied, in two sets of registers: each slice has an
  // even number of steps of a K tile.
  const std::array<int, 3> least{gemm_.groups[0] * shape[0], gemm_.groups[1] * shape[1],
                                 2 * shape[2] * gemm_.groups[2]};
  return check_tile(at_, gemm_, least, "warps");
}

// The widest vector of elements of 4 bits, of 4 bytes at least, by which the threads share the
// tile: one of 64 x 32 has 64 vectors of 16 bytes, and 128 of 8.
int Shaper::shared_vector(const Sm80Operand& operand, const std::array<int, 2>& tile,
                          int widest) const {
  constexpr int least = 8;
  for (int vector = widest; vector >= least; vector /= 2)
    if (shared_copy(tile, operand.along_k, vector, gemm_.threads())) return vector;
  return widest;
}

// Which of the operand's elements lie side by side.
bool Shaper::choose_way(Sm80Operand& operand, int axis) {
  const sema::NodeId load = axis == 0 ? at_.form.a : at_.form.b;
  operand.load = load;
  operand.value = axis == 0 ? at_.form.a_value : at_.form.b_value;
  operand.outer = axis == 0 ? gemm_.m : gemm_.n;
  const sema::Tensor& tensor = at_.kernel.loaded(load);
  const auto& what = at_.kernel.load(load);
  // The operand runs along k unless its contiguous mode is the outer index.
  const int unit = tile::unit_mode(at_.facts, tensor.layout);
  const sema::IndexId run =
      unit < 0 ? -1 : bare_index(at_.kernel, what.coordinate[static_cast<std::size_t>(unit)]);
  operand.along_k = run != operand.outer;
  for (std::size_t i = 0; i < what.coordinate.size(); ++i) {
    if (bare_index(at_.kernel, what.coordinate[i]) == (operand.along_k ? gemm_.k : operand.outer)) {
      operand.vector_mode = static_cast<int>(i);
    }
  }
  // Shared memory has elements as they are stored: the atom's layout says which of them a lane
  // reads, whatever type it multiplies them in.
  const ElementType multiplied = axis == 0 ? gemm_.mma.a_type : gemm_.mma.b_type;
  operand.converted = tensor.element != multiplied ||
                      !is_as_stored(at_.kernel, at_.form, operand.value, operand.load);
  return run == gemm_.k || run == operand.outer;
}

// The widest runs of neighbours along k, of 16 bytes at most, whose blocks divide what a slice has
// of a K tile and the intervals of its sums.
bool Shaper::choose_own(Sm80Operand& operand, int axis) {
  const auto side = static_cast<std::size_t>(axis);
  const std::string entry = axis == 0 ? "private A" : "private B";
  if (axis == 0 ? at_.schedule.shared_a : at_.schedule.shared_b)
    return at_.wrong("schedule-entry", axis == 0 ? "smem A" : "smem B",
                     "what lanes copy for themselves lies in shared memory as they copy it",
                     {{"help", "leave `smem` or `private` out"}});
  const bool runs = choose_way(operand, axis);
  const sema::Tensor& tensor = at_.kernel.loaded(operand.load);
  const int unit = tile::unit_mode(at_.facts, tensor.layout);
  if (!runs || !operand.along_k || at_.width == Width::elements) {
    if (at_.width == Width::elements && !at_.schedule.accesses) return false;
    return at_.wrong("unsupported", entry,
                     "lanes copy " + tensor.name + " for themselves in vectors along the sum only",
                     {{"help",
                       "a tensor that is contiguous along the index of the sum, and "
                       "`accesses = \"vectors\"`"}});
  }
  if (gemm_.groups[1 - side] != 1)
    return at_.wrong("schedule-cover", "groups",
                     std::to_string(gemm_.groups[1 - side]) + " groups multiply the same of " +
                         tensor.name + ", which each would copy for itself",
                     {{"works", "groups of 1 along the other operand"}});
  const std::array<int, 2> shape{gemm_.mma.shape[side], gemm_.mma.shape[2]};
  const Layout& held = axis == 0 ? gemm_.mma.a : gemm_.mma.b;
  // One whose run is the atom's k says which neighbours a lane holds, and whether it holds any.
  const auto narrowest = k_order(held, shape, gemm_.mma.shape[2]);
  if (!narrowest)
    return at_.wrong("unsupported", "mma",
                     "lanes of " + gemm_.mma.name + " hold no neighbours along k of " +
                         tensor.name + " alone, and so copy none for themselves",
                     {{"works", "mma = sm80.mma_pair(ab = bf16, acc = f32)"}});
  // 128 of s4 for each slice: runs of 32, by 16 bytes, for four lanes. Intervals of 64 have runs of
  // 16, by 8 bytes.
  const auto divides = [&](int run) {
    const int block = run * narrowest->lanes;
    return gemm_.part_of_k() % block == 0 && gemm_.promotion_interval % block == 0;
  };
  const int least = narrowest->together;
  // The widest that memory allows for some sizes: its condition is the variant's.
  for (int run = 8 * widest_access / bits(tensor.element); run >= least; run /= 2) {
    if (run % least != 0 || !divides(run)) continue;
    const int moved = run * bits(tensor.element);
    const Conditions needed{tile::vector_conditions(at_.facts, tensor.layout, unit, run),
                            {{at_.kernel.load(operand.load).tensor, moved / 8}}};
    operand.async = async_copy(gemm_.copies, moved, at_.target.capability);
    if (is_never(needed) || !operand.async) continue;
    add(at_.conditions, needed);
    operand.own = true;
    operand.vector = run;
    operand.threads =
        copied_by_lanes(held, shape, *k_order(held, shape, run), {gemm_.tile[side], gemm_.tile[2]},
                        gemm_.groups[side], gemm_.groups[2]);
    // No other thread reads what one has copied, so that no layout avoids conflicts of both.
    operand.shared = accesses_side_by_side(operand.threads);
    operand.fragment = fragment_in_order(gemm_, operand, axis, bits(tensor.element), {});
    return true;
  }
  // A run of a step divides both, so that only memory has none.
  return at_.wrong("unsupported", entry,
                   "lanes copy " + tensor.name + " for themselves in vectors of " +
                       std::to_string(least) +
                       " elements at least, and its rows do not begin with whole ones",
                   {{"works", "strides that are multiples of " + std::to_string(least)}});
}

bool Shaper::choose_operand(Sm80Operand& operand, int axis) {
  const bool runs = choose_way(operand, axis);
  const sema::Tensor& tensor = at_.kernel.loaded(operand.load);
  const auto& what = at_.kernel.load(operand.load);
  const int unit = tile::unit_mode(at_.facts, tensor.layout);
  operand.vector = 1;
  const std::array<int, 2> tile{gemm_.tile[static_cast<std::size_t>(axis)], gemm_.tile[2]};
  if (at_.width == Width::vectors && runs) {
    const int widest = std::max(1, widest_access_bits(gemm_.copies) / bits(tensor.element)),
              vector = is_half_byte(tensor.element) ? shared_vector(operand, tile, widest) : widest;
    const Conditions needed{tile::vector_conditions(at_.facts, tensor.layout, unit, vector),
                            {{what.tensor, vector * bits(tensor.element) / 8}}};
    if (!is_never(needed)) {
      operand.vector = vector;
      add(at_.conditions, needed);
    }
  }
  // cp.async moves 4, 8 or 16 bytes; narrower elements go through registers.
  operand.async =
      async_copy(gemm_.copies, operand.vector * bits(tensor.element), at_.target.capability);
  // One by one, two threads would write the two elements of a byte of shared memory. A schedule
  // that does not say its accesses has vectors alone.
  if (is_half_byte(tensor.element) && !operand.async) {
    if (at_.width == Width::elements && !at_.schedule.accesses) return false;
    return at_.wrong("unsupported", "accesses",
                     tensor.name + " has elements of " + std::string(element_name(tensor.element)) +
                         ", two to a byte, which are copied to shared memory in vectors only",
                     {{"help",
                       "a tensor that is contiguous along an index of the product, with "
                       "strides of whole vectors"}});
  }
  const auto threads = shared_copy(tile, operand.along_k, operand.vector, gemm_.threads());
  if (!threads) {
    return at_.wrong("schedule-copy", "tile",
                     std::to_string(gemm_.threads()) + " threads cannot share a tile of " +
                         std::to_string(tile[0]) + " x " + std::to_string(tile[1]) +
                         " elements evenly",
                     {{"works", "tile extents and groups that are powers of two"}});
  }
  operand.threads = *threads;
  using enum sema::CopySpace;
  const auto by = [&](std::span<const sema::CopyInstruction> copies) {
    return fragment_in_order(gemm_, operand, axis, bits(tensor.element), copies);
  };
  // A copy of the schedule that gives lanes other values is passed over: ldmatrix(2) reads a B of
  // m16n8k16, and an A takes four matrices.
  operand.fragment = by(warp_copies(gemm_.copies, shared, registers));
  if (!operand.fragment.copy)
    operand.fragment = by(sema::library_copies(shared, registers, at_.target.capability));
  return choose_shared(operand, axis, axis == 0 ? at_.schedule.shared_a : at_.schedule.shared_b);
}

// The layout that was asked for holds each element once, and the elements of every access together.
bool Shaper::choose_shared(Sm80Operand& operand, int axis, const std::optional<AnyLayout>& asked) {
  const int element = bits(at_.kernel.loaded(operand.load).element);
  // The own choice is made in any case: messages name it as what works.
  choose_swizzle(operand, gemm_, element);
  if (!asked) return true;
  const std::array<int, 2> tile{gemm_.tile[static_cast<std::size_t>(axis)], gemm_.tile[2]};
  const std::string name = axis == 0 ? "A" : "B";
  const auto misfit = [&](const std::string& what) {
    return at_.wrong("schedule-smem", "smem " + name,
                     "the layout " + to_string(*asked) + " of " + name + " " + what,
                     {{"works", to_string(operand.shared)}});
  };
  if (const auto fault = shared_fault({tile[0], tile[1]}, *asked)) return misfit(*fault);
  const auto offsets = values(*asked);
  // A copy of a warp reads rows, other reads bring the values of `together`, copies from global
  // memory write `vector` elements: each has to be one piece.
  const int together = std::max(
      operand.vector, operand.fragment.copy ? operand.fragment.row : operand.fragment.together);
  // Offsets are listed with the outer index fastest: neighbours along k are tile[0] places apart.
  const std::size_t step = operand.along_k ? static_cast<std::size_t>(tile[0]) : 1;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::size_t at = operand.along_k ? i / step : i % static_cast<std::size_t>(tile[0]);
    const auto place = at % static_cast<std::size_t>(together);
    if (offsets[i] % together != static_cast<std::int64_t>(place) ||
        (place > 0 && offsets[i] != offsets[i - step] + 1)) {
      return misfit("does not keep the " + std::to_string(together) +
                    " elements of an access together");
    }
  }
  operand.shared = *asked;
  return true;
}

// What lanes copy for themselves gives the order of k that the other operand is read in.
bool Shaper::choose_operands() {
  const bool a = at_.schedule.private_a, b = at_.schedule.private_b;
  if (a && b)
    return at_.wrong("unsupported", "private B", "lanes copy both operands for themselves",
                     {{"help", "leave one of them to all threads of a block, which share it"}});
  if (a) return choose_own(gemm_.a, 0) && choose_operand(gemm_.b, 1);
  if (b) return choose_own(gemm_.b, 1) && choose_operand(gemm_.a, 0);
  return choose_operand(gemm_.a, 0) && choose_operand(gemm_.b, 1);
}

bool Shaper::choose_order() {
  const auto order = taken_order(at_.kernel, tiling_of(gemm_), at_.schedule.order, usual_rows,
                                 at_.schedule.at("rasterization"), at_.problems);
  if (order) gemm_.order = *order;
  return order.has_value();
}

bool Shaper::choose_room() {
  // Shared memory beyond 48 KiB is asked for at the launch: the limit is the GPU's, per block.
  if (const int bytes = shared_bytes(gemm_, at_.kernel); bytes > at_.target.block_shared) {
    return at_.wrong("schedule-shared", at_.schedule.stages ? "stages" : "tile",
                     std::to_string(gemm_.stages) + " stages take " + std::to_string(bytes) +
                         " bytes of shared memory, and a block has " +
                         std::to_string(at_.target.block_shared),
                     {{"help", "fewer stages or a smaller tile"}});
  }
  const int most = std::min(at_.target.thread_registers, at_.target.sm_registers / gemm_.threads());
  // Fewer threads than 65536 / 255 leave each at most 255; more leave 65536 / threads.
  if (const int least = least_registers(gemm_, at_.kernel); least > most) {
    return at_.wrong("schedule-registers", "tile",
                     "the tile takes at least " + std::to_string(least) +
                         " registers a thread, which has " + std::to_string(most),
                     {{"help", "a smaller tile or more groups"}});
  }
  return true;
}

std::optional<Sm80Gemm> Shaper::run() {
  const AtomDemand demand{"sm80", "that a warp executes on registers",
                          "sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)",
                          [](const sema::Atom& atom) {
                            return atom.kind == "warp" && !atom.a_shared && !atom.b_shared;
                          }};
  gemm_.copies = at_.schedule.copies;
  gemm_.swap_ab = at_.schedule.swap_ab;
  // Each step uses what those before it chose: the tile needs the atom, the copies need the
  // threads.
  if (!choose_atom(at_, gemm_, demand) || !choose_tile() ||
      !choose_promotion(at_, gemm_, WayThroughK::ahead) || !choose_accumulators(at_, gemm_) ||
      !choose_scales(at_, gemm_) || !choose_operands()) {
    return std::nullopt;
  }
  choose_vectors(at_, gemm_);
  if (!choose_order() || !choose_room()) return std::nullopt;
  // No operand and no output is a vector: the variant of single elements is the same.
  if (at_.width == Width::vectors && at_.conditions.aligned.empty()) {
    if (at_.schedule.accesses && !at_.schedule.completed)
      at_.wrong("schedule-entry", "accesses",
                "`accesses` in vectors needs a tensor that is contiguous along a mode of the "
                "product, with strides of whole vectors",
                {{"works", "accesses = \"elements\""}});
    return std::nullopt;
  }
  return gemm_;
}

}  // namespace

std::optional<Sm80Gemm> shape_sm80(const TensorShaping& shaping) {
  return Shaper(shaping).run();
}

int shared_bytes(const Sm80Gemm& gemm, const sema::Kernel& kernel) {
  const auto bytes = [&](const Sm80Operand& operand) {
    // Padding counts: the last element's offset and one.
    const auto offsets = values(operand.shared);
    return static_cast<int>(*std::max_element(offsets.begin(), offsets.end()) + 1) *
           bits(kernel.loaded(operand.load).element) / 8;
  };
  // All slices but the first hand over at once, each to a place of its own: one barrier is enough,
  // and skinny tiles, which take slices, have few accumulators. 16 x 32 of f32: 2 KiB a slice.
  const int handed = (gemm.groups[2] - 1) * gemm.tile[0] * gemm.tile[1] * bits(gemm.total) / 8;
  return gemm.stages * (bytes(gemm.a) + bytes(gemm.b)) + handed;
}

int least_registers(const Sm80Gemm& gemm, const sema::Kernel& kernel) {
  const auto repeats = gemm.repeats();
  // Registers of 32 bits: m16n8k16 of bf16 has 8 values of A in 4 registers, 4 of B in 2, 4
  // accumulators.
  const auto held = [](const Layout& operand, ElementType type) {
    return static_cast<int>(size(operand[1]).value()) * bits(type) / 32;
  };
  const int a = repeats[0] * held(gemm.mma.a, gemm.mma.a_type),
            b = repeats[1] * held(gemm.mma.b, gemm.mma.b_type);
  const int sums = repeats[0] * repeats[1] * held(gemm.mma.c, gemm.mma.accumulator),
            totals = gemm.promotion_interval > 0
                         ? repeats[0] * repeats[1] * held(gemm.mma.c, gemm.total)
                         : 0;
  // Each scale is kept beside its address, of two registers. Read off compiled kernels, not
  // derived: beside those of scales other addresses and conditions have no room to be computed
  // anew.
  constexpr int of_scale = 3, of_others = 52;
  // Further K tiles' numbers have the addresses of the first.
  const int ahead = (gemm.tiles_of_scales() - 1) * gemm.intervals_of_tile(),
            scales =
                gemm.scales.empty() ? 0 : of_others + (of_scale + ahead) * gemm.scale_registers();
  // Fragments are there twice: one step is multiplied while the next is read. Those of its own
  // operand a thread makes of a K tile that it has read, as it is stored.
  const auto fragments = [&](const Sm80Operand& operand, int once) {
    const int read = gemm.tile[operand.outer == gemm.m ? 0 : 1] * gemm.tile[2] / gemm.threads() *
                     bits(kernel.loaded(operand.load).element) / 32;
    return operand.own ? once + read : 2 * once;
  };
  return sums + totals + scales + fragments(gemm.a, a) + fragments(gemm.b, b);
}

int likely_registers(const Sm80Gemm& gemm, const sema::Kernel& kernel) {
  // Read off compiled kernels, not derived.
  constexpr int of_addresses = 40;  // and conditions, which those of scales contain
  return least_registers(gemm, kernel) + (gemm.scales.empty() ? of_addresses : 0);
}

int blocks_of_sm(const Sm80Gemm& gemm, const sema::Kernel& kernel) {
  // Of 128 registers each. What is likely leaves out how conversions overlap: kernels of 112 and
  // more spilled some (w8 in groups of 128 for 16 rows), those of 108 none, but where addresses of
  // batches are longer.
  constexpr int threads = 512, most = 110, of_batches = 10;
  const int likely = likely_registers(gemm, kernel) + (gemm.batch.empty() ? 0 : of_batches);
  if (!gemm.order_of_k() || likely > most) return 1;
  return std::max(1, threads / gemm.threads());
}

}  // namespace lay::plan
