#include "backend/plan/simt/simt.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "backend/plan/schedule/order.h"
#include "backend/plan/text.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

constexpr int lanes_of_a_warp = 32;

std::string json(const std::array<std::int64_t, 2>& element) {
  return "[" + std::to_string(element[0]) + "," + std::to_string(element[1]) + "]";
}

int round_up_div(int a, int b) {
  return (a + b - 1) / b;
}

// The witness in words: "thread 5 has element (0,3) twice".
std::string describe(const CoverFault& fault, const std::string& who) {
  switch (fault.kind) {
    case CoverFault::missing:
      return "no " + who + " has element " + tuple_text(fault.element);
    case CoverFault::twice:
      // The same thread may hold an element twice, where value modes overlap.
      if (fault.index == fault.other) {
        return who + " " + std::to_string(fault.index) + " has element " +
               tuple_text(fault.element) + " twice";
      }
      return who + "s " + std::to_string(fault.other) + " and " + std::to_string(fault.index) +
             " both have element " + tuple_text(fault.element);
    case CoverFault::outside:
      return who + " " + std::to_string(fault.index) + " has element " + tuple_text(fault.element) +
             ", which lies outside";
  }
  return {};
}

bool check_lanes(const Layout& lanes, const SimtSchedule& schedule,
                 std::vector<Problem>& problems) {
  const auto problem = [&](std::string message,
                           std::vector<std::pair<std::string, std::string>> notes,
                           std::vector<std::pair<std::string, std::string>> witness = {}) {
    problems.push_back({"schedule-lanes",
                        std::move(message),
                        schedule.at("lanes"),
                        {},
                        std::move(notes),
                        std::move(witness)});
    return false;
  };
  const std::string works = "(2,8,2):(1@0,1@1,2@0), 4 x 8 lanes";
  // The coordinates are listed below, so extents are literals and strides are on the two axes.
  if (!lanes.is_known() || !is_onto_axes(lanes, 2) || !size(lanes).is(lanes_of_a_warp)) {
    return problem("lanes map the 32 lanes of a warp to (row, column), which " + lanes.to_string() +
                       " does not",
                   {{"works", works}});
  }
  for (int axis = 0; axis < 2; ++axis) {
    for (std::int64_t coordinate : values(along(lanes, axis))) {
      // A grid that 32 lanes fill has no side longer than 32. Asked before the grid is allocated.
      if (coordinate < 0 || coordinate >= lanes_of_a_warp) {
        return problem("the lane grid of " + lanes.to_string() + " is larger than a warp",
                       {{"works", works}});
      }
    }
  }
  const auto grid = lane_grid_of(lanes);
  if (auto fault = cover_fault(lanes, {grid[0], grid[1]})) {
    return problem(
        "the lanes " + lanes.to_string() + " do not fill a grid of " + std::to_string(grid[0]) +
            " x " + std::to_string(grid[1]) + " lanes exactly once",
        {{"at", describe(*fault, "lane")}, {"works", works}}, {{"element", json(fault->element)}});
  }
  return true;
}

bool check_cover(const SimtGemm& gemm, const SimtSchedule& schedule,
                 std::vector<Problem>& problems) {
  const std::array<std::int64_t, 2> extents{gemm.tile[0], gemm.tile[1]};
  auto fault = cover_fault(gemm.accumulators, extents);
  if (!fault) return true;
  const auto threads = gemm.slice_threads();
  // The layout's first mode is the thread, so that index % threads is the thread of a (thread,
  // value).
  if (fault->index >= 0) fault->index %= threads;
  if (fault->other >= 0) fault->other %= threads;
  const std::string who = describe(*fault, "thread");
  // One lane tile of every lane of every warp: (2,4) groups of (4,8) lanes with (4,4) elements
  // cover 32 x 128.
  const std::array<int, 2> least{gemm.groups[0] * gemm.lane_grid[0] * gemm.lane_tile[0],
                                 gemm.groups[1] * gemm.lane_grid[1] * gemm.lane_tile[1]};
  problems.push_back(
      {"schedule-cover",
       "the accumulators " + gemm.accumulators.to_string() + " do not cover the tile (" +
           std::to_string(gemm.tile[0]) + "," + std::to_string(gemm.tile[1]) + ") exactly once",
       schedule.at("tile"),
       {{schedule.at("groups"), "groups of warps, each with lanes " + gemm.lanes.to_string()}},
       {{"at", who},
        {"works", "a tile of multiples of (" + std::to_string(least[0]) + "," +
                      std::to_string(least[1]) +
                      "), the elements of one lane tile of every lane of every warp"}},
       {{"element", json(fault->element)}}});
  return false;
}

// Twice as many accumulators as a thread has room for: no tile fits, whatever else it is.
bool check_size(const SimtGemm& gemm, const SimtSchedule& schedule,
                std::vector<Problem>& problems) {
  // A thread has 255 registers, and some of them hold fragments and addresses.
  constexpr long most = 256;
  const long elements = static_cast<long>(gemm.tile[0]) * gemm.tile[1],
             threads = gemm.slice_threads();
  if (elements <= most * threads) return true;
  problems.push_back({"schedule-registers",
                      "a tile of " + std::to_string(gemm.tile[0]) + " x " +
                          std::to_string(gemm.tile[1]) + " leaves " +
                          std::to_string(elements / threads) + " accumulators to each of " +
                          std::to_string(threads) + " threads, which has 255 registers",
                      schedule.at("tile"),
                      {},
                      {{"help", "a smaller tile or more groups"}},
                      {}});
  return false;
}

bool check_limits(const SimtGemm& gemm, const SimtSchedule& schedule, const Target& target,
                  std::vector<Problem>& problems) {
  const auto problem = [&](const char* code, const char* entry, std::string message,
                           std::string help) {
    problems.push_back(
        {code, std::move(message), schedule.at(entry), {}, {{"help", std::move(help)}}, {}});
    return false;
  };
  if (gemm.groups[3] != 1) {
    return problem("unsupported", "groups",
                   "groups over successive tiles are not supported for simt",
                   "write 1 for the last number");
  }
  // Parts of K are added up over DSMEM, which clusters have.
  if (gemm.parts > 1 && target.cluster == 1) {
    return problem("schedule-capability", "cluster",
                   "blocks share K in clusters, and " + target.name + ", of compute capability " +
                       capability_text(target.capability) + ", has none",
                   "groups along K, the third number of `groups`");
  }
  if (gemm.parts > target.cluster) {
    return problem("schedule-cluster", "cluster",
                   "a cluster has at most " + std::to_string(target.cluster) + " blocks, not " +
                       std::to_string(gemm.parts),
                   "(1,1," + std::to_string(target.cluster) + ")");
  }
  if (gemm.tile[2] % gemm.groups[2] != 0) {
    return problem("schedule-cover", "groups",
                   std::to_string(gemm.groups[2]) + " groups along K do not share the " +
                       std::to_string(gemm.tile[2]) + " steps of a tile evenly",
                   "a number of groups that divides the tile's third extent");
  }
  if (gemm.lane_tile[2] != 1) {
    return problem("unsupported", "lane_tile", "a lane tile takes one step of K at a time",
                   "write 1 for its last number");
  }
  // Limits come before the cover is counted: that lists every element of the tile.
  const long threads = 32L * gemm.groups[0] * gemm.groups[1] * gemm.groups[2];
  // 512 x 512, which 1024 threads of 256 accumulators would cover.
  constexpr long largest_tile = 1L << 18;
  if (static_cast<long>(gemm.tile[0]) * gemm.tile[1] > largest_tile) {
    return problem("schedule-registers", "tile", "no block has registers for a tile of this size",
                   "a smaller tile");
  }
  if (threads > target.block_threads) {
    return problem("schedule-threads", "groups",
                   "the groups are " + std::to_string(threads) +
                       " threads, and a block has at most " + std::to_string(target.block_threads),
                   "fewer groups, each with more of the tile");
  }
  return true;
}

// Groups for a tile that came without: the arrangement of 1 to 32 warps that covers the tile with
// this lane grid and lane tile, holds at most 128 accumulators a lane and is nearest to 64, and is
// nearest to square. Nothing if none does.
std::optional<std::array<int, 4>> groups_for(const std::array<int, 3>& tile,
                                             const std::array<int, 2>& lane_grid,
                                             const std::array<int, 3>& lane_tile) {
  const int rows = lane_grid[0] * lane_tile[0], columns = lane_grid[1] * lane_tile[1];
  if (tile[0] % rows != 0 || tile[1] % columns != 0) return std::nullopt;
  const int m = tile[0] / rows, n = tile[1] / columns;
  std::optional<std::array<int, 4>> best;
  std::tuple<int, int> best_cost;
  for (int gm = 1; gm <= m; ++gm) {
    for (int gn = 1; gn <= n && gm * gn <= 32; ++gn) {
      if (m % gm != 0 || n % gn != 0) continue;
      const int held = (tile[0] / gm) * (tile[1] / gn) / 32;
      // Beside 128 accumulators a thread has registers for fragments, copies and addresses.
      if (held > 128) continue;
      const std::tuple cost{std::abs(held - 64), std::abs(tile[0] / gm - tile[1] / gn)};
      if (!best || cost < best_cost) {
        best = {gm, gn, 1, 1};
        best_cost = cost;
      }
    }
  }
  return best;
}

}  // namespace

// (2,8,2):(1@0,1@1,2@0) puts lane 17 at row 1 + 2 = 3, column 0: its rectangle is 4 x 8.
std::array<int, 2> lane_grid_of(const Layout& lanes) {
  std::array<int, 2> grid{};
  for (int axis = 0; axis < 2; ++axis) {
    const auto coordinates = values(along(lanes, axis));
    grid[static_cast<std::size_t>(axis)] =
        static_cast<int>(*std::max_element(coordinates.begin(), coordinates.end())) + 1;
  }
  return grid;
}

std::optional<CoverFault> cover_fault(const Layout& onto,
                                      const std::array<std::int64_t, 2>& extents) {
  // Lists every (thread, value), first of the tile's elements with no owner: linear in the tile,
  // and the witness is the first element that is met twice, outside or never.
  const auto first = values(along(onto, 0)), second = values(along(onto, 1));
  std::vector<std::int64_t> owner(static_cast<std::size_t>(extents[0] * extents[1]), -1);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::array<std::int64_t, 2> element{first[i], second[i]};
    const auto index = static_cast<std::int64_t>(i);
    if (element[0] < 0 || element[0] >= extents[0] || element[1] < 0 || element[1] >= extents[1]) {
      return CoverFault{CoverFault::outside, element, index, -1};
    }
    std::int64_t& taken = owner[static_cast<std::size_t>(element[0] + extents[0] * element[1])];
    if (taken >= 0) return CoverFault{CoverFault::twice, element, index, taken};
    taken = index;
  }
  const auto hole = std::find(owner.begin(), owner.end(), -1);
  if (hole == owner.end()) return std::nullopt;
  const std::int64_t at = hole - owner.begin();
  return CoverFault{CoverFault::missing, {at % extents[0], at / extents[0]}, -1, -1};
}

Layout accumulator_layout(const std::array<int, 3>& tile, const std::array<int, 4>& groups,
                          const Layout& lanes, const std::array<int, 2>& lane_grid,
                          const std::array<int, 3>& lane_tile) {
  // Along one axis, with part = tile / groups and step = lane grid * lane tile:
  //   element = group * part + lane * lane_tile + repeat * step + i,  i < lane_tile
  // so the strides of group, lane, repeat and i are part, lane_tile, step and 1.
  std::vector<Tuple> group_strides, value_shape, value_strides;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::vector<int> path{static_cast<int>(axis)};
    const int part = round_up_div(tile[axis], groups[axis]),
              step = lane_grid[axis] * lane_tile[axis];
    group_strides.push_back(Tuple::basis(part, path));
    value_shape.push_back(tuple(lane_tile[axis], round_up_div(part, step)));
    value_strides.push_back(tuple(Tuple::basis(1, path), Tuple::basis(step, path)));
  }
  const Layout placed = scaled(lanes, {lane_tile[0], lane_tile[1]});
  return Layout(tuple(tuple(placed.shape, tuple(groups[0], groups[1])), Tuple(value_shape)),
                tuple(tuple(placed.stride, Tuple(group_strides)), Tuple(value_strides)));
}

std::optional<SimtGemm> shape_gemm(const sema::Kernel& kernel, const GemmForm& form,
                                   const SimtSchedule& schedule, const Target& target,
                                   std::vector<Problem>& problems) {
  SimtGemm gemm;
  gemm.contraction = form.contraction;
  gemm.m = form.m;
  gemm.n = form.n;
  gemm.k = form.k;
  gemm.batch = form.batch;
  gemm.accumulator = kernel.node(form.contraction).type;
  // The default is a 4 x 8 grid, two rows at a time: lanes 0 to 15 have rows 0 and 1, lanes 16 to
  // 31 rows 2 and 3.
  gemm.lanes = schedule.lanes.value_or(Layout(
      tuple(2, 8, 2), tuple(Tuple::basis(1, {0}), Tuple::basis(1, {1}), Tuple::basis(2, {0}))));
  if (!check_lanes(gemm.lanes, schedule, problems)) return std::nullopt;
  gemm.lane_grid = lane_grid_of(gemm.lanes);
  if (schedule.tile) gemm.tile = *schedule.tile;
  if (schedule.lane_tile) gemm.lane_tile = *schedule.lane_tile;
  gemm.stages = schedule.stages;
  gemm.parts = schedule.parts;
  // Without `groups`: about 64 accumulators a lane, in an arrangement near to square.
  const auto found = groups_for(gemm.tile, gemm.lane_grid, gemm.lane_tile);
  gemm.groups = schedule.groups.value_or(found.value_or(std::array<int, 4>{1, 1, 1, 1}));
  if (!check_limits(gemm, schedule, target, problems)) return std::nullopt;
  gemm.accumulators =
      accumulator_layout(gemm.tile, gemm.groups, gemm.lanes, gemm.lane_grid, gemm.lane_tile);
  if (!check_cover(gemm, schedule, problems) || !check_size(gemm, schedule, problems))
    return std::nullopt;
  const auto order = taken_order(kernel, tiling_of(gemm), schedule.order, usual_rows,
                                 schedule.at("rasterization"), problems);
  if (!order) return std::nullopt;
  gemm.order = *order;
  return gemm;
}

}  // namespace lay::plan
