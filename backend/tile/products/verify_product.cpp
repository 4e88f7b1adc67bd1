#include "backend/tile/products/verify_product.h"

#include <algorithm>
#include <set>
#include <string>

#include "backend/tile/products/factors.h"
#include "backend/tile/products/group_scale.h"
#include "backend/tile/products/layout_questions.h"
#include "backend/tile/products/product.h"
#include "backend/tile/rules/verify_elementwise.h"
#include "backend/tile/text/print.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/tuples/tuple_operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

namespace {

// Limits of every GPU.
constexpr int threads_of_block = 1024, bytes_of_block = 227 * 1024, extent_of_box = 256;
constexpr int threads_of_producer = 128, blocks_of_cluster = 16;

class ProductVerifier {
 public:
  explicit ProductVerifier(const Program& program) : program_(program) {}

  std::vector<Problem> run() {
    problems_ = verify_axes_of_indices(program_, "a product");
    for (AxisId axis = 0; axis <= summed(); ++axis)
      if (const auto& segments = program_.axis(axis).segments) this->segments(axis, *segments);
    for_each(program_.body, [&](const Stmt& stmt) { statement(stmt); });
    statement_ = nullptr;
    if (problems_.empty() && program_.grid) bound();
    return problems_;
  }

 private:
  const Tile& tile(TileId id) const { return program_.tile(id); }
  std::string name(TileId id) const { return "`" + tile(id).name + "`"; }
  int extent(AxisId axis) const { return program_.axis(axis).tile; }
  AxisId summed() const { return summed_axis_of(program_); }

  void problem(const char* code, std::string message) {
    std::string line;
    if (statement_) line = print_first_line(program_, *statement_);
    problems_.push_back({code, std::move(message), std::move(line)});
  }

  void statement(const Stmt& stmt) {
    statement_ = &stmt;
    if (const auto* loop = std::get_if<For>(&stmt.node)) {
      if (loop->walk != (loop->axis == summed() ? Walk::sequence : Walk::grid))
        problem("nesting", "a product walks its last axis in sequence, the others in the grid");
      if (loop->walk == Walk::sequence && sums_++ > 0)
        problem("nesting", "two loops walk the axis of the sums");
    } else if (const auto* copy = std::get_if<Copy>(&stmt.node)) {
      stores_ = stores_ || tile(copy->dst).space == Space::global;
      if (first_ && runs(copy->dst, summed()))
        problem("product", name(copy->dst) + " is copied behind a product of its loop");
    } else if (const auto* map = std::get_if<Map>(&stmt.node)) {
      if (stores_) problem("store", name(map->out) + " is computed after an output is stored");
    } else if (const auto* mma = std::get_if<Mma>(&stmt.node)) {
      if (mma->over != summed())
        problem("product", name(mma->out) + " is summed over another axis than the last");
      intervals(*mma);
      if (first_) further(*mma);
      if (!first_) first_ = mma;
    } else {
      problem("reduction", "a product reduces nothing else");
    }
  }

  bool runs(TileId id, AxisId axis) const {
    return std::ranges::find(tile(id).axes, axis) != tile(id).axes.end();
  }

  // A further product of the loop is as the first, but for its second operand and its sum.
  void further(const Mma& mma) {
    if (mma.a != first_->a || runs(mma.a, column_axis))
      problem("product", name(mma.out) + " and " + name(first_->out) +
                             " are no products of one first operand, which has the rows");
    if (tile(mma.out).element != tile(first_->out).element ||
        tile(mma.b).element != tile(first_->b).element || tile(mma.b).axes.empty() ||
        !runs(mma.b, column_axis))
      problem("product", name(mma.out) + " and " + name(first_->out) +
                             " have sums or second operands of different types or axes");
    if (mma.atom != first_->atom)
      problem("product", name(mma.out) + " and " + name(first_->out) +
                             " are multiplied by different instructions");
    for (const auto& each : {factors(*first_), factors(mma)})
      if (each && !each->others.empty()) problem("product", "one of several products has scales");
    if (mma.interval != 0 || first_->interval != 0 || mma.sets != 1)
      problem("interval", "several products are added up in intervals");
    if (program_.axis(row_axis).segments)
      problem("segments", "the rows of several products have segments");
  }

  // The segment of a row is read from memory, at the row alone or at the one that it is stored at.
  void segments(AxisId axis, const Segments& segments) {
    const sema::Kernel& kernel = *program_.kernel;
    const std::string rows = "the axis `" + program_.axis(axis).name + "`";
    if (axis != row_axis) problem("segments", rows + " has segments, and is not that of the rows");
    const auto* load =
        std::get_if<sema::Load>(&kernel.node(sema::without_casts(kernel, segments.of)).what);
    const std::set<sema::IndexId> row{program_.axis(axis).indices.front()};
    if (!load || load->coordinate.size() != 1 || is_float(kernel.node(segments.of).type) ||
        sema::indices_of(kernel, load->coordinate[0]) != row)
      problem("segments", rows + " has segments that no tensor gives for each of its coordinates");
  }

  std::optional<Factors> factors(const Mma& mma) const {
    const sema::Kernel& kernel = *program_.kernel;
    const auto a = element_of(kernel, tile(mma.a).value), b = element_of(kernel, tile(mma.b).value);
    return a && b ? factors_of(kernel, tile(mma.out).value, a->load, b->load) : std::nullopt;
  }

  // Scales multiply sums of intervals, each of which lies in one group of theirs.
  void intervals(const Mma& mma) {
    const sema::Kernel& kernel = *program_.kernel;
    const auto factors = this->factors(mma);
    if (!factors) return problem("product", name(mma.out) + " is no sum of two elements' products");
    const int tile_k = extent(summed());
    if (mma.interval < 0 || (mma.interval > 0 && tile_k == 0))
      problem("interval", "an interval is bound before the program is");
    else if (mma.interval > 0 && mma.interval % tile_k != 0 && tile_k % mma.interval != 0)
      problem("interval", "intervals of " + std::to_string(mma.interval) +
                              " are neither parts nor multiples of a tile of " +
                              std::to_string(tile_k));
    for (const sema::NodeId other : factors->others) {
      const auto scale = group_scale(kernel, other, program_.axis(summed()).indices.front());
      if (!scale)
        return problem("product", "a factor of " + name(mma.out) + " is no tile and no scale");
      if (tile_k > 0 && mma.interval == 0)
        problem("interval", "the scales of " + name(mma.out) + " have no intervals");
      const std::int64_t group = common_group({*scale});
      if (mma.interval > 0 && group % mma.interval != 0)
        problem("interval", "intervals of " + std::to_string(mma.interval) +
                                " reach over groups of " + std::to_string(group));
    }
  }

  // ---- bound programs

  void bound() {
    parts_ = parts_of(program_);
    grid();
    for (AxisId axis = column_axis + 1; axis < summed(); ++axis)
      if (extent(axis) != 1)
        problem("axis-tile",
                "a tile has several coordinates of the batch `" + program_.axis(axis).name + "`");
    sums();
    if (problems_.empty()) product();
    operand(parts_.operands[0], row_axis);
    operand(parts_.operands[1], column_axis);
    for (const ProductParts::Further& each : parts_.further) {
      operand(each.operand, column_axis);
      if (problems_.empty()) alike(each);
    }
    if (problems_.empty()) staged();
    if (problems_.empty()) stages();
    for (const Copy* store : parts_.stores) output(*store);
  }

  bool is_onto(const Layout& layout, const std::vector<AxisId>& axes) const {
    return std::ranges::all_of(leaves(layout.stride), [&](const Tuple& stride) {
      const bool fits = stride.is_basis() && stride.path().size() == 1 &&
                        std::ranges::find(axes, stride.path()[0]) != axes.end();
      return fits || stride.is_literal(0);
    });
  }

  // A tile of the axes, the extents of the others 1.
  Tuple box(const std::vector<std::pair<AxisId, int>>& extents) const {
    std::vector<Tuple> all(program_.axes.size(), Tuple(1));
    for (const auto& [axis, extent] : extents) all[static_cast<std::size_t>(axis)] = Tuple(extent);
    return Tuple(all);
  }

  void covers_once(const Layout& layout, const Tuple& extents, const std::string& what) {
    if (!is_cover(layout, extents))
      problem("threads", what + " do not cover the tile " + extents.to_string() + " exactly once");
  }

  void grid() {
    const Grid& grid = *program_.grid;
    std::vector<AxisId> axes;
    for (AxisId axis = 0; axis < summed(); ++axis) axes.push_back(axis);
    const auto* layout = std::get_if<Layout>(&grid.order);
    if (layout && !is_onto(*layout, axes))
      problem("grid", "the blocks " + layout->to_string() + " have no tile of these axes");
    if (!layout && std::get<RowGroups>(grid.order).rows < 1)
      problem("grid", "a group has no row of tiles");
    if (grid.threads < 1 || grid.threads > threads_of_block)
      problem("grid", "expected at most " + std::to_string(threads_of_block) +
                          " threads of a block, got " + std::to_string(grid.threads));
    const auto& groups = program_.warpgroups;
    // Groups of consumers take turns, each of the threads that hold the sums.
    const int own = program_.threads->threads(), producer = groups ? threads_of_producer : 0;
    const bool is_whole = own > 0 && (grid.threads - producer) % own == 0;
    if (grid.threads <= producer || !is_whole || (!groups && own != grid.threads))
      problem("threads", "expected " + std::to_string(grid.threads) + " threads of a block, got " +
                             std::to_string(own + producer));
    if (groups && groups->threads() != grid.threads)
      problem("threads",
              std::to_string(groups->consumers) + " warpgroups are not the threads that multiply");
    const auto& cluster = grid.cluster;
    const int blocks = cluster[0] * cluster[1] * parts_.sums->parts;
    if (cluster[0] < 1 || cluster[1] < 1 || blocks > blocks_of_cluster)
      problem("grid", "a cluster has " + std::to_string(blocks) + " blocks, not 1 to " +
                          std::to_string(blocks_of_cluster));
    if (parts_.sums->alternates && !(groups && groups->sms > 0))
      problem("grid", "the loop over the sum alternates, and a block takes one tile");
    if (parts_.sums->tail != 1) tail();
  }

  // Clusters that take tiles in turn, and all of a tile's sums in accumulators of one product.
  void tail() {
    const auto& groups = program_.warpgroups;
    const For& loop = *parts_.sums;
    if (loop.tail < 1) problem("tail", "a tail has " + std::to_string(loop.tail) + " parts");
    if (!groups || groups->sms == 0 || !parts_.mma->atom)
      problem("tail", "a last wave is cut into parts, and a block takes one tile");
    else if (groups->consumers * threads_of_warpgroup != program_.threads->threads())
      problem("tail", "a last wave is cut into parts, and groups of consumers take turns");
    if (loop.parts > 1 || loop.alternates || parts_.mma->interval > 0 || !parts_.further.empty() ||
        program_.axis(row_axis).segments)
      problem("tail", "a last wave is cut into parts, and the loop over the sum is another one");
  }

  // The axis of the instruction's rows (0) or columns (1).
  AxisId of_instruction(int side) const {
    return (side == 0) != parts_.exchanged ? row_axis : column_axis;
  }

  // Slices count as a third mode of the tile.
  void sums() {
    const Layout& layout = program_.threads->layout;
    const bool fits = layout.is_known() && layout.rank() == 2 &&
                      is_onto(layout, {row_axis, column_axis, summed()});
    if (!fits) return problem("threads", "the threads are no layout (thread, value) -> (m, n, k)");
    const int slices = slices_of(program_), part = extent(summed()) / slices;
    if (part * slices != extent(summed()))
      return problem("threads", "slices do not divide the tile of k evenly");
    bool even = true;
    const Tuple strides = transform(layout.stride, [&](const Tuple& stride) {
      if (!stride.is_basis() || stride.path()[0] != summed()) return stride;
      const std::int64_t first = stride.value().value();
      even = even && first % part == 0;
      return Tuple::basis(first / part, stride.path());
    });
    if (!even) return problem("threads", "slices do not begin at equal parts of the tile of k");
    covers_once(
        Layout(layout.shape, strides),
        box({{row_axis, extent(row_axis)}, {column_axis, extent(column_axis)}, {summed(), slices}}),
        "the threads");
  }

  // Instructions and fragments.
  void product() {
    const Mma& mma = *parts_.mma;
    if (!mma.atom) {
      if (mma.interval > 0) problem("interval", "there are intervals, and no instruction");
      if (parts_.exchanged) problem("product", "factors are exchanged of no instruction");
      for (const ProductParts::Operand& way : parts_.operands)
        if (way.read) problem("fragment", name(way.shared) + " has fragments of no instruction");
      return;
    }
    const sema::Atom& atom = *mma.atom;
    const int part = extent(summed()) / slices_of(program_);
    if (extent(of_instruction(0)) % atom.shape[0] != 0 ||
        extent(of_instruction(1)) % atom.shape[1] != 0 || part % atom.shape[2] != 0)
      problem("product", "a tile is not whole instructions " + atom.name);
    if (!holds_sums(atom))
      problem("threads", "the threads do not hold the sums as " + atom.name + " does");
    if (mma.interval % atom.shape[2] != 0)
      problem("interval", "intervals of " + std::to_string(mma.interval) +
                              " are not whole instructions " + atom.name);
    if (mma.sets < 1 || (mma.sets > 1 && mma.interval != extent(summed())))
      problem("interval", std::to_string(mma.sets) +
                              " accumulators take turns, and intervals are " +
                              "not tiles of the sum");
    for (const int side : {0, 1}) {
      const bool is_shared = side == 0 ? atom.a_shared : atom.b_shared;
      const TileId multiplied = side == 0 ? mma.a : mma.b;
      const ElementType type = side == 0 ? atom.a_type : atom.b_type;
      const auto& way = parts_.operands[static_cast<std::size_t>(of_instruction(side))];
      if (is_shared != !way.read || tile(multiplied).element != type)
        problem("fragment", name(multiplied) + " is not what " + atom.name + " multiplies");
      if (!is_shared && tile(multiplied).filled_by)
        is_filled(tile(multiplied), sema::CopySpace::shared, "warp");
    }
  }

  // The first threads and values are those of the instruction.
  bool holds_sums(const sema::Atom& atom) const {
    const Layout& all = program_.threads->layout;
    const auto rows = static_cast<std::int64_t>(atom.shape[0]);
    const Layout numbers(all.shape, transform(all.stride, [&](const Tuple& stride) {
                           if (!stride.is_basis()) return stride;
                           const AxisId axis = stride.path()[0];
                           if (axis == of_instruction(0)) return Tuple(stride.value());
                           return Tuple(axis == of_instruction(1) ? stride.value() * rows : Int(0));
                         }));
    return begins_as(numbers, atom, program_.threads->threads());
  }

  // The second operand of a further product lies in shared memory, and comes there, as the first's.
  void alike(const ProductParts::Further& further) {
    const ProductParts::Operand &way = further.operand, &first = parts_.operands[1];
    if (!parts_.mma->atom || !program_.warpgroups)
      return problem("product", "several products have no instruction or no producer");
    const SharedTile &own = *tile(way.shared).shared, &other = *tile(first.shared).shared;
    const auto fastest = [&](const ProductParts::Operand& of) {
      const auto& at = program_.kernel->load(tile(of.load->src).value).coordinate;
      const auto mode = static_cast<std::size_t>(tile(of.shared).shared->order.front());
      return mode < at.size() ? sema::bare_index(*program_.kernel, at[mode]) : -1;
    };
    if (!own.by_tma() || !other.by_tma() || to_string(own.layout) != to_string(other.layout) ||
        own.span != other.span || own.box != other.box || own.view || other.view || way.read ||
        first.read || fastest(way) != fastest(first))
      problem("shared", name(way.shared) + " and " + name(first.shared) +
                            " do not come to shared memory in one way");
  }

  void operand(const ProductParts::Operand& way, AxisId outer) {
    if (!way.load) return problem("read", name(way.shared) + " is not read from memory");
    statement_ = nullptr;
    const Tile& shared = tile(way.shared);
    if (!shared.shared) return problem("shared", name(way.shared) + " has no layout");
    places(way.shared, outer);
    if (shared.shared->by_tma()) return boxes(way, outer);
    const Tile& next = tile(way.load->dst);
    const bool is_async = way.load->dst == way.shared;
    if (!next.threads || is_async == (way.put != nullptr))
      return problem("threads", name(way.shared) + " is stored by no threads");
    const Layout& layout = next.threads->layout;
    const bool fits = layout.is_known() && layout.rank() == 2 &&
                      is_onto(layout, {outer, summed()}) && layout.shape[1].is_tuple() &&
                      layout.shape[1].rank() == 2;
    const std::string what = "the threads of " + name(way.load->dst);
    if (!fits)
      return problem("threads", what + " are no layout (thread, (element, access)) -> coordinate");
    const int readers = program_.warpgroups ? threads_of_producer : program_.threads->threads();
    if (next.threads->threads() > readers)
      problem("threads", what + " are more than the " + std::to_string(readers) + " that read");
    covers_once(layout, box({{outer, extent(outer)}, {summed(), extent(summed())}}), what);
    access(*way.load, *next.threads);
    if (shared.shared->own) own(way, outer);
    if (is_async) return async(*way.load, outer);
    if (const auto* put = std::get_if<Copy>(&way.put->node)) {
      const bool whole = put->vector >= 1 && next.threads->vector % put->vector == 0;
      if (!whole || put->vector_mode != 0 || (put->vector > 1 && next.threads->along != outer))
        problem("access", name(way.shared) + " is stored by accesses that no thread has");
    }
  }

  // All threads that multiply copy what the instruction reads of it.
  void own(const ProductParts::Operand& way, AxisId outer) {
    const auto& atom = parts_.mma->atom;
    const Distribution& threads = *tile(way.load->dst).threads;
    const std::string what = "the threads of " + name(way.shared);
    if (way.put || !atom || atom->kind != "warp")
      return problem("threads", name(way.shared) + " is copied by no warps that multiply it");
    if (threads.threads() != program_.threads->threads())
      return problem("threads", what + " are not those that multiply");
    const int side = outer == of_instruction(0) ? 0 : 1;
    if (problems_.empty() && !holds_operand(threads.layout, threads.vector, *atom, side,
                                            {outer, summed()}, slices_of(program_)))
      problem("threads", what + " do not hold it as " + atom->name + " does");
  }

  // The elements of an access are the thread's first ones, side by side along the index that the
  // access runs along.
  void access(const Copy& copy, const Distribution& threads) {
    const Layout& layout = threads.layout;
    const Tuple first = leaves(layout.stride[1]).front(), width = leaves(layout.shape[1]).front();
    const auto& at = program_.kernel->load(tile(copy.src).value).coordinate;
    const auto mode = static_cast<std::size_t>(copy.vector_mode);
    const bool side_by_side =
        copy.vector == threads.vector && width.is_literal(copy.vector) &&
        (copy.vector == 1 || (first.is_basis() && first.value().is(1) &&
                              first.path()[0] == threads.along && mode < at.size() &&
                              sema::bare_index(*program_.kernel, at[mode]) ==
                                  program_.axis(threads.along).indices.front()));
    if (!side_by_side)
      problem("access", name(copy.dst) + " has no " + std::to_string(copy.vector) +
                            " elements side by side along mode " +
                            std::to_string(copy.vector_mode));
  }

  // Returns true if the tile says an instruction of that many threads that copies from there to
  // where it lies.
  bool is_filled(const Tile& tile, sema::CopySpace from, const char* kind) {
    const auto to =
        tile.space == Space::shared ? sema::CopySpace::shared : sema::CopySpace::registers;
    const auto& by = tile.filled_by;
    const bool fits = by && by->from == from && by->to == to && by->kind == kind;
    if (!fits)
      problem("access", "`" + tile.name + "` is filled by " + (by ? by->name : "no instruction") +
                            ", expected one of a " + kind);
    return fits;
  }

  void async(const Copy& copy, AxisId outer) {
    const Tile& shared = tile(copy.dst);
    const int moved = copy.vector * bits(shared.element);
    if (!is_filled(shared, sema::CopySpace::global, "thread")) return;
    if (const auto& by = *shared.filled_by; by.bits() != moved)
      return problem("access", name(copy.dst) + " is copied asynchronously by " +
                                   std::to_string(moved / 8) + " bytes, and by " + by.name + " " +
                                   std::to_string(by.bits() / 8));
    // Places are listed along the outer index first.
    const auto offsets = values(shared.shared->layout);
    const auto rows = static_cast<std::size_t>(extent(outer)),
               vector = static_cast<std::size_t>(copy.vector);
    const bool along_outer = shared.threads->along == outer;
    const std::size_t step = along_outer ? 1 : rows;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const std::size_t at = (along_outer ? i % rows : i / rows) % vector;
      if (offsets[i] != offsets[i - at * step] + static_cast<std::int64_t>(at))
        return problem("access", name(copy.dst) + " does not keep the " +
                                     std::to_string(copy.vector) +
                                     " elements of an access together");
    }
  }

  // No two elements have one place.
  void places(TileId id, AxisId outer) {
    const SharedTile& shared = *tile(id).shared;
    const Places places = places_of(shared.layout);
    // The last box of TMA may bring more of the outer index than the tile has.
    const int held = shared.by_tma() ? shared.outer_extent() : extent(outer);
    const int behind = held - extent(outer);
    if (static_cast<int>(places.count) != held * extent(summed()) || behind < 0 ||
        (behind > 0 && behind >= shared.box[0]))
      return problem("shared", name(id) + " has not as many places as its tile has elements");
    unique(id, places);
  }

  void unique(TileId id, const Places& places) {
    if (places.least < 0) return problem("shared", name(id) + " has a place before its beginning");
    if (!places.once) problem("shared", name(id) + " has one place for two elements");
  }

  void boxes(const ProductParts::Operand& way, AxisId outer) {
    const std::array<int, 2>& box = tile(way.shared).shared->box;
    if (!program_.warpgroups || way.put)
      problem("shared", name(way.shared) + " comes by TMA, and no producer copies it");
    if (!program_.warpgroups) return;
    // An instruction reads what several boxes bring, of one or of several blocks of a cluster.
    const int held = tile(way.shared).shared->outer_extent();
    const bool fits =
        std::min(box[0], box[1]) > 0 && held % box[0] == 0 && extent(summed()) % box[1] == 0;
    const bool is_whole = box == std::array{extent(outer), extent(summed())};
    if (!fits || (!is_whole && !parts_.mma->atom) || std::max(box[0], box[1]) > extent_of_box)
      problem("shared", name(way.shared) + " is no box of TMA");
  }

  // What goes through shared memory behind the sums, in parts of one size.
  void staged() {
    std::optional<std::array<int, 2>> part;
    std::size_t stored = 0;
    const auto one = [&](TileId id, const Copy& copy) {
      const Tile& tile = this->tile(id);
      if (!tile.shared || !tile.shared->part || !parts_.mma->atom || !program_.warpgroups)
        return problem("shared", name(id) + " goes through shared memory, and not in parts");
      if (part && part != tile.shared->part)
        problem("shared", name(id) + " has parts of another size than those before it");
      part = tile.shared->part;
      this->part(id, copy);
      staged_ +=
          std::int64_t{program_.warpgroups->consumers} * tile.shared->stages * bytes_of(tile);
    };
    for (const Copy* copy : parts_.inputs)
      if (tile(copy->dst).space == Space::shared) one(copy->dst, *copy);
    for (const Copy* copy : parts_.stores) {
      if (tile(copy->src).space != Space::shared) continue;
      one(copy->src, *copy);
      ++stored;
    }
    if (part && stored != parts_.stores.size())
      problem("shared", "some outputs go through shared memory, and others do not");
  }

  void part(TileId id, const Copy& copy) {
    const Tile& tile = this->tile(id);
    const SharedTile& shared = *tile.shared;
    const std::array<int, 2>& part = *shared.part;
    const auto& atom = *parts_.mma->atom;
    const Places places = places_of(shared.layout);
    const auto rows = static_cast<std::size_t>(part[0]);
    if (part[0] != atom.shape[0] || part[1] < 1 || part[1] > atom.shape[1] || shared.stages < 1 ||
        places.count % rows != 0 || places.count < rows * static_cast<std::size_t>(part[1]))
      return problem("shared", name(id) + " has no parts of the instruction's sums");
    unique(id, places);
    const int columns = static_cast<int>(places.count / rows);
    if (shared.by_tma()) {
      const auto& box = shared.box;
      if (tile.threads || copy.vector != 1)
        problem("threads", name(id) + " is copied by TMA, and by threads");
      if (box[0] < 1 || part[0] % box[0] != 0 || box[1] != part[1] || box[1] > extent_of_box)
        problem("shared", name(id) + " is no box of TMA");
      return;
    }
    if (!tile.threads) return problem("threads", name(id) + " is copied by no threads");
    const Layout& layout = tile.threads->layout;
    const std::array axes{of_instruction(0), of_instruction(1)};
    const bool fits = layout.is_known() && layout.rank() == 2 && layout.shape[1].is_tuple() &&
                      layout.shape[1].rank() == 2 && is_onto(layout, {row_axis, column_axis});
    if (!fits || tile.threads->threads() > threads_of_warpgroup)
      return problem("threads", name(id) + " is copied by no threads of a warpgroup");
    covers_once(layout, box({{axes[0], part[0]}, {axes[1], columns}}),
                "the threads of " + name(id));
    const auto at = coordinate(copy);
    const auto mode = static_cast<std::size_t>(copy.vector_mode);
    if (copy.vector != tile.threads->vector || mode >= at.size() || tile.threads->along < 0 ||
        at[mode] != program_.axis(tile.threads->along).indices.front())
      problem("access", name(id) + " has no " + std::to_string(copy.vector) +
                            " elements side by side along mode " +
                            std::to_string(copy.vector_mode));
  }

  // The bare indices of a tensor's modes, where it is read or written.
  std::vector<sema::IndexId> coordinate(const Copy& copy) const {
    const sema::Kernel& kernel = *program_.kernel;
    if (const int output = tile(copy.dst).assignment; output >= 0)
      return kernel.assignments[static_cast<std::size_t>(output)].indices;
    std::vector<sema::IndexId> indices;
    for (const sema::NodeId at : kernel.load(tile(copy.src).value).coordinate)
      indices.push_back(sema::bare_index(kernel, at));
    return indices;
  }

  // Of one stage, which begins at whole 128 bytes.
  static std::int64_t bytes_of(const Tile& tile) {
    constexpr std::int64_t step = 128;
    const std::int64_t bytes =
        ((places_of(tile.shared->layout).most + 1) * bits(tile.element) + 7) / 8;
    return (bytes + step - 1) / step * step;
  }

  void stages() {
    int stages = 0;
    std::int64_t bytes = 0;
    std::vector<ProductParts::Operand> all(parts_.operands.begin(), parts_.operands.end());
    for (const ProductParts::Further& each : parts_.further) all.push_back(each.operand);
    for (const ProductParts::Operand& way : all) {
      const Tile& shared = tile(way.shared);
      if (stages > 0 && stages != shared.shared->stages)
        problem("stages", "the operands have different numbers of stages");
      stages = shared.shared->stages;
      bytes += stages * bytes_of(shared);
    }
    const bool by_any = parts_.mma->atom.has_value();
    if (stages < 2 || (!by_any && (stages > 2) != program_.warpgroups.has_value()))
      problem("stages", std::to_string(stages) + " stages are filled by " +
                            (program_.warpgroups ? "a producer" : "no producer"));
    bytes += staged_;
    if (bytes > bytes_of_block)
      problem("shared", "the stages take " + std::to_string(bytes) + " bytes, and a block has " +
                            std::to_string(bytes_of_block));
  }

  void output(const Copy& store) {
    if (store.vector == 1 || tile(store.src).space == Space::shared) return;
    const auto& at =
        program_.kernel->assignments[static_cast<std::size_t>(tile(store.dst).assignment)].indices;
    const auto mode = static_cast<std::size_t>(store.vector_mode);
    for (const AxisId axis : {row_axis, column_axis}) {
      if (mode >= at.size() || program_.axis(axis).indices.front() != at[mode]) continue;
      // Values that lie side by side are the first ones of a thread along the axis.
      const auto extents = leaves(program_.threads->layout.shape[1]),
                 strides = leaves(program_.threads->layout.stride[1]);
      for (std::size_t i = 0; i < extents.size(); ++i)
        if (strides[i].is_basis() && strides[i].path()[0] == axis && strides[i].value().is(1) &&
            store.vector > 0 && extents[i].value().value() % store.vector == 0)
          return;
    }
    problem("access", name(store.dst) + " is stored by accesses that no thread has");
  }

  const Program& program_;
  const Stmt* statement_ = nullptr;
  bool stores_ = false;
  int sums_ = 0;                // loops over the sum
  const Mma* first_ = nullptr;  // of the products
  ProductParts parts_;
  std::int64_t staged_ = 0;  // bytes behind the sums
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> verify_product(const Program& program) {
  return ProductVerifier(program).run();
}

}  // namespace lay::tile
