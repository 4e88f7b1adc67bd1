#include "backend/plan/launches/permuted_outputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "backend/plan/conditions.h"
#include "backend/plan/gemm_variants.h"
#include "backend/plan/launches/kernel_parts.h"
#include "backend/plan/launches/launch_sequence.h"
#include "backend/plan/launches/product.h"
#include "backend/plan/launches/workspace_kernel.h"
#include "backend/plan/permute/plan_permute.h"
#include "backend/plan/text.h"
#include "backend/tile/rename_indices.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

using namespace sema;

namespace {

constexpr int sector_bytes = 32, line_bytes = 128;
// A warp's accumulators in one store are this many columns apart.
constexpr int columns_apart = 2;
// Bytes of a tile of the permutation, and of its runs in workspace.
constexpr int permuted_bytes = 16384, run_bytes = 256;
// Outputs that run along a short index have tiles of their own: of 4 elements, 124 of 128 in a
// usual tile would lie outside.
constexpr int short_runs[] = {4, 16};
constexpr int access_widths[] = {16, 0};

bool contains(const std::vector<IndexId>& indices, IndexId index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

// Elements from an output's element to its neighbour along an index; nothing where the steps
// differ.
std::optional<Int> step_along(Facts& facts, const Kernel& kernel, const Assignment& assignment,
                              IndexId index) {
  const auto at = std::find(assignment.indices.begin(), assignment.indices.end(), index);
  if (at == assignment.indices.end()) return std::nullopt;
  const Layout mode = coalesce(
      facts,
      kernel.tensor(assignment.target).layout[static_cast<int>(at - assignment.indices.begin())]);
  const auto strides = leaves(mode.stride);
  if (strides.empty()) return std::nullopt;
  return strides.front().value();
}

// The bytes that two launches save, over the sizes; nothing for an output that one launch writes as
// well.
std::optional<Int> saved_bytes(Facts& facts, const Gemm& gemm, const Assignment& assignment) {
  const Tensor& tensor = gemm.kernel->tensor(assignment.target);
  const int mode = tile::unit_mode(facts, tensor.layout);
  // Runs along rows or columns are stored as they lie, by TMA or by threads side by side.
  if (mode < 0) return std::nullopt;
  const IndexId run = assignment.indices[static_cast<std::size_t>(mode)];
  if (run == gemm.form.m || run == gemm.form.n) return std::nullopt;
  // Gaps would leave the permutation's sectors as partial as the product's.
  if (!(cosize(facts, tensor.layout) == size(tensor.layout))) return std::nullopt;
  const auto step = step_along(facts, *gemm.kernel, assignment, gemm.form.n);
  if (!step) return std::nullopt;
  const int element = tensor.element_bytes();
  const Int alone = min(Int(sector_bytes), *step * (columns_apart * element));
  return size(tensor.layout) * (alone - 3 * element);
}

// The output's indices in the order of workspace. Those of rows stand as A has them, those of
// columns as B has them, so that each become one index where memory walks them as one; the tile's
// columns go last, which TMA stores.
std::vector<IndexId> order_of(const Kernel& kernel, const Assignment& assignment) {
  const auto product = first_product(kernel);
  if (!product) return {};
  std::vector<IndexId> order;
  const auto add = [&](const std::vector<IndexId>& some, const std::vector<IndexId>& of) {
    for (const IndexId index : some)
      if (contains(of, index) && contains(assignment.indices, index) && !contains(order, index))
        order.push_back(index);
  };
  const auto as_loaded = [&](int side) {
    std::vector<IndexId> indices;
    const auto load = load_under_casts(kernel, product->factors[static_cast<std::size_t>(side)]);
    if (load)
      for (const NodeId coordinate : kernel.load(*load).coordinate)
        indices.push_back(bare_index(kernel, coordinate));
    return indices;
  };
  add(as_loaded(0), product->batch);
  add(product->batch, product->batch);
  for (const int side : {0, 1}) add(as_loaded(side), product->own[static_cast<std::size_t>(side)]);
  // Nothing where an index is of neither: it only repeats the product.
  return order.size() == assignment.indices.size() ? order : std::vector<IndexId>();
}

// Adds a tensor of the output's elements to workspace, of which each row begins on a whole line.
Tensor add_rows(Workspace& workspace, const Tensor& output, std::vector<Int> extents) {
  std::vector<Tuple> shape;
  for (const Int& extent : extents) shape.emplace_back(extent);
  const int line = line_bytes / output.element_bytes();
  extents.back() = ceil_div(extents.back(), line) * line;
  Tensor rows = workspace.add(output.name + "_rows", output.element, extents, output.where);
  // What fills the last line of a row is neither written nor read.
  rows.layout = Layout(Tuple(shape), rows.layout.stride);
  return rows;
}

// The power of two that an extent fills, at most `most`.
int filled(const Int& extent, std::int64_t most) {
  if (!extent.is_literal()) return static_cast<int>(most);
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(1, extent.value()));
  return static_cast<int>(std::min(most, static_cast<std::int64_t>(std::bit_ceil(value))));
}

// The tile of a permutation whose outputs run along at most `run` elements: whole runs of both
// sides, and then as the first output's memory goes on beyond them.
std::vector<int> tile_of_short(const Kernel& kernel, const PermuteForm& form, int run) {
  const AffineAccess &output = form.outputs.front(), &input = form.inputs.front().way;
  const auto extent = [&](int axis) {
    return kernel.index(form.indices[static_cast<std::size_t>(axis)]).extent;
  };
  std::vector<int> tile(form.indices.size(), 1);
  const int element = kernel.tensor(output.tensor).element_bytes();
  std::int64_t left = permuted_bytes / element;
  const auto take = [&](int axis, std::int64_t most) {
    if (axis < 0 || tile[static_cast<std::size_t>(axis)] > 1) return;
    const int taken = filled(extent(axis), std::min(most, left));
    tile[static_cast<std::size_t>(axis)] = taken;
    left /= taken;
  };
  take(output.run_axis, run);
  take(input.run_axis, run_bytes / element);
  for (const AffineAccess::Leaf& leaf : output.leaves) take(leaf.axis, left);
  return tile;
}

// The launches that permute, the widest accesses of the shortest runs first.
Plan permutations(const KernelPtr& kernel, const Facts& known, const Target& target) {
  Plan plan{kernel, {}, {}};
  Facts trial = known;
  const auto found = recognise_permute(*kernel, trial);
  const auto* form = std::get_if<PermuteForm>(&found);
  if (!form || form->inputs.empty() || form->outputs.front().run_axis < 0) return plan;
  const Int& run =
      kernel->index(form->indices[static_cast<std::size_t>(form->outputs.front().run_axis)]).extent;
  const auto add = [&](const std::string& name, std::optional<std::vector<int>> tile,
                       const std::vector<Predicate>& when) {
    const auto open = open_conditions(known, when);
    if (!open) return;
    Facts facts = known;
    for (const Predicate& condition : *open) facts.assume(condition);
    for (const int bytes : access_widths) {
      PermuteSchedule schedule;
      schedule.name = name + (bytes > 0 ? "_bytes" + std::to_string(bytes) : "_any");
      schedule.where = kernel->where;
      schedule.tile = tile;
      if (takes_all(plan.variants)) return;
      Facts of_width = facts;
      auto variant = plan_permute(kernel, *form, of_width, schedule, bytes, target, plan.problems);
      if (!variant) continue;
      variant->when.insert(variant->when.begin(), open->begin(), open->end());
      plan.variants.push_back(std::move(*variant));
    }
  };
  for (const int most : short_runs)
    add("permuted_" + std::to_string(most), tile_of_short(*kernel, *form, most),
        {less_equal(run, most)});
  add("permuted", std::nullopt, {});
  return plan;
}

bool is_of_outputs(const ScheduleEntry& entry) {
  return entry.key == "outputs";
}

// The variants of two launches, whose product has the schedule, or none.
Plan planned(const KernelPtr& kernel, const PermutedOutputs& permuted, const Schedule* schedule,
             const Facts& facts, const Target& target) {
  SplitProducts launches = permuted.launches;
  if (schedule) {
    Kernel product = *launches.first.front();
    product.schedules = {*schedule};
    std::erase_if(product.schedules.front().entries, is_of_outputs);
    // A schedule that says nothing else leaves the product to the library.
    if (product.schedules.front().entries.empty()) product.schedules.clear();
    launches.first.front() = std::make_shared<const Kernel>(std::move(product));
  }
  Plan made{kernel, {}, {}};
  const auto plan_last = [&] { return permutations(launches.last, facts, target); };
  add_sequence(made, launches, plan_last, facts, target);
  return made;
}

bool has(const std::vector<Predicate>& conditions, const Predicate& condition) {
  return std::find(conditions.begin(), conditions.end(), condition) != conditions.end();
}

// The conditions of a variant that all those which begin with the same launch have.
std::vector<Predicate> common_conditions(const std::vector<Variant>& variants,
                                         const Variant& variant) {
  std::vector<Predicate> common = variant.when;
  for (const Variant& other : variants)
    if (!other.before.empty() && other.before.back() == variant.before.back())
      std::erase_if(common, [&](const Predicate& each) { return !has(other.when, each); });
  return common;
}

// Adds the variants under these conditions; what all of them ask for comes first, as where it is a
// schedule's (permuted_lines).
void add_under(Plan& plan, Plan made, std::vector<Predicate> when, const Schedule* schedule) {
  for (const Predicate& condition : common_conditions(made.variants, made.variants.front()))
    if (!has(when, condition)) when.push_back(condition);
  for (Variant& variant : made.variants) {
    std::erase_if(variant.when, [&](const Predicate& each) { return has(when, each); });
    variant.when.insert(variant.when.begin(), when.begin(), when.end());
    variant.is_stage = true;
    variant.of_library = !schedule;
    if (schedule) variant.schedule = schedule->where;
    variant.notes.insert(
        variant.notes.begin(),
        "a launch before writes the product's rows to workspace: its tiles have no neighbours of "
        "an output");
    plan.variants.push_back(std::move(variant));
  }
}

}  // namespace

std::optional<PermutedOutputs> permuted_outputs(const KernelPtr& kernel, const Gemm& gemm,
                                                Facts& facts, const Target& target) {
  // Joined indices leave the assignments in their order, and their number.
  std::vector<std::size_t> moved;
  Int saved = 0;
  for (std::size_t i = 0; i < gemm.kernel->assignments.size(); ++i) {
    const auto bytes = saved_bytes(facts, gemm, gemm.kernel->assignments[i]);
    if (!bytes) continue;
    moved.push_back(i);
    saved += *bytes;
  }
  if (moved.empty()) return std::nullopt;
  Kernel product = *kernel, rest = *kernel;
  product.schedules.clear();
  rest.schedules.clear();
  rest.assignments.clear();
  rest.nodes.clear();
  Workspace workspace(*kernel);
  PermutedOutputs made;
  for (const std::size_t i : moved) {
    const Assignment& whole = kernel->assignments[i];
    const std::vector<IndexId> order = order_of(*kernel, whole);
    if (order.empty()) return std::nullopt;
    std::vector<Int> extents;
    for (const IndexId index : order) extents.push_back(kernel->index(index).extent);
    const Tensor rows = add_rows(workspace, kernel->tensor(whole.target), extents);
    rest.assignments.push_back(
        {whole.target, whole.indices, add_input(rest, rows, order, whole.where), whole.where});
    // What the product reads of an inout tensor is its old value.
    product.tensors[static_cast<std::size_t>(whole.target)].access = Access::input;
    const auto id = static_cast<TensorId>(product.tensors.size());
    product.signature.push_back({false, id});
    product.tensors.push_back(rows);
    product.assignments[i].target = id;
    product.assignments[i].indices = order;
  }
  product.name += "_rows";
  made.launches.first = {as_launch(std::move(product))};
  made.launches.last = std::make_shared<const Kernel>(tile::rename_indices(rest, {}));
  made.launches.tensors = workspace.tensors();
  made.launches.workspace = made.launches.stored = workspace.bytes();
  const auto least = std::llround(target.launch * target.memory_rate);
  made.worth = less_equal(least, saved);
  return made;
}

bool permutes_outputs(const Schedule& schedule, const Target& target) {
  if (is_too_new(schedule, target)) return false;
  return std::any_of(schedule.entries.begin(), schedule.entries.end(), [](const auto& entry) {
    const auto* text = std::get_if<std::string>(&entry.value);
    return is_of_outputs(entry) && text && *text == "\"permuted\"";
  });
}

void add_permuted_outputs(Plan& plan, const PermutedOutputs& permuted, const Facts& facts,
                          const Target& target) {
  bool is_said = false;
  for (const Schedule& schedule : plan.kernel->schedules) {
    if (!permutes_outputs(schedule, target)) continue;
    is_said = true;
    const auto when = open_conditions(facts, schedule.when);
    if (!when) continue;
    Plan made = planned(plan.kernel, permuted, &schedule, facts, target);
    plan.problems = std::move(made.problems);
    if (!plan.problems.empty()) return;
    if (made.variants.empty()) continue;
    add_under(plan, std::move(made), *when, &schedule);
  }
  const auto worth = open_conditions(facts, {permuted.worth});
  if (is_said || !worth) return;
  Plan made = planned(plan.kernel, permuted, nullptr, facts, target);
  if (made.variants.empty()) return;
  // One thread an element writes no faster in another order.
  const Plan& product = *made.variants.front().before.front();
  if (runs_each_element(product.variants.front())) return;
  add_under(plan, std::move(made), *worth, nullptr);
}

std::vector<std::string> permuted_lines(const Plan& plan, const Variant& variant) {
  if (!variant.is_stage || !elementwise(variant) || variant.before.empty()) return {};
  const Plan& product = *variant.before.back();
  if (!product.kernel->schedules.empty()) return {};
  const std::vector<Predicate> when = common_conditions(plan.variants, variant);
  return {"schedule " + plan.kernel->name + " for " +
              product_family(product.variants.front()).value_or("simt") +
              (when.empty() ? "" : " when " + conditions_text(when)) + " {",
          entry("outputs", "\"permuted\""), "}"};
}

}  // namespace lay::plan
