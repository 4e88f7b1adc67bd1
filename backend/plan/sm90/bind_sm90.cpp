#include "backend/plan/sm90/bind_sm90.h"

#include <algorithm>
#include <utility>

#include "backend/plan/recognise.h"
#include "backend/plan/scales/promotion.h"
#include "backend/plan/sm90/sm90_parts.h"
#include "backend/plan/sm90/sm90_store.h"
#include "backend/plan/sm90/sm90_vectors.h"
#include "backend/plan/tensor_shape.h"
#include "backend/plan/tiles/product_threads.h"
#include "backend/tile/products/factors.h"
#include "backend/tile/products/product.h"
#include "backend/tile/roles/pipeline.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

int number(const Tuple& extent) {
  return static_cast<int>(extent.value().value());
}

// ---- to a program

//   copy tile_X[m,k] <- X[m,k]                       by TMA: layout, span, order, box, view
//   copy fragment_X[m,k] <- tile_X[m,k]              of an atom that reads A from registers
//   map fragment_X[m,k] = bf16(tile_X[m,k])          converted
tile::BoundOperand operand_of(const Sm90Gemm& gemm, const TmaOperand& operand) {
  tile::BoundOperand made;
  made.shared.layout = operand.shared;
  made.shared.span = operand.span;
  made.shared.order = operand.order;
  made.shared.box = operand.box;
  made.shared.stages = gemm.stages;
  made.shared.view = operand.view;
  if (operand.fragment) made.fragment = gemm.mma.a_type;
  made.converted = operand.converted;
  return made;
}

//   tile staged_Y: .. as .. parts (64,64) span 128 order (1,0) box (16,64) stages 2
//   tile staged_Y: .. as .. parts (64,32) span 128 stages 2 by threads (..):(..) vector 2 along n
tile::BoundOutput through_shared(const Sm90Gemm& gemm, const StagedTensor& staged, int stages) {
  tile::BoundOutput made;
  tile::SharedTile& shared = made.shared.emplace();
  shared.layout = staged.shared;
  shared.span = staged.span;
  shared.stages = stages;
  shared.part = {rows_of_atom, gemm.store->width};
  if (staged.tma) {
    shared.order = staged.order;
    shared.box = staged.box;
    return made;
  }
  const int along = staged.along_n ? 1 : 0;
  const auto& at = staged.indices;
  made.vector = staged.run;
  made.vector_mode =
      static_cast<int>(std::ranges::find(at, along == 1 ? gemm.n : gemm.m) - at.begin());
  // (thread, access) -> the access' first element, and its elements.
  const Layout runs(
      tuple(staged.runs.shape[0], tuple(staged.run, staged.runs.shape[1])),
      tuple(staged.runs.stride[0], tuple(Tuple::basis(1, {along}), staged.runs.stride[1])));
  made.threads =
      tile::Distribution{on_axes(gemm.swap_ab, runs), staged.run, axis_of(gemm.swap_ab, along)};
  return made;
}

// What stands behind the sums. Outputs from registers are copies alone:
//
//   copy Y[m,n] <- out_Y[m,n] by 2 along mode 1
//
// and through shared memory, with inputs of the output's shape and vectors:
//
//   copy staged_C[m,n] <- C[m,n]
//   copy ahead_bias[n] <- bias[n] by 4 along mode 0
//   map out_Y[m,n] = sum[m,n] + ahead_bias[n] + f32(staged_C[m,n])
//   copy staged_Y[m,n] <- out_Y[m,n]
//   copy Y[m,n] <- staged_Y[m,n]
void add_outputs(const sema::Kernel& kernel, const Sm90Gemm& gemm, tile::BoundProduct& how) {
  if (!gemm.store) {
    for (std::size_t i = 0; i < gemm.vectors.size(); ++i) {
      const auto& at = kernel.assignments[i].indices;
      const auto along_n = static_cast<int>(std::ranges::find(at, gemm.n) - at.begin());
      // Accumulators lie side by side along n only.
      how.outputs.push_back({gemm.vectors[i] > 1 ? along_n : 0, gemm.vectors[i]});
    }
    return;
  }
  const StagedStore& store = *gemm.store;
  for (const StagedInput& each : store.inputs)
    how.inputs.push_back({each.load, through_shared(gemm, each, each.tma ? store.loads_ahead : 1)});
  for (const StagedVector& each : store.vectors)
    how.inputs.push_back({each.load, {0, each.together}});
  for (const StagedTensor& each : store.outputs)
    how.outputs.push_back(through_shared(gemm, each, store.buffers));
}

// ---- from a program

// Numbers first, since laws ask for the tile, the groups and the cluster; then the operands, whose
// slices follow from these; then what stands behind the sums.
class Reader {
 public:
  explicit Reader(const tile::Program& product)
      : product_(product), kernel_(*product.kernel), parts_(tile::parts_of(product)) {}

  Sm90Gemm run() {
    numbers();
    const tile::Product formed = tile::product_of(product_);
    const tile::Factors factors = *tile::factors_of(kernel_, formed.sum, formed.a, formed.b);
    const bool exchanged = parts_.exchanged;
    gemm_.a = operand(0, parts_.operands[static_cast<std::size_t>(axis(0))],
                      exchanged ? factors.b : factors.a);
    gemm_.b = operand(1, parts_.operands[static_cast<std::size_t>(axis(1))],
                      exchanged ? factors.a : factors.b);
    for (std::size_t i = 0; i < formed.further.size(); ++i) {
      const tile::FurtherProduct& each = formed.further[i];
      const sema::NodeId factor = tile::factors_of(kernel_, each.sum, formed.a, each.b)->b;
      gemm_.further.push_back({each.sum, operand(1, parts_.further[i].operand, factor)});
    }
    // Scales and vectors ask which coordinate is a row's segment.
    if (product_.axis(tile::row_axis).segments) gemm_.segments = segments();
    for (const sema::NodeId other : factors.others)
      gemm_.scales.push_back(product_scale(kernel_, gemm_, *group_scale(kernel_, other, gemm_.k)));
    // All outputs go through shared memory, or none does.
    if (product_.tile(parts_.stores.front()->src).space == tile::Space::shared)
      gemm_.store = store();
    else
      vectors();
    gemm_.split = split_of(gemm_);
    gemm_.mask = mask_of_tiles(kernel_, gemm_);
    return std::move(gemm_);
  }

 private:
  tile::AxisId axis(int side) const { return axis_of(parts_.exchanged, side); }
  const tile::Axis& program_axis(int side) const { return product_.axis(axis(side)); }

  void numbers() {
    const tile::AxisId k = tile::summed_axis_of(product_);
    gemm_.contraction = product_.tile(parts_.mma->out).value;
    gemm_.m = program_axis(0).indices.front();
    gemm_.n = program_axis(1).indices.front();
    gemm_.k = product_.axis(k).indices.front();
    for (tile::AxisId each = tile::column_axis + 1; each < k; ++each)
      gemm_.batch.push_back(product_.axis(each).indices.front());
    gemm_.mma = *parts_.mma->atom;
    gemm_.tile = {program_axis(0).tile, program_axis(1).tile, product_.axis(k).tile};
    gemm_.accumulators = on_axes(parts_.exchanged, product_.threads->layout);
    // (threads of the atom, consumers along (m, n))
    const Tuple& groups = gemm_.accumulators.shape[0][1];
    const tile::Warpgroups& warpgroups = *product_.warpgroups;
    gemm_.groups = {number(groups[0]), number(groups[1]), 1, 1};
    // Consumers beyond those that share a tile are further groups, in turn.
    gemm_.groups[3] = warpgroups.consumers / gemm_.warpgroups_of_group();
    gemm_.stages = product_.tile(parts_.operands[0].shared).shared->stages;
    const tile::Grid& grid = *product_.grid;
    gemm_.order = on_axes(parts_.exchanged, grid.order);
    gemm_.cluster = {grid.cluster[static_cast<std::size_t>(axis(0))],
                     grid.cluster[static_cast<std::size_t>(axis(1))], parts_.sums->parts};
    gemm_.swap_ab = parts_.exchanged;
    gemm_.promotion_interval = parts_.mma->interval;
    gemm_.accumulator_sets = parts_.mma->sets;
    // Intervals are added up in the type of the sum, which the atom's may be narrower than.
    gemm_.total = product_.tile(parts_.mma->out).element;
    if (warpgroups.registers[1] > 0) gemm_.registers = warpgroups.registers;
    gemm_.sms = warpgroups.sms;
    gemm_.alternate_k = parts_.sums->alternates;
    gemm_.tail = parts_.sums->tail;
    gemm_.copies = product_.copies;
  }

  // `factor` is what the product multiplies: the load, or casts of it.
  TmaOperand operand(int side, const tile::ProductParts::Operand& way, sema::NodeId factor) const {
    const tile::SharedTile& shared = *product_.tile(way.shared).shared;
    TmaOperand made;
    made.load = product_.tile(way.load->src).value;
    made.value = factor;
    made.converted = way.read && std::holds_alternative<tile::Map>(way.read->node);
    made.element_bits = bits(kernel_.loaded(made.load).element);
    made.outer = side == 0 ? gemm_.m : gemm_.n;
    made.span = shared.span;
    made.order = shared.order;
    made.box = shared.box;
    made.shared = shared.layout;
    made.extent = shared.outer_extent();
    made.view = shared.view;
    const auto& at = kernel_.load(made.load).coordinate;
    made.along_k =
        made.view
            ? made.view->runs_along_k()
            : bare_index(kernel_, at[static_cast<std::size_t>(made.order.front())]) == gemm_.k;
    // A program that is verified has boxes that the cluster's blocks share evenly.
    made.slice = slice_of(gemm_, made, side).value_or(made.box);
    if (way.read) made.fragment = fragment_of_operand(gemm_, made);
    return made;
  }

  RowSegments segments() const {
    const tile::Segments& segments = *product_.axis(tile::row_axis).segments;
    RowSegments made;
    made.rows = gemm_.cluster_tile()[0];
    made.first_row = segments.first;
    made.first_tile = segments.first_tile;
    made.row_of = segments.stored_at;
    made.by_row = segments.of;
    // The mode of B that a row's segment selects.
    const auto& at = kernel_.load(gemm_.b.load).coordinate;
    const auto mode = std::ranges::find(at, made.by_row) - at.begin();
    made.count = size(kernel_.loaded(gemm_.b.load).layout[static_cast<int>(mode)]);
    return made;
  }

  void vectors() {
    gemm_.vectors.assign(parts_.stores.size(), 1);
    // Widths are listed by assignment, whatever order the stores have.
    for (const tile::Copy* store : parts_.stores)
      gemm_.vectors[static_cast<std::size_t>(product_.tile(store->dst).assignment)] = store->vector;
  }

  StagedStore store() const {
    StagedStore made;
    const int columns = gemm_.mma.shape[1];
    const Layout atom = fragment_of(gemm_.mma.c, {gemm_.mma.shape[0], columns});
    const tile::SharedTile& first = *product_.tile(parts_.stores.front()->src).shared;
    made.width = (*first.part)[1];
    made.rest = columns % made.width;
    made.buffers = first.stages;
    made.loads_ahead = 1;
    made.outputs.resize(parts_.stores.size());
    for (const tile::Copy* store : parts_.stores) {
      const auto assignment = static_cast<std::size_t>(product_.tile(store->dst).assignment);
      StagedTensor& staged = made.outputs[assignment];
      staged.tensor = kernel_.assignments[assignment].target;
      staged.indices = kernel_.assignments[assignment].indices;
      read(staged, *store, product_.tile(store->src));
    }
    for (const tile::Copy* copy : parts_.inputs) {
      if (product_.tile(copy->dst).space != tile::Space::shared) continue;
      StagedInput staged;
      staged.load = product_.tile(copy->src).value;
      staged.tensor = kernel_.load(staged.load).tensor;
      for (const sema::NodeId at : kernel_.load(staged.load).coordinate)
        staged.indices.push_back(bare_index(kernel_, at));
      read(staged, *copy, product_.tile(copy->dst));
      if (staged.tma) made.loads_ahead = product_.tile(copy->dst).shared->stages;
      made.inputs.push_back(std::move(staged));
    }
    // Which lanes have which values follows from the width and the layouts; the vectors ask for the
    // values that go together then.
    made.by_warps = tile::moves_parts_by_warps(product_);
    for (StagedTensor& each : made.outputs) complete(each, made, atom, true);
    for (StagedInput& each : made.inputs) complete(each, made, atom, false);
    for (const tile::Copy* copy : parts_.inputs) {
      const tile::Tile& to = product_.tile(copy->dst);
      if (to.space == tile::Space::shared) continue;
      made.vectors.push_back(
          staged_vector(to.value, axis_of(parts_.exchanged, to.axes.front()), atom, made.step()));
      made.vectors.back().together = copy->vector;
    }
    return made;
  }

  // What the program says of a tensor on its way.
  void read(StagedTensor& staged, const tile::Copy& copy, const tile::Tile& through) const {
    const tile::SharedTile& shared = *through.shared;
    staged.tma = shared.by_tma();
    staged.span = shared.span;
    staged.order = shared.order;
    staged.box = shared.box;
    staged.shared = shared.layout;
    staged.matrices = bits(through.element) == 16;
    const int mode = staged.tma ? staged.order.front() : copy.vector_mode;
    staged.along_n = staged.indices[static_cast<std::size_t>(mode)] == gemm_.n;
    if (staged.tma) return;
    staged.run = copy.vector;
    const Layout threads = on_axes(parts_.exchanged, through.threads->layout);
    // The program's threads have whole accesses, the schedule's their first elements.
    staged.runs = Layout(tuple(threads.shape[0], threads.shape[1][1]),
                         tuple(threads.stride[0], threads.stride[1][1]));
  }

  void complete(StagedTensor& staged, const StagedStore& store, const Layout& atom,
                bool stored) const {
    choose_values(staged, store, atom, kernel_.tensor(staged.tensor).element_bytes(), stored,
                  gemm_.copies);
  }

  const tile::Program& product_;
  const sema::Kernel& kernel_;
  const tile::ProductParts parts_;
  Sm90Gemm gemm_;
};

}  // namespace

tile::Program bind_sm90(const sema::KernelPtr& kernel, const Sm90Gemm& gemm) {
  const bool exchanged = gemm.swap_ab;
  tile::BoundProduct how;
  const auto tile = on_axes(exchanged, gemm.tile[0], gemm.tile[1]);
  how.tile = {tile[0], tile[1], gemm.tile[2]};
  how.threads = {on_axes(exchanged, gemm.accumulators), 1, -1};
  how.grid = {on_axes(exchanged, gemm.order), gemm.threads(),
              on_axes(exchanged, gemm.cluster[0], gemm.cluster[1])};
  how.warpgroups =
      tile::Warpgroups{gemm.consumers(), gemm.registers.value_or(std::array{0, 0}), gemm.sms};
  how.atom = gemm.mma;
  how.exchanged = exchanged;
  how.interval = gemm.promotion_interval;
  how.sets = gemm.accumulator_sets;
  how.alternates = gemm.alternate_k;
  how.tail = gemm.tail;
  how.copies = gemm.copies;
  how.operands = on_axes(exchanged, operand_of(gemm, gemm.a), operand_of(gemm, gemm.b));
  for (const FurtherGemm& each : gemm.further) how.further.push_back(operand_of(gemm, each.b));
  add_outputs(*kernel, gemm, how);
  const auto indices = on_axes(exchanged, gemm.m, gemm.n);
  const auto loads = on_axes(exchanged, gemm.a.load, gemm.b.load);
  tile::Product product{gemm.contraction, indices[0], indices[1], gemm.k,
                        gemm.batch,       loads[0],   loads[1],   gemm.cluster[2]};
  if (const auto& segments = gemm.segments)
    product.segments = tile::Segments{segments->by_row, segments->first_row, segments->first_tile,
                                      segments->row_of};
  for (const FurtherGemm& each : gemm.further)
    product.further.push_back({each.contraction, each.b.load});
  return tile::bind_product(kernel, product, how);
}

Sm90Gemm sm90_of(const tile::Program& product) {
  return Reader(product).run();
}

// Ampere's mma is of warps, and CUDA cores have no atom.
bool is_sm90(const tile::Program& program) {
  if (!program.is_product()) return false;
  const auto& atom = tile::parts_of(program).mma->atom;
  return atom && atom->kind == "warpgroup";
}

bool is_sm90(const Variant& variant) {
  const tile::Program* program = scheduled_program(variant);
  return program && is_sm90(*program);
}

std::optional<Sm90Gemm> sm90_of(const Variant& variant) {
  return is_sm90(variant) ? std::optional(sm90_of(*scheduled_program(variant))) : std::nullopt;
}

}  // namespace lay::plan
