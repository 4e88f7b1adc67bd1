#include "backend/tile/rules/verify_elementwise.h"

#include <algorithm>

#include "backend/tile/bind.h"
#include "backend/tile/elementwise/each_element.h"
#include "backend/tile/elementwise/elementwise.h"
#include "backend/tile/text/print.h"
#include "frontend/algebra/claims/propositions.h"
#include "frontend/algebra/layouts/inner_layout.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/tuples/tuple_operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

namespace {

constexpr int threads_of_a_block = 1024;  // at most

class ElementwiseVerifier {
 public:
  explicit ElementwiseVerifier(const Program& program) : program_(program) {}

  std::vector<Problem> run() {
    const bool is_joined = program_.axes.size() == 1 && program_.axes[0].indices.size() != 1;
    if (is_joined || is_of_each_element(program_))
      reads_nothing_ahead();
    else
      problems_ = verify_axes_of_indices(program_, "an elementwise program");
    order_of_statements();
    if (!problems_.empty() || !program_.grid) return problems_;
    grid();
    distribution(*program_.threads, "the threads", extents());
    if (!problems_.empty()) return problems_;
    for (const LoadWay& way : loads_of(program_)) load(way);
    for (const Copy* copy : stores_of(program_)) {
      statement_ = copy;
      access(*copy, *program_.threads, index_of(*copy));
    }
    return problems_;
  }

 private:
  const Tile& tile(TileId id) const { return program_.tile(id); }
  std::string name(TileId id) const { return "`" + tile(id).name + "`"; }

  void problem(const char* code, std::string message) {
    std::string line;
    if (statement_) line = print_first_line(program_, {*statement_});
    problems_.push_back({code, std::move(message), std::move(line)});
  }

  // The threads' places say nothing of where loads lie (elementwise/each_element.h).
  void reads_nothing_ahead() {
    if (program_.grid.has_value() != program_.threads.has_value())
      problem("grid", "there are blocks or threads alone");
    if (program_.threads && program_.threads->along >= 0)
      problem("threads", "the threads have values along an axis of several indices");
    for (const LoadWay& way : loads_of(program_))
      problem("read",
              name(way.load->dst) + " is read ahead by threads that have no values along an axis");
  }

  void order_of_statements() {
    bool stores = false;
    for_each(program_.body, [&](const Stmt& stmt) {
      if (const auto* copy = std::get_if<Copy>(&stmt.node))
        stores = stores || tile(copy->dst).space == Space::global;
      if (const auto* map = std::get_if<Map>(&stmt.node); map && stores)
        problem("store", name(map->out) + " is computed after an output is stored");
    });
  }

  std::vector<int> extents() const {
    std::vector<int> extents;
    for (const Axis& axis : program_.axes) extents.push_back(axis.tile);
    return extents;
  }

  bool is_onto_axes(const Tuple& strides) const {
    return std::ranges::all_of(leaves(strides), [&](const Tuple& stride) {
      const bool fits = stride.is_basis() && stride.path().size() == 1 &&
                        static_cast<std::size_t>(stride.path()[0]) < program_.axes.size();
      return fits || stride.is_literal(0);
    });
  }

  void grid() {
    const Grid& grid = *program_.grid;
    if (!grid.layout().has_basis() || !is_onto_axes(grid.layout().stride))
      problem("grid", "the blocks " + grid.layout().to_string() + " have no tile of these axes");
    if (grid.threads < 1 || grid.threads > threads_of_a_block)
      problem("grid", "expected at most " + std::to_string(threads_of_a_block) +
                          " threads of a block, got " + std::to_string(grid.threads));
  }

  // Threads cover the tile of these extents once.
  void distribution(const Distribution& threads, const std::string& what,
                    const std::vector<int>& extents) {
    const Layout& layout = threads.layout;
    const bool fits = layout.is_known() && layout.rank() == 2 && is_onto_axes(layout.stride) &&
                      layout.shape[1].is_tuple() && layout.shape[1].rank() == 2;
    if (!fits)
      return problem("threads", what + " are no layout (thread, (element, access)) -> coordinate");
    if (threads.threads() > program_.grid->threads)
      return problem("threads", what + " are more than the " +
                                    std::to_string(program_.grid->threads) + " of a block");
    const auto axes = static_cast<AxisId>(program_.axes.size());
    const Tuple first = leaves(layout.stride[1]).front(), width = leaves(layout.shape[1]).front();
    const bool side_by_side =
        width.is_literal(threads.vector) && threads.along >= 0 && threads.along < axes &&
        (threads.vector == 1 ||
         (first.is_basis() && first.path()[0] == threads.along && first.value().is(1)));
    const bool has_one = threads.along < 0 && size(layout.shape[1]).is(1);
    if (!side_by_side && !has_one)
      return problem("threads", what + " have no " + std::to_string(threads.vector) +
                                    " values side by side along an axis");
    const Tuple box(std::vector<Tuple>(extents.begin(), extents.end()));
    Facts facts;
    if (covers(facts, layout, box).verdict != Verdict::proved)
      problem("threads", what + " do not cover the tile " + box.to_string() + " exactly once");
  }

  // The index that an access to global memory runs along; -1: another coordinate.
  sema::IndexId index_of(const Copy& copy) const {
    const sema::Kernel& kernel = *program_.kernel;
    const bool is_store = tile(copy.dst).space == Space::global;
    const auto mode = static_cast<std::size_t>(copy.vector_mode);
    if (is_store) {
      const auto& at =
          kernel.assignments[static_cast<std::size_t>(tile(copy.dst).assignment)].indices;
      return mode < at.size() ? at[mode] : -1;
    }
    const auto& at = kernel.load(tile(copy.src).value).coordinate;
    return mode < at.size() ? sema::bare_index(kernel, at[mode]) : -1;
  }

  void access(const Copy& copy, const Distribution& threads, sema::IndexId index) {
    if (copy.vector == 1) return;
    if (copy.vector < 1 || threads.vector % copy.vector != 0)
      return problem("access", "expected a divisor of the " + std::to_string(threads.vector) +
                                   " values side by side, got an access of " +
                                   std::to_string(copy.vector) + " elements");
    if (program_.axis(threads.along).indices.front() != index)
      problem("access", "mode " + std::to_string(copy.vector_mode) +
                            " is not the one that neighbouring values of a thread run along");
  }

  void load(const LoadWay& way) {
    statement_ = way.load;
    const Tile& ahead = tile(way.load->dst);
    if (!way.is_staged()) {
      if (ahead.threads)
        problem("threads", name(way.load->dst) + " has threads of its own and is not shared");
      return access(*way.load, *program_.threads, index_of(*way.load));
    }
    const Tile& shared = tile(way.put->dst);
    if (!ahead.threads)
      return problem("threads", name(way.load->dst) + " goes to shared memory and has no threads");
    if (!shared.shared || shared.shared->by_tma())
      return problem("shared", name(way.put->dst) + " has no layout that threads write");
    const Layout* layout = inner_layout(shared.shared->layout);
    std::vector<int> extents;
    for (int axis = 0; layout && axis < layout->rank(); ++axis)
      extents.push_back(static_cast<int>(size((*layout)[axis]).value()));
    bool fits = extents.size() == program_.axes.size();
    for (std::size_t axis = 0; fits && axis < extents.size(); ++axis)
      fits = extents[axis] == 1 || extents[axis] == program_.axes[axis].tile;
    if (!fits) return problem("shared", name(way.put->dst) + " is no tile of these axes");
    distribution(*ahead.threads, "the threads of " + name(way.load->dst), extents);
    places(way.put->dst);
    access(*way.load, *ahead.threads, index_of(*way.load));
    if (!way.get) return problem("read", name(way.put->dst) + " is written and never read");
    statement_ = way.get;
    const Copy& get = *way.get;
    const bool along = get.vector == 1 || get.vector_mode == program_.threads->along;
    access(get, *program_.threads,
           along ? program_.axis(program_.threads->along).indices.front() : -1);
  }

  // No two elements have one place.
  void places(TileId id) {
    const auto offsets = values(tile(id).shared->layout);
    const auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
    if (*least < 0) return problem("shared", name(id) + " has a place before its beginning");
    std::vector<char> taken(static_cast<std::size_t>(*most) + 1, 0);
    for (const std::int64_t offset : offsets)
      if (taken[static_cast<std::size_t>(offset)]++)
        return problem("shared", name(id) + " has one place for two elements");
  }

  const Program& program_;
  const Copy* statement_ = nullptr;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> verify_axes_of_indices(const Program& program, const std::string& what) {
  std::vector<Problem> problems;
  for (const Axis& axis : program.axes)
    if (axis.indices.size() != 1)
      problems.push_back({"axis-index",
                          "the axis `" + axis.name + "` of " + what + " has " +
                              std::to_string(axis.indices.size()) + " indices",
                          ""});
  if (program.grid.has_value() != program.threads.has_value())
    problems.push_back(
        {"grid",
         program.grid ? "there are blocks and no threads" : "there are threads and no blocks", ""});
  return problems;
}

std::vector<Problem> verify_elementwise(const Program& program) {
  return ElementwiseVerifier(program).run();
}

}  // namespace lay::tile
