#include "backend/plan/sm90/sm90_vectors.h"

#include "backend/plan/recognise.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

// Values -> place, as which elements are to be read, each once, and where those lie.
void choose_each_once(StagedVector& made, Facts& facts, const Layout& places) {
  // (2,2,4):(0,8,0) along m is a value's row: 2 rows are read, (2):(8), and value v needs element
  // (2,2,4):(0,1,0) of them.
  const Layout merged = coalesce(facts, places);
  const std::vector<Tuple> extents = leaves(merged.shape), strides = leaves(merged.stride);
  std::vector<Tuple> shape, held, read_shape, read;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const bool again = strides[i].is_literal(0);
    shape.push_back(extents[i]);
    held.emplace_back(again ? 0 : count);
    if (again) continue;
    read_shape.push_back(extents[i]);
    read.push_back(strides[i]);
    count *= extents[i].value().value();
  }
  made.held = Layout(Tuple(shape), Tuple(held));
  made.read = read.empty() ? Layout(1, 0) : Layout(Tuple(read_shape), Tuple(read));
}

// Neighbours in memory that are read side by side, and what has to hold for that.
int read_together(const sema::Tensor& tensor, sema::TensorId id, const StagedVector& made,
                  Facts& facts, Conditions& conditions) {
  constexpr int widest = 16;  // bytes
  // Side by side only what is contiguous both in the step and in memory.
  if (!leaves(made.read.stride)[0].is_literal(1) || bits(tensor.element) < 8 ||
      tensor.is_swizzled() || tile::unit_mode(facts, tensor.layout) != 0)
    return 1;
  const std::int64_t side_by_side = leaves(made.read.shape)[0].value().value();
  const int bytes = tensor.element_bytes();
  for (int together = widest / bytes; together > 1; together /= 2) {
    if (side_by_side % together != 0) continue;
    const Conditions needed{tile::vector_conditions(facts, tensor.layout, 0, together),
                            {{id, together * bytes}}};
    if (is_never(needed)) continue;
    add(conditions, needed);
    return together;
  }
  return 1;
}

// The axis that a load runs along where it has one number for each row or each column: at a bare
// index of one mode, at the row of the outputs that a sorted row is, or at a tile's segment and one
// of these.
std::optional<int> axis_of(const sema::Kernel& kernel, const Sm90Gemm& gemm,
                           const sema::Load& load) {
  std::optional<int> axis;
  for (const sema::NodeId each : load.coordinate) {
    if (gemm.segments && each == gemm.segments->by_row) continue;
    const sema::IndexId index = bare_index(kernel, each);
    const bool row = index == gemm.m || is_row_of_output(kernel, gemm, each);
    if (axis || (!row && index != gemm.n)) return std::nullopt;
    axis = row ? 0 : 1;
  }
  return axis;
}

}  // namespace

bool is_row_of_output(const sema::Kernel& kernel, const Sm90Gemm& gemm, sema::NodeId coordinate) {
  if (!gemm.segments || gemm.segments->row_of < 0) return false;
  const auto id = load_under_casts(kernel, coordinate);
  return id && kernel.load(*id).tensor == gemm.segments->row_of &&
         bare_index(kernel, kernel.load(*id).coordinate[0]) == gemm.m;
}

StagedVector staged_vector(sema::NodeId load, int axis, const Layout& atom, int step) {
  StagedVector made{load, axis};
  Facts facts;  // the layouts are of literals
  choose_each_once(made, facts, composition(facts, along(atom[1], axis), Layout(step, 1)));
  return made;
}

std::vector<StagedVector> staged_vectors(const sema::Kernel& kernel, const Sm90Gemm& gemm,
                                         const Layout& atom, int step, Width width, Facts& facts,
                                         Conditions& conditions) {
  std::vector<StagedVector> found;
  for (const sema::NodeId id : loads_outside(kernel, gemm.contractions())) {
    const sema::Load& load = kernel.load(id);
    const sema::Tensor& tensor = kernel.tensor(load.tensor);
    const auto axis = axis_of(kernel, gemm, load);
    // Whole numbers are read where they count: arithmetic on a 0 in their place may not be defined.
    if (!is_float(tensor.element) || !axis) continue;
    StagedVector made = staged_vector(id, *axis, atom, step);
    if (width == Width::vectors && bare_index(kernel, load.coordinate[0]) >= 0)
      made.together = read_together(tensor, load.tensor, made, facts, conditions);
    found.push_back(std::move(made));
  }
  return found;
}

}  // namespace lay::plan
