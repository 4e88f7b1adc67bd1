#include "backend/tile/form.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "backend/tile/coalesce_indices.h"
#include "backend/tile/computable.h"
#include "backend/tile/match_indices.h"
#include "backend/tile/reciprocals.h"
#include "backend/tile/rename_indices.h"
#include "backend/tile/vectors.h"
#include "backend/tile/verify.h"
#include "frontend/sema/kernel/kernel_walk.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::tile {

using sema::IndexId;
using sema::Kernel;
using sema::NodeId;

namespace {

using Indices = std::vector<IndexId>;

bool contains(const Indices& indices, IndexId index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

const sema::Reduce* reduction(const Kernel& kernel, NodeId id) {
  return std::get_if<sema::Reduce>(&kernel.node(id).what);
}

// The indices that become rows, and those that become columns.
struct Sides {
  Indices rows, columns;
};

class Former {
 public:
  Former(Kernel kernel, const Facts& facts, IndexId part)
      : given_(std::move(kernel)), facts_(facts), part_(part) {}

  std::variant<Program, NotTiled> run(Columns how) {
    if (auto no = merge_columns()) return *no;
    if (auto no = find_sides()) return *no;
    kernel_ = multiply_by_reciprocals(kernel_, sides_.columns);
    order_sides();
    program_.kernel = std::make_shared<const Kernel>(kernel_);
    program_.part = part_;
    if (part_ >= 0) program_.parts = static_cast<int>(kernel_.index(part_).extent.value());
    program_.axes = {axis(sides_.rows, "row"), axis(sides_.columns, "column")};
    // A reduction may bind an index of a row's name.
    if (program_.axes[0].name == program_.axes[1].name) program_.axes[1].name += "_";
    find_sites();
    program_.body = {loop(row_axis, Walk::grid, how == Columns::kept ? kept() : streamed())};
    verify_after("form", program_);
    return std::move(program_);
  }

 private:
  // Indices of reductions over equal extents become those of the first one, and then those of the
  // outputs that run over them too.
  std::optional<NotTiled> merge_columns() {
    std::map<IndexId, IndexId> to;
    const auto live = sema::reachable(given_);
    Indices first;
    bool found = false;
    for (std::size_t id = 0; id < given_.nodes.size(); ++id) {
      const auto* reduce = std::get_if<sema::Reduce>(&given_.nodes[id].what);
      if (!live[id] || !reduce) continue;
      if (!found) {
        first = reduce->indices;
        found = true;
        continue;
      }
      if (!match_indices(given_, facts_, reduce->indices, first, to))
        return NotTiled{"its reductions run over different extents"};
    }
    if (!found) return choose_column_of_map();
    // One name for two indices would capture the outer one in a reduction that depends on it.
    const auto free = sema::free_indices(given_);
    for (std::size_t id = 0; id < given_.nodes.size(); ++id) {
      if (!live[id] || !std::holds_alternative<sema::Reduce>(given_.nodes[id].what)) continue;
      for (const IndexId index : free[id])
        if (contains(first, index) || to.contains(index))
          return NotTiled{"a reduction depends on an index that another one runs over"};
    }
    kernel_ = rename_indices(given_, to);
    columns_ = first;
    return std::nullopt;
  }

  // Without a reduction the column is the index that the first output runs along in memory.
  std::optional<NotTiled> choose_column_of_map() {
    const NotTiled no{"it has no reduction"};
    const sema::Assignment& first = given_.assignments.front();
    Facts facts = facts_;
    const int unit = unit_mode(facts, given_.tensor(first.target).layout);
    if (unit < 0 || first.indices.size() < 2) return no;
    const IndexId column = first.indices[static_cast<std::size_t>(unit)];
    for (const IndexId index : first.indices)
      if (index != column) rows_of_map_.insert(index);
    kernel_ = rename_indices(given_, {});
    columns_ = sides_.columns = {column};
    return gathers_rows() ? std::nullopt : std::optional(no);
  }

  // Returns true if some rows are read at computed coordinates, and every tensor along the columns.
  // Maps of other tensors are permutations.
  bool gathers_rows() const {
    bool gathers = false;
    Facts facts = facts_;
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      const auto* load = std::get_if<sema::Load>(&kernel_.nodes[id].what);
      if (!load || is_of_row(static_cast<NodeId>(id))) continue;
      const Indices indices = walked_indices(static_cast<NodeId>(id));
      const int unit = unit_mode(facts, kernel_.tensor(load->tensor).layout);
      if (indices.empty() || unit < 0 ||
          !contains(columns_, indices[static_cast<std::size_t>(unit)]))
        return false;
      gathers = gathers || contains(indices, -1);
    }
    return gathers;
  }

  // Rows are what reductions and outputs depend on beside the columns.
  std::optional<NotTiled> find_sides() {
    const auto free = sema::free_indices(kernel_);
    std::set<IndexId> of_reductions = rows_of_map_;
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      if (!reduction(kernel_, static_cast<NodeId>(id))) continue;
      for (const IndexId index : free[id]) {
        if (contains(columns_, index))
          return NotTiled{"a reduction depends on an index that another one runs over"};
        of_reductions.insert(index);
      }
    }
    std::map<IndexId, IndexId> to;
    std::size_t next = 0;
    while (next < kernel_.assignments.size()) {  // the kernel changes meanwhile
      const sema::Assignment& assignment = kernel_.assignments[next++];
      Indices along;
      for (const IndexId index : assignment.indices) {
        if (of_reductions.contains(index)) continue;
        if (kernel_.index(index).extent.is(1) || index == part_) continue;
        along.push_back(index);
      }
      if (along.empty()) continue;
      if (!match_indices(given_, facts_, along, columns_, to))
        return NotTiled{"an output runs over other indices than the reductions"};
      // The column is the output's index; the reductions' are renamed to it.
      std::map<IndexId, IndexId> back;
      for (const auto& [out, column] : to) back[column] = out;
      kernel_ = rename_indices(kernel_, back);
      for (IndexId& column : columns_)
        if (back.contains(column)) column = back.at(column);
      to.clear();
    }
    sides_.columns = columns_;
    for (const sema::Assignment& assignment : kernel_.assignments) {
      for (const IndexId index : assignment.indices) {
        const bool known = contains(sides_.rows, index) || contains(sides_.columns, index);
        if (!known && index != part_) sides_.rows.push_back(index);
      }
    }
    for (const IndexId index : of_reductions)
      if (!contains(sides_.rows, index)) return NotTiled{"a reduction is over no output's rows"};
    // An output may lack an index of extent 1: its elements are stored once all the same.
    const auto is_wide = [&](IndexId index) { return !kernel_.index(index).extent.is(1); };
    const auto wide_rows = std::count_if(sides_.rows.begin(), sides_.rows.end(), is_wide);
    for (const sema::Assignment& assignment : kernel_.assignments) {
      std::ptrdiff_t on_rows = 0;
      std::size_t on_columns = 0;
      for (const IndexId index : assignment.indices) {
        if (contains(sides_.columns, index)) {
          ++on_columns;
        } else if (index != part_ && is_wide(index)) {
          ++on_rows;
        }
      }
      if (on_rows != wide_rows || (on_columns != 0 && on_columns != sides_.columns.size()))
        return NotTiled{"its outputs have different rows"};
    }
    const auto anywhere = computable_everywhere(kernel_);
    const auto live = sema::reachable(kernel_);
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      if (live[id] && reduction(kernel_, static_cast<NodeId>(id)) && !anywhere[id])
        return NotTiled{"a reduction under a condition may read outside of a tensor elsewhere"};
    }
    for (const sema::Tensor& tensor : kernel_.tensors)
      if (tensor.is_swizzled()) return NotTiled{"a tensor is swizzled in global memory"};
    return std::nullopt;
  }

  // The index that memory runs along becomes the fastest of its side.
  void order_sides() {
    std::map<IndexId, double> bytes;  // of an element, over all accesses that run along the index
    const auto count = [&](const sema::Tensor& tensor, const Indices& indices) {
      Facts facts = facts_;
      const int unit = unit_mode(facts, tensor.layout);
      const bool both = std::any_of(indices.begin(), indices.end(),
                                    [&](IndexId i) { return contains(sides_.columns, i); }) &&
                        std::any_of(indices.begin(), indices.end(),
                                    [&](IndexId i) { return contains(sides_.rows, i); });
      if (unit >= 0 && indices[static_cast<std::size_t>(unit)] >= 0)
        bytes[indices[static_cast<std::size_t>(unit)]] +=
            tensor.element_bytes() * (both ? 1 : 0.01);
    };
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      const auto indices = walked_indices(static_cast<NodeId>(id));
      if (!indices.empty()) count(kernel_.loaded(static_cast<NodeId>(id)), indices);
    }
    for (const sema::Assignment& assignment : kernel_.assignments)
      count(kernel_.tensor(assignment.target), assignment.indices);
    for (Indices* side : {&sides_.rows, &sides_.columns}) {
      auto best = side->end();
      for (auto at = side->begin(); at != side->end(); ++at)
        if (bytes[*at] > 0 && (best == side->end() || bytes[*at] >= bytes[*best])) best = at;
      if (best != side->end()) std::rotate(best, best + 1, side->end());
    }
  }

  // The indices that walk the modes of a load: bare and distinct, or -1 for a coordinate that is
  // computed once a row, as in E[token[m],n]. Empty for any other node.
  Indices walked_indices(NodeId id) const {
    const auto* load = std::get_if<sema::Load>(&kernel_.node(id).what);
    if (!load) return {};
    Indices indices;
    for (const NodeId coordinate : load->coordinate) {
      const IndexId index = sema::bare_index(kernel_, coordinate);
      if (index >= 0 ? contains(indices, index) : !is_of_row(coordinate)) return {};
      indices.push_back(index);
    }
    return indices;
  }

  // Returns true if a value needs neither columns nor reductions.
  bool is_of_row(NodeId id) const {
    const auto below = sema::reachable(kernel_, {id});
    for (std::size_t node = 0; node < below.size(); ++node) {
      if (!below[node]) continue;
      const IndexId index = sema::bare_index(kernel_, static_cast<NodeId>(node));
      if (reduction(kernel_, static_cast<NodeId>(node)) || contains(sides_.columns, index))
        return false;
    }
    return true;
  }

  Axis axis(const Indices& indices, const std::string& none) const {
    Axis made{"", indices, extent_of_all(kernel_, indices), 0};
    for (const IndexId index : indices)
      made.name += (made.name.empty() ? "" : "_") + kernel_.index(index).name;
    if (indices.empty()) made.name = none;
    return made;
  }

  // A place where nodes are computed: a reduction's body or an output.
  struct Site {
    NodeId reduce = -1;       // the reduction, or
    int assignment = -1;      // the output
    NodeId root = -1;         // computed at each element
    int level = 0;            // reductions that depend on one another have ascending levels, from 1
    std::vector<char> needs;  // by node: computed here; reductions end the walk
  };

  bool on_columns(NodeId id) const {
    for (const IndexId index : sides_.columns)
      if (free_[static_cast<std::size_t>(id)].contains(index)) return true;
    return false;
  }
  bool on_rows(NodeId id) const {
    for (const IndexId index : sides_.rows)
      if (free_[static_cast<std::size_t>(id)].contains(index)) return true;
    return false;
  }

  std::vector<char> needs_of(NodeId root) const {
    return sema::reachable_until(kernel_, {root},
                                 [&](NodeId id) { return reduction(kernel_, id) != nullptr; });
  }

  void find_sites() {
    free_ = sema::free_indices(kernel_);
    anywhere_ = computable_everywhere(kernel_);
    premises_ = premises(kernel_);
    std::vector<int> level(kernel_.nodes.size(), 0);
    const auto add = [&](Site site) {
      site.needs = needs_of(site.root);
      for (std::size_t id = 0; id < site.needs.size(); ++id)
        if (site.needs[id]) site.level = std::max(site.level, level[id]);
      ++site.level;
      if (site.reduce >= 0) level[static_cast<std::size_t>(site.reduce)] = site.level;
      sites_.push_back(std::move(site));
    };
    for (std::size_t id = 0; id < kernel_.nodes.size(); ++id) {
      if (const auto* reduce = reduction(kernel_, static_cast<NodeId>(id)))
        add({static_cast<NodeId>(id), -1, reduce->body, 0, {}});
    }
    for (std::size_t i = 0; i < kernel_.assignments.size(); ++i)
      add({-1, static_cast<int>(i), kernel_.assignments[i].value, 0, {}});
    for (const Site& site : sites_) levels_ = std::max(levels_, site.reduce >= 0 ? site.level : 0);
  }

  Stmt loop(AxisId axis, Walk walk, Block body) const { return {For{axis, walk, std::move(body)}}; }

  std::string name_of(const std::string& wish) {
    std::string name = wish;
    for (int number = 2; !names_.insert(name).second; ++number)
      name = wish + std::to_string(number);
    return name;
  }

  TileId add_tile(Tile tile) {
    program_.tiles.push_back(std::move(tile));
    return static_cast<TileId>(program_.tiles.size()) - 1;
  }

  // Where there is one row, every value is one of it: a tensor of columns is no vector that rows
  // share.
  std::vector<AxisId> axes_of(NodeId id) const {
    std::vector<AxisId> axes;
    if (on_rows(id) || program_.axis(row_axis).extent.is(1)) axes.push_back(row_axis);
    if (on_columns(id)) axes.push_back(column_axis);
    return axes;
  }

  // A load that is copied into registers ahead of the arithmetic.
  bool is_tiled(NodeId id) const {
    const Indices indices = walked_indices(id);
    return !indices.empty() && on_columns(id) &&
           (!contains(indices, -1) || anywhere_[static_cast<std::size_t>(id)] || is_guarded(id));
  }

  // True of a load that is right wherever conditions of its row hold: x[i-1,k] of
  // `if i > 0 then x[i-1,k] else 0`.
  bool is_guarded(NodeId id) const {
    const auto& under = premises_[static_cast<std::size_t>(id)];
    if (!under || under->empty()) return false;
    const auto anywhere = [&](NodeId node) { return anywhere_[static_cast<std::size_t>(node)]; };
    const auto& coordinate = kernel_.load(id).coordinate;
    return std::all_of(coordinate.begin(), coordinate.end(), anywhere) &&
           std::all_of(under->begin(), under->end(), [&](const Premise& premise) {
             return is_of_row(premise.condition) && anywhere(premise.condition);
           });
  }

  // The premises of a load that is not right without them.
  std::vector<Premise> premises_of(NodeId id) const {
    const bool needed =
        contains(walked_indices(id), -1) && !anywhere_[static_cast<std::size_t>(id)];
    return needed ? *premises_[static_cast<std::size_t>(id)] : std::vector<Premise>{};
  }

  // Adds maps of the coordinates that the site's copies take from a row, and of their conditions.
  void map_coordinates(const Site& site, std::set<NodeId>& mapped, Block& block) {
    const auto map = [&](NodeId node, const char* name) {
      if (!mapped.insert(node).second) return;
      const TileId made = add_tile(
          {name_of(name), kernel_.node(node).type, {row_axis}, Space::registers, node, -1});
      conditions_[node] = made;
      block.push_back({Map{made}});
    };
    for (std::size_t n = 0; n < site.needs.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      if (!site.needs[n] || !is_tiled(id)) continue;
      for (const Premise& premise : premises_of(id)) map(premise.condition, "is_read");
      for (const NodeId at : kernel_.load(id).coordinate)
        if (!sema::operands(kernel_.node(at)).empty()) map(at, "of_row");
    }
  }

  void copy_loads(const Site& site, std::set<NodeId>& there, Block& block) {
    for (std::size_t n = 0; n < site.needs.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      if (!site.needs[n] || !is_tiled(id) || !there.insert(id).second) continue;
      const sema::Tensor& tensor = kernel_.loaded(id);
      const std::vector<AxisId> axes = axes_of(id);
      if (!loaded_.contains(id))
        loaded_[id] = add_tile({name_of(tensor.name), tensor.element, axes, Space::global, id, -1});
      const TileId from = loaded_.at(id);
      const TileId to = add_tile(
          {name_of("tile_" + tensor.name), tensor.element, axes, Space::registers, id, -1});
      Copy copy{to, from};
      for (const Premise& premise : premises_of(id))
        copy.where.push_back({conditions_.at(premise.condition), premise.holds});
      block.push_back({std::move(copy)});
    }
  }

  void reduce(const Site& site, Block& block) {
    const sema::Node& node = kernel_.node(site.reduce);
    const sema::ReduceFunction function = reduction(kernel_, site.reduce)->function;
    const TileId out = add_tile({name_of("all_" + std::string(sema::reduce_row(function).name)),
                                 node.type,
                                 {row_axis},
                                 Space::registers,
                                 site.reduce,
                                 -1});
    block.push_back({Reduce{out, column_axis}});
  }

  bool along_columns(const sema::Assignment& assignment) const {
    return std::any_of(assignment.indices.begin(), assignment.indices.end(),
                       [&](IndexId index) { return contains(sides_.columns, index); });
  }

  void store(const Site& site, Block& block) {
    const sema::Assignment& assignment =
        kernel_.assignments[static_cast<std::size_t>(site.assignment)];
    const sema::Tensor& tensor = kernel_.tensor(assignment.target);
    std::vector<AxisId> axes{row_axis};
    if (along_columns(assignment)) axes.push_back(column_axis);
    const TileId from = add_tile({name_of("out_" + tensor.name), tensor.element, axes,
                                  Space::registers, assignment.value, -1});
    const TileId to = add_tile({name_of(tensor.name), tensor.element, axes, Space::global,
                                assignment.value, site.assignment});
    block.push_back({Map{from}});
    block.push_back({Copy{to, from}});
  }

  // Values of several sites that are dear enough to keep in registers: those with an elementary
  // function, the topmost ones.
  std::set<NodeId> kept_values() const {
    const std::size_t count = kernel_.nodes.size();
    std::vector<int> sites(count, 0);
    for (const Site& site : sites_)
      for (std::size_t id = 0; id < count; ++id) sites[id] += site.needs[id];
    std::vector<bool> dear(count, false);
    for (std::size_t id = 0; id < count; ++id) {
      if (reduction(kernel_, static_cast<NodeId>(id))) continue;
      const auto* apply = std::get_if<sema::Apply>(&kernel_.nodes[id].what);
      using enum ElementFunction;
      dear[id] = apply && apply->function >= exp && apply->function <= cos;
      for (const NodeId operand : sema::operands(kernel_.nodes[id]))
        if (dear[static_cast<std::size_t>(operand)]) dear[id] = true;
    }
    const auto shared = [&](std::size_t id) {
      return sites[id] > 1 && dear[id] && anywhere_[id] && on_columns(static_cast<NodeId>(id));
    };
    std::set<NodeId> kept;
    for (std::size_t id = 0; id < count; ++id)
      if (shared(id)) kept.insert(static_cast<NodeId>(id));
    std::set<NodeId> inner;  // below another one that is kept
    for (const NodeId id : kept)
      for (const NodeId operand : sema::operands(kernel_.node(id)))
        if (kept.contains(operand)) inner.insert(operand);
    for (const NodeId id : inner) kept.erase(id);
    return kept;
  }

  // Adds maps of what a site needs once a row: arithmetic on reductions that does not depend on the
  // columns, as 1 / sqrt(sum / N).
  void map_row_values(const Site& site, std::set<NodeId>& mapped, Block& block) {
    std::vector<bool> wanted(kernel_.nodes.size(), false), reduces(kernel_.nodes.size(), false);
    for (std::size_t n = 0; n < site.needs.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      reduces[n] = reduction(kernel_, id) != nullptr;
      if (!site.needs[n] || reduction(kernel_, id)) continue;
      for (const NodeId operand : sema::operands(kernel_.nodes[n])) {
        if (reduces[static_cast<std::size_t>(operand)]) reduces[n] = true;
        if (on_columns(id)) wanted[static_cast<std::size_t>(operand)] = true;
      }
    }
    for (std::size_t n = 0; n < site.needs.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      const bool arithmetic = std::holds_alternative<sema::Apply>(kernel_.nodes[n].what);
      if (!wanted[n] || !arithmetic || !reduces[n] || !anywhere_[n] || on_columns(id)) continue;
      if (!mapped.insert(id).second) continue;
      block.push_back({Map{add_tile(
          {name_of("of_row"), kernel_.node(id).type, {row_axis}, Space::registers, id, -1})}});
    }
  }

  Block kept() {
    Block block, after;  // after: what has one value a row
    std::set<NodeId> there, mapped;
    const std::set<NodeId> dear = kept_values();
    for (const Site& site : sites_) {
      const bool whole =
          site.reduce >= 0 ||
          along_columns(kernel_.assignments[static_cast<std::size_t>(site.assignment)]);
      map_coordinates(site, mapped, block);
      copy_loads(site, there, block);
      map_row_values(site, mapped, block);
      for (const NodeId id : dear) {
        if (!site.needs[static_cast<std::size_t>(id)] || !mapped.insert(id).second) continue;
        block.push_back({Map{add_tile(
            {name_of("kept"), kernel_.node(id).type, axes_of(id), Space::registers, id, -1})}});
      }
      if (site.reduce >= 0) {
        reduce(site, block);
      } else {
        store(site, whole ? block : after);
      }
    }
    Block all{loop(column_axis, Walk::whole, std::move(block))};
    for (Stmt& stmt : after) all.push_back(std::move(stmt));
    return all;
  }

  Block streamed() {
    Block all;
    std::set<NodeId> mapped;
    for (int level = 1; level <= levels_ + 1; ++level) {
      Block block;
      std::set<NodeId> there;
      for (const Site& site : sites_) {
        if (site.level != level || site.reduce < 0) continue;
        map_row_values(site, mapped, all);
        map_coordinates(site, mapped, all);
        copy_loads(site, there, block);
      }
      for (const Site& site : sites_)
        if (site.level == level && site.reduce >= 0) reduce(site, block);
      if (!block.empty()) all.push_back(loop(column_axis, Walk::sequence, std::move(block)));
    }
    Block block;
    std::set<NodeId> there;
    for (const Site& site : sites_) {
      if (site.assignment < 0) continue;
      const auto& assignment = kernel_.assignments[static_cast<std::size_t>(site.assignment)];
      if (!along_columns(assignment)) {
        store(site, all);
        continue;
      }
      map_row_values(site, mapped, all);
      map_coordinates(site, mapped, all);
      copy_loads(site, there, block);
      store(site, block);
    }
    if (!block.empty()) all.push_back(loop(column_axis, Walk::sequence, std::move(block)));
    return all;
  }

  Kernel given_;
  const Facts& facts_;
  IndexId part_;
  Kernel kernel_;                  // with columns merged
  Indices columns_;                // in the order of the first reduction
  std::set<IndexId> rows_of_map_;  // of the first output, without a reduction
  Sides sides_;
  Program program_;
  std::vector<std::set<IndexId>> free_;
  std::vector<char> anywhere_;  // by node: may be computed ahead of where it is asked for
  std::vector<std::optional<std::vector<Premise>>> premises_;  // by node
  std::vector<Site> sites_;
  int levels_ = 0;  // of reductions
  std::set<std::string> names_;
  std::map<NodeId, TileId> loaded_;      // tiles in global memory by their load
  std::map<NodeId, TileId> conditions_;  // what rows have of conditions and coordinates
};

}  // namespace

std::variant<Program, NotTiled> form(const Kernel& kernel, const Facts& facts, Columns columns,
                                     IndexId part) {
  return Former(coalesce_indices(kernel, facts, part), facts, part).run(columns);
}

int walks_of_columns(const Program& program) {
  int count = 0;
  for_each(program.body, [&](const Stmt& stmt) {
    const auto* loop = std::get_if<For>(&stmt.node);
    count += loop && loop->axis == column_axis;
  });
  return count;
}

AxisId contiguous_axis(const Program& program, Facts& facts) {
  const Kernel& kernel = *program.kernel;
  double bytes[2] = {0, 0};
  for (const Tile& tile : program.tiles) {
    if (tile.space != Space::global) continue;
    const bool out = tile.assignment >= 0;
    const sema::Tensor& tensor =
        out ? kernel.tensor(kernel.assignments[static_cast<std::size_t>(tile.assignment)].target)
            : kernel.loaded(tile.value);
    const int unit = unit_mode(facts, tensor.layout);
    if (unit < 0) continue;
    const IndexId index =
        out ? kernel.assignments[static_cast<std::size_t>(tile.assignment)]
                  .indices[static_cast<std::size_t>(unit)]
            : sema::bare_index(kernel,
                               kernel.load(tile.value).coordinate[static_cast<std::size_t>(unit)]);
    for (const AxisId axis : {row_axis, column_axis}) {
      const Indices& indices = program.axis(axis).indices;
      if (!indices.empty() && indices.back() == index)
        bytes[axis] += tensor.element_bytes() * (tile.axes.size() > 1 ? 1 : 0.01);
    }
  }
  return bytes[row_axis] > bytes[column_axis] ? row_axis : column_axis;
}

}  // namespace lay::tile
