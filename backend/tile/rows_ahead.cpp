#include "backend/tile/rows_ahead.h"

#include <algorithm>
#include <optional>
#include <string>

#include "backend/tile/elementwise/elementwise.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

namespace {

bool runs(const Tile& tile, AxisId axis) {
  return std::ranges::find(tile.axes, axis) != tile.axes.end();
}

class RowsCopier {
 public:
  RowsCopier(Program& program, const RowsAhead& ahead) : program_(program), ahead_(ahead) {}

  bool run() {
    block(program_.body, false);
    program_.sms = ahead_.sms;
    return any_rows_;
  }

 private:
  const sema::Kernel& kernel() const { return *program_.kernel; }

  void block(Block& body, bool is_kept) {
    Block made;
    for (Stmt& stmt : body) {
      if (auto* loop = std::get_if<For>(&stmt.node)) block(loop->body, loop->walk == Walk::whole);
      const auto* copy = std::get_if<Copy>(&stmt.node);
      const auto by = copy && is_kept ? instruction_of(*copy) : std::nullopt;
      if (!by) {
        made.push_back(std::move(stmt));
        continue;
      }
      const TileId ahead = declare(program_.tile(copy->dst), *by);
      any_rows_ = any_rows_ || has_rows(program_.tile(ahead));
      Copy there = *copy, here = *copy;
      there.dst = here.src = ahead;
      const auto& axes = program_.tile(ahead).axes;
      const AxisId along = program_.threads->along_rows() ? row_axis : column_axis;
      here.vector_mode = static_cast<int>(std::ranges::find(axes, along) - axes.begin());
      made.push_back({there});
      made.push_back({here});
    }
    body = std::move(made);
  }

  // Returns what copies the accesses of a load ahead of its row. What a row alone has, and what is
  // loaded under a condition of the row or at a place that is read, is not known ahead of it.
  std::optional<sema::CopyInstruction> instruction_of(const Copy& copy) const {
    const Tile &to = program_.tile(copy.dst), &from = program_.tile(copy.src);
    if (from.space != Space::global || to.space != Space::registers) return std::nullopt;
    if (!copy.where.empty() || !runs(to, column_axis)) return std::nullopt;
    if (!has_rows(to) && !(ahead_.columns && has_columns_alone())) return std::nullopt;
    const auto& at = kernel().load(from.value).coordinate;
    if (std::ranges::any_of(at, [&](sema::NodeId each) { return reads_memory(kernel(), each); }))
      return std::nullopt;
    for (const sema::CopyInstruction& each : ahead_.copies)
      if (each.bits() == copy.vector * bits(from.element)) return each;
    return std::nullopt;
  }

  // Returns true if no two threads have the same columns, in different rows.
  bool has_columns_alone() const {
    const Layout& layout = program_.threads->layout;
    const auto steps = leaves(layout.stride[0]), extents = leaves(layout.shape[0]);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool moves = steps[i].is_basis() && steps[i].path()[0] == column_axis;
      if (!moves && !extents[i].value().is(1)) return false;
    }
    return true;
  }

  TileId declare(const Tile& held, const sema::CopyInstruction& by) {
    Tile made = held;
    made.name = fresh("ahead_" + kernel().loaded(held.value).name);
    made.space = Space::shared;
    made.shared = SharedTile{};
    made.shared->layout = own_layout(*program_.threads, held.axes);
    made.shared->stages = has_rows(held) ? ahead_.stages : 1;
    made.shared->own = true;
    made.filled_by = by;
    program_.tiles.push_back(std::move(made));
    return static_cast<TileId>(program_.tiles.size()) - 1;
  }

  std::string fresh(const std::string& stem) const {
    const auto is_taken = [&](const std::string& name) {
      return std::ranges::find(program_.tiles, name, &Tile::name) != program_.tiles.end();
    };
    std::string name = stem;
    for (int number = 2; is_taken(name); ++number) name = stem + std::to_string(number);
    return name;
  }

  Program& program_;
  const RowsAhead& ahead_;
  bool any_rows_ = false;
};

// Tiles that are copied ahead stand behind all others: the numbers of these stay what they are.
void leave_out_copies(const Program& program, Block& body) {
  Block made;
  for (Stmt& stmt : body) {
    if (auto* loop = std::get_if<For>(&stmt.node)) leave_out_copies(program, loop->body);
    auto* copy = std::get_if<Copy>(&stmt.node);
    // What a stage holds is taken by the statement behind its copy.
    if (copy && is_ahead(program.tile(copy->src)))
      std::get<Copy>(made.back().node).dst = copy->dst;
    else
      made.push_back(std::move(stmt));
  }
  body = std::move(made);
}

// A mode of a distribution along an axis.
struct StepMode {
  std::int64_t step = 1, extent = 1;
  bool is_of_blocks = false;
};

std::vector<StepMode> modes_along(const Layout& layout, AxisId axis) {
  std::vector<StepMode> made;
  for (int part = 0; part < layout.rank(); ++part) {
    const auto extents = leaves(layout.shape[part]), steps = leaves(layout.stride[part]);
    for (std::size_t i = 0; i < extents.size(); ++i)
      if (steps[i].is_basis() && steps[i].path()[0] == axis)
        made.push_back({steps[i].value().value(), extents[i].value().value(), part == 2});
  }
  std::ranges::sort(made, {}, &StepMode::step);
  return made;
}

}  // namespace

bool copy_rows_ahead(Program& program, const RowsAhead& ahead) {
  Program made = program;
  if (!RowsCopier(made, ahead).run()) return false;
  program = std::move(made);
  return true;
}

Program without_rows_ahead(Program program) {
  leave_out_copies(program, program.body);
  std::erase_if(program.tiles, is_ahead);
  program.sms = 0;
  return program;
}

bool is_ahead(const Tile& tile) {
  return tile.shared && tile.shared->own;
}

std::optional<std::string> fault_of_ahead(const Program& program, const Tile& shared) {
  if (program.sms == 0) return " is copied ahead, and a block takes one tile of rows";
  if (!is_ahead(shared) || !shared.filled_by || !program.threads)
    return " is not copied by the threads that read it";
  const auto* layout = std::get_if<Layout>(&shared.shared->layout);
  if (!layout || !(*layout == own_layout(*program.threads, shared.axes)))
    return " does not lie as its threads have it";
  return std::nullopt;
}

bool has_rows(const Tile& tile) {
  return runs(tile, row_axis);
}

// The modes of an axis, sorted by their steps, are the digits of its coordinate, as threads, values
// and blocks cover the tile once.
Layout own_layout(const Distribution& threads, const std::vector<AxisId>& axes) {
  const AxisId first = threads.along_rows() ? row_axis : column_axis;
  std::vector<AxisId> order{first, 1 - first};
  std::vector<Tuple> shape(axes.size()), stride(axes.size());
  std::int64_t elements = 1;
  for (const AxisId axis : order) {
    const auto found = std::ranges::find(axes, axis);
    if (found == axes.end()) continue;
    std::vector<Tuple> extents, steps;
    for (const StepMode& mode : modes_along(threads.layout, axis)) {
      if (mode.extent == 1) continue;
      extents.emplace_back(mode.extent);
      steps.emplace_back(mode.is_of_blocks ? 0 : elements);
      if (!mode.is_of_blocks) elements *= mode.extent;
    }
    const auto place = static_cast<std::size_t>(found - axes.begin());
    const auto nested = [](const std::vector<Tuple>& modes, std::int64_t none) {
      return modes.empty() ? Tuple(none) : modes.size() == 1 ? modes[0] : Tuple(modes);
    };
    shape[place] = nested(extents, 1);
    stride[place] = nested(steps, 0);
  }
  if (axes.size() == 1) return Layout(shape[0], stride[0]);
  return Layout(Tuple(shape), Tuple(stride));
}

int exchange_slots(const Program& program) {
  return program.sms > 0 ? 2 : 1;
}

int stages_ahead(const Program& program) {
  for (const Tile& each : program.tiles)
    if (is_ahead(each) && has_rows(each)) return each.shared->stages;
  return 0;
}

AheadBytes ahead_bytes(const Program& program) {
  AheadBytes made;
  for (const Tile& tile : program.tiles) {
    if (!is_ahead(tile)) continue;
    const std::int64_t bytes = staged_bytes(tile.shared->layout, tile.element);
    (has_rows(tile) ? made.of_stage : made.once) += bytes;
  }
  return made;
}

}  // namespace lay::tile
