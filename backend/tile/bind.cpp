#include "backend/tile/bind.h"

#include <algorithm>
#include <bit>

#include "backend/tile/elementwise/elementwise.h"
#include "backend/tile/vectors.h"
#include "backend/tile/verify.h"
#include "frontend/algebra/claims/propositions.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/sema/kernel/kernel_walk.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::tile {

namespace {

constexpr int warp_lanes = 32;

// A mode of the threads: `extent` of them, `thread` apart, `step` coordinates of the axis apart.
struct ThreadMode {
  int extent = 1, thread = 1, axis = -1;
};

std::vector<ThreadMode> thread_modes(const Layout& layout) {
  const auto extents = leaves(layout.shape[0]), strides = leaves(layout.stride[0]);
  std::vector<ThreadMode> modes;
  int thread = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const int extent = static_cast<int>(extents[i].value().value());
    modes.push_back({extent, thread, strides[i].is_basis() ? strides[i].path()[0] : -1});
    thread *= extent;
  }
  return modes;
}

// A layout of these (extent, stride); 1:0 of none.
Layout made_of(const std::vector<std::pair<int, int>>& modes) {
  if (modes.empty()) return Layout(1, 0);
  std::vector<Tuple> shape, stride;
  for (const auto& [extent, step] : modes) {
    shape.emplace_back(extent);
    stride.emplace_back(step);
  }
  if (modes.size() == 1) return Layout(shape[0], stride[0]);
  return Layout(Tuple(shape), Tuple(stride));
}

Tuple nested(const std::vector<Tuple>& modes) {
  return modes.size() == 1 ? modes[0] : Tuple(modes);
}

class Binder {
 public:
  Binder(Program program, const Distribution& threads, int access_bytes, const Facts& facts,
         const RowsAhead& ahead)
      : access_bytes_(access_bytes), facts_(facts), ahead_(ahead) {
    made_.program = std::move(program);
    made_.program.threads = threads;
    for (const AxisId axis : {row_axis, column_axis})
      made_.program.axes[static_cast<std::size_t>(axis)].tile = extent_of(threads, axis);
  }

  std::optional<Bound> run() {
    // Coordinates are computed in 32 bits. The launcher holds each size below 2^31, not products.
    constexpr std::int64_t most = (std::int64_t{1} << 31) - (std::int64_t{1} << 21);
    for (const Axis& axis : made_.program.axes)
      if (!axis.extent.dim_id() && !need(less_equal(axis.extent, most))) return std::nullopt;
    if (!whole_columns(made_.program.body)) return std::nullopt;
    const AxisId along = vector_axis();
    if (!vectors(made_.program.body, along)) return std::nullopt;
    if (ahead_.stages > 0 && !copy_rows_ahead(made_.program, ahead_)) return std::nullopt;
    verify_after("bind", made_.program);
    return std::move(made_);
  }

 private:
  // A tile that holds a whole axis is no shorter than the axis.
  bool whole_columns(const Block& block) {
    bool fits = true;
    for_each(block, [&](const Stmt& stmt) {
      const auto* loop = std::get_if<For>(&stmt.node);
      if (!loop || loop->walk != Walk::whole) return;
      const Axis& axis = made_.program.axis(loop->axis);
      fits = fits && need(less_equal(axis.extent, axis.tile));
    });
    return fits;
  }

  bool need(const Predicate& condition) {
    if (condition.is_never() || facts_.proves(negate(condition))) return false;
    if (facts_.proves(condition)) return true;
    made_.when.push_back(condition);
    return facts_.suppose(condition);
  }

  // The axis of the first mode of the values, along which a thread's elements lie side by side.
  AxisId vector_axis() const {
    const auto strides = leaves(made_.program.threads->layout.stride[1]);
    return strides.front().is_basis() ? strides.front().path()[0] : column_axis;
  }

  bool vectors(Block& block, AxisId along) {
    for (Stmt& stmt : block) {
      if (auto* loop = std::get_if<For>(&stmt.node)) {
        if (!vectors(loop->body, along)) return false;
      } else if (auto* copy = std::get_if<Copy>(&stmt.node)) {
        if (!choose_vector(*copy, along)) return false;
      }
    }
    return true;
  }

  bool choose_vector(Copy& copy, AxisId along) {
    const Program& program = made_.program;
    const bool load = program.tile(copy.src).space == Space::global;
    const Tile& tile = program.tile(load ? copy.src : copy.dst);
    const sema::Kernel& kernel = *program.kernel;
    const sema::TensorId id =
        load ? kernel.load(tile.value).tensor
             : kernel.assignments[static_cast<std::size_t>(tile.assignment)].target;
    const sema::Tensor& tensor = kernel.tensor(id);
    const int unit = unit_mode(facts_, tensor.layout);
    if (unit < 0) return true;
    const auto mode = static_cast<std::size_t>(unit);
    const sema::IndexId index =
        load ? sema::bare_index(kernel, kernel.load(tile.value).coordinate[mode])
             : kernel.assignments[static_cast<std::size_t>(tile.assignment)].indices[mode];
    const auto& fastest = program.axis(along).indices;
    if (fastest.empty() || fastest.back() != index) return true;
    // A value a row has no copies along the columns, and the other way round.
    if (std::find(tile.axes.begin(), tile.axes.end(), along) == tile.axes.end()) return true;
    int vector = std::min(program.threads->vector, access_bytes_ / tensor.element_bytes());
    if (vector <= 1) return true;
    for (const Predicate& condition : vector_conditions(facts_, tensor.layout, unit, vector))
      if (!need(condition)) return false;
    copy.vector = vector;
    copy.vector_mode = unit;
    const int bytes = vector * tensor.element_bytes();
    const auto known = std::find_if(made_.aligned.begin(), made_.aligned.end(),
                                    [&](const Aligned& a) { return a.tensor == id; });
    if (known == made_.aligned.end()) {
      made_.aligned.push_back({id, bytes});
    } else {
      known->bytes = std::max(known->bytes, bytes);
    }
    return true;
  }

  int access_bytes_;
  Facts facts_;
  const RowsAhead& ahead_;
  Bound made_;
};

}  // namespace

Distribution Shape::distribution() const {
  const AxisId across = along == column_axis ? row_axis : column_axis;
  const int along_threads = along == column_axis ? column_threads : row_threads;
  const int across_threads = along == column_axis ? row_threads : column_threads;
  const int along_repeats = along == column_axis ? column_repeats : row_repeats;
  const int across_repeats = along == column_axis ? row_repeats : column_repeats;
  std::vector<Tuple> threads, thread_steps, values{Tuple(vector)}, value_steps;
  value_steps.push_back(Tuple::basis(1, {along}));
  const auto add = [](std::vector<Tuple>& shape, std::vector<Tuple>& steps, int extent, int step,
                      AxisId axis) {
    if (extent == 1) return;
    shape.emplace_back(extent);
    steps.push_back(Tuple::basis(step, {axis}));
  };
  // Blocks of a cluster take turns along the columns, so that short rows leave none idle.
  const int along_blocks = along == column_axis ? blocks : 1, across_blocks = blocks / along_blocks;
  add(threads, thread_steps, along_threads, vector, along);
  add(threads, thread_steps, across_threads, 1, across);
  add(values, value_steps, along_repeats, vector * along_threads * along_blocks, along);
  add(values, value_steps, across_repeats, across_threads * across_blocks, across);
  const Tuple shape = nested(threads), steps = nested(thread_steps);
  if (blocks == 1) {
    return {Layout(tuple(shape, nested(values)), tuple(steps, nested(value_steps))), vector};
  }
  const int apart = along == column_axis ? vector * along_threads : across_threads;
  return {Layout(tuple(shape, nested(values), blocks),
                 tuple(steps, nested(value_steps), Tuple::basis(apart, {column_axis}))),
          vector};
}

int extent_of(const Distribution& threads, AxisId axis) {
  const auto extents = leaves(threads.layout.shape), strides = leaves(threads.layout.stride);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (strides[i].is_basis() && strides[i].path()[0] == axis)
      last += (extents[i].value().value() - 1) * strides[i].value().value();
  }
  return static_cast<int>(last) + 1;
}

std::optional<std::string> fault_of(const Distribution& threads, int most_threads,
                                    int most_blocks) {
  const Layout& layout = threads.layout;
  const bool ranks = layout.rank() == 2 || layout.rank() == 3;
  if (!layout.is_known() || !ranks || !layout.has_basis())
    return "expected (thread, value) -> (row, column) with strides such as 1@0 and 8@1";
  for (const Tuple& stride : leaves(layout.stride)) {
    const bool fits = stride.is_basis() && stride.path().size() == 1 && stride.path()[0] <= 1;
    if (!fits && !stride.is_literal(0))
      return "expected strides on rows (@0) and columns (@1) only";
  }
  if (threads.threads() % warp_lanes != 0 || threads.threads() > most_threads)
    return "expected a multiple of 32 threads, at most " + std::to_string(most_threads) + ", got " +
           std::to_string(threads.threads());
  for (const ThreadMode& mode : thread_modes(layout)) {
    if (!std::has_single_bit(static_cast<unsigned>(mode.extent)))
      return "expected modes of threads whose extents are powers of two, got " +
             std::to_string(mode.extent);
  }
  if (threads.blocks() > most_blocks)
    return "expected at most " + std::to_string(most_blocks) + " blocks of a cluster, got " +
           std::to_string(threads.blocks());
  if (layout.rank() == 3) {
    for (const Tuple& stride : leaves(layout.stride[2]))
      if (!stride.is_basis() || stride.path()[0] != column_axis)
        return "expected blocks of a cluster to differ in the column (@1) only";
  }
  std::int64_t values = 1;
  for (const Tuple& extent : leaves(layout.shape[1])) values *= extent.value().value();
  if (values > 256) return "a thread holds at most 256 values, got " + std::to_string(values);
  Facts facts;
  const Tuple tile = tuple(extent_of(threads, row_axis), extent_of(threads, column_axis));
  if (covers(facts, layout, tile).verdict != Verdict::proved)
    return "the tile " + tile.to_string() + " is not covered exactly once";
  return std::nullopt;
}

std::optional<Bound> bind(Program program, const Distribution& threads, int access_bytes,
                          const Facts& facts, const RowsAhead& ahead) {
  return Binder(std::move(program), threads, access_bytes, facts, ahead).run();
}

ColumnThreads column_threads(const Distribution& threads) {
  ColumnThreads made;
  std::vector<std::pair<int, int>> lanes, warps;
  for (const ThreadMode& mode : thread_modes(threads.layout)) {
    const bool column = mode.axis == column_axis;
    // The part of the mode inside a warp, and the part beyond.
    const int inside =
        mode.thread >= warp_lanes ? 1 : std::min(mode.extent, warp_lanes / mode.thread);
    const int beyond = mode.extent / inside;
    if (inside > 1) lanes.emplace_back(inside, column ? 1 : 0);
    if (beyond > 1) warps.emplace_back(beyond, column ? made.warps : 0);
    if (!column) continue;
    for (int mask = mode.thread; mask < mode.thread * inside; mask *= 2)
      made.lane_masks.push_back(mask);
    made.warps *= beyond;
  }
  made.lane_column = made_of(lanes);
  made.warp_column = made_of(warps);
  return made;
}

std::vector<ElementType> partial_types(const Program& program, TileId reduction) {
  const sema::Kernel& kernel = *program.kernel;
  const auto& reduce = std::get<sema::Reduce>(kernel.node(program.tile(reduction).value).what);
  const ElementType result = program.tile(reduction).element;
  if (sema::reduce_row(reduce.function).result == sema::ReduceResult::position)
    return {result, kernel.node(reduce.body).type};
  return {result == ElementType::pred ? ElementType::s32 : result};
}

std::int64_t shared_bytes(const Program& program) {
  if (program.is_elementwise()) {
    std::int64_t bytes = 0;
    for (const Tile& tile : program.tiles)
      if (tile.shared) bytes += staged_bytes(tile.shared->layout, tile.element);
    return bytes;
  }
  const ColumnThreads shared = column_threads(*program.threads);
  const int blocks = program.threads->blocks();
  constexpr int barrier_bytes = 8;
  const int slots = exchange_slots(program);
  std::int64_t bytes = 0;
  for_each(program.body, [&](const Stmt& stmt) {
    const auto* reduce = std::get_if<Reduce>(&stmt.node);
    if (!reduce) return;
    std::int64_t width = 0;
    for (const ElementType type : partial_types(program, reduce->out)) width += bits(type) / 8;
    const auto rows = static_cast<std::int64_t>(program.axis(row_axis).tile);
    if (shared.warps > 1) bytes += slots * rows * shared.warps * width;
    if (blocks > 1) bytes += slots * (rows * blocks * width + barrier_bytes);
  });
  for (const Tile& tile : program.tiles)
    if (is_ahead(tile))
      bytes += tile.shared->stages * staged_bytes(tile.shared->layout, tile.element);
  return bytes;
}

}  // namespace lay::tile
