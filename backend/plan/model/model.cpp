#include "backend/plan/model/model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {
namespace {

double value(const Int& amount, const Binding& sizes) {
  const auto known = amount.evaluate(sizes);
  return known ? static_cast<double>(*known) : std::numeric_limits<double>::infinity();
}

// The part of the issue slots that multiply-adds get: of a step of K a thread issues its products,
// the vector reads of its fragments, each as often as its bank conflicts say, and a few more.
// Threads that fill a ring are not among them.
double issue_share(const SimtGemm& gemm, const Prediction& prediction) {
  const auto repeats = gemm.repeats();
  const double m = repeats[0] * gemm.lane_tile[0], n = repeats[1] * gemm.lane_tile[1];
  double conflicts = 1;
  for (const BankConflicts& access : prediction.conflicts)
    if (access.access.starts_with("read") && access.least > 0)
      conflicts = std::max(conflicts, static_cast<double>(access.wavefronts) / access.least);
  const double staged =
      gemm.ring() ? 0 : (gemm.tile[0] + gemm.tile[1]) / static_cast<double>(gemm.threads());
  constexpr double others = 2.5, instructions_a_staged_element = 1.5;
  return m * n /
         (m * n + (m + n) / 4 * conflicts + others + staged * instructions_a_staged_element);
}

// The part of shared memory's clocks that does not hide behind multiply-adds.
constexpr double shown_reads = 0.15;

double compute_seconds(const sema::Kernel& kernel, const SimtGemm& gemm,
                       const Prediction& prediction, const Binding& sizes, const Target& target) {
  const auto extent = [&](sema::IndexId index) {
    return value(kernel.indices[static_cast<std::size_t>(index)].extent, sizes);
  };
  double count = value(tiles(kernel, gemm.m, gemm.tile[0]), sizes) *
                 value(tiles(kernel, gemm.n, gemm.tile[1]), sizes);
  for (const sema::IndexId index : gemm.batch) count *= extent(index);
  count *= gemm.parts;
  // Blocks of one SM share it; with few warps in flight latencies show.
  const double blocks = std::ceil(count / target.sms);
  const double warps = gemm.threads() / 32.0 * std::min<double>(gemm.blocks_per_sm, blocks);
  const double hidden = std::min(1.0, 0.55 + 0.45 * warps / 8);
  // A block that is alone on its SM and meets at every K tile; measured against rings
  // (tests/bench).
  const double meets = gemm.ring() || gemm.blocks_per_sm > 1 ? 1 : 1.07;
  const double steps =
      std::ceil(std::ceil(extent(gemm.k) / gemm.tile[2]) / gemm.parts) * gemm.tile[2];
  // Filling the pipeline and storing the tile are not hidden by other blocks.
  const double alone = 1500 + gemm.tile[0] * gemm.tile[1] / 16.0;
  // Values that do not fit into registers go through memory; a kernel that needs more registers
  // than an SM has cannot run.
  if (gemm.threads() * prediction.registers > target.sm_registers || !prediction.tile)
    return std::numeric_limits<double>::infinity();
  const double spilled = std::max(1.0, 1.5 * prediction.registers / target.thread_registers - 0.5);
  const int rows_of_warp = gemm.tile[0] / gemm.groups[0] + gemm.tile[1] / gemm.groups[1],
            bytes = bits(gemm.accumulator) / 8;
  const double reads = gemm.threads() / 32.0 * rows_of_warp * bytes / target.shared_rate;
  const double products =
      prediction.tile->product_clocks / gemm.tile[2] / issue_share(gemm, prediction) / hidden;
  const double clocks = steps * (products * meets + shown_reads * reads) * spilled;
  return blocks * (clocks + alone / std::max(1, gemm.blocks_per_sm)) / target.hertz;
}

// A block on each SM after another; fragments and products share it.
double compute_seconds(const sema::Kernel& kernel, const Sm80Gemm& gemm,
                       const Prediction& prediction, const Binding& sizes, const Target& target) {
  const auto extent = [&](sema::IndexId index) {
    return value(kernel.indices[static_cast<std::size_t>(index)].extent, sizes);
  };
  double count =
      std::ceil(extent(gemm.m) / gemm.tile[0]) * std::ceil(extent(gemm.n) / gemm.tile[1]);
  for (const sema::IndexId index : gemm.batch) count *= extent(index);
  const double steps = std::ceil(extent(gemm.k) / gemm.tile[2]);
  return std::ceil(count / target.sms) * steps * prediction.tile->product_clocks / target.hertz;
}

// The numbers known of Hopper by measuring schedules (tests/plan/measured.lay); rates in clocks of
// an SM.
namespace hopper {
// The part of the highest clock that products in all SMs leave under the limit of power.
constexpr double sustained = 0.76;
// Bytes that one SM gets of what others have loaded before it, and of what comes from
// memory.
constexpr double cached_bytes = 64, memory_bytes = 24;
// The clocks that the limit of power takes for each byte that a block loads: the more is loaded,
// the lower the clock. Products that last `seconds_to_limit` reach it.
constexpr double power_of_byte = 0.005, seconds_to_limit = 0.5e-3;
// SMs come in groups that clusters of more than two do not fill.
constexpr double filled_by_clusters = 0.9;
// Barriers and an empty pipeline between the products of one tile and the next, and for one
// consumer alone at each step.
constexpr double between_tiles = 700, step_alone = 60;
// The part of a store that shows where another consumer group multiplies meanwhile.
constexpr double shown_in_pingpong = 0.5;
// Ping-pong groups whose blocks are paired along N wait for each other longer.
constexpr double along_n = 1.04;

double clusters_at_once(const Sm90Gemm& gemm, const Target& target) {
  const double share = gemm.blocks() > 2 ? filled_by_clusters : 1;
  return std::max(1.0, std::floor(share * target.sms / gemm.blocks()));
}

// The part of the tensor cores' time that products fill. One consumer alone waits for each of its
// instructions; one with a single instruction a step of K reads more of shared memory for each
// product the narrower that is; ping-pong groups drain the ring faster than a short one fills.
double busy(const Sm90Gemm& gemm) {
  const bool single = gemm.repeats()[0] == 1;
  if (gemm.warpgroups_of_group() == 1 && single) return gemm.consumer_groups() == 1 ? 0.85 : 0.88;
  const int width = gemm.mma.shape[1];
  const double filled = !single || width >= 256 ? 0.97 : width >= 192 ? 0.92 : 0.87;
  const int enough = gemm.consumer_groups() == 1 ? 3 : 5;
  return filled * (1 - 0.04 * std::max(0, enough - gemm.stages));
}

// All blocks store at the same time, as fast as memory takes it; in rows of less than 128 bytes
// slower, and from the registers slower still.
double store(const sema::Kernel& kernel, const Sm90Gemm& gemm, const Target& target) {
  const int bytes = kernel.tensor(kernel.assignments.front().target).element_bytes();
  const double rate = target.memory_rate / (sustained * target.hertz) / target.sms;
  const double row = gemm.store ? std::min(128, gemm.store->width * bytes) : 16;
  return gemm.tile[0] * gemm.tile[1] * bytes / rate * std::pow(128 / row, 0.65) / gemm.cluster[2];
}

}  // namespace hopper

// A persistent grid: every cluster of blocks takes one tile of its own after another.
double compute_seconds(const sema::Kernel& kernel, const Sm90Gemm& gemm,
                       const Prediction& prediction, const Binding& sizes, const Target& target) {
  const auto extent = [&](sema::IndexId index) {
    return value(kernel.indices[static_cast<std::size_t>(index)].extent, sizes);
  };
  const auto cluster = gemm.cluster_tile();
  double count = std::ceil(extent(gemm.m) / cluster[0]) * std::ceil(extent(gemm.n) / cluster[1]);
  for (const sema::IndexId index : gemm.batch) count *= extent(index);
  const double rounds = std::ceil(count / hopper::clusters_at_once(gemm, target));
  const double steps = std::ceil(std::ceil(extent(gemm.k) / gemm.tile[2]) / gemm.cluster[2]);
  const double products = steps * prediction.tile->product_clocks;
  // The bytes that every block loads. All blocks together load each byte of the factors from memory
  // once; the rest comes from L2.
  const double element = bits(gemm.mma.a_type) / 8.0;
  const double loaded = steps * gemm.tile[2] * element *
                        (gemm.a.extent / static_cast<double>(gemm.cluster[1]) +
                         gemm.products() * gemm.b.extent / static_cast<double>(gemm.cluster[0]));
  double factors = 0;
  std::vector<sema::NodeId> loads_of_all{gemm.a.load, gemm.b.load};
  for (const FurtherGemm& each : gemm.further) loads_of_all.push_back(each.b.load);
  for (const sema::NodeId load : loads_of_all)
    factors += value(size(kernel.loaded(load).layout), sizes) * element;
  const double fresh = std::min(1.0, factors / (loaded * count * gemm.blocks()));
  const double loads = loaded *
                       (fresh / hopper::memory_bytes + (1 - fresh) / hopper::cached_bytes) *
                       hopper::sustained;
  const double waits =
      hopper::between_tiles + (gemm.consumers() == 1 ? steps * hopper::step_alone : 0);
  const double store = hopper::store(kernel, gemm, target);
  // The clocks of the whole product, if all SMs shared it equally.
  double all = products / (steps * gemm.tile[0] * gemm.tile[1] * gemm.tile[2]) / target.sms;
  for (const sema::IndexId index : {gemm.m, gemm.n, gemm.k}) all *= extent(index);
  for (const sema::IndexId index : gemm.batch) all *= extent(index);
  const bool limited = all > hopper::seconds_to_limit * hopper::sustained * target.hertz;
  const double power = limited ? loaded * hopper::power_of_byte : 0;
  const double inner = std::max(products / hopper::busy(gemm) + power, loads) *
                       (gemm.consumer_groups() > 1 && gemm.cluster[1] > 1 ? hopper::along_n : 1);
  // Ping-pong: a group stores while another multiplies, but for the last tile.
  const double clocks =
      gemm.consumer_groups() == 1
          ? rounds * (inner + store + waits)
          : rounds * (std::max(inner, store) + hopper::shown_in_pingpong * store + waits) + store;
  return clocks / (hopper::sustained * target.hertz);
}

}  // namespace

double predicted_seconds(const sema::Kernel& kernel, const Variant& variant, const Binding& sizes,
                         const Target& target) {
  const Prediction& prediction = variant.prediction;
  double before = 0;  // in launches that come first, which do nothing else
  for (const auto& plan : at_sizes(variant, sizes).before) {
    const Variant& one = plan->variants.at(0);
    before += std::holds_alternative<Copies>(one.how)
                  ? target.launch + value(one.prediction.global_bytes, sizes) / target.memory_rate
                  : predicted_seconds(executed(*plan, one), one, sizes, target);
  }
  // TMA's loads are counted with the products that wait for them: neighbours' requests for the same
  // bytes are one.
  const double loaded =
      is_sm90(variant) ? 0
                       : value(prediction.cache_bytes, sizes) / (target.cache_rate * target.hertz);
  double needed = 0;
  for (const sema::Tensor& tensor : kernel.tensors)
    needed += value(size(tensor.layout), sizes) * bits(tensor.element) / 8;
  double seconds = std::max(loaded, needed / target.memory_rate);
  if (const auto gemm = simt_of(variant))
    seconds = std::max(seconds, compute_seconds(kernel, *gemm, prediction, sizes, target));
  if (const auto gemm = sm80_of(variant))
    seconds = std::max(seconds, compute_seconds(kernel, *gemm, prediction, sizes, target));
  if (const auto gemm = sm90_of(variant))
    seconds = std::max(seconds, compute_seconds(kernel, *gemm, prediction, sizes, target));
  return before + target.launch + seconds;
}

}  // namespace lay::plan
