#include "backend/plan/tiles/tile_variants.h"

#include <algorithm>
#include <array>

#include "backend/plan/conditions.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/tiles/split_columns.h"
#include "backend/plan/tiles/tile_schedule.h"
#include "frontend/sema/library.h"

namespace lay::plan {

namespace {

using tile::Columns;
using tile::Program;
using tile::Shape;

constexpr int access_bytes = 16;  // the widest access
constexpr int wide_vector = 16;   // values side by side at most
constexpr int most_values = 32;   // of a thread: 64 to 128 bytes on their way at once

// A way to bind a program, and the sizes that it is for.
struct Candidate {
  std::string name;
  Columns columns = Columns::kept;
  tile::Distribution threads;
  int bytes = access_bytes;
  std::vector<Predicate> when;
  // Tiles of rows that are on their way while one is reduced. Without a number one, if there is
  // room for it, of rows whose blocks wait for each other.
  std::optional<int> stages = {};
  bool waits = false;
};

class TilePlanner {
 public:
  TilePlanner(Plan& plan, const Facts& facts, const Target& target, Program kept, Program streamed)
      : plan_(plan),
        facts_(facts),
        target_(target),
        kept_(std::move(kept)),
        streamed_(std::move(streamed)),
        along_(tile::contiguous_axis(kept_, facts_)) {
    // Several tiles of inputs share what a thread has for values.
    constexpr int registers = 64;
    while (values_wanted_ > 8 && values_wanted_ * bits_of_place() > 32 * registers)
      values_wanted_ /= 2;
    for (const sema::CopyInstruction& each :
         sema::library_copies(sema::CopySpace::global, sema::CopySpace::shared, target.capability))
      if (each.is_async()) async_copies_.push_back(each);
  }

  void run() {
    int number = 0;
    for (const sema::Schedule& schedule : plan_.kernel->schedules) {
      if (schedule.target != "simt") {
        plan_.problems.push_back({"unsupported",
                                  "there is no planner for " + schedule.target + " of a reduction",
                                  schedule.where,
                                  {},
                                  {{"works", "schedule " + plan_.kernel->name + " for simt"}},
                                  {}});
        return;
      }
      TileSchedule read = read_tile_schedule(schedule, target_, plan_.problems);
      if (!plan_.problems.empty()) return;
      ++number;
      if (read.name.empty()) read.name = number == 1 ? "simt" : "simt" + std::to_string(number);
      follow(read);
      if (!plan_.problems.empty()) return;
    }
    add_default();
  }

 private:
  void add_default() {
    for (const int bytes : {access_bytes, 0}) {
      // Parts enough for two blocks an SM where there is one tile of rows, and for 16 blocks where
      // there are as many tiles as SMs.
      if (bytes > 0) add_split("split", 2 * target_.sms, 8, bytes);
      if (bytes > 0) add_split("split_16", 16, target_.sms, bytes);
      for (const Candidate& candidate : candidates(bytes)) {
        if (complete()) return;
        add(candidate, {});
      }
    }
  }

  bool complete() const { return takes_all(plan_.variants); }

  const Program& program(Columns columns) const {
    return columns == Columns::kept ? kept_ : streamed_;
  }

  // ---- candidates

  // Bytes of the narrowest element of a tile of rows and columns.
  int narrowest() const {
    int bytes = access_bytes;
    for (const tile::Tile& each : kept_.tiles) {
      if (each.space == tile::Space::global && each.axes.size() == 2)
        bytes = std::min(bytes, std::max(8, bits(each.element)) / 8);
    }
    return bytes;
  }

  // Bits that a thread holds for each of its places: all tiles of rows and columns that are loaded.
  int bits_of_place() const {
    int all = 0;
    for (const tile::Tile& each : kept_.tiles)
      if (is_loaded(each)) all += bits(each.element);
    return all;
  }
  // And for each column: tiles along the columns alone.
  int bits_of_column() const {
    int all = 0;
    for (const tile::Tile& each : kept_.tiles)
      if (along_columns_only(each)) all += bits(each.element);
    return all;
  }
  static bool along_columns_only(const tile::Tile& each) {
    return each.space == tile::Space::global &&
           each.axes == std::vector<tile::AxisId>{tile::column_axis};
  }
  static bool is_loaded(const tile::Tile& each) {
    return each.space == tile::Space::global && each.assignment < 0 && each.axes.size() == 2;
  }

  // Returns true if a tile along the columns alone is used in every row, so that rows of one thread
  // share it: the vector of a product.
  bool shares_columns() const {
    return std::any_of(kept_.tiles.begin(), kept_.tiles.end(), along_columns_only);
  }

  std::vector<Candidate> candidates(int bytes) const {
    const int vector = bytes > 0 ? std::min(wide_vector, bytes / narrowest()) : 1;
    return along_ == tile::column_axis ? along_columns(bytes, vector) : along_rows(bytes, vector);
  }

  static std::string suffix(int bytes) { return bytes > 0 ? "" : "_any"; }

  Candidate make(const std::string& name, Columns columns, const Shape& shape, int bytes) const {
    return {name + suffix(bytes), columns, shape.distribution(), bytes, {}};
  }

  // Memory runs along the columns: a warp reads a row, several warps a long one, and the blocks of
  // a cluster a longer one.
  std::vector<Candidate> along_columns(int bytes, int vector) const {
    std::vector<Candidate> made;
    const auto shape = [&](int threads, int repeats, int rows, int blocks = 1) {
      return Shape{
          tile::column_axis, std::max(1, 128 / threads), threads, rows, repeats, vector, blocks};
    };
    const int wanted = std::max(1, values_wanted_ / vector);
    const Int &length = streamed_.axis(tile::column_axis).extent,
              &across = streamed_.axis(tile::row_axis).extent;
    if (tile::walks_of_columns(streamed_) > 1 || is_map()) {
      // Threads of a row in a block, repeats along it, rows of a thread, blocks of a row. A thread
      // has 32 to 64 bytes of a row on their way, short rows aside (tests/bench/results/rows.txt).
      // Blocks that share long rows wait for each other: where registers are left, the next row is
      // on its way meanwhile, of 16 bits with twice as many values a thread.
      using Row = std::array<int, 4>;
      // 1024 threads have 64 registers each.
      int last_repeats = std::max(1, most_values / vector);
      while (last_repeats > 1 &&
             last_repeats * vector * (bits_of_place() + bits_of_column()) > 32 * 40)
        last_repeats /= 2;
      // Weights along the columns take as many registers again: half as many values a thread.
      const Row long_row = shares_columns() ? Row{1024, 4, 1, 1} : Row{512, 8, 1, 1};
      const bool is_light = bits_of_place() <= 16 && bits_of_column() <= 16;
      const Row long_pair = is_light ? Row{512, 8, 1, 2} : Row{512, wanted, 1, 4};
      const Row longest = is_light ? Row{512, 8, 1, 8} : Row{1024, last_repeats, 1, 8};
      const std::vector<Row> of_32_bits = {{8, 1, 4, 1},
                                           {32, 2, 1, 1},
                                           {128, 2, 1, 1},
                                           {256, 4, 1, 1},
                                           long_row,
                                           {512, 4, 1, 8},
                                           {1024, last_repeats, 1, 8}};
      const std::vector<Row> of_16_bits = {
          {8, 1, wanted, 1},   {16, 1, wanted, 1},  {32, 1, wanted, 1}, {32, wanted, 1, 1},
          {128, wanted, 1, 1}, {512, wanted, 1, 1}, long_pair,          longest};
      const std::vector<Row> single = {{32, values_wanted_, 1, 1}, {512, values_wanted_, 1, 1}};
      // The coordinates of a gathered row are computed by each of its threads: few of them.
      const std::vector<Row> gathered = {
          {2, wanted, 1, 1},  {4, wanted, 1, 1},   {8, wanted, 1, 1},  {16, wanted, 1, 1},
          {32, wanted, 1, 1}, {128, wanted, 1, 1}, {512, wanted, 1, 1}};
      const std::vector<Row>& table = vector == 1   ? single
                                      : is_map()    ? gathered
                                      : vector <= 4 ? of_32_bits
                                                    : of_16_bits;
      for (const auto& [threads, repeats, rows, blocks] : table) {
        if (blocks > target_.cluster || (blocks > 1 && is_map())) continue;
        const int columns = threads * repeats * vector * blocks;
        Candidate kept = make("rows_" + std::to_string(columns), Columns::kept,
                              shape(threads, repeats, rows, blocks), bytes);
        kept.waits = bytes > 0 && blocks > 1 && has_registers(threads, repeats * vector * rows);
        made.push_back(std::move(kept));
      }
    }
    const int few = shares_columns() ? 1 : std::max(1, wanted / 4);
    if (tile::walks_of_columns(streamed_) == 1 && !is_map()) {
      // A warp for four rows where there are rows enough for all warps of the machine.
      Candidate warps = make("warps", Columns::streamed, shape(32, few, 4), bytes);
      warps.when = {less_equal(length, 512 * vector), greater_equal(across, 64 * target_.sms)};
      made.push_back(std::move(warps));
    }
    // Few long rows: the blocks of a cluster share one.
    if (target_.cluster >= 8 && bytes > 0 && !is_map()) {
      Candidate cluster =
          make("streamed_cluster", Columns::streamed, shape(256, wanted, 1, 8), bytes);
      cluster.when = {less_equal(across, target_.sms),
                      greater_equal(length, 2 * cluster_columns(cluster))};
      made.push_back(std::move(cluster));
    }
    // Rows of a matrix that is multiplied by a vector share what they read of the vector.
    const bool product = tile::walks_of_columns(streamed_) == 1 && shares_columns();
    made.push_back(make("streamed", Columns::streamed,
                        product ? shape(128, 1, 4) : shape(256, wanted, 1), bytes));
    return made;
  }

  // Returns true if the kernel reduces nothing, so that threads have nothing to join.
  bool is_map() const {
    bool reduces = false;
    tile::for_each(kept_.body, [&](const tile::Stmt& stmt) {
      reduces = reduces || std::holds_alternative<tile::Reduce>(stmt.node);
    });
    return !reduces;
  }

  static int cluster_columns(const Candidate& candidate) {
    return tile::extent_of(candidate.threads, tile::column_axis);
  }

  // Memory runs along the rows: a warp reads a piece of one column, and the warps of a block, and
  // the blocks of a cluster, different columns.
  std::vector<Candidate> along_rows(int bytes, int vector) const {
    std::vector<Candidate> made;
    const Int& across = streamed_.axis(tile::row_axis).extent;
    const auto shape = [&](int wide, int warps, int repeats, int blocks = 1) {
      return Shape{tile::row_axis, 32, warps, 1, repeats, wide, blocks};
    };
    const int narrow = std::min(vector, 2);
    if (tile::walks_of_columns(streamed_) > 1)
      made.push_back(make("columns_256", Columns::kept, shape(narrow, 16, 16), bytes));
    // Wide accesses where the rows still fill the machine, narrow ones for more blocks, and several
    // blocks for the same rows where there are few.
    if (vector > 2) {
      Candidate wide = make("streamed", Columns::streamed,
                            shape(vector, 8, std::max(1, values_wanted_ / vector)), bytes);
      wide.when = {greater_equal(across, 32 * vector * 2 * target_.sms)};
      made.push_back(std::move(wide));
    }
    if (target_.cluster >= 8 && bytes > 0) {
      Candidate cluster =
          make("streamed_cluster", Columns::streamed, shape(narrow, 16, 16, 8), bytes);
      cluster.when = {less_equal(across, 32 * narrow * target_.sms / 2)};
      made.push_back(std::move(cluster));
    }
    made.push_back(make("streamed_narrow", Columns::streamed, shape(narrow, 16, 16), bytes));
    return made;
  }

  // ---- variants

  void follow(const TileSchedule& schedule) {
    // Checked all the same.
    const bool superfluous = !reach_.admits(plan_.variants, schedule.cost);
    const std::size_t count = plan_.variants.size();
    std::vector<Candidate> tried;
    for (const int bytes : {access_bytes, 0}) {
      const Width width = bytes > 0 ? Width::vectors : Width::elements;
      if (schedule.accesses.value_or(width) != width) continue;
      if (schedule.threads) {
        const Columns columns = schedule.columns.value_or(Columns::streamed);
        tried.push_back({schedule.name + (schedule.accesses ? "" : suffix(bytes)),
                         columns,
                         distribution_of(*schedule.threads),
                         bytes,
                         {},
                         schedule.stages});
        continue;
      }
      for (Candidate& candidate : candidates(bytes)) {
        if (schedule.columns && *schedule.columns != candidate.columns) continue;
        if (schedule.parts && candidate.columns == Columns::kept) continue;
        if (schedule.stages) candidate.stages = schedule.stages;
        if (schedule.stages.value_or(0) > 0 && candidate.columns != Columns::kept) continue;
        candidate.name = schedule.name + "_" + candidate.name;
        tried.push_back(std::move(candidate));
      }
    }
    bool any = false;
    for (Candidate& candidate : tried) {
      candidate.when.insert(candidate.when.begin(), schedule.when.begin(), schedule.when.end());
      any = (schedule.parts ? add_split(candidate, *schedule.parts, schedule.where)
                            : add(candidate, schedule.where)) ||
            any;
    }
    if (!any) plan_.problems.push_back(nothing_fits(schedule));
    if (superfluous) plan_.variants.resize(count);
    // Of one schedule's variants, which cost the same, the launcher takes the first that fits.
    for (std::size_t i = count; i < plan_.variants.size(); ++i)
      plan_.variants[i].cost = schedule.cost;
  }

  Problem nothing_fits(const TileSchedule& schedule) const {
    if (schedule.stages.value_or(0) > 0)
      return {"schedule-cover",
              "no rows can be copied ahead as this schedule says",
              schedule.at("stages"),
              {},
              {{"note",
                "whole rows are, whose accesses have 4, 8 or 16 bytes at places that are not "
                "read, as many stages as shared memory holds"},
               {"works", "the schedule without `stages`"}},
              {}};
    if (!schedule.parts || tile::walks_of_columns(streamed_) == 1)
      return {"schedule-cover",
              "no row fits the tile of this schedule",
              schedule.at("threads"),
              {},
              {{"works", "columns = \"streamed\""}},
              {}};
    const bool along_columns = std::any_of(
        streamed_.tiles.begin(), streamed_.tiles.end(),
        [](const tile::Tile& each) { return each.assignment >= 0 && each.axes.size() == 2; });
    return {"schedule-cover",
            std::string("a first launch cannot reduce parts of the columns: ") +
                (along_columns ? "an output has an element for each column"
                               : "a reduction needs the result of another one first"),
            schedule.at("parts"),
            {},
            {{"works", "the schedule without `parts`"}},
            {}};
  }

  // Few long rows, or few rows that memory runs along: blocks of a first launch take parts of the
  // columns, a second launch joins them.
  void add_split(const std::string& name, int parts, int most_tiles, int bytes) {
    const Int &length = streamed_.axis(tile::column_axis).extent,
              &across = streamed_.axis(tile::row_axis).extent;
    const int vector = std::min(wide_vector, bytes / narrowest());
    const bool wide = along_ == tile::column_axis;
    const int narrow = std::min(vector, 4);
    const Shape shape =
        wide ? Shape{tile::column_axis, 1, 256, 1, std::max(1, values_wanted_ / vector), vector, 1}
             : Shape{tile::row_axis, 32, 8, 1, values_wanted_ / narrow, narrow, 1};
    Candidate first{name, Columns::streamed, shape.distribution(), bytes, {}};
    const int tile = cluster_columns(first), rows = tile::extent_of(first.threads, tile::row_axis);
    first.when = {less_equal(across, rows * most_tiles), greater_equal(length, 32 * tile)};
    add_split(first, parts, {});
  }

  // Adds a variant that splits the columns so; returns true if they can be split.
  bool add_split(const Candidate& first, int parts, const Span& schedule) {
    if (tile::walks_of_columns(streamed_) > 1) return false;
    const auto given = open_conditions(facts_, first.when);
    if (!given) return false;
    const auto split = split_columns(*plan_.kernel, parts);
    if (!split) return false;
    auto parts_program = tile::form(*split->parts, facts_, Columns::streamed, split->part);
    auto join_program = tile::form(*split->join, facts_, Columns::streamed);
    if (!std::holds_alternative<Program>(parts_program) ||
        !std::holds_alternative<Program>(join_program))
      return false;
    auto bound =
        tile::bind(std::get<Program>(std::move(parts_program)), first.threads, first.bytes, facts_);
    const Shape joining{tile::row_axis, 32, 8, 1, most_values, 1, 1};
    auto join =
        tile::bind(std::get<Program>(std::move(join_program)), joining.distribution(), 0, facts_);
    if (!bound || !join) return false;
    Variant before = variant_of(*bound, first.name + "_parts", *given);
    Variant variant = variant_of(*join, first.name, *given);
    variant.schedule = schedule;
    variant.accesses = first.bytes > 0 ? Width::vectors : Width::elements;
    for (const Predicate& condition : before.when) add_condition(variant.when, condition);
    // Both launches share the workspace; the caller's tensors have other numbers in the first.
    for (const Alignment& aligned : before.aligned) {
      const std::string& tensor = split->parts->tensor(aligned.tensor).name;
      for (std::size_t id = 0; id < plan_.kernel->tensors.size(); ++id)
        if (plan_.kernel->tensors[id].name == tensor)
          variant.aligned.push_back({static_cast<sema::TensorId>(id), aligned.bytes});
    }
    before.workspace_tensors = variant.workspace_tensors = split->tensors;
    before.workspace = variant.workspace = split->workspace;
    const sema::KernelPtr executed = before.kernel;
    before.kernel = nullptr;
    variant.before.push_back(std::make_shared<Plan>(Plan{executed, {std::move(before)}, {}}));
    plan_.variants.push_back(std::move(variant));
    return true;
  }

  static void add_condition(std::vector<Predicate>& when, const Predicate& condition) {
    if (std::find(when.begin(), when.end(), condition) == when.end()) when.push_back(condition);
  }

  Variant variant_of(tile::Bound& bound, const std::string& name,
                     const std::vector<Predicate>& given) const {
    Variant variant;
    variant.name = name;
    variant.when = given;
    for (const Predicate& condition : bound.when) add_condition(variant.when, condition);
    for (const tile::Aligned& aligned : bound.aligned)
      variant.aligned.push_back({aligned.tensor, aligned.bytes});
    variant.prediction = predict(bound.program, target_);
    bound.program.blocks_per_sm = blocks_of(bound.program, variant.prediction);
    variant.kernel = bound.program.kernel;
    variant.programs = {std::move(bound.program)};
    return variant;
  }

  // A block that waits for its reduction moves nothing: threads of at least two blocks hide it, as
  // far as 64 registers hold a thread's values.
  int blocks_of(const Program& program, const Prediction& prediction) const {
    const tile::Distribution& threads = *program.threads;
    const auto inputs = std::count_if(program.tiles.begin(), program.tiles.end(), is_loaded);
    const std::ptrdiff_t values = threads.values(tile::row_axis) *
                                  threads.values(tile::column_axis) *
                                  std::max<std::ptrdiff_t>(1, inputs);
    const bool fits = threads.vector > 1 && values <= values_of_64_registers;
    const int wanted = fits ? threads_wanted / threads.threads() : 1;
    return std::min(std::max(prediction.blocks, wanted), target_.sm_blocks);
  }

  // Rows are copied ahead as the schedule says; what all rows have in common too, where there is
  // room for it.
  std::optional<tile::Bound> bound_of(const Candidate& candidate, const Facts& facts) const {
    const auto bound_with = [&](int stages, bool columns) {
      return tile::bind(program(candidate.columns), candidate.threads, candidate.bytes, facts,
                        {stages, target_.sms, async_copies_, columns});
    };
    const int stages = candidate.stages.value_or(candidate.waits ? 1 : 0);
    for (const bool columns : {true, false}) {
      auto one = stages > 0 ? bound_with(1, columns) : std::nullopt;
      if (!one || stages > stages_of(one->program)) continue;
      return stages == 1 ? std::move(one) : bound_with(stages, columns);
    }
    return candidate.stages.value_or(0) > 0 ? std::nullopt : bound_with(0, false);
  }

  // Returns true if a thread has registers for so many values as they are read and as f32, and a
  // third of that for the rest.
  bool has_registers(int threads, int values) const {
    const int blocks = values <= values_of_64_registers ? std::max(1, threads_wanted / threads) : 1;
    return 4 * values * (bits_of_place() + 32) <=
           3 * 32 * target_.sm_registers / (threads * blocks);
  }

  // Returns how many stages fit beside each other and what else a block has in shared memory.
  int stages_of(const Program& one_stage) const {
    const int blocks = blocks_of(one_stage, predict(one_stage, target_));
    const tile::AheadBytes bytes = tile::ahead_bytes(one_stage);
    const std::int64_t room = std::min<std::int64_t>(
        target_.block_shared, target_.sm_shared / blocks - target_.reserved_shared);
    const std::int64_t rest = tile::shared_bytes(one_stage) - bytes.of_stage;
    return static_cast<int>(std::max<std::int64_t>(0, (room - rest) / bytes.of_stage));
  }

  // Adds the candidate as a variant; returns true if it fits for some sizes.
  bool add(const Candidate& candidate, const Span& schedule) {
    const auto given = open_conditions(facts_, candidate.when);
    if (!given) return false;
    Facts facts = facts_;
    for (const Predicate& condition : *given)
      if (!facts.suppose(condition)) return false;
    auto bound = bound_of(candidate, facts);
    if (!bound) return false;
    Variant variant = variant_of(*bound, candidate.name, *given);
    if (variant.prediction.shared_bytes > target_.block_shared) return false;
    variant.schedule = schedule;
    variant.accesses = candidate.bytes > 0 ? Width::vectors : Width::elements;
    plan_.variants.push_back(std::move(variant));
    return true;
  }

  // Of an SM, as far as that many registers hold a thread's values.
  static constexpr int threads_wanted = 1024, values_of_64_registers = 32;

  Plan& plan_;
  Facts facts_;
  const Target& target_;
  Reach reach_;
  Program kept_, streamed_;
  tile::AxisId along_;
  int values_wanted_ = most_values;
  std::vector<sema::CopyInstruction> async_copies_;  // of one thread, from global to shared memory
};

}  // namespace

bool has_tiles(const sema::Kernel& kernel, const Facts& facts) {
  return std::holds_alternative<Program>(tile::form(kernel, facts, Columns::streamed));
}

std::optional<std::string> add_tile_variants(Plan& plan, const Facts& facts, const Target& target) {
  auto kept = tile::form(*plan.kernel, facts, Columns::kept);
  if (const auto* no = std::get_if<tile::NotTiled>(&kept)) return no->reason;
  auto streamed = tile::form(*plan.kernel, facts, Columns::streamed);
  TilePlanner(plan, facts, target, std::get<Program>(std::move(kept)),
              std::get<Program>(std::move(streamed)))
      .run();
  return std::nullopt;
}

}  // namespace lay::plan
