#include "backend/plan/tiles/chained_variants.h"

#include <algorithm>
#include <array>

#include "backend/plan/conditions.h"
#include "backend/plan/copies.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/entries.h"
#include "backend/plan/schedule/schedule.h"
#include "backend/plan/sm90/tma.h"
#include "backend/tile/chained_products.h"
#include "backend/tile/vectors.h"
#include "backend/tile/verify.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"
#include "frontend/sema/library.h"

namespace lay::plan {

namespace {

using sema::IndexId;
using sema::NodeId;
using tile::Program;

// A consumer has the rows of one wgmma, and a box of TMA has at most 256 coordinates along a mode.
constexpr int rows_of_group = 64, longest_box = 256;
constexpr int row_of_span = 64;     // elements of 16 bits
constexpr int widest_extent = 256;  // the most n of the instruction that adds the result up

int rounded_up(std::int64_t value, int unit) {
  return static_cast<int>((value + unit - 1) / unit * unit);
}

// The entries of a schedule, or a default.
struct ChainedTile {
  std::string name;
  int consumers = 2, columns = 128;
  std::optional<int> stages;
  std::vector<Predicate> when;
  Span where;
  std::optional<Cost> cost = std::nullopt;
};

class ChainPlanner {
 public:
  ChainPlanner(Plan& plan, const Facts& facts, const Target& target, Program formed)
      : plan_(plan), facts_(facts), target_(target), formed_(std::move(formed)) {}

  void run() {
    const std::size_t before = plan_.variants.size();
    for (const sema::Schedule& schedule : plan_.kernel->schedules) {
      if (!is_for_chained_products(schedule)) continue;
      if (const auto candidate = read(schedule)) add_all(*candidate);
    }
    if (!plan_.problems.empty() || plan_.variants.size() > before) return;
    // Few rows take a block of one consumer; the widest columns that shared memory and registers
    // hold follow from the extents of the other tiles.
    const Int& rows = formed_.axis(tile::row_axis).extent;
    add_all({"chained_small", 1, 0, {}, {less_equal(rows, rows_of_group)}, {}});
    add_all({"chained", 0, 0, {}, {}, {}});
  }

 private:
  // ---- schedules

  std::optional<ChainedTile> read(const sema::Schedule& schedule) {
    const auto wrong = [&](const sema::ScheduleEntry& entry, const std::string& message,
                           const std::string& help) {
      plan_.problems.push_back({"schedule-entry", message, entry.where, {}, {{"help", help}}, {}});
    };
    ChainedTile made{"chained", 2, 128, {}, schedule.when, schedule.where};
    if (schedule.target != "sm90") {
      plan_.problems.push_back({"unsupported",
                                "there is no planner of chained products for " + schedule.target,
                                schedule.where,
                                {},
                                {{"works", "schedule " + plan_.kernel->name + " for sm90"}},
                                {}});
      return std::nullopt;
    }
    made.cost = cost_of(schedule, plan_.problems);
    for (const sema::ScheduleEntry& entry : schedule.entries) {
      const auto* value = std::get_if<Tuple>(&entry.value);
      const auto number = [&](const Tuple& of) -> std::int64_t {
        return of.is_int() && of.value().is_literal() ? of.value().value() : -1;
      };
      if (entry.key == "name") {
        if (const auto name = name_of(entry, plan_.problems)) made.name = *name;
      } else if (is_of_cost(entry)) {
        continue;
      } else if (entry.key == "tile") {
        const std::int64_t rows = number((*value)[0]), columns = number((*value)[1]);
        if (rows % rows_of_group != 0 || rows < rows_of_group || rows > 3 * rows_of_group ||
            columns % 16 != 0 || columns < 16 || columns > widest_extent) {
          wrong(entry, "expected rows of 64, 128 or 192 and a multiple of 16 columns, at most 256",
                "rows are divided among consumer warpgroups of 64; columns are a multiple of the "
                "second atom's k");
          return std::nullopt;
        }
        made.consumers = static_cast<int>(rows) / rows_of_group;
        made.columns = static_cast<int>(columns);
      } else if (entry.key == "stages") {
        const std::int64_t stages = value ? number(*value) : -1;
        if (stages < 1 || stages > 8) {
          wrong(entry, "`stages` takes an integer from 1 to 8", "leave it out for the default");
          return std::nullopt;
        }
        made.stages = static_cast<int>(stages);
      } else {
        wrong(entry, "a schedule of chained products has no entry `" + entry.key + "`",
              "its entries are name, cost, portfolio, tile and stages");
        return std::nullopt;
      }
    }
    return made;
  }

  // ---- binding

  const Int& extent(tile::AxisId axis) const { return formed_.axis(axis).extent; }

  // A variant for each class of the extents that a tile holds whole; of extents that are literal,
  // or that the schedule's condition bounds, one.
  void add_all(const ChainedTile& candidate) {
    constexpr std::array classes{64, 128, 192, 256};
    const auto tile_of = [&](tile::AxisId axis, int most) {
      const Int& all = extent(axis);
      return all.is_literal() ? rounded_up(std::max<std::int64_t>(1, all.value()), row_of_span)
                              : most;
    };
    Facts facts = facts_;
    for (const Predicate& condition : candidate.when)
      if (!facts.suppose(condition)) return;
    for (const int most : classes) {
      const int summed = tile_of(tile::summed_axis, most);
      const int result = tile_of(tile::result_axis, most);
      if (facts.proves(less_equal(extent(tile::summed_axis), summed)) &&
          facts.proves(less_equal(extent(tile::result_axis), result)))
        return add(candidate, summed, result);
    }
    for (const int most : classes) {
      ChainedTile one = candidate;
      one.name += "_" + std::to_string(most);
      add(std::move(one), tile_of(tile::summed_axis, most), tile_of(tile::result_axis, most));
      if (!plan_.problems.empty()) return;
    }
  }

  // Bytes of shared memory: Q in `tiles` stages, K and V in as many as `stages` says.
  static int shared_bytes(int rows, int columns, int summed, int result, int stages,
                          int tiles = 1) {
    constexpr int barriers = 256, element = 2;
    return barriers + element * (tiles * rows * summed + stages * columns * (summed + result));
  }

  // Adds the variant whose tiles hold `summed` columns of Q and K and `result` columns of V whole.
  // Without a schedule a tile has the most columns of the scores that fit.
  void add(ChainedTile candidate, int summed, int result) {
    constexpr int most_columns = 128, few_result = 64;
    if (summed > widest_extent || result > widest_extent) return;
    const bool chosen = candidate.columns > 0;
    // Two stages: while one tile of K and V is multiplied the next is on its way.
    const int wanted = candidate.stages.value_or(2);
    if (candidate.consumers == 0) candidate.consumers = result <= few_result ? 3 : 2;
    if (!chosen) {
      candidate.columns = most_columns;
      while (candidate.columns > 16 && (!fits(candidate, summed, result, wanted)))
        candidate.columns -= 16;
    }
    if (!fits(candidate, summed, result, wanted)) return refuse(candidate, summed, result);
    Facts facts = facts_;
    std::vector<Predicate> when;
    Conditions conditions;
    const auto need = [&](const Predicate& condition) {
      if (facts.proves(condition)) return true;
      if (condition.is_never() || facts.proves(negate(condition))) return false;
      when.push_back(condition);
      return facts.suppose(condition);
    };
    const auto open = open_conditions(facts, candidate.when);
    if (!open) return;
    for (const Predicate& condition : *open)
      if (!need(condition)) return;
    if (!need(less_equal(extent(tile::summed_axis), summed)) ||
        !need(less_equal(extent(tile::result_axis), result)))
      return;
    // Tiles are counted in 32 bits, and blocks step beyond the last one.
    constexpr std::int64_t most = (std::int64_t{1} << 31) - (std::int64_t{1} << 21);
    const Int tiles = ceil_div(extent(tile::row_axis), rows_of_group) * extent(tile::batch_axis);
    if (!need(less_equal(tiles, most))) return;
    Program program = formed_;
    program.warpgroups =
        tile::Warpgroups{candidate.consumers, registers_of(candidate.consumers), target_.sms};
    const std::array<int, 5> tiled{rows_of_group * candidate.consumers, candidate.columns, 1,
                                   summed, result};
    for (std::size_t axis = 0; axis < tiled.size(); ++axis) program.axes[axis].tile = tiled[axis];
    // Where there is room the next tile's Q is on its way, and so are its K and V behind it.
    const bool has_room = shared_bytes(tiled[0], candidate.columns, summed, result, wanted, 2) <=
                          target_.block_shared;
    if (!bind_operands(program, has_room ? 2 : 1, wanted, facts, conditions)) return;
    bind_atoms(program);
    const auto parts = tile::chained_products_of(program);
    // The law of chained products: the weights lie in registers as the second atom takes its A.
    if (!are_operands(*parts.scores->atom, *parts.result->atom)) return;
    for (const Predicate& condition : conditions.when)
      if (!need(condition)) return;
    bind_stores(program, facts, conditions);
    tile::verify_after("bind", program);
    add_variant(candidate, std::move(program), std::move(when), conditions);
  }

  // Accumulators of both products, and the weights between them.
  static int registers(int columns, int result) { return columns / 2 + columns / 4 + result / 2; }
  // Of a thread of the producer and of a consumer, so that a block takes the SM's 65,536 at most:
  // 128 * 24 + 256 * 240 = 64,512. One consumer has what the launch gives.
  static std::array<int, 2> registers_of(int consumers) {
    if (consumers == 1) return {0, 0};
    return consumers == 2 ? std::array{24, 240} : std::array{32, 160};
  }
  bool fits(const ChainedTile& candidate, int summed, int result, int stages) const {
    constexpr int rest = 32;  // addresses, rows and what a value needs
    const auto budget = registers_of(candidate.consumers)[1];
    const int most = budget > 0 ? budget : target_.thread_registers;
    return shared_bytes(rows_of_group * candidate.consumers, candidate.columns, summed, result,
                        stages) <= target_.block_shared &&
           registers(candidate.columns, result) + rest <= most;
  }

  // Of a schedule of the script's: a tile that the planner chose is passed over without a word.
  void refuse(const ChainedTile& candidate, int summed, int result) {
    if (!candidate.where.known()) return;
    // Another class of extents may fit.
    if (!extent(tile::summed_axis).is_literal() && summed > 64) return;
    plan_.problems.push_back({"schedule-shared",
                              "a tile of " + std::to_string(rows_of_group * candidate.consumers) +
                                  " rows and " + std::to_string(candidate.columns) +
                                  " columns, of extents " + std::to_string(summed) + " and " +
                                  std::to_string(result) +
                                  ", takes more shared memory or registers than a block has",
                              candidate.where,
                              {},
                              {{"help", "fewer columns, rows or stages"}},
                              {}});
  }

  // Q in `tiles` stages, K and V a tile a stage, by TMA. Returns false where it takes one of them
  // not: its fastest mode is neither side of the tile, or strides are no whole 16 bytes.
  bool bind_operands(Program& program, int tiles, int stages, Facts& facts,
                     Conditions& conditions) const {
    const auto parts = tile::chained_products_of(program);
    const auto& axes = program.axes;
    const auto side = [&](tile::TileId id, tile::AxisId outer, tile::AxisId summed, int copies) {
      tile::Tile& tile = program.tiles[static_cast<std::size_t>(id)];
      const auto& load = program.kernel->load(tile.value);
      const auto order = tma_order(*program.kernel, load.tensor, facts, conditions);
      if (!order) return false;
      const IndexId fastest = sema::bare_index(
          *program.kernel, load.coordinate[static_cast<std::size_t>(order->front())]);
      const IndexId along = axes[static_cast<std::size_t>(summed)].indices.front();
      if (fastest != along && fastest != axes[static_cast<std::size_t>(outer)].indices.front())
        return false;
      const bool along_k = fastest == along;
      const int rows = axes[static_cast<std::size_t>(outer)].tile;
      const int k = axes[static_cast<std::size_t>(summed)].tile;
      // Rows of shared memory are the widest swizzle of whichever side memory runs along.
      const int span = box_widths().front(), row = 8 * span / bits(tile.element);
      if ((along_k ? k : rows) % row != 0) return false;
      int longest = along_k ? rows : k;
      while (longest > longest_box) longest /= 2;
      tile.shared =
          tile::SharedTile{operand_layout(rows, k, along_k, span, tile.element), span, *order,
                           along_k ? std::array{longest, row} : std::array{row, longest}, copies};
      return true;
    };
    return side(parts.scores->a, tile::row_axis, tile::summed_axis, tiles) &&
           side(parts.scores->b, tile::column_axis, tile::summed_axis, stages) &&
           side(parts.result->b, tile::result_axis, tile::column_axis, stages);
  }

  // The scores multiply both operands from shared memory, the result takes its A from registers.
  static void bind_atoms(Program& program) {
    const auto bind = [&](const auto& self, tile::Block& block) -> void {
      for (tile::Stmt& stmt : block) {
        if (auto* loop = std::get_if<tile::For>(&stmt.node)) self(self, loop->body);
        auto* mma = std::get_if<tile::Mma>(&stmt.node);
        if (!mma) continue;
        const bool scores = mma->over == tile::summed_axis;
        const int n = program.axis(scores ? tile::column_axis : tile::result_axis).tile;
        mma->atom = sema::library_atom("atoms.sm90", scores ? "wgmma" : "wgmma_rs",
                                       {{"n", std::int64_t{n}},
                                        {"ab", program.tile(mma->a).element},
                                        {"acc", ElementType::f32}});
      }
    };
    bind(bind, program.body);
  }

  // Two neighbours along the result's columns are the most that a thread holds.
  void bind_stores(Program& program, Facts& facts, Conditions& conditions) const {
    const IndexId e = program.axis(tile::result_axis).indices.front();
    const auto bind = [&](const auto& self, tile::Block& block) -> void {
      for (tile::Stmt& stmt : block) {
        if (auto* loop = std::get_if<tile::For>(&stmt.node)) self(self, loop->body);
        auto* copy = std::get_if<tile::Copy>(&stmt.node);
        if (!copy || program.tile(copy->dst).space != tile::Space::global) continue;
        const auto& assignment =
            program.kernel
                ->assignments[static_cast<std::size_t>(program.tile(copy->dst).assignment)];
        const sema::Tensor& tensor = program.kernel->tensor(assignment.target);
        const int unit = tile::unit_mode(facts, tensor.layout);
        if (unit < 0 || assignment.indices[static_cast<std::size_t>(unit)] != e) continue;
        // Strides of whole pairs are known from what TMA asks of the inputs, or vectors are not
        // worth a condition.
        if (!tile::vector_conditions(facts, tensor.layout, unit, 2).empty()) continue;
        copy->vector = 2;
        copy->vector_mode = unit;
        add(conditions, {{}, {{assignment.target, 2 * tensor.element_bytes()}}});
      }
    };
    bind(bind, program.body);
  }

  static void add(Conditions& to, const Conditions& more) { lay::plan::add(to, more); }

  void add_variant(const ChainedTile& candidate, Program program, std::vector<Predicate> when,
                   const Conditions& conditions) {
    Variant variant;
    variant.name = candidate.name;
    variant.when = std::move(when);
    variant.aligned = conditions.aligned;
    variant.cost = candidate.cost;
    variant.schedule = candidate.where;
    variant.kernel = program.kernel;
    variant.prediction = predict(program, target_);
    variant.programs = {std::move(program)};
    plan_.variants.push_back(std::move(variant));
  }

  Plan& plan_;
  Facts facts_;
  const Target& target_;
  Program formed_;
};

// A later node that asks for values of an earlier one, whose registers a map between has taken.
bool keeps_few_values(const Program& program) {
  const auto parts = tile::chained_products_of(program);
  std::vector<NodeId> made{program.tile(parts.scores->out).value};
  for (const auto* maps : {&parts.before, &parts.after})
    for (const tile::Map* map : *maps) made.push_back(program.tile(map->out).value);
  const NodeId maximum = parts.maximum ? program.tile(parts.maximum->out).value : -1;
  for (std::size_t i = 1; i < made.size(); ++i) {
    const auto below = sema::reachable_until(
        *program.kernel, {made[i]}, [&](NodeId id) { return id == made[i - 1] || id == maximum; });
    for (std::size_t j = 0; j + 1 < i; ++j)
      if (below[static_cast<std::size_t>(made[j])]) return false;
  }
  // Sums add up the last values of 32 bits.
  for (const tile::Reduce* sum : parts.sums) {
    const NodeId body =
        std::get<sema::Reduce>(program.kernel->node(program.tile(sum->out).value).what).body;
    if (made.size() < 2 || body != made[made.size() - 2]) return false;
  }
  return true;
}

}  // namespace

bool is_for_chained_products(const sema::Schedule& schedule) {
  return std::any_of(
      schedule.entries.begin(), schedule.entries.end(), [](const sema::ScheduleEntry& entry) {
        const auto* tuple = std::get_if<Tuple>(&entry.value);
        return entry.key == "tile" && tuple && tuple->is_tuple() && tuple->rank() == 2;
      });
}

bool are_operands(const sema::Atom& accumulators, const sema::Atom& operands) {
  const auto values_of_step = static_cast<std::size_t>(size(operands.a.shape[1]).value());
  const auto threads = static_cast<std::size_t>(size(operands.a.shape[0]).value());
  const auto c = values(accumulators.c), a = values(operands.a);
  const std::int64_t elements_of_step = std::int64_t{operands.shape[0]} * operands.shape[2];
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::size_t thread = i % threads, value = i / threads;
    const std::size_t step = value / values_of_step, in_step = value % values_of_step;
    const std::int64_t begin = static_cast<std::int64_t>(step) * elements_of_step;
    if (c[i] != a[in_step * threads + thread] + begin) return false;
  }
  return accumulators.shape[0] == operands.shape[0] &&
         accumulators.shape[1] % operands.shape[2] == 0;
}

std::optional<std::string> add_chained_variants(Plan& plan, const Facts& facts,
                                                const Target& target) {
  if (target.capability / 10 != 9) return "the GPU has no wgmma";
  auto formed = tile::form_chained_products(*plan.kernel, facts);
  if (const auto* no = std::get_if<tile::NotTiled>(&formed)) return no->reason;
  auto& program = std::get<Program>(formed);
  if (!keeps_few_values(program)) return "its weights ask for scores again";
  const std::size_t before = plan.variants.size();
  ChainPlanner(plan, facts, target, std::move(program)).run();
  if (plan.variants.size() == before && plan.problems.empty())
    return "its tensors do not fit what TMA takes";
  return std::nullopt;
}

}  // namespace lay::plan
