#include "backend/tile/interpret.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "backend/tile/held_values.h"
#include "backend/tile/products/factors.h"
#include "backend/tile/products/group_scale.h"
#include "backend/tile/products/placed_tiles.h"
#include "backend/tile/program_call.h"
#include "frontend/sema/kernel/node_values.h"

namespace lay::tile {

using sema::Array;
using sema::Computed;
using sema::NodeId;

namespace {

class Interpreter {
 public:
  Interpreter(const Program& program, const sema::KernelCall& call, const TileSizes& unbound)
      : program_(program),
        call_(call_of(program, call)),
        values_(call_),
        held_(program),
        tiles_(program.tiles.size()),
        outputs_(program, call_),
        is_on_its_way_(program.tiles.size(), 0) {
    for (std::size_t id = 0; id < program.axes.size(); ++id) {
      const Axis& axis = program.axes[id];
      const bool is_summed = program.is_product() && id + 1 == program.axes.size();
      const std::int64_t unbound_tile = id == row_axis      ? unbound.rows
                                        : id == column_axis ? unbound.columns
                                        : is_summed         ? unbound.summed
                                                            : 1;
      ranges_.push_back(
          {axis.extent.evaluate(call.sizes).value(), axis.tile > 0 ? axis.tile : unbound_tile, 0});
      at_.push_back(0);
    }
  }

  sema::KernelResult run(const sema::KernelCall& asked) {
    for (part_ = 0; part_ < program_.parts; ++part_) {
      if (program_.part >= 0) values_.set(program_.part, part_);
      // Groups of rows have each tile once, so any order gives the same. Tiles of segments are
      // numbered by where segments begin, which is in memory.
      const bool by_layout =
          program_.grid && std::holds_alternative<Layout>(program_.grid->order) &&
          std::ranges::none_of(program_.axes,
                               [](const Axis& axis) { return axis.segments.has_value(); });
      if (has_tail(program_))
        walk(tiles_in_waves(program_, call_.sizes, extents()));
      else if (by_layout)
        walk(tiles_by_layout(program_, call_.sizes));
      else
        block(program_.body);
    }
    sema::KernelResult result;
    for (const sema::Tensor& tensor : asked.kernel->tensors) {
      if (tensor.access != sema::Access::input)
        result.outputs.push_back(outputs_.of(tensor, call_.sizes));
    }
    return result;
  }

 private:
  // Where the tile of an axis lies now.
  struct Range {
    std::int64_t extent = 0, tile = 1, first = 0;
    std::int64_t segment_end = std::numeric_limits<std::int64_t>::max();

    std::int64_t end() const { return std::min({first + tile, extent, segment_end}); }
  };
  // The sum of an interval on its way, and what it is multiplied by.
  struct Interval {
    bool has_begun = false;
    std::optional<Computed> scale;
    Computed sum;  // 0 of every type
  };
  // Values of a tile, row by row; places that were never written have none.
  struct Held {
    std::vector<std::optional<Computed>> values;
    std::vector<sema::Joined> joined;  // of a reduction
    std::vector<Interval> intervals;   // of a product with intervals
  };

  const sema::Kernel& kernel() const { return *program_.kernel; }
  Range& range(AxisId axis) { return ranges_[static_cast<std::size_t>(axis)]; }
  char& is_on_its_way(TileId id) { return is_on_its_way_[static_cast<std::size_t>(id)]; }
  Held& tile(TileId id) { return tiles_[static_cast<std::size_t>(id)]; }
  const sema::Reduce& reduction(TileId id) const {
    return std::get<sema::Reduce>(kernel().node(program_.tile(id).value).what);
  }

  // ---- coordinates

  std::vector<std::int64_t> extents() const {
    std::vector<std::int64_t> extents;
    for (const Range& axis : ranges_) extents.push_back(axis.extent);
    return extents;
  }

  void set(AxisId axis, std::int64_t coordinate) {
    at_[static_cast<std::size_t>(axis)] = coordinate;
    const auto& indices = program_.axis(axis).indices;
    for (std::size_t i = indices.size(); i-- > 1;) {
      const std::int64_t extent = values_.extent(indices[i]);
      values_.set(indices[i], coordinate % extent);
      coordinate /= extent;
    }
    if (!indices.empty()) values_.set(indices.front(), coordinate);  // the slowest: what is left
  }

  // Calls f() for every coordinate of the axes that lies inside.
  template <class F>
  void each(const std::vector<AxisId>& axes, F&& f, std::size_t from = 0) {
    if (from == axes.size()) return f();
    const Range now = range(axes[from]);
    for (std::int64_t at = now.first; at < now.end(); ++at) {
      set(axes[from], at);
      each(axes, f, from + 1);
    }
  }

  // The place of the coordinate in a tile.
  std::size_t place(TileId id) {
    std::int64_t place = 0;
    for (const AxisId axis : program_.tile(id).axes) {
      place = place * range(axis).tile + at_[static_cast<std::size_t>(axis)] - range(axis).first;
    }
    return static_cast<std::size_t>(place);
  }

  std::size_t places(TileId id) {
    std::int64_t count = 1;
    for (const AxisId axis : program_.tile(id).axes) count *= range(axis).tile;
    return static_cast<std::size_t>(count);
  }

  // ---- values

  void clear(TileId id) { tile(id).values.assign(places(id), std::nullopt); }

  const Computed& read(TileId id) {
    const std::size_t at = place(id);
    if (at >= tile(id).values.size()) clear(id);
    auto& value = tile(id).values[at];
    if (value && is_on_its_way(id) && values_.is_minus_infinity(*value))
      value = values_.real(program_.tile(id).element, 0);
    if (!value)
      throw std::logic_error("internal: `" + program_.tile(id).name +
                             "` is read where it was not written");
    return *value;
  }

  using Readable = std::vector<std::pair<NodeId, TileId>>;

  // The tiles that have a value at each coordinate of these axes.
  Readable readable(const std::vector<AxisId>& axes) const {
    Readable made;
    for (const auto& [node, id] : held_.all()) {
      const auto& of_tile = program_.tile(id).axes;
      const bool here = std::all_of(of_tile.begin(), of_tile.end(), [&](AxisId axis) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
      });
      if (here) made.emplace_back(node, id);
    }
    return made;
  }

  // Calls f() while the values of these tiles at the coordinate are known.
  template <class F>
  void with_tiles(const Readable& readable, F&& f) {
    for (const auto& [node, id] : readable) values_.know(node, read(id));
    f();
    for (const auto& [node, id] : readable) values_.forget(node);
  }

  // ---- statements

  void block(const Block& body) {
    for (const Stmt& stmt : body) {
      if (const auto* loop = std::get_if<For>(&stmt.node)) {
        walk(*loop);
        continue;
      }
      if (const auto* copy = std::get_if<Copy>(&stmt.node)) {
        this->copy(*copy);
      } else if (const auto* map = std::get_if<Map>(&stmt.node)) {
        compute(map->out);
      } else if (const auto* mma = std::get_if<Mma>(&stmt.node)) {
        multiply(*mma);
      } else {
        const auto& reduction = std::get<Reduce>(stmt.node);
        reduce(reduction.out, reduction.over, reduction.rescales);
      }
      held_.after(stmt);
    }
  }

  // Block after block, or cluster after cluster, each at the tile that the order gives it.
  void walk(const std::vector<PlacedTile>& tiles) {
    for (const PlacedTile& placed : tiles) {
      for (std::size_t axis = 0; axis < ranges_.size(); ++axis)
        ranges_[axis].first = placed.at[axis] * ranges_[axis].tile;
      is_cut_ = placed.is_cut;
      each_of_cluster(row_axis);
    }
    is_cut_ = false;
  }

  // The tiles of a cluster's blocks, side by side from that of the axis on, which counts clusters.
  void each_of_cluster(AxisId axis) {
    // Elementwise programs may have one axis; products have both.
    if (axis <= column_axis && static_cast<std::size_t>(axis) < ranges_.size()) {
      const int blocks = program_.grid->cluster[static_cast<std::size_t>(axis)];
      const std::int64_t first = range(axis).first * blocks;
      for (int block = 0; block < blocks; ++block) {
        range(axis).first = first + block * range(axis).tile;
        each_of_cluster(axis + 1);
      }
      range(axis).first = first / blocks;
    } else if (std::ranges::all_of(ranges_, [](const Range& r) { return r.first < r.extent; })) {
      enter(program_.body);
    }
  }

  // The body of the loops over the grid, where the tile lies now.
  void enter(const Block& body) {
    const auto* loop = std::get_if<For>(&body.front().node);
    if (!loop || loop->walk != Walk::grid) return block(body);
    held_.enter(*loop);
    enter(loop->body);
    held_.leave();
  }

  void walk(const For& loop) {
    Range& axis = range(loop.axis);
    std::vector<TileId> reductions;
    std::vector<const Reduce*> maxima;  // that are read on their way
    for (const Stmt& stmt : loop.body) {
      const auto* one = std::get_if<Reduce>(&stmt.node);
      const auto* mma = std::get_if<Mma>(&stmt.node);
      if (one && one->over == loop.axis) reductions.push_back(one->out);
      if (one && !one->rescales.empty()) maxima.push_back(one);
      if (mma && mma->over == loop.axis) reductions.push_back(mma->out);
    }
    if (loop.walk != Walk::grid)
      for (const TileId id : reductions) start(id);
    for (const Reduce* maximum : maxima) is_on_its_way(maximum->out) = 1;
    if (loop.walk == Walk::whole) {
      const bool fits = axis.extent <= axis.tile || !program_.is_bound();
      if (!fits) throw std::logic_error("internal: a tile does not hold its whole axis");
      axis.first = 0;
      if (!program_.is_bound()) axis.tile = std::max<std::int64_t>(axis.extent, 1);
      step(loop);
      return;
    }
    if (loop.parts > 1) return walk_parts(loop, reductions, loop.parts);
    if (loop.tail > 1 && is_cut_) return walk_parts(loop, reductions, loop.tail);
    const bool split = loop.walk == Walk::sequence && loop.axis == column_axis;
    const std::int64_t parts = split ? program_.parts : 1, first = split ? part_ : 0;
    bool any = false;
    if (program_.axis(loop.axis).segments) return walk_segments(loop);
    for (axis.first = first * axis.tile; axis.first < axis.extent;
         axis.first += axis.tile * parts) {
      step(loop);
      any = true;
    }
    if (!any && loop.walk == Walk::sequence) pass_over(loop);
    axis.first = 0;
    for (const Reduce* maximum : maxima) end_of_way(*maximum);
    if (loop.walk == Walk::sequence)
      for (const TileId id : reductions) finish(id);
  }

  // Tiles end where the segment of the rows does.
  void walk_segments(const For& loop) {
    Range& axis = range(loop.axis);
    const auto segment_of = [&](std::int64_t at) {
      set(loop.axis, at);
      return values_.value(program_.axis(loop.axis).segments->of).integer;
    };
    for (axis.first = 0; axis.first < axis.extent; axis.first = axis.segment_end) {
      const std::int64_t segment = segment_of(axis.first);
      axis.segment_end = axis.first + 1;
      const std::int64_t most = std::min(axis.first + axis.tile, axis.extent);
      while (axis.segment_end < most && segment_of(axis.segment_end) == segment) ++axis.segment_end;
      step(loop);
    }
    axis.first = 0;
    axis.segment_end = std::numeric_limits<std::int64_t>::max();
  }

  // The sums of each part by themselves, then added up in the order of parts.
  void walk_parts(const For& loop, const std::vector<TileId>& sums, int parts) {
    Range& axis = range(loop.axis);
    const std::int64_t tiles = (axis.extent + axis.tile - 1) / axis.tile;
    std::vector<std::vector<sema::Joined>> totals;
    for (int part = 0; part < parts; ++part) {
      for (const TileId id : sums) {
        start(id);
        finish(id);  // tiles are held from the part before on
      }
      for (std::int64_t at = tiles * part / parts; at < tiles * (part + 1) / parts; ++at) {
        axis.first = at * axis.tile;
        step(loop);
      }
      for (std::size_t i = 0; i < sums.size(); ++i) {
        end_intervals(sums[i]);
        const auto& of_part = tile(sums[i]).joined;
        if (part == 0) {
          totals.push_back(of_part);
          continue;
        }
        const ElementType type = kernel().node(program_.tile(sums[i]).value).type;
        for (std::size_t at = 0; at < of_part.size(); ++at)
          totals[i][at].total = values_.added(totals[i][at].total, of_part[at].total, type);
      }
    }
    if (tiles == 0) pass_over(loop);
    axis.first = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      tile(sums[i]).joined = std::move(totals[i]);
      finish(sums[i]);
    }
  }

  void step(const For& loop) {
    const AxisId around = std::exchange(innermost_, loop.axis);
    held_.enter(loop);
    block(loop.body);
    held_.leave();
    innermost_ = around;
  }

  // A loop without a step still completes its reductions.
  void pass_over(const For& loop) {
    held_.enter(loop);
    for (const Stmt& stmt : loop.body)
      if (std::holds_alternative<Reduce>(stmt.node) || std::holds_alternative<Mma>(stmt.node))
        held_.after(stmt);
    held_.leave();
  }

  void copy(const Copy& copy) {
    if (program_.tile(copy.dst).space == Space::global) return store(copy);
    if (program_.tile(copy.src).space == Space::global) return load(copy);
    clear(copy.dst);
    each(program_.tile(copy.dst).axes,
         [&] { tile(copy.dst).values[place(copy.dst)] = read(copy.src); });
  }

  void load(const Copy& copy) {
    clear(copy.dst);
    const Tile& to = program_.tile(copy.dst);
    // What a segment selects is the same for all rows of the tile.
    for (std::size_t axis = 0; axis < program_.axes.size(); ++axis)
      if (program_.axes[axis].segments)
        set(static_cast<AxisId>(axis), range(static_cast<AxisId>(axis)).first);
    // Of a window the arm with the element. Products have 0 for what lies outside of a tensor.
    const NodeId from = program_.tile(copy.src).value;
    const NodeId value =
        to.value == from ? from : std::get<sema::Apply>(kernel().node(to.value).what).operands[1];
    each(to.axes, [&] {
      bool is_read = !program_.is_product() || lies_inside(kernel().load(from));
      for (const Condition& each : copy.where)
        is_read = is_read && (read(each.tile).integer != 0) == each.holds;
      tile(copy.dst).values[place(copy.dst)] =
          is_read ? values_.value(value) : Computed{};  // 0 of every type
    });
  }

  bool lies_inside(const sema::Load& load) {
    const auto& shape = call_.tensors[static_cast<std::size_t>(load.tensor)].shape;
    for (std::size_t mode = 0; mode < shape.size(); ++mode) {
      const std::int64_t at = values_.value(load.coordinate[mode]).integer;
      if (at < 0 || at >= shape[mode]) return false;
    }
    return true;
  }

  void compute(TileId out) {
    clear(out);
    const NodeId node = program_.tile(out).value;
    const auto& axes = program_.tile(out).axes;
    const Readable known = readable(axes);
    each(axes,
         [&] { with_tiles(known, [&] { tile(out).values[place(out)] = values_.value(node); }); });
  }

  void store(const Copy& copy) {
    const Tile& to = program_.tile(copy.dst);
    const auto& assignment = kernel().assignments[static_cast<std::size_t>(to.assignment)];
    const ElementType type = kernel().node(assignment.value).type;
    each(to.axes, [&] {
      std::vector<std::int64_t> coordinate;
      for (const sema::IndexId index : assignment.indices) coordinate.push_back(stored_at(index));
      values_.write(kernel().tensor(assignment.target), outputs_.array(to.assignment),
                    outputs_.element(to.assignment, coordinate), read(copy.src), type);
    });
  }

  // The coordinate of the outputs along an index: of rows in segments perhaps another one.
  std::int64_t stored_at(sema::IndexId index) {
    const std::int64_t at = values_.at(index);
    for (const Axis& axis : program_.axes)
      if (axis.segments && axis.segments->stored_at >= 0 && axis.indices.front() == index)
        return call_.tensors[static_cast<std::size_t>(axis.segments->stored_at)].integer(at);
    return at;
  }

  void start(TileId id) {
    clear(id);
    tile(id).intervals.assign(places(id), {});
    tile(id).joined.assign(places(id), values_.start(reduction(id)));
  }

  // Joins the values of the tile where it lies now.
  void reduce(TileId out, AxisId along, const std::vector<TileId>& rescales) {
    if (along != innermost_) start(out);
    const sema::Reduce& over = reduction(out);
    const ElementType type = kernel().node(program_.tile(out).value).type;
    const std::vector<AxisId> own = program_.tile(out).axes;
    std::vector<AxisId> axes = own;
    axes.push_back(along);
    const Readable known = readable(axes);
    each(own, [&] {
      sema::Joined& joined = tile(out).joined[place(out)];
      const Computed before = joined.total;
      each({along}, [&] { with_tiles(known, [&] { values_.join(over, type, joined); }); });
      // While all values are -inf there is nothing to rescale.
      if (rescales.empty() || values_.is_minus_infinity(joined.total)) return;
      each_sum(rescales, own, [&](Computed& total, ElementType of) {
        total = values_.rescaled(total, before, joined.total, of);
      });
    });
    finish(out);
  }

  // Sums of intervals by themselves, multiplied by the scales as they are where each begins.
  void multiply(const Mma& mma) {
    const auto factors = program_.is_product() ? factors_of_product(mma) : std::nullopt;
    if (!factors || (factors->others.empty() && mma.interval == 0))
      return reduce(mma.out, mma.over, {});
    std::vector<std::int64_t> groups{mma.interval};
    if (mma.interval == 0) groups = groups_of(mma, factors->others);
    const ElementType type = kernel().node(program_.tile(mma.out).value).type;
    std::vector<AxisId> axes = program_.tile(mma.out).axes;
    axes.push_back(mma.over);
    const Readable known = readable(axes);
    const std::vector<NodeId> multiplied{factors->a, factors->b};
    each(axes, [&] {
      const std::int64_t k = at_[static_cast<std::size_t>(mma.over)];
      const bool begins =
          std::ranges::any_of(groups, [&](std::int64_t group) { return k % group == 0; });
      Interval& interval = tile(mma.out).intervals[place(mma.out)];
      with_tiles(known, [&] {
        if (begins || !interval.has_begun) {
          Computed& total = tile(mma.out).joined[place(mma.out)].total;
          total = with_interval(total, interval, type);
          interval = {true, {}, {}};
          if (!factors->others.empty()) interval.scale = values_.product(factors->others, type);
        }
        interval.sum = values_.added(interval.sum, values_.product(multiplied, type), type);
      });
    });
    finish(mma.out);
  }

  std::optional<Factors> factors_of_product(const Mma& mma) const {
    const auto load = [&](TileId id) {
      return element_of(kernel(), program_.tile(id).value)->load;
    };
    return factors_of(kernel(), program_.tile(mma.out).value, load(mma.a), load(mma.b));
  }

  // The extents of the groups of all scales along the axis.
  std::vector<std::int64_t> groups_of(const Mma& mma, const std::vector<NodeId>& scales) const {
    std::vector<std::int64_t> groups;
    for (const NodeId each : scales) {
      const auto scale = group_scale(kernel(), each, program_.axis(mma.over).indices.front());
      for (const GroupScale::Quotient& quotient : scale->quotients)
        groups.push_back(quotient.group.evaluate(call_.sizes).value());
    }
    return groups;
  }

  void end_intervals(TileId id) {
    const ElementType type = kernel().node(program_.tile(id).value).type;
    for (std::size_t at = 0; at < tile(id).intervals.size(); ++at) {
      Interval& interval = tile(id).intervals[at];
      Computed& total = tile(id).joined[at].total;
      total = with_interval(total, interval, type);
      interval = {};
    }
  }

  Computed with_interval(const Computed& total, const Interval& interval, ElementType type) const {
    if (!interval.has_begun) return total;
    const Computed sum =
        interval.scale ? values_.multiplied(*interval.scale, interval.sum, type) : interval.sum;
    return values_.added(total, sum, type);
  }

  // Calls f(total, type) for what sums have at these coordinates.
  template <class F>
  void each_sum(const std::vector<TileId>& sums, const std::vector<AxisId>& own, F&& f) {
    for (const TileId sum : sums) {
      std::vector<AxisId> others;
      for (const AxisId axis : program_.tile(sum).axes)
        if (std::find(own.begin(), own.end(), axis) == own.end()) others.push_back(axis);
      const ElementType type = kernel().node(program_.tile(sum).value).type;
      each(others, [&] { f(tile(sum).joined[place(sum)].total, type); });
    }
  }

  // A maximum of -inf has been read as 0 on its way. Now it is what it is, and exp(-inf - -inf)
  // NaN.
  void end_of_way(const Reduce& maximum) {
    is_on_its_way(maximum.out) = 0;
    const std::vector<AxisId> own = program_.tile(maximum.out).axes;
    each(own, [&] {
      const sema::Joined& joined = tile(maximum.out).joined[place(maximum.out)];
      if (range(maximum.over).extent == 0 || !values_.is_minus_infinity(joined.total)) return;
      each_sum(maximum.rescales, own, [&](Computed& total, ElementType type) {
        total = values_.real(type, std::numeric_limits<double>::quiet_NaN());
      });
    });
  }

  // Makes the joined values the tile's; in a loop in sequence the next step goes on from them.
  void finish(TileId id) {
    const ElementType type = kernel().node(program_.tile(id).value).type;
    each(program_.tile(id).axes, [&] {
      sema::Joined joined = tile(id).joined[place(id)];
      if (const auto& intervals = tile(id).intervals; !intervals.empty())
        joined.total = with_interval(joined.total, intervals[place(id)], type);
      tile(id).values[place(id)] = sema::NodeValues::result(reduction(id), joined);
    });
  }

  const Program& program_;
  const sema::KernelCall call_;
  sema::NodeValues values_;
  HeldValues held_;
  std::vector<Held> tiles_;
  StoredOutputs outputs_;
  std::vector<Range> ranges_;  // by axis
  std::vector<std::int64_t> at_;
  AxisId innermost_ = -1;            // of the loops around
  std::vector<char> is_on_its_way_;  // by tile: a maximum, read before the loop around it ends
  std::int64_t part_ = 0;
  bool is_cut_ = false;  // the tile is of a last wave that is not whole
};

}  // namespace

sema::KernelResult interpret(const Program& program, const sema::KernelCall& call,
                             const TileSizes& unbound) {
  return Interpreter(program, call, unbound).run(call);
}

sema::KernelResult interpret(const std::vector<Program>& programs, const sema::KernelCall& call) {
  if (programs.size() == 1) return interpret(programs.front(), call);
  std::vector<Array> tensors = call.tensors;
  for (const Program& program : programs) {
    sema::KernelCall own = call;
    own.kernel = program.kernel;
    const sema::KernelResult of_program = interpret(program, own);
    auto made = of_program.outputs.begin();
    for (std::size_t id = 0; id < tensors.size(); ++id)
      if (program.kernel->tensors[id].access != sema::Access::input) tensors[id] = *made++;
  }
  sema::KernelResult result;
  for (std::size_t id = 0; id < tensors.size(); ++id)
    if (call.kernel->tensors[id].access != sema::Access::input)
      result.outputs.push_back(std::move(tensors[id]));
  return result;
}

}  // namespace lay::tile
