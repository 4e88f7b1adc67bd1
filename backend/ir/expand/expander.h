// The state that the parts of the pass share: a bound program, the registers that hold its tiles,
// and the place of a thread. Internal to this folder.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "backend/ir/expand/synchronisation.h"
#include "backend/ir/lower/lower_parts.h"
#include "backend/tile/bind.h"
#include "backend/tile/held_values.h"
#include "backend/tile/program.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::ir {

using tile::AxisId;
using tile::column_axis;
using tile::row_axis;
using tile::TileId;

// A mode of a thread's values: `extent` of them, `step` coordinates of the axis apart.
struct ValueMode {
  int extent = 1, step = 0;
  AxisId axis = column_axis;
};

class Expander {
 public:
  Expander(Declared& declared, const tile::Program& program)
      : declared_(declared),
        b_(declared.b),
        program_(program),
        threads_(*program.threads),
        columns_(tile::column_threads(threads_)),
        buffers_(program.tiles.size()),
        values_(program),
        sync_(declared, program) {
    const auto extents = leaves(threads_.layout.shape[1]);
    const auto strides = leaves(threads_.layout.stride[1]);
    // The first mode is that of an access.
    if (!extents[0].value().is(threads_.vector)) modes_.push_back({1, 0, column_axis});
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const bool basis = strides[i].is_basis();
      modes_.push_back({static_cast<int>(extents[i].value().value()),
                        basis ? static_cast<int>(strides[i].value().value()) : 0,
                        basis ? strides[i].path()[0] : column_axis});
    }
    for (const Predicate& known : b_.kernel.assumptions) facts_.assume(known);
  }

  void run();

 private:
  using Values = std::vector<Term>;  // a number for each mode of the values

  Term number(std::int64_t value) { return b_.constant(value); }
  const sema::Kernel& kernel() const { return declared_.kernel; }
  const tile::Tile& tile(TileId id) const { return program_.tile(id); }
  static bool runs(const tile::Tile& tile, AxisId axis) {
    return std::find(tile.axes.begin(), tile.axes.end(), axis) != tile.axes.end();
  }
  const sema::Reduce& reduction(TileId id) const {
    return std::get<sema::Reduce>(kernel().node(tile(id).value).what);
  }

  // ---- registers
  void declare(const tile::Block& body);
  void declare(TileId id);
  BufferId declare_registers(TileId id, const std::string& name, ElementType type);
  // Truth values are held as 0 and 1.
  static ElementType held_type(const tile::Tile& made);
  void declare_reduction(TileId id);
  // Every mbarrier is initialised before another block of the cluster may arrive at it: that is
  // waited for where the first exchange begins, so that loads are on their way meanwhile.
  void prepare_cluster();
  Ref held(TileId id, const Values& at) {
    return held(id, buffers_[static_cast<std::size_t>(id)], at);
  }
  // The element of a tile in registers, in a buffer of its shape.
  Ref held(TileId id, BufferId registers, const Values& at);

  // ---- coordinates

  Term coordinate(AxisId axis, const Values& at) {
    Term result = first_[axis];
    for (std::size_t i = 0; i < modes_.size(); ++i)
      if (modes_[i].axis == axis) result = result + at[i] * modes_[i].step;
    return result;
  }

  Term row_in_tile(const Values& at) {
    Term row = row_in_tile_;
    for (std::size_t i = 0; i < modes_.size(); ++i)
      if (modes_[i].axis == row_axis) row = row + at[i] * modes_[i].step;
    return row;
  }

  // Returns true if a coordinate of the axis may lie outside: tiles do not divide the extent.
  bool may_leave(AxisId axis) const {
    const tile::Axis& of = program_.axis(axis);
    return !facts_.proves(divides(of.extent, of.tile));
  }

  // Returns the condition that the coordinate lies inside; nothing where all coordinates do.
  std::optional<Term> inside(AxisId axis, const Values& at) {
    if (!may_leave(axis)) return std::nullopt;
    return coordinate(axis, at) < b_.size(program_.axis(axis).extent);
  }

  std::optional<Term> inside(const tile::Tile& of, const Values& at) {
    std::optional<Term> all;
    for (const AxisId axis : {row_axis, column_axis}) {
      if (!runs(of, axis)) continue;
      const auto one = inside(axis, at);
      if (one) all = all ? *all && *one : *one;
    }
    return all;
  }

  template <class Body>
  void where(const std::optional<Term>& condition, Body body) {
    if (condition) {
      b_.when(*condition, body);
    } else {
      body();
    }
  }

  // The indices at these values, the last of an axis the fastest.
  void bind(ElementLowering& element, const Values& at) {
    if (program_.part >= 0) element.bind(program_.part, b_.special(Builtin::block_y));
    for (const AxisId axis : {row_axis, column_axis}) {
      const tile::Axis& of = program_.axis(axis);
      if (of.indices.empty()) continue;
      Term rest = coordinate(axis, at);
      if (of.indices.size() > 1) rest = b_.let(declared_.fresh(of.name), rest);
      for (std::size_t i = of.indices.size(); i-- > 0;) {
        const Term extent = declared_.extent(of.indices[i]);
        const bool last = i == 0;
        element.bind(of.indices[i], last ? rest : rest % extent);
        if (!last) rest = b_.let(declared_.fresh("rest"), rest / extent);
      }
    }
  }

  // ---- loops over a thread's values

  // Calls body for the values of the tile's axes: rows outside, the elements of an access inside,
  // these `step` at a time.
  template <class Body>
  void each(const tile::Tile& over, int step, Body body) {
    std::vector<std::size_t> order;
    for (const AxisId axis : {row_axis, column_axis})
      for (std::size_t i = modes_.size(); i-- > 1;)
        if (modes_[i].axis == axis && runs(over, axis)) order.push_back(i);
    if (runs(over, modes_[0].axis)) order.push_back(0);
    Values at(modes_.size(), number(0));
    nest(order, 0, step, at, body);
  }

  template <class Body>
  void nest(const std::vector<std::size_t>& order, std::size_t depth, int step, Values& at,
            Body& body) {
    if (depth == order.size()) return body(at);
    const std::size_t mode = order[depth];
    const int by = mode == 0 ? step : 1;
    if (modes_[mode].extent <= by) return nest(order, depth + 1, step, at, body);
    const char* name = mode == 0 ? "element" : modes_[mode].axis == row_axis ? "row" : "part";
    b_.loop(declared_.name(name), number(0), number(modes_[mode].extent),
            {.step = by, .unrolled = true}, [&](Term value) {
              at[mode] = value;
              nest(order, depth + 1, step, at, body);
            });
    at[mode] = number(0);
  }

  // The `count` elements of an access from `at` on.
  template <class Body>
  void each_element(const Values& at, int count, Body body) {
    if (count == 1) return body(at, number(0));
    b_.loop(declared_.name("lane_element"), number(0), number(count), {.unrolled = true},
            [&](Term element) {
              Values here = at;
              here[0] = here[0] + element;
              body(here, element);
            });
  }

  // ---- elements
  // The arithmetic at one place: what tiles hold is known.
  ElementLowering element_at(const Values& at);
  // Returns true if the value needs elements that no tile holds, readable only inside the extents.
  bool reads_memory(sema::NodeId root) const {
    return sema::reads_memory(kernel(), root,
                              [&](sema::NodeId id) { return values_.tile_of(id) >= 0; });
  }

  // ---- statements
  // A reduction of the block is complete after its statement, or goes on in the loop around.
  void block(const tile::Block& body, bool completes);
  // The statements of one tile of rows.
  void rows();
  void walk(const tile::For& loop);
  void load(const tile::Copy& copy);
  void keep(const tile::Map& map);
  Term truth_as_number(Term value);
  void store(const tile::Copy& copy);
  // Returns the condition that this thread, among the threads of its block that share rows, is the
  // one that stores a row's values; nothing where no other thread shares them.
  std::optional<Term> speaks_for_rows();

  // ---- rows that are copied ahead (tile/rows_ahead.h)

  // Clusters that take tiles of rows in turn.
  int clusters() const;
  void declare_ahead();
  // All tiles of the rows from the first one of this block's cluster on.
  void walk_rows(Term first_tile);
  // Places this thread at the tile of the rows that this block takes in that turn.
  void place_rows(const char* name, Term turn);
  // One group: what this thread has of a tile, on its way to a stage. Behind the last row nothing
  // is read, and the stage is zeros.
  void copy_ahead(const tile::Copy& copy, Term stage);
  // From the stage to registers, and the tile that takes its place is on its way.
  void take(const tile::Copy& copy);
  std::vector<const tile::Copy*> copies_ahead(bool with_rows) const;
  Ref shared_place(TileId id, const Values& at, Term stage);
  // What warps or blocks exchange of a row: that of the next row has another slot.
  Layout by_slots(int held, int count) const;
  Ref in_slot(BufferId shared, Term row, Term which);

  // ---- reductions

  // One of the numbers that are held of a reduction on its way (tile::partial_types): where this
  // thread has it, where the warps that share rows put theirs and where the blocks of a cluster do.
  struct Partial {
    ElementType type;
    BufferId registers, of_warps, of_blocks;
  };
  struct Reduction {
    std::vector<Partial> partials;
    BarrierId arrived;  // arrivals of the blocks' values
  };
  using Terms = std::vector<Term>;  // of the partials

  static bool is_condition(sema::ReduceFunction function);
  Terms identity(TileId id);
  // Returns the join of two groups of columns. For conditions, held as 0 and 1, the greater value
  // is `or` and the lesser one `and`. If extremes are equal, the one of the smaller position stays.
  Terms joined(sema::ReduceFunction function, const Terms& a, const Terms& b);
  Terms read(TileId id, const Values& at);
  void assign(TileId id, const Values& at, const Terms& terms);
  void clear(TileId id);
  // The values of this thread, in the order of its columns.
  void accumulate(TileId id);
  void add(TileId id, const sema::Reduce& over, const Values& at);
  // Returns true if `each` visits a thread's columns in ascending order.
  bool columns_ascend() const;
  void join_threads(TileId id);
  void join_warps(TileId id, sema::ReduceFunction function);
  void join_by_lanes(TileId id, sema::ReduceFunction function);
  // The values of this lane and of the one whose number differs by the mask.
  void join_lanes(sema::ReduceFunction function, Terms& values, int mask);
  // Each block sends what it has of a row to every block of the cluster, itself too, and joins what
  // came in the order of ranks. No block ends before all have what they wait for.
  void join_blocks(TileId id, sema::ReduceFunction function);
  // The first exchange waits until all blocks have begun.
  void begin_exchange();
  // Behind the last exchange of a row a block says that it has read what it was sent, and waits
  // until all have said so of the row before, whose slot the next row takes.
  void end_exchange();
  void meet_behind();
  // Joins the values that `count` warps or blocks have of the rows, in their order.
  void join_shared(TileId id, sema::ReduceFunction function, BufferId Partial::*shared, int count,
                   const char* name);

  Declared& declared_;
  Builder& b_;
  const tile::Program& program_;
  const tile::Distribution& threads_;
  tile::ColumnThreads columns_;
  Facts facts_;
  std::vector<ValueMode> modes_;   // the elements of an access first
  std::vector<BufferId> buffers_;  // of tiles in registers
  std::map<TileId, Reduction> reductions_;
  std::set<TileId> stored_;  // as soon as an access of it is computed: not held
  tile::HeldValues values_;  // the nodes that tiles hold now
  Synchronisation sync_;
  BarrierId barrier_, blocks_;
  int exchanges_ = 0;  // of a row, between the blocks of a cluster, so far
  // Of rows that are copied ahead: the first tile of this block's cluster, tiles from one of it to
  // the next, how many it has taken, the stage of the one at hand, and the slot and the phase of
  // what is exchanged of it.
  Term first_tile_, step_, turn_, stage_, slot_, phase_;
  Term row_in_tile_, column_in_tile_;
  std::array<Term, 2> first_;  // this thread's first coordinate of each axis
};

}  // namespace lay::ir
