#include "backend/ir/lower/expand.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "backend/plan/axes.h"
#include "backend/tile/bind.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/kernel/kernel_walk.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::ir {

namespace {

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
        buffers_(program.tiles.size()) {
    const auto extents = leaves(threads_.layout.shape[1]);
    const auto strides = leaves(threads_.layout.stride[1]);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const bool basis = strides[i].is_basis();
      modes_.push_back({static_cast<int>(extents[i].value().value()),
                        basis ? static_cast<int>(strides[i].value().value()) : 0,
                        basis ? strides[i].path()[0] : column_axis});
    }
    for (const Predicate& known : b_.kernel.assumptions) facts_.assume(known);
  }

  void run() {
    const tile::Axis& across = program_.axis(row_axis);
    const int blocks = threads_.blocks();
    b_.kernel.launch = {{ceil_div(across.extent, across.tile) * blocks, program_.parts, 1},
                        {blocks, 1, 1},
                        threads_.threads(),
                        program_.blocks_per_sm};
    if (columns_.warps > 1) barrier_ = b_.block_barrier();
    tile::for_each(program_.body, [&](const tile::Stmt& stmt) {
      const auto* copy = std::get_if<tile::Copy>(&stmt.node);
      if (copy && tile(copy->dst).space == tile::Space::global) stored_.insert(copy->src);
    });
    declare(program_.body);
    if (blocks > 1) prepare_cluster();
    b_.role("all", 0, threads_.threads(), [&] {
      declared_.from(declared_.kernel.where, "(thread,value) -> (" + across.name + "," +
                                                 program_.axis(column_axis).name +
                                                 ") in the tile: " + threads_.layout.to_string());
      const Term thread = b_.special(Builtin::thread);
      row_in_tile_ = b_.let(declared_.name("row_in_tile"),
                            b_.at(plan::along(threads_.layout[0], row_axis), thread));
      column_in_tile_ = b_.let(declared_.name("column_in_tile"),
                               b_.at(plan::along(threads_.layout[0], column_axis), thread));
      Term tile_of_rows = b_.special(Builtin::block_x);
      if (threads_.blocks() > 1) {
        const Layout shares = plan::along(threads_.layout[2], column_axis);
        declared_.from(declared_.kernel.where,
                       "blocks of a cluster share rows: block -> column " + shares.to_string());
        tile_of_rows = tile_of_rows / threads_.blocks();
        column_in_tile_ =
            b_.let(declared_.name("column_of_block"),
                   column_in_tile_ + b_.at(shares, b_.special(Builtin::cluster_rank)));
      }
      first_[row_axis] =
          b_.let(declared_.name("first_row"), tile_of_rows * across.tile + row_in_tile_);
      first_[column_axis] = column_in_tile_;
      for (const tile::Stmt& stmt : program_.body)  // the loop over the grid, and nothing beside it
        block(std::get<tile::For>(stmt.node).body);
    });
  }

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

  void declare(const tile::Block& body) {
    tile::for_each(body, [&](const tile::Stmt& stmt) {
      if (const auto* copy = std::get_if<tile::Copy>(&stmt.node)) {
        if (tile(copy->dst).space == tile::Space::registers) declare(copy->dst);
      } else if (const auto* map = std::get_if<tile::Map>(&stmt.node)) {
        if (!stored_.contains(map->out)) declare(map->out);
      } else if (const auto* reduce = std::get_if<tile::Reduce>(&stmt.node)) {
        declare(reduce->out);
        if (columns_.warps > 1) declare_shared(reduce->out);
        if (threads_.blocks() > 1) declare_cluster(reduce->out);
      }
    });
  }

  void declare(TileId id) {
    const tile::Tile& made = tile(id);
    declared_.from(kernel().node(made.value).where, "the values of this thread");
    std::vector<Tuple> shape, stride;
    int count = 1;
    for (const ValueMode& mode : modes_) {
      if (!runs(made, mode.axis)) continue;
      shape.emplace_back(mode.extent);
      stride.emplace_back(count);
      count *= mode.extent;
    }
    const Layout layout = shape.empty()       ? Layout(1, 0)
                          : shape.size() == 1 ? Layout(shape[0], stride[0])
                                              : Layout(Tuple(shape), Tuple(stride));
    buffers_[static_cast<std::size_t>(id)] =
        b_.registers(declared_.name(made.name), held_type(made), layout);
  }

  // Truth values are held as 0 and 1.
  static ElementType held_type(const tile::Tile& made) {
    return made.element == ElementType::pred ? ElementType::s32 : made.element;
  }

  void declare_shared(TileId id) {
    const tile::Tile& made = tile(id);
    const int held = program_.axis(row_axis).tile;
    declared_.from(kernel().node(made.value).where, "(row, warp) -> what the warp has of the row");
    shared_[id] = b_.shared(declared_.name("shared_" + made.name), held_type(made),
                            Layout(lay::tuple(held, columns_.warps), lay::tuple(1, held)));
  }

  void declare_cluster(TileId id) {
    const tile::Tile& made = tile(id);
    const int held = program_.axis(row_axis).tile;
    declared_.from(kernel().node(made.value).where,
                   "(row, block) -> what the block has of the row");
    const BufferId shared =
        b_.shared(declared_.name("cluster_" + made.name), held_type(made),
                  Layout(lay::tuple(held, threads_.blocks()), lay::tuple(1, held)));
    const BarrierId arrived =
        b_.barrier({declared_.name("arrived_" + made.name), BarrierKind::mbarrier, 1, 1, 0});
    cluster_[id] = {shared, arrived};
  }

  // Every mbarrier is initialised before another block of the cluster may arrive at it: that is
  // waited for where the first exchange begins, so that loads are on their way meanwhile.
  void prepare_cluster() {
    const BarrierId all = b_.barrier({declared_.name("blocks"), BarrierKind::cluster, 1, 0, 0});
    blocks_ = all;
    b_.inside(b_.kernel.prologue, [&] {
      b_.when(b_.special(Builtin::thread) == 0, [&] {
        for (const auto& [id, exchange] : cluster_)
          b_.sync(exchange.arrived, number(0), InitMbarrier{});
      });
      b_.emit(Fence{FenceKind::mbarrier_init});
      b_.sync(all, {}, ArriveCluster{});
    });
  }

  Ref held(TileId id, const Values& at) {
    Ref made{buffers_[static_cast<std::size_t>(id)], {}};
    for (std::size_t i = 0; i < modes_.size(); ++i)
      if (runs(tile(id), modes_[i].axis)) made.coordinate.push_back(at[i]);
    if (made.coordinate.empty()) made.coordinate.push_back(number(0));
    return made;
  }

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

  // Whether a coordinate of the axis may lie outside: tiles do not divide the extent.
  bool may_leave(AxisId axis) const {
    const tile::Axis& of = program_.axis(axis);
    return !facts_.proves(divides(of.extent, of.tile));
  }

  // Whether the coordinate lies inside; nothing where all do.
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
  ElementLowering element_at(const Values& at) {
    std::vector<sema::NodeId> given;
    for (const auto& [node, id] : known_) given.push_back(node);
    ElementLowering element(declared_, given);
    bind(element, at);
    for (const auto& [node, id] : known_) {
      const ElementType type = kernel().node(node).type;
      const Term value = b_.read(held(id, at));
      element.know(node, type == ElementType::pred ? value != 0 : b_.cast(value, type));
    }
    return element;
  }

  // Whether the value needs elements that no tile holds, which may only be read inside the extents.
  bool reads_memory(sema::NodeId root) const {
    std::vector<sema::NodeId> open{root};
    std::vector<char> seen(kernel().nodes.size(), 0);
    while (!open.empty()) {
      const sema::NodeId id = open.back();
      open.pop_back();
      if (seen[static_cast<std::size_t>(id)]++ || known_.contains(id)) continue;
      if (std::holds_alternative<sema::Load>(kernel().node(id).what)) return true;
      for (const sema::NodeId operand : sema::operands(kernel().node(id))) open.push_back(operand);
    }
    return false;
  }

  // ---- statements

  void block(const tile::Block& body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      const auto& node = body[i].node;
      if (const auto* loop = std::get_if<tile::For>(&node)) {
        walk(*loop);
      } else if (const auto* copy = std::get_if<tile::Copy>(&node)) {
        load(*copy);
      } else if (const auto* map = std::get_if<tile::Map>(&node)) {
        const auto* next =
            i + 1 < body.size() ? std::get_if<tile::Copy>(&body[i + 1].node) : nullptr;
        if (next && next->src == map->out) {
          store(*next);
          ++i;
        } else {
          keep(*map);
        }
      } else {
        const TileId out = std::get<tile::Reduce>(node).out;
        clear(out);
        accumulate(out);
        join_threads(out);
      }
    }
  }

  void walk(const tile::For& loop) {
    if (loop.walk == tile::Walk::whole) return block(loop.body);
    const auto reductions = [&](auto each) {
      for (const tile::Stmt& stmt : loop.body)
        if (const auto* reduce = std::get_if<tile::Reduce>(&stmt.node)) each(reduce->out);
    };
    reductions([&](TileId id) { clear(id); });
    const tile::Axis& axis = program_.axis(loop.axis);
    const auto before = known_;
    const bool split = program_.parts > 1;
    const Term begin = split ? b_.special(Builtin::block_y) * axis.tile : number(0);
    b_.loop(declared_.name("first_column"), begin, b_.size(axis.extent),
            {.step = axis.tile * program_.parts}, [&](Term first) {
              first_[column_axis] = first + column_in_tile_;
              for (std::size_t i = 0; i < loop.body.size(); ++i) {
                const auto& node = loop.body[i].node;
                if (const auto* reduce = std::get_if<tile::Reduce>(&node)) {
                  accumulate(reduce->out);
                } else {
                  tile::Block one{loop.body[i]};
                  if (std::holds_alternative<tile::Map>(node) && i + 1 < loop.body.size())
                    one.push_back(loop.body[++i]);
                  block(one);
                }
              }
            });
    known_ = before;  // what the loop held is gone
    first_[column_axis] = column_in_tile_;
    reductions([&](TileId id) { join_threads(id); });
  }

  void load(const tile::Copy& copy) {
    const tile::Tile& to = tile(copy.dst);
    declared_.from(kernel().node(to.value).where,
                   kernel().loaded(to.value).name + ": global -> registers");
    each(to, copy.vector, [&](const Values& at) {
      ElementLowering element(declared_);
      bind(element, at);
      PlainCopy& made =
          b_.copy(held(copy.dst, at), element.source(to.value), copy.vector, 0, copy.vector_mode);
      if (const auto there = inside(to, at)) {
        made.guard.predicate = *there;
        made.guard.zero_fill = true;
      }
    });
    known_[to.value] = copy.dst;
  }

  void keep(const tile::Map& map) {
    const tile::Tile& out = tile(map.out);
    declared_.from(kernel().node(out.value).where, "kept in registers");
    const bool guarded = reads_memory(out.value);
    each(out, 1, [&](const Values& at) {
      where(guarded ? inside(out, at) : std::nullopt, [&] {
        ElementLowering element = element_at(at);
        const Term value = element.value(out.value);
        b_.assign(held(map.out, at), truth_as_number(value));
      });
    });
    known_[out.value] = map.out;
  }

  Term truth_as_number(Term value) {
    return value.type() == ElementType::pred ? b_.select(value, number(1), number(0)) : value;
  }

  void store(const tile::Copy& copy) {
    const tile::Tile& to = tile(copy.dst);
    const auto& assignment = kernel().assignments[static_cast<std::size_t>(to.assignment)];
    const ElementType type = declared_.tensor(assignment.target).element;
    declared_.from(assignment.where, "registers -> global");
    const BufferId out =
        b_.registers(declared_.fresh("out_" + declared_.tensor(assignment.target).name), type,
                     Layout(copy.vector, 1));
    const auto all = [&] {
      each(to, copy.vector, [&](const Values& at) {
        where(inside(to, at), [&] {
          each_element(at, copy.vector, [&](const Values& here, Term which) {
            ElementLowering element = element_at(here);
            declared_.from(assignment.where);
            b_.assign({out, {which}}, element.value(assignment.value, type));
          });
          ElementLowering element(declared_);
          bind(element, at);
          b_.copy(element.element(assignment.target, assignment.indices), {out, {number(0)}},
                  copy.vector, copy.vector_mode, 0);
        });
      });
    };
    if (runs(to, column_axis)) return all();
    std::optional<Term> alone = speaks_for_rows();
    if (threads_.blocks() > 1) {
      const Term first = b_.special(Builtin::cluster_rank) == 0;
      alone = alone ? *alone && first : first;
    }
    where(alone, all);
  }

  // Whether this thread is the one of its block, among those that share rows, that stores what a
  // row has; nothing where no other does.
  std::optional<Term> speaks_for_rows() {
    std::optional<Term> alone;
    if (!columns_.lane_masks.empty())
      alone = b_.at(columns_.lane_column, b_.special(Builtin::lane)) == 0;
    if (columns_.warps > 1) {
      const Term first = b_.at(columns_.warp_column, b_.special(Builtin::warp)) == 0;
      alone = alone ? *alone && first : first;
    }
    return alone;
  }

  // ---- reductions

  static bool is_condition(sema::ReduceFunction function) {
    return sema::reduce_row(function).result == sema::ReduceResult::condition;
  }

  Term identity(TileId id) {
    const sema::ReduceFunction function = reduction(id).function;
    const ElementType type = held_type(tile(id));
    if (is_condition(function))
      return b_.constant(std::int64_t{function == sema::ReduceFunction::all}, type);
    return std::visit([&](auto value) { return b_.constant(value, type); },
                      sema::identity(function, type));
  }

  // Of conditions, held as 0 and 1, the greater one is `or` and the lesser one `and`.
  Term joined(sema::ReduceFunction function, Term a, Term b) {
    if (is_condition(function))
      return function == sema::ReduceFunction::any ? b_.max(a, b) : b_.min(a, b);
    return b_.apply(sema::joining(function), {a, b});
  }

  void clear(TileId id) {
    declared_.from(kernel().node(tile(id).value).where, "");
    b_.fill(buffers_[static_cast<std::size_t>(id)], identity(id));
  }

  // The values of this thread, in the order of its columns.
  void accumulate(TileId id) {
    const sema::Reduce& over = reduction(id);
    const ElementType type = held_type(tile(id));
    declared_.from(kernel().node(tile(id).value).where, "the columns of this thread");
    const bool guarded = reads_memory(over.body);
    tile::Tile both = tile(id);
    both.axes = {row_axis, column_axis};
    // As many elements as lie inside or outside together.
    const bool along_columns = modes_[0].axis == column_axis;
    const int together =
        along_columns && may_leave(column_axis)
            ? static_cast<int>(std::gcd(static_cast<std::int64_t>(modes_[0].extent),
                                        facts_.divisor(program_.axis(column_axis).extent)))
            : modes_[0].extent;
    each(both, together, [&](const Values& at) {
      std::optional<Term> there = inside(column_axis, at);
      if (guarded && !along_columns) there = std::nullopt;  // asked for each row below
      where(there, [&] {
        each_element(at, together, [&](const Values& here, Term) {
          where(guarded ? inside(both, here) : std::nullopt, [&] { add(id, over, type, here); });
        });
      });
    });
  }

  // A product is added without rounding it first.
  void add(TileId id, const sema::Reduce& over, ElementType type, const Values& at) {
    ElementLowering element = element_at(at);
    const Ref into = held(id, at);
    const auto* product = std::get_if<sema::Apply>(&kernel().node(over.body).what);
    const bool fused = over.function == sema::ReduceFunction::sum && product && is_float(type) &&
                       product->function == ElementFunction::mul && !known_.contains(over.body);
    if (fused) {
      const Term a = b_.cast(element.value(product->operands[0]), type);
      const Term b = b_.cast(element.value(product->operands[1]), type);
      return b_.assign(into, b_.fma(a, b, b_.read(into)));
    }
    const Term more = truth_as_number(element.value(over.body));
    b_.assign(into, joined(over.function, b_.read(into), b_.cast(more, type)));
  }

  void join_threads(TileId id) {
    const sema::ReduceFunction function = reduction(id).function;
    const Span& here = kernel().node(tile(id).value).where;
    if (!columns_.lane_masks.empty()) {
      declared_.from(here, "the lanes that share rows");
      each(tile(id), 1, [&](const Values& at) {
        Term value = b_.let(declared_.fresh("joined"), b_.read(held(id, at)));
        for (const int mask : columns_.lane_masks) {
          const Term theirs = b_.shuffle(declared_.fresh("theirs"), value, mask);
          value = b_.let(declared_.fresh("joined"), joined(function, value, theirs));
        }
        b_.assign(held(id, at), value);
      });
    }
    if (columns_.warps > 1) join_warps(id, function);
    if (threads_.blocks() > 1) join_blocks(id, function);
    known_[tile(id).value] = id;
  }

  void join_warps(TileId id, sema::ReduceFunction function) {
    declared_.from(kernel().node(tile(id).value).where, "the warps that share rows");
    const BufferId shared = shared_.at(id);
    const auto put = [&] {
      const Term warp = b_.at(columns_.warp_column, b_.special(Builtin::warp));
      each(tile(id), 1, [&](const Values& at) {
        b_.assign({shared, {row_in_tile(at), warp}}, b_.read(held(id, at)));
      });
    };
    std::optional<Term> alone;
    if (!columns_.lane_masks.empty())
      alone = b_.at(columns_.lane_column, b_.special(Builtin::lane)) == 0;
    where(alone, put);
    b_.sync(barrier_);
    each(tile(id), 1, [&](const Values& at) {
      b_.assign(held(id, at), b_.read({shared, {row_in_tile(at), number(0)}}));
      b_.loop(declared_.name("of_warp"), number(1), number(columns_.warps), {.unrolled = true},
              [&](Term warp) {
                b_.assign(held(id, at), joined(function, b_.read(held(id, at)),
                                               b_.read({shared, {row_in_tile(at), warp}})));
              });
    });
  }

  // Each block sends what it has of a row to every block of the cluster, itself too, and joins what
  // came in the order of ranks. No block ends before all have what they wait for.
  void join_blocks(TileId id, sema::ReduceFunction function) {
    declared_.from(kernel().node(tile(id).value).where, "the blocks that share rows");
    const Exchange& exchange = cluster_.at(id);
    const int blocks = threads_.blocks();
    const int bytes = program_.axis(row_axis).tile * blocks * (bits(held_type(tile(id))) / 8);
    b_.when(b_.special(Builtin::thread) == 0,
            [&] { b_.sync(exchange.arrived, number(0), ArriveExpectBytes{number(bytes)}); });
    const Term rank = b_.special(Builtin::cluster_rank);
    if (!std::exchange(met_, true)) b_.sync(blocks_, {}, WaitCluster{});
    where(speaks_for_rows(), [&] {
      each(tile(id), 1, [&](const Values& at) {
        b_.loop(declared_.name("to_block"), number(0), number(blocks), {.unrolled = true},
                [&](Term to) {
                  b_.copy({exchange.shared, {row_in_tile(at), rank}}, held(id, at),
                          RemoteStore{{1, 0, 0}, {exchange.arrived, number(0)}, to});
                });
      });
    });
    b_.sync(exchange.arrived, number(0), WaitMbarrier{number(0)});
    each(tile(id), 1, [&](const Values& at) {
      b_.assign(held(id, at), b_.read({exchange.shared, {row_in_tile(at), number(0)}}));
      b_.loop(declared_.name("of_block"), number(1), number(blocks), {.unrolled = true},
              [&](Term block) {
                b_.assign(held(id, at),
                          joined(function, b_.read(held(id, at)),
                                 b_.read({exchange.shared, {row_in_tile(at), block}})));
              });
    });
  }

  // Where what the blocks of a cluster have of a row arrives.
  struct Exchange {
    BufferId shared;
    BarrierId arrived;
  };

  Declared& declared_;
  Builder& b_;
  const tile::Program& program_;
  const tile::Distribution& threads_;
  tile::ColumnThreads columns_;
  Facts facts_;
  std::vector<ValueMode> modes_;          // the elements of an access first
  std::vector<BufferId> buffers_;         // of tiles in registers
  std::map<TileId, BufferId> shared_;     // of reductions that several warps share
  std::map<TileId, Exchange> cluster_;    // of reductions that several blocks share
  std::set<TileId> stored_;               // as soon as an access of it is computed
  std::map<sema::NodeId, TileId> known_;  // nodes whose values a tile holds now
  BarrierId barrier_, blocks_;
  bool met_ = false;  // the blocks of the cluster know that all have begun
  Term row_in_tile_, column_in_tile_;
  std::array<Term, 2> first_;  // this thread's first coordinate of each axis
};

}  // namespace

void expand(Declared& declared, const tile::Program& program) {
  Expander(declared, program).run();
}

}  // namespace lay::ir
