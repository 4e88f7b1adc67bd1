#include "backend/plan/tiles/stages.h"

#include <algorithm>
#include <set>

#include "backend/plan/launches/workspace_kernel.h"
#include "backend/plan/recognise.h"
#include "backend/tile/computable.h"
#include "backend/tile/form.h"
#include "backend/tile/rename_indices.h"

namespace lay::plan {

using namespace sema;

namespace {

constexpr std::size_t most_stages = 8;

const Reduce* reduction(const Kernel& kernel, NodeId id) {
  return std::get_if<Reduce>(&kernel.node(id).what);
}

std::vector<NodeId> live_reductions(const Kernel& kernel) {
  std::vector<NodeId> found;
  const auto live = reachable(kernel);
  for (NodeId id = 0; id < static_cast<NodeId>(kernel.nodes.size()); ++id)
    if (live[static_cast<std::size_t>(id)] && reduction(kernel, id)) found.push_back(id);
  return found;
}

class Stager {
 public:
  Stager(const Kernel& kernel, const Facts& facts) : facts_(facts), workspace_(kernel) {}

  std::optional<Stages> run(const Kernel& kernel) {
    // A tensor that one launch writes must not be read by another as it was before.
    for (const Tensor& tensor : kernel.tensors)
      if (tensor.access == Access::inout) return std::nullopt;
    if (!add(without_schedules(kernel)) || stages_.size() < 2) return std::nullopt;
    Stages made;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const bool last = i + 1 == stages_.size();
      drop_unused_tensors(stages_[i], last ? kernel.tensors.size() : 0);
      made.kernels.push_back(std::make_shared<const Kernel>(std::move(stages_[i])));
    }
    made.tensors = workspace_.tensors();
    made.workspace = workspace_.bytes();
    return made;
  }

 private:
  static Kernel without_schedules(Kernel kernel) {
    kernel.schedules.clear();
    return kernel;
  }

  // Adds the stages of the kernel, the last of which stores its outputs. Several outputs are parted
  // first, since each part alone may be one stage; then the innermost reductions go ahead.
  bool add(const Kernel& kernel) {
    if (is_one_stage(kernel)) {
      stages_.push_back(kernel);
      return stages_.size() <= most_stages;
    }
    if (stages_.size() >= most_stages) return false;
    return kernel.assignments.size() > 1 ? add_by_outputs(kernel) : add_first_reductions(kernel);
  }

  bool is_one_stage(const Kernel& kernel) const {
    const auto reductions = live_reductions(kernel);
    if (reductions.empty()) return true;
    const auto formed = tile::form(kernel, facts_, tile::Columns::streamed);
    if (!std::holds_alternative<tile::Program>(formed)) return false;
    return std::all_of(reductions.begin(), reductions.end(),
                       [&](NodeId id) { return reads_once(kernel, id); });
  }

  // Returns true if an element is read for each step of the reduction and each of its rows.
  static bool reads_once(const Kernel& kernel, NodeId id) {
    const Reduce& reduce = *reduction(kernel, id);
    std::set<IndexId> walked = free_indices(kernel)[static_cast<std::size_t>(id)];
    walked.insert(reduce.indices.begin(), reduce.indices.end());
    std::erase_if(walked, [&](IndexId index) { return kernel.index(index).extent.is(1); });
    const auto below = reachable_until(
        kernel, {reduce.body}, [&](NodeId node) { return reduction(kernel, node) != nullptr; });
    for (std::size_t node = 0; node < below.size(); ++node) {
      const auto* load = std::get_if<Load>(&kernel.nodes[node].what);
      if (!below[node] || !load) continue;
      const std::set<IndexId> of_load = indices_of(kernel, static_cast<NodeId>(node));
      if (std::includes(of_load.begin(), of_load.end(), walked.begin(), walked.end())) return true;
    }
    return false;
  }

  // ---- a kernel for each kind of outputs

  bool add_by_outputs(const Kernel& kernel) {
    // Each output joins the first group that stays one stage with it.
    std::vector<Kernel> groups;
    for (const Assignment& assignment : kernel.assignments) {
      const auto fits = [&](Kernel& group) {
        group.assignments.push_back(assignment);
        if (is_one_stage(group)) return true;
        group.assignments.pop_back();
        return false;
      };
      if (std::any_of(groups.begin(), groups.end(), fits)) continue;
      groups.push_back(kernel);
      groups.back().assignments = {assignment};
    }
    return std::all_of(groups.begin(), groups.end(),
                       [&](const Kernel& group) { return add(group); });
  }

  // ---- the reductions that come first

  // Those over the columns of the first one that need no result of others.
  std::vector<NodeId> first_reductions(const Kernel& kernel) const {
    const auto free = free_indices(kernel);
    std::vector<NodeId> group;
    const std::vector<NodeId> reductions = live_reductions(kernel);
    for (const NodeId id : reductions) {
      const Reduce& reduce = *reduction(kernel, id);
      const auto below = reachable(kernel, {reduce.body});
      const bool first =
          group.empty() || same_extents(kernel, reduce, *reduction(kernel, group[0]));
      const bool needs_others =
          std::any_of(reductions.begin(), reductions.end(), [&](NodeId inner) {
            const auto& of_inner = free[static_cast<std::size_t>(inner)];
            const bool depends =
                std::any_of(reduce.indices.begin(), reduce.indices.end(),
                            [&](IndexId index) { return of_inner.contains(index); });
            const bool grouped = std::find(group.begin(), group.end(), inner) != group.end();
            return below[static_cast<std::size_t>(inner)] && (depends || !grouped);
          });
      if (first && !needs_others) group.push_back(id);
    }
    return group;
  }

  bool same_extents(const Kernel& kernel, const Reduce& a, const Reduce& b) const {
    return a.indices.size() == b.indices.size() &&
           std::all_of(a.indices.begin(), a.indices.end(), [&](IndexId index) {
             return std::any_of(b.indices.begin(), b.indices.end(), [&](IndexId other) {
               const Int &x = kernel.index(index).extent, &y = kernel.index(other).extent;
               return x == y || facts_.proves(equal(x, y));
             });
           });
  }

  bool add_first_reductions(const Kernel& kernel) {
    // All of them at once would leave nothing for the stage after.
    const std::vector<NodeId> group = first_reductions(kernel);
    if (group.size() == live_reductions(kernel).size()) return false;
    const std::vector<NodeId> values = values_of(kernel, group);
    if (values.empty()) return false;
    Kernel before = kernel, after = kernel;
    before.assignments.clear();
    after.nodes.clear();
    std::vector<NodeId> now(kernel.nodes.size(), -1);
    for (std::size_t n = 0; n < kernel.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      const bool stored = std::find(values.begin(), values.end(), id) != values.end();
      now[n] = stored ? pass_on(kernel, id, before, after)
                      : added(after, remapped(kernel.nodes[n], now));
    }
    for (Assignment& assignment : after.assignments)
      assignment.value = now[static_cast<std::size_t>(assignment.value)];
    // Nodes that only the first stage needs are gone.
    before = tile::rename_indices(before, {});
    after = tile::rename_indices(after, {});
    return add(before) && add(after);
  }

  // The topmost nodes that need reductions of the group, no other one, and no further index: by
  // node, what the first stage stores.
  std::vector<NodeId> values_of(const Kernel& kernel, const std::vector<NodeId>& group) const {
    const std::size_t count = kernel.nodes.size();
    const auto free = free_indices(kernel);
    const auto anywhere = tile::computable_everywhere(kernel);
    const auto on_rows = [&](const std::set<IndexId>& indices) {
      return std::any_of(group.begin(), group.end(), [&](NodeId id) {
        const std::set<IndexId>& rows = free[static_cast<std::size_t>(id)];
        return std::includes(rows.begin(), rows.end(), indices.begin(), indices.end());
      });
    };
    // Operands have smaller ids, so that one walk in order knows what each node is computed from.
    std::vector<bool> of_group(count), of_others(count), inside(count);
    for (std::size_t n = 0; n < count; ++n) {
      const bool in_group =
          std::find(group.begin(), group.end(), static_cast<NodeId>(n)) != group.end();
      of_group[n] = in_group;
      of_others[n] = !in_group && reduction(kernel, static_cast<NodeId>(n)) != nullptr;
      for (const NodeId operand : operands(kernel.nodes[n])) {
        if (of_group[static_cast<std::size_t>(operand)]) of_group[n] = true;
        if (of_others[static_cast<std::size_t>(operand)]) of_others[n] = true;
      }
      inside[n] = of_group[n] && !of_others[n] && on_rows(free[n]);
    }
    // The values that outputs need of them.
    std::vector<NodeId> outputs;
    for (const Assignment& assignment : kernel.assignments) outputs.push_back(assignment.value);
    const auto asked = reachable_until(
        kernel, outputs, [&](NodeId id) { return inside[static_cast<std::size_t>(id)]; });
    std::vector<NodeId> values;
    for (std::size_t n = 0; n < count; ++n) {
      if (!inside[n] || !asked[n]) continue;
      // Under a condition the value may not exist everywhere: it cannot be stored for all rows.
      if (!anywhere[n]) return {};
      values.push_back(static_cast<NodeId>(n));
    }
    return values;
  }

  // Stores the value in the kernel before; the node of the kernel after that reads it. Truth values
  // are stored as 0 and 1.
  NodeId pass_on(const Kernel& kernel, NodeId value, Kernel& before, Kernel& after) {
    const Span& where = kernel.node(value).where;
    const std::set<IndexId> free = free_indices(kernel)[static_cast<std::size_t>(value)];
    std::vector<IndexId> rows(free.begin(), free.end());
    if (rows.empty()) {
      const std::string name = workspace_.unused("one");
      for (Kernel* of : {&before, &after}) of->indices.push_back({name, Int(1), false, where});
      rows.push_back(static_cast<IndexId>(before.indices.size()) - 1);
    }
    std::vector<Int> extents;
    for (const IndexId index : rows) {
      before.indices[static_cast<std::size_t>(index)].summed = false;
      extents.push_back(before.index(index).extent);
    }
    const bool truth = kernel.node(value).type == ElementType::pred;
    const ElementType type = truth ? ElementType::s32 : kernel.node(value).type;
    const auto integer = [&](Kernel& of, std::int64_t number) {
      return add_integer(of, number, ElementType::s32, where);
    };
    const NodeId stored =
        truth ? added(before, {Apply{ElementFunction::select,
                                     {value, integer(before, 1), integer(before, 0)}},
                               type, where})
              : value;
    const Tensor tensor = workspace_.add("stage", type, extents, where);
    add_output(before, tensor, rows, stored, where);
    const NodeId first = add_integer(after, 0, ElementType::s64, where);
    const NodeId read =
        add_input(after, tensor, free.empty() ? std::vector<IndexId>{} : rows, where);
    if (free.empty())  // one value, whatever the indices are
      std::get<Load>(after.nodes[static_cast<std::size_t>(read)].what).coordinate = {first};
    if (!truth) return read;
    const NodeId zero = integer(after, 0);
    return added(after, {Apply{ElementFunction::ne, {read, zero}}, ElementType::pred, where});
  }

  const Facts& facts_;
  Workspace workspace_;
  std::vector<Kernel> stages_;
};

}  // namespace

std::optional<Stages> split_stages(const Kernel& kernel, const Facts& facts) {
  return Stager(kernel, facts).run(kernel);
}

}  // namespace lay::plan
