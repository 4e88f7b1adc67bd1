#include "backend/plan/model/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/plan/gemm_variants.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/mask_range.h"
#include "backend/plan/model/chained.h"
#include "backend/plan/model/expected.h"
#include "backend/plan/model/tile_traffic.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/tile/chained_products.h"
#include "backend/tile/form.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/refusal.h"

namespace lay::plan {
namespace {

constexpr std::int64_t most_places = std::int64_t{1} << 20;

// A number had no value: caught where the forecast is asked for.
struct Unknown {};

std::int64_t round_up_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

class Sized {
 public:
  Sized(const sema::Kernel& kernel, const Binding& sizes) : kernel_(kernel), sizes_(sizes) {}

  // Amounts are expressions over dims: an overflow or a dim without a value gives up the forecast.
  std::int64_t operator()(const Int& amount) const {
    const auto known = amount.evaluate(sizes_);
    if (!known) throw Unknown();
    return *known;
  }
  std::int64_t extent(sema::IndexId index) const { return (*this)(kernel_.index(index).extent); }
  TileOrder operator()(const TileOrder& order) const { return tile::at_sizes(order, sizes_); }
  const Binding& sizes() const { return sizes_; }

 private:
  const sema::Kernel& kernel_;
  const Binding& sizes_;
};

// The arithmetic of masks on one tile.
struct TileNumbers {
  const Sized& sized;
  const Tiling& tiling;
  const std::vector<std::int64_t>& tile;

  std::int64_t number(std::int64_t value) const { return value; }
  std::int64_t size(const Int& value) const { return sized(value); }
  bool truth(bool value) const { return value; }
  std::optional<std::pair<std::int64_t, std::int64_t>> range(sema::IndexId index) const {
    const auto axes = tile_axes(tiling);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].index != index) continue;
      // The indices of one tile: enough for a mask to say whether any product of the tile counts.
      const std::int64_t first = tile[i] * axes[i].tile;
      return std::pair{first, std::min(first + axes[i].tile, sized.extent(index)) - 1};
    }
    return std::nullopt;
  }
};

// How a family takes the tiles of its order: a block or a cluster at a time.
struct Taking {
  int sms = 1;              // that it takes
  int at_once = 1;          // tiles of one SM, or of one cluster, at the same time
  bool persistent = false;  // taker i has the places i, i + takers, i + 2 takers, ... of the order
  std::int64_t steps = 0;   // K tiles of a tile
};

// A block a tile, as many at once as an SM has room for; or a cluster, where K is split.
Taking taking(const SimtGemm& gemm, const Prediction& prediction, std::int64_t k, const Target&) {
  return {gemm.parts, prediction.blocks, false,
          round_up_div(round_up_div(k, gemm.tile[2]), gemm.parts)};
}
Taking taking(const Sm80Gemm& gemm, const Prediction& prediction, std::int64_t k, const Target&) {
  return {1, prediction.blocks, false, round_up_div(k, gemm.tile[2])};
}
// Persistent: a cluster takes tile after tile, one for each consumer group at a time; parts of K
// are walked at the same time.
Taking taking(const Sm90Gemm& gemm, const Prediction&, std::int64_t k, const Target&) {
  return {gemm.blocks(), gemm.consumer_groups(), true,
          round_up_div(round_up_div(k, gemm.tile[2]), gemm.cluster[2])};
}

const std::optional<Mask>& mask_of(const Sm90Gemm& gemm) {
  return gemm.mask;
}
template <class Gemm>
std::optional<Mask> mask_of(const Gemm&) {
  return std::nullopt;
}

// Batches that a factor does not depend on share it.
PanelAxis panel_axis(const sema::Kernel& kernel, sema::NodeId load, int axis,
                     const std::vector<sema::IndexId>& batch) {
  PanelAxis panel{axis, {}};
  const auto depends = indices_of(kernel, load);
  // X[m,k] in Y[b,m,n] is the same panel for every b.
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (depends.contains(batch[i])) panel.batch.push_back(static_cast<int>(i) + 2);
  return panel;
}

// With 3 x 3 taps an element of memory is one of nine of the operand.
// The part of an operand's elements that memory has: the windows of a convolution overlap.
template <class Gemm>
double part_in_memory(const sema::Kernel& kernel, const Gemm& gemm, int axis, const Sized& sized) {
  if constexpr (requires { gemm.a.view; }) {
    const auto& operand = axis == 0 ? gemm.a : gemm.b;
    if (!operand.view || operand.view->order.empty()) return 1;
    Int elements = kernel.index(operand.outer).extent * kernel.index(gemm.k).extent;
    const auto depends = indices_of(kernel, operand.load);
    for (const sema::IndexId index : gemm.batch)
      if (depends.contains(index)) elements *= kernel.index(index).extent;
    const auto stored = sized(size(kernel.loaded(operand.load).layout));
    return std::min(1.0, static_cast<double>(stored) / static_cast<double>(sized(elements)));
  }
  return 1;
}

// The second operands of products that share A beside the first one.
std::vector<sema::NodeId> further_operands(const Sm90Gemm& gemm) {
  std::vector<sema::NodeId> loads;
  for (const FurtherGemm& each : gemm.further) loads.push_back(each.b.load);
  return loads;
}
std::vector<sema::NodeId> further_operands(const auto&) {
  return {};
}

// Rows in segments, each of which meets a part of B of its own.
bool has_segments(const Sm90Gemm& gemm) {
  return gemm.segments.has_value();
}
bool has_segments(const auto&) {
  return false;
}

// The parts of a last wave that is not whole; 1: it is not cut.
int tail_of(const Sm90Gemm& gemm) {
  return gemm.tail;
}
int tail_of(const auto&) {
  return 1;
}

// CUDA cores never come to the limit of power.
double sustained_seconds(const TensorGemm& gemm, double multiply_adds, const Target& target) {
  return multiply_adds / sustained_rate(target, gemm.mma.a_type);
}
double sustained_seconds(const SimtGemm&, double, const Target&) {
  return 0;
}

template <class Gemm>
Forecast of_gemm(const sema::Kernel& kernel, const Gemm& gemm, const Prediction& prediction,
                 const Binding& sizes, const Target& target) {
  const Sized sized(kernel, sizes);
  const std::int64_t m = sized.extent(gemm.m), n = sized.extent(gemm.n), k = sized.extent(gemm.k);
  const Taking takes = taking(gemm, prediction, k, target);
  const Tiling tiling = tiling_of(gemm);
  const std::int64_t tile_m = tiling.tile[0], tile_n = tiling.tile[1];
  const std::int64_t takers = std::max(1, target.sms / takes.sms);
  const auto element = [&](sema::NodeId load) { return bits(kernel.loaded(load).element) / 8.0; };
  const auto output_bytes = [&] {
    double bytes = 0;
    for (const sema::Assignment& assignment : kernel.assignments)
      bytes += static_cast<double>(kernel.tensor(assignment.target).element_bytes());
    return bytes;
  }();

  // Walks the order place by place with an LRU cache of panels: rows of A and columns of B that the
  // wave shares are loaded from memory once, and again if the cache has dropped them in between.
  const auto further = further_operands(gemm);
  std::vector<PanelAxis> panels{panel_axis(kernel, gemm.a.load, 0, gemm.batch),
                                panel_axis(kernel, gemm.b.load, 1, gemm.batch)};
  for (const sema::NodeId load : further) panels.push_back(panel_axis(kernel, load, 1, gemm.batch));
  TileTraffic traffic(target.cache, std::move(panels));
  Forecast made;
  made.at_once = takers * takes.at_once;
  std::vector<std::int64_t> grid;
  for (const TileAxis& axis : tile_axes(tiling))
    grid.push_back(round_up_div(sized.extent(axis.index), axis.tile));
  const TilePlaces order(sized(gemm.order), grid);
  // A forecast walks all of them.
  if (order.size() > most_places) throw Unknown();
  // Units behind the whole places: takers share the last ones.
  const int parts_of_tail = tail_of(gemm);
  tile::TailUnits<std::int64_t> tail{order.size(), 0, order.size()};
  if (parts_of_tail > 1) {
    PlainArithmetic numbers;
    tail = tile::tail_units(numbers, order.size(),
                            tile::clusters_of_launch(takers, order.size(), parts_of_tail),
                            parts_of_tail);
  }
  // Tiles with products of each cluster: under a mask they differ, and the busiest one ends last.
  std::vector<std::int64_t> of_taker(static_cast<std::size_t>(takers), 0);
  double loaded = 0, not_loaded = 0;
  const auto mask = mask_of(gemm);
  const std::array parts{part_in_memory(kernel, gemm, 0, sized),
                         part_in_memory(kernel, gemm, 1, sized)};
  for (std::int64_t place = 0; place < order.size(); ++place) {
    // A wave is what the machine works on at once; takers that have a place outside the output wait
    // for nobody.
    if (place > 0 && place % made.at_once == 0) traffic.end_wave();
    const auto tile = order.at(place);
    if (!tile) continue;
    ++made.tiles;
    const double rows = static_cast<double>(std::min(tile_m, m - (*tile)[0] * tile_m));
    const double columns = static_cast<double>(std::min(tile_n, n - (*tile)[1] * tile_n));
    const double a = rows * static_cast<double>(k) * element(gemm.a.load);
    const double b = columns * static_cast<double>(k) * element(gemm.b.load);
    traffic.write(rows * columns * output_bytes);
    if (mask) {
      TileNumbers numbers{sized, tiling, *tile};
      // A tile with no product writes its output and loads nothing.
      if (!MaskRange(kernel, numbers).maybe(mask->condition, mask->when)) {
        not_loaded += a + b;
        continue;
      }
    }
    ++made.live;
    if (place < tail.whole) ++of_taker[static_cast<std::size_t>(place % takers)];
    loaded += traffic.read(0, *tile, a * parts[0]) + traffic.read(1, *tile, b * parts[1]);
    // Further operands have B's types and tiles.
    for (std::size_t i = 0; i < further.size(); ++i)
      loaded += traffic.read(static_cast<int>(2 + i), *tile, b);
    made.multiply_adds +=
        rows * columns * static_cast<double>(k) * static_cast<double>(1 + further.size());
  }
  // Blocks that are not persistent come to whichever SM is free.
  // Persistent: the busiest cluster's tiles, place i going to cluster i mod clusters.
  made.most = takes.persistent ? *std::max_element(of_taker.begin(), of_taker.end())
                               : round_up_div(made.live * takes.sms, target.sms);
  const std::int64_t turns_of_tail = round_up_div(tail.rest * parts_of_tail, takers),
                     steps = made.most * takes.steps +
                             turns_of_tail * round_up_div(takes.steps, parts_of_tail);
  made.most += tail.rest > 0 ? 1 : 0;
  double factors =
      static_cast<double>(sized(size(kernel.loaded(gemm.a.load).layout))) * element(gemm.a.load);
  if (kernel.load(gemm.a.load).tensor != kernel.load(gemm.b.load).tensor)
    factors +=
        static_cast<double>(sized(size(kernel.loaded(gemm.b.load).layout))) * element(gemm.b.load);
  for (const sema::NodeId load : further)
    factors += static_cast<double>(sized(size(kernel.loaded(load).layout))) * element(load);
  made.cache_bytes = static_cast<double>(sized(prediction.cache_bytes)) - not_loaded;
  // Sums of all parts are written to workspace and read there.
  constexpr int of_sum = 4, ways = 2;
  made.cache_bytes +=
      static_cast<double>(ways * of_sum * tail.rest * parts_of_tail * tile_m * tile_n);
  made.least_global_bytes = static_cast<double>(sized(prediction.global_bytes));
  // The least counts each factor once; the walk says how often it is really loaded. It knows no
  // segments, each of which loads its part of a factor.
  made.global_bytes = made.least_global_bytes - factors + loaded;
  if (has_segments(gemm)) made.global_bytes = std::max(made.global_bytes, made.least_global_bytes);
  if (!prediction.tile) throw Unknown();
  // The busiest taker's tiles, one after the other.
  const double tile_clocks = prediction.tile->product_clocks;
  made.products = static_cast<double>(steps) * tile_clocks / target.hertz;
  made.staged = static_cast<double>(steps) * (tile_clocks + staging_clocks(kernel, gemm, target)) /
                target.hertz;
  made.sustained = sustained_seconds(gemm, made.multiply_adds, target);
  made.exposed = access_seconds(static_cast<double>(sized(element_stores(kernel, gemm))), target);
  // Costs count all tiles of the busiest taker, those that a mask leaves nothing of too.
  if (mask && made.most > 0)
    made.live_share =
        static_cast<double>(made.most) / static_cast<double>(round_up_div(order.size(), takers));
  return made;
}

// Tiles of an elementwise program.
std::int64_t tiles_of(const Sized& sized, const tile::Program& program) {
  std::int64_t all = 1;
  for (const tile::Axis& axis : program.axes) all *= round_up_div(sized(axis.extent), axis.tile);
  return all;
}

// Kernels that take each tile once and share nothing: they move what they must.
Forecast of_tiles(const Prediction& prediction, const Sized& sized, std::int64_t tiles,
                  const Target& target) {
  Forecast made;
  made.tiles = made.live = tiles;
  made.at_once = static_cast<std::int64_t>(target.sms) * std::max(1, prediction.blocks);
  made.most = round_up_div(tiles, target.sms);
  made.multiply_adds = static_cast<double>(sized(prediction.flops)) / 2;
  made.cache_bytes = static_cast<double>(sized(prediction.cache_bytes));
  made.least_global_bytes = made.global_bytes = static_cast<double>(sized(prediction.global_bytes));
  return made;
}

// The multiply-adds of reductions at the rate of threads.
void count_products(Forecast& made, const sema::Kernel& kernel, const Target& target) {
  if (made.multiply_adds == 0) return;
  // Kernels with multiply-adds have a reduction; its type gives the rate.
  const auto sum = std::find_if(
      kernel.nodes.begin(), kernel.nodes.end(),
      [](const sema::Node& node) { return std::holds_alternative<sema::Reduce>(node.what); });
  // A comparison takes what a multiply-add takes, and integers of 64 bits are two of 32.
  const bool is_wide = !is_float(sum->type) && bits(sum->type) == 64;
  const bool is_integer = is_wide || sum->type == ElementType::pred;
  const auto rate = target.multiply_adds("thread", is_integer ? ElementType::s32 : sum->type);
  if (!rate) throw Unknown();
  made.products = made.multiply_adds * (is_wide ? 2 : 1) / (*rate * target.sms * target.hertz);
}

// Blocks take tiles of rows one after the other, each of all columns.
Forecast of_chained(const tile::Program& program, const Prediction& prediction, const Sized& sized,
                    const Target& target) {
  const tile::Axis& rows = program.axis(tile::row_axis);
  const std::int64_t row_tiles = round_up_div(sized(rows.extent), rows.tile),
                     batches = sized(program.axis(tile::batch_axis).extent);
  Forecast made = of_tiles(prediction, sized, row_tiles * batches, target);
  const auto columns = live_columns(program, sized.sizes());
  if (!columns) throw Unknown();
  const ChainedWork work = chained_work(program, target);
  const auto seconds = [&](double clocks) { return clocks / target.hertz; };
  const double share =
      static_cast<double>(columns->all) / static_cast<double>(row_tiles * columns->whole);
  // Tiles of columns of the busiest SM. Where a mask leaves rows fewer columns than others, SMs are
  // as busy as each other at best.
  const bool alike = columns->most * row_tiles == columns->all;
  const double even = static_cast<double>(columns->all * batches) / target.sms;
  const double busiest = alike ? static_cast<double>(made.most * columns->most)
                               : std::max(even, static_cast<double>(columns->most));
  // One of two warpgroups multiplies while the other weighs, less what neither hides.
  made.products = seconds(busiest * (work.products + work.weights / 2));
  made.cache_bytes *= share;
  made.multiply_adds *= share;
  // Clocks fall where the tensor cores are busy, and not with the exponentials. A tile of rows has
  // nothing beside its first scores and its last result, and waits for what it loads and stores.
  const double sustained = work.products / target.sustained + work.weights / 2;
  constexpr int waits = 2;
  made.sustained = seconds(busiest * sustained);
  made.exposed = static_cast<double>(made.most) * (seconds(sustained) + waits * target.latency);
  return made;
}

// Rows of tiles are taken once each. Columns that are walked again come from L2 as far as the rows
// that blocks work on at once fit there.
Forecast of_program(const sema::Kernel& kernel, const tile::Program& program,
                    const Prediction& prediction, const Sized& sized, const Target& target) {
  if (program.is_chain()) return of_chained(program, prediction, sized, target);
  const tile::Axis& across = program.axis(tile::row_axis);
  const int blocks = program.threads->blocks() * program.parts;
  const std::int64_t tiles = round_up_div(sized(across.extent), across.tile) * blocks;
  Forecast made = of_tiles(prediction, sized, tiles, target);
  count_products(made, kernel, target);
  // Rows that all resident blocks work on. Where they do not fit in L2 each walk of the columns
  // reads memory again.
  const double rows_at_once =
      static_cast<double>(std::min(made.at_once, tiles)) / blocks * across.tile;
  const double row_bytes =
      made.cache_bytes / static_cast<double>(std::max<std::int64_t>(1, sized(across.extent)));
  if (tile::walks_of_columns(program) > 1 && rows_at_once * row_bytes > target.cache)
    made.global_bytes = std::max(made.global_bytes, made.cache_bytes);
  return made;
}

Forecast of_launch(const sema::Kernel& kernel, const Variant& variant, const Binding& sizes,
                   const Target& target) {
  const Sized sized(kernel, sizes);
  const Prediction& prediction = variant.prediction;
  const auto forecast = [&] {
    const tile::Program& program = variant.programs.front();
    // Programs side by side share the SMs: their tiles count together. Of one thread an element the
    // loops of its sums count too, at the rate of the CUDA cores.
    if (program.is_elementwise()) {
      std::int64_t all = 0;
      for (const tile::Program& each : variant.programs) all += tiles_of(sized, each);
      Forecast of_elements = of_tiles(prediction, sized, all, target);
      if (runs_each_element(variant)) {
        count_products(of_elements, kernel, target);
        return of_elements;
      }
      Int accesses = 0;
      for (const tile::Program& each : variant.programs) accesses += accesses_of(each);
      of_elements.issued = access_seconds(static_cast<double>(sized(accesses)), target);
      return of_elements;
    }
    if (is_sm90(program)) return of_gemm(kernel, sm90_of(program), prediction, sizes, target);
    if (is_sm80(program)) return of_gemm(kernel, sm80_of(program), prediction, sizes, target);
    if (program.is_product()) return of_gemm(kernel, simt_of(program), prediction, sizes, target);
    return of_program(kernel, program, prediction, sized, target);
  };
  Forecast made = forecast();
  made.launch_name = variant.name;
  // A roofline: three times that overlap, of which the longest counts, and the launch.
  made.cache = made.cache_bytes / (target.cache_rate * target.hertz);
  made.memory = made.global_bytes / target.memory_rate;
  made.launch = target.launch;
  made.streamed = made.memory / target.memory_share;
  // Costs that a script says are in a unit of its own.
  if (variant.of_library && variant.cost && product_family(variant))
    made.cost = seconds_of_cost(sized(variant.cost->value), target);
  return made;
}

}  // namespace

double Forecast::seconds() const {
  return launch + std::max({products, cache, memory});
}

double Forecast::expected() const {
  const double longest =
      std::max({products, cache, memory, streamed, sustained, issued, cost ? 0 : staged});
  // A launch costs what it does without any tiles, and its tiles as far as they have products.
  const double costs =
      cost && *cost > launch ? launch + (*cost - launch) * live_share : cost.value_or(0);
  return std::max(costs, launch + longest) + exposed;
}

std::string_view Forecast::bottleneck() const {
  const double longest = std::max({products, cache, memory});
  if (launch >= longest) return "the launch";
  return products == longest ? "products" : cache == longest ? "L2" : "global memory";
}

std::optional<std::vector<Forecast>> forecast(const Plan& plan, const Variant& variant,
                                              const Binding& sizes, const Target& target) try {
  std::vector<Forecast> launches;
  for (const auto& before : at_sizes(variant, sizes).before) {
    const Variant& one = before->variants.at(0);
    launches.push_back(of_launch(executed(*before, one), one, sizes, target));
  }
  launches.push_back(of_launch(executed(plan, variant), variant, sizes, target));
  return launches;
} catch (const Unknown&) {
  return std::nullopt;
} catch (const Refusal&) {  // numbers beyond 64 bits, too many places of an order
  return std::nullopt;
}

double seconds_of_cost(std::int64_t cost, const Target& target) {
  return static_cast<double>(cost) / (100 * target.hertz);
}

double expected_seconds(const Plan& plan, const Variant& variant, const Binding& sizes,
                        const Target& target, std::optional<std::int64_t> cost) {
  auto launches = forecast(plan, variant, sizes, target);
  if (!launches) return std::numeric_limits<double>::infinity();
  if (cost) launches->back().cost = seconds_of_cost(*cost, target);
  double all = 0;
  for (const Forecast& launch : *launches) all += launch.expected();
  return all;
}

}  // namespace lay::plan
