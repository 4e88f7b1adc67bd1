#include "backend/tile/verify.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "backend/tile/bind.h"
#include "backend/tile/computable.h"
#include "backend/tile/held_values.h"
#include "backend/tile/online_softmax.h"
#include "backend/tile/products/factors.h"
#include "backend/tile/products/verify_product.h"
#include "backend/tile/rules/verify_elementwise.h"
#include "backend/tile/rules/verify_ids.h"
#include "backend/tile/text/print.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/algebra/tuples/tuple_operations.h"
#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using sema::IndexId;
using sema::Kernel;
using sema::NodeId;

namespace {

// Limits of every GPU.
constexpr int most_threads = 1024, most_blocks = 16;  // of a block, of a cluster

std::string quoted(const std::string& name) {
  return "`" + name + "`";
}

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program), held_(program) {}

  std::vector<Problem> run() {
    if (!program_.kernel) return {{"kernel", "the program has no kernel", ""}};
    problems_ = verify_ids(program_);
    if (!problems_.empty()) return problems_;
    elementwise_ = program_.is_elementwise();
    through_shared_ = elementwise_ || program_.is_product();
    stores_.assign(kernel().assignments.size(), 0);
    writes_.assign(program_.tiles.size(), 0);
    free_ = sema::free_indices(kernel());
    anywhere_ = computable_everywhere(kernel());
    premises_ = premises(kernel());
    names();
    axes();
    parts();
    for (const Tile& tile : program_.tiles) declaration(tile);
    threads();
    block(program_.body);
    statement_ = nullptr;
    outputs();
    if (elementwise_)
      std::ranges::move(verify_elementwise(program_), std::back_inserter(problems_));
    if (program_.is_product())
      std::ranges::move(verify_product(program_), std::back_inserter(problems_));
    return problems_;
  }

 private:
  const Kernel& kernel() const { return *program_.kernel; }
  const Tile& tile(TileId id) const { return program_.tile(id); }
  std::string name(TileId id) const { return quoted(tile(id).name); }

  void problem(const char* code, std::string message) {
    std::string line;
    if (statement_) line = print_first_line(program_, *statement_);
    problems_.push_back({code, std::move(message), std::move(line)});
  }

  const sema::Reduce* reduction(NodeId id) const {
    return std::get_if<sema::Reduce>(&kernel().node(id).what);
  }

  // ---- declarations

  void names() {
    const auto unique = [&](const auto& list, const char* kinds) {
      std::set<std::string> seen;
      for (const auto& each : list) {
        if (!seen.insert(each.name).second)
          problem("name", "two " + std::string(kinds) + " have the name " + quoted(each.name));
      }
    };
    unique(program_.axes, "axes");
    unique(program_.tiles, "tiles");
    unique(program_.copies, "copies");
    for (const sema::CopyInstruction& each : program_.copies) {
      if (each.from == sema::CopySpace::any || each.to == sema::CopySpace::any)
        problem("copies", each.name + " does not say its spaces");
    }
  }

  void axes() {
    // Products have axes beside rows and columns; elementwise programs one for each index, or one.
    if (!elementwise_ &&
        (program_.axes.size() < 2 || (program_.axes.size() > 2 && !program_.has_products())))
      problem("axes",
              "expected rows and columns, got " + std::to_string(program_.axes.size()) + " axes");
    std::set<IndexId> seen;
    for (const Axis& axis : program_.axes) {
      const Int extent = extent_of_all(kernel(), axis.indices);
      for (const IndexId index : axis.indices)
        if (!seen.insert(index).second)
          problem("axis-index",
                  "the index " + quoted(kernel().index(index).name) + " is walked by two axes");
      if (!(extent == axis.extent))
        problem("axis-extent", "the axis " + quoted(axis.name) + " has the extent " +
                                   axis.extent.to_string() + ", and its indices have " +
                                   extent.to_string());
      if ((axis.tile > 0) != program_.is_bound())
        problem("axis-tile",
                "the axis " + quoted(axis.name) +
                    (axis.tile > 0 ? " has a tile and no threads" : " has threads and no tile"));
    }
  }

  void parts() {
    if (program_.part < 0 && program_.parts != 1)
      return problem("parts", "the columns are split, and no index says which part a block has");
    if (program_.part < 0) return;
    const sema::Index& part = kernel().index(program_.part);
    if (!part.extent.is(program_.parts))
      problem("parts", "expected " + part.extent.to_string() + " parts, the extent of " +
                           quoted(part.name) + ", got " + std::to_string(program_.parts));
    for (const Axis& axis : program_.axes) {
      if (contains(axis.indices, program_.part))
        problem("parts", quoted(part.name) + " is walked by the axis " + quoted(axis.name));
    }
  }

  bool walks(const std::vector<AxisId>& axes, IndexId index) const {
    if (index == program_.part) return true;
    return std::any_of(axes.begin(), axes.end(),
                       [&](AxisId axis) { return contains(program_.axis(axis).indices, index); });
  }

  // Returns true if the value is the same for all coordinates of a segment.
  bool by_segment(NodeId value, IndexId index) const {
    return std::any_of(program_.axes.begin(), program_.axes.end(), [&](const Axis& axis) {
      return axis.segments && contains(axis.indices, index) &&
             !depends_on(kernel(), value, index, axis.segments->of);
    });
  }

  void declaration(const Tile& each) {
    const std::string name = "the tile " + quoted(each.name);
    std::set<AxisId> seen(each.axes.begin(), each.axes.end());
    if (seen.size() != each.axes.size()) problem("tile-axes", name + " has an axis twice");
    for (const IndexId index : free_[static_cast<std::size_t>(each.value)]) {
      if (!walks(each.axes, index) && !by_segment(each.value, index))
        problem("tile-axes", name + " holds values that depend on " +
                                 quoted(kernel().index(index).name) +
                                 ", which its axes do not walk");
    }
    if (each.shared && each.space != Space::shared)
      problem("tile-space", name + " lies in shared memory by its layout only");
    const bool is_copied = each.space == Space::shared && program_.is_product();
    if (each.space == Space::shared && !through_shared_ && !program_.has_products())
      if (const auto fault = fault_of_ahead(program_, each)) problem("tile-space", name + *fault);
    if (each.threads && !is_copied && (each.space != Space::registers || !through_shared_))
      problem("tile-space", name + " has threads of its own, and they hold no registers of it");
    if (each.space != Space::global) {
      if (each.assignment >= 0)
        problem("tile-output", name + " is an output, and not in global memory");
      return;
    }
    if (each.assignment >= 0) {
      const auto& to = kernel().assignments[static_cast<std::size_t>(each.assignment)];
      if (to.value != each.value)
        problem("tile-output", name + " holds another value than its output");
      if (kernel().tensor(to.target).element != each.element)
        problem("tile-element", name + " has another element than its tensor");
    } else if (!std::holds_alternative<sema::Load>(kernel().node(each.value).what)) {
      problem("tile-global", name + " lies in global memory, and is no load and no output");
    } else if (kernel().loaded(each.value).element != each.element) {
      problem("tile-element", name + " has another element than its tensor");
    }
  }

  void threads() {
    if (program_.sms < 0 || (program_.sms > 0 && (through_shared_ || program_.has_products())))
      problem("sms", "only blocks of a program of rows take tile after tile");
    if (!through_shared_ && program_.grid)
      problem("grid", "only elementwise programs and products have a grid");
    if (!program_.threads || through_shared_) return;
    if (const auto fault = fault_of(*program_.threads, most_threads, most_blocks)) {
      can_divide_ = false;
      return problem("threads", *fault);
    }
    for (const AxisId axis : {row_axis, column_axis}) {
      if (static_cast<std::size_t>(axis) >= program_.axes.size()) continue;
      const int covered = extent_of(*program_.threads, axis), tile = program_.axis(axis).tile;
      if (covered != tile)
        problem("threads", "the threads cover " + std::to_string(covered) + " of the axis " +
                               quoted(program_.axis(axis).name) + ", and its tile is " +
                               std::to_string(tile));
    }
  }

  // ---- statements

  void block(const Block& body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      statement_ = &body[i];
      const Stmt* next = i + 1 < body.size() ? &body[i + 1] : nullptr;
      std::visit(overloaded{
                     [&](const For& loop) { walk(loop); },
                     [&](const Copy& copy) { check(copy); },
                     [&](const Map& map) { check(map, next); },
                     [&](const Reduce& reduce) { check(reduce); },
                     [&](const Mma& mma) { check(mma); },
                 },
                 body[i].node);
      if (!std::holds_alternative<For>(body[i].node)) held_.after(body[i]);
    }
  }

  bool is_walked(AxisId axis) const {
    return std::any_of(loops_.begin(), loops_.end(),
                       [&](const For* loop) { return loop->axis == axis; });
  }

  void walk(const For& loop) {
    const std::string axis = quoted(program_.axis(loop.axis).name);
    const bool in_grid = std::all_of(loops_.begin(), loops_.end(),
                                     [](const For* each) { return each->walk == Walk::grid; });
    if (loop.walk != Walk::grid && loops_.empty())
      problem("nesting", "the outermost loop is over the grid");
    if (loop.walk == Walk::grid && !in_grid)
      problem("nesting", "a loop over the grid is inside another loop");
    if (is_walked(loop.axis)) problem("nesting", "two loops around one another walk " + axis);
    const bool can_split = loop.walk == Walk::sequence && program_.is_product();
    if (loop.parts < 1 || loop.parts > most_blocks || (loop.parts > 1 && !can_split))
      problem("parts", "the loop over " + axis + " is not one that " + std::to_string(loop.parts) +
                           " blocks share");
    loops_.push_back(&loop);
    held_.enter(loop);
    block(loop.body);
    held_.leave();
    loops_.pop_back();
  }

  // Every axis of the tile is walked by a loop around the statement.
  void inside_loops(TileId id) {
    for (const AxisId axis : tile(id).axes) {
      if (!is_walked(axis))
        problem("nesting", "no loop around it walks " + quoted(program_.axis(axis).name) +
                               ", an axis of " + name(id));
    }
  }

  void write(TileId id) {
    inside_loops(id);
    if (tile(id).space == Space::global) problem("space", name(id) + " is in global memory");
    if (++writes_[static_cast<std::size_t>(id)] == 2)
      problem("written-twice", name(id) + " is written by two statements");
    written_[tile(id).value] = id;
  }

  void check(const Copy& copy) {
    const Tile &to = tile(copy.dst), &from = tile(copy.src);
    const bool is_near = to.space != Space::global && from.space != Space::global;
    const bool takes_ahead = is_ahead(from) && to.space == Space::registers;
    const bool through_shared =
        is_near && (through_shared_ || takes_ahead) && to.space != from.space;
    if ((to.space == Space::global) == (from.space == Space::global) && !through_shared)
      return problem("copy-space", "one of " + name(copy.dst) + " and " + name(copy.src) +
                                       " lies in global memory, the other one nearer");
    // An output of an elementwise program may take over what is the same along an axis.
    const bool spreads = elementwise_ && to.space == Space::global;
    if (!spreads && to.axes != from.axes)
      problem("copy-axes", name(copy.dst) + " and " + name(copy.src) + " have other axes");
    if (to.element != from.element)
      problem("copy-element", name(copy.dst) + " and " + name(copy.src) + " have other elements");
    if (to.value != from.value && !zeros_around(copy))
      problem("copy-value", name(copy.dst) + " and " + name(copy.src) + " hold other values");
    if (through_shared) {
      if (!copy.where.empty())
        problem("condition", name(copy.src) + " is copied under a condition of its rows");
      // Outputs that are stored together may have one value.
      const bool is_known = program_.is_product() ? writes_[static_cast<std::size_t>(copy.src)] > 0
                                                  : held_.tile_of(from.value) == copy.src;
      if (!is_known) problem("read", name(copy.src) + " is copied and not written before");
      return write(copy.dst);
    }
    if (from.space == Space::global) {
      if (from.assignment >= 0) problem("copy-space", name(copy.src) + " is an output");
      conditions(copy);
      write(copy.dst);
    } else {
      if (!copy.where.empty())
        problem("condition", name(copy.src) + " is stored under a condition of its rows");
      store(copy);
    }
    access(copy);
  }

  // A window of a product's operand: the tile is 0 where the element lies outside of the tensor.
  bool zeros_around(const Copy& copy) const {
    if (!program_.is_product() || tile(copy.src).space != Space::global) return false;
    const auto element = element_of(kernel(), tile(copy.dst).value);
    return element && element->selection == tile(copy.dst).value &&
           element->load == tile(copy.src).value;
  }

  // A load that may read outside of its tensor where the kernel does not ask for it has the
  // premises under which the kernel does, and no others. TMA, which loads the factors of products,
  // reads nothing outside of a tensor.
  void conditions(const Copy& copy) {
    const NodeId load = tile(copy.src).value;
    std::vector<Premise> given;
    for (const Condition& each : copy.where) {
      const Tile& condition = tile(each.tile);
      if (condition.element != ElementType::pred ||
          condition.axes != std::vector<AxisId>{row_axis} ||
          held_.tile_of(condition.value) != each.tile)
        return problem("condition",
                       name(each.tile) + " holds no truth value of each row at this place");
      given.push_back({condition.value, each.holds});
    }
    const bool is_safe = program_.has_products() || anywhere_[static_cast<std::size_t>(load)];
    if (given.empty() && is_safe) return;
    if (premises_[static_cast<std::size_t>(load)] != given)
      problem("condition", name(copy.dst) + " is loaded under other conditions than the kernel's");
  }

  void store(const Copy& copy) {
    inside_loops(copy.dst);
    // Outputs that are stored together may have one value.
    const bool was_written = writes_[static_cast<std::size_t>(copy.src)] > 0;
    if (!(through_shared_ ? was_written : held_.tile_of(tile(copy.src).value) == copy.src))
      problem("read", name(copy.src) + " is stored and not written before");
    nearby(copy.src);
    const int assignment = tile(copy.dst).assignment;
    if (assignment < 0) return problem("copy-space", name(copy.dst) + " is no output");
    const auto& axes = tile(copy.dst).axes;
    for (const For* loop : loops_) {
      if (loop->walk == Walk::sequence && !contains(axes, loop->axis))
        problem("output", name(copy.dst) + " is stored again in each step of the loop over " +
                              quoted(program_.axis(loop->axis).name));
    }
    ++stores_[static_cast<std::size_t>(assignment)];
  }

  // Threads compute and store what they hold themselves, in registers.
  void nearby(TileId id) {
    const bool elsewhere = tile(id).threads && tile(id).space == Space::registers && !by_readers_;
    if (elsewhere || (elementwise_ && tile(id).space == Space::shared))
      problem("read", name(id) + " is read where other threads have its elements");
  }

  void access(const Copy& copy) {
    // verify_elementwise and verify_product look at those of threads.
    if (copy.vector == 1 || (through_shared_ && program_.threads)) return;
    if (program_.warpgroups) return access_of_accumulators(copy);
    if (!program_.threads)
      return problem("access", "an access has several elements before the program is bound");
    const int side_by_side = program_.threads->vector;
    if (copy.vector < 1 || side_by_side % copy.vector != 0)
      return problem("access", "expected a divisor of the " + std::to_string(side_by_side) +
                                   " values side by side, got an access of " +
                                   std::to_string(copy.vector) + " elements");
    if (!can_divide_) return;
    const auto indices = coordinate(copy);
    if (copy.vector_mode < 0 || static_cast<std::size_t>(copy.vector_mode) >= indices.size())
      return problem("access", "the tensor has no mode " + std::to_string(copy.vector_mode));
    const Tuple first = leaves(program_.threads->layout.stride[1]).front();
    const auto& along = program_.axis(first.path()[0]).indices;
    if (along.empty() || along.back() != indices[static_cast<std::size_t>(copy.vector_mode)])
      problem("access", "mode " + std::to_string(copy.vector_mode) +
                            " is not the one that neighbouring values of a thread run along");
  }

  // Two neighbours along the result's columns are the most that a thread has of an accumulator.
  void access_of_accumulators(const Copy& copy) {
    const auto indices = coordinate(copy);
    const bool mode =
        copy.vector_mode >= 0 && static_cast<std::size_t>(copy.vector_mode) < indices.size();
    const auto& axes = tile(copy.dst).axes;
    if (copy.vector != 2 || !mode || axes.empty() ||
        !contains(program_.axis(axes.back()).indices,
                  indices[static_cast<std::size_t>(copy.vector_mode)]))
      problem("access", "expected one value, or two along the last axis of the tile");
  }

  // The indices that the tile in global memory is read or written at; -1 for other coordinates.
  std::vector<IndexId> coordinate(const Copy& copy) const {
    const Tile& global = tile(copy.src).space == Space::global ? tile(copy.src) : tile(copy.dst);
    if (global.assignment >= 0)
      return kernel().assignments[static_cast<std::size_t>(global.assignment)].indices;
    std::vector<IndexId> indices;
    if (const auto* load = std::get_if<sema::Load>(&kernel().node(global.value).what))
      for (const NodeId at : load->coordinate) indices.push_back(sema::bare_index(kernel(), at));
    return indices;
  }

  void check(const Map& map, const Stmt* next) {
    write(map.out);
    by_readers_ = tile(map.out).space == Space::shared;
    reads(tile(map.out).value);
    by_readers_ = false;
    const auto* copy = next ? std::get_if<Copy>(&next->node) : nullptr;
    const bool stored_next = copy && copy->src == map.out;
    bool stored = false;
    for_each(program_.body, [&](const Stmt& stmt) {
      const auto* each = std::get_if<Copy>(&stmt.node);
      stored = stored || (each && each->src == map.out);
    });
    if (stored && !stored_next && !through_shared_)
      problem("store", name(map.out) + " is stored, and not by the statement after its map");
  }

  void check(const Reduce& reduce) {
    write(reduce.out);
    const sema::Reduce& node = *reduction(tile(reduce.out).value);
    const Axis& over = program_.axis(reduce.over);
    if (std::set<IndexId>(node.indices.begin(), node.indices.end()) !=
        std::set<IndexId>(over.indices.begin(), over.indices.end()))
      problem("reduction", name(reduce.out) + " is a reduction over other indices than those of " +
                               quoted(over.name));
    if (contains(tile(reduce.out).axes, reduce.over))
      problem("reduction", name(reduce.out) + " has the axis that it is reduced over");
    if (loops_.empty() || loops_.back()->axis != reduce.over)
      problem("reduction", "the loop around it does not walk " + quoted(over.name));
    reads(node.body);
    rescaled(reduce.out, node.body);
    if (!reduce.rescales.empty()) on_their_way_.push_back(&reduce);
  }

  // A sum that reads a maximum on its way is rescaled by it.
  void rescaled(TileId out, NodeId body) {
    const auto below = sema::reachable(kernel(), {body});
    for (const Reduce* maximum : on_their_way_) {
      const NodeId node = tile(maximum->out).value;
      if (!below[static_cast<std::size_t>(node)]) continue;
      if (!contains(maximum->rescales, out))
        return problem("rescale", name(out) + " reads " + name(maximum->out) +
                                      " on its way, which does not rescale it");
      const auto* product = std::get_if<sema::Apply>(&kernel().node(body).what);
      const bool fits = product && is_multiple_of_exponential(kernel(), body, node);
      if (!fits)
        problem("rescale", name(out) + " is no sum of multiples of an exponential of what " +
                               name(maximum->out) + " is the maximum of");
    }
  }

  void check(const Mma& mma) {
    write(mma.out);
    const sema::Reduce& node = *reduction(tile(mma.out).value);
    const Axis& over = program_.axis(mma.over);
    if (node.function != sema::ReduceFunction::sum || node.indices != over.indices)
      problem("product", name(mma.out) + " is no sum over the indices of " + quoted(over.name));
    if (contains(tile(mma.out).axes, mma.over))
      problem("product", name(mma.out) + " has the axis that it is summed over");
    if (!is_walked(mma.over)) problem("product", "no loop around it walks " + quoted(over.name));
    if (!has_factors(mma, node.body))
      problem("product", "the factors of " + name(mma.out) + " are not " + name(mma.a) + " and " +
                             name(mma.b));
    reads(node.body);
    rescaled(mma.out, node.body);
    if (mma.atom && !program_.is_bound())
      problem("product", "an instruction is bound before the program is");
  }

  // Factors that are no tiles are scales, which verify_product looks at.
  bool has_factors(const Mma& mma, NodeId body) const {
    const auto bare = [&](NodeId id) {
      while (true) {
        const auto* cast = std::get_if<sema::Apply>(&kernel().node(id).what);
        if (held_.tile_of(id) >= 0 || !cast || cast->function != ElementFunction::cast) return id;
        id = cast->operands[0];
      }
    };
    const std::set<NodeId> tiles{tile(mma.a).value, tile(mma.b).value};
    std::vector<NodeId> factors;
    const auto* product = std::get_if<sema::Apply>(&kernel().node(body).what);
    if (program_.is_product())
      factors = multiplicands(kernel(), body);
    else if (product && product->function == ElementFunction::mul)
      factors = product->operands;
    std::set<NodeId> found;
    for (const NodeId factor : factors)
      if (const NodeId id = bare(factor); tiles.contains(id) || !program_.is_product())
        found.insert(id);
    return tiles == found;
  }

  // Checks that the node's inputs are there: tiles, or elements that are read where they are used.
  void reads(NodeId root) {
    std::vector<NodeId> open{root};
    std::set<NodeId> seen;
    std::set<IndexId> joined;  // of reductions that the statement computes itself
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (!seen.insert(id).second) continue;
      if (const TileId held = held_.tile_of(id); held >= 0) {
        nearby(held);
        continue;
      }
      if (const sema::Reduce* own = reduction(id)) {
        if (!elementwise_) {
          missing(id);
          continue;
        }
        // Elements are computed each by itself, with all that it takes.
        joined.insert(own->indices.begin(), own->indices.end());
      }
      for (const IndexId index : bare(id)) {
        const bool known = index == program_.part || joined.contains(index) ||
                           std::any_of(loops_.begin(), loops_.end(), [&](const For* loop) {
                             return contains(program_.axis(loop->axis).indices, index);
                           });
        if (!known)
          problem("nesting",
                  "no loop around it walks the index " + quoted(kernel().index(index).name));
      }
      for (const NodeId operand : sema::operands(kernel().node(id))) open.push_back(operand);
    }
  }

  std::vector<IndexId> bare(NodeId id) const {
    const IndexId index = sema::bare_index(kernel(), id);
    return index < 0 ? std::vector<IndexId>{} : std::vector<IndexId>{index};
  }

  void missing(NodeId id) {
    const auto found = written_.find(id);
    if (found == written_.end())
      return problem("read", "it reads the reduction %" + std::to_string(id) +
                                 ", which no tile before it holds");
    problem("incomplete",
            "it reads " + name(found->second) + ", which is complete after the loop only");
  }

  void outputs() {
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      if (stores_[i] == 1) continue;
      problem("output", "the output " +
                            quoted(kernel().tensor(kernel().assignments[i].target).name) +
                            " is stored " + std::to_string(stores_[i]) + " times");
    }
  }

  const Program& program_;
  HeldValues held_;
  std::vector<Problem> problems_;
  const Stmt* statement_ = nullptr;
  std::vector<std::set<IndexId>> free_;
  std::vector<char> anywhere_;                                 // by node
  std::vector<std::optional<std::vector<Premise>>> premises_;  // by node
  std::vector<const For*> loops_;     // around the statement, the innermost last
  std::vector<int> stores_, writes_;  // by assignment, by tile
  std::map<NodeId, TileId> written_;
  std::vector<const Reduce*> on_their_way_;  // maxima that rescale
  bool elementwise_ = false;
  bool through_shared_ = false;  // tiles may go through shared memory from threads of their own
  bool by_readers_ = false;      // the statement is executed by the threads that read the tensor
  bool can_divide_ = true;       // the threads are such as the tile is divided by
};

}  // namespace

std::vector<Problem> verify(const Program& program) {
  return Verifier(program).run();
}

void verify_after(std::string_view pass, const Program& program) {
  const auto problems = verify(program);
  if (problems.empty()) return;
  const Problem& first = problems.front();
  throw std::logic_error("internal: the tile program is broken after `" + std::string(pass) +
                         "`: " + first.message + " (" + first.code + ")" +
                         (first.statement.empty() ? "" : " in `" + first.statement + "`"));
}

}  // namespace lay::tile
