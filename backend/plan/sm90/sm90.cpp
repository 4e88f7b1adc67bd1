#include "backend/plan/sm90/sm90.h"

#include <algorithm>

#include "backend/plan/scales/promotion.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/simt/simt.h"
#include "backend/plan/sm90/sm90_parts.h"
#include "backend/plan/sm90/sm90_store.h"
#include "backend/plan/sm90/sm90_tail.h"
#include "backend/plan/sm90/tma.h"
#include "backend/plan/text.h"
#include "backend/plan/views/view_conditions.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

constexpr int warpgroup = 128;

// The elements of a layout that a user gave; -1 where they are not known, which no tile has.
std::int64_t elements_of(const AnyLayout& layout) {
  const auto* composed = std::get_if<Composed>(&layout);
  const Int all = size(composed ? composed->layout() : std::get<Layout>(layout));
  return all.is_literal() ? all.value() : -1;
}

class Shaper {
 public:
  explicit Shaper(const TensorShaping& at) : at_(at) {}
  std::optional<Sm90Gemm> run();

 private:
  bool choose_tile();
  bool choose_segments();
  bool choose_operand(TmaOperand& operand, int axis);
  bool choose_operand(TmaOperand& operand, int axis, sema::NodeId load, sema::NodeId value,
                      const std::optional<tile::OperandView>& view);
  bool choose_further();
  bool unreadable() const;
  bool choose_slice(TmaOperand& operand, int axis);
  bool choose_shared(TmaOperand& operand, int axis, const std::optional<AnyLayout>& asked);
  void choose_stores();
  int stages_beside(const std::optional<StagedStore>& store) const;
  static void choose_split(Sm90Gemm& gemm);
  bool choose_stages();
  void choose_buffers();
  bool choose_registers();

  const TensorShaping& at_;
  Sm90Gemm gemm_;
};

bool Shaper::choose_tile() {
  const int k_of_atom = gemm_.mma.shape[2];
  // Two atoms along M, one along N and four along K: 128 x n x 64 of 16-bit elements, rows of one
  // 128-byte swizzle width.
  gemm_.tile = at_.schedule.tile.value_or(
      std::array<int, 3>{2 * rows_of_atom, gemm_.mma.shape[1], 4 * k_of_atom});
  gemm_.groups = at_.schedule.groups.value_or(
      std::array<int, 4>{std::max(1, gemm_.tile[0] / rows_of_atom),
                         std::max(1, gemm_.tile[1] / gemm_.mma.shape[1]), 1, 1});
  // Groups over K would need a second set of accumulators; K is split over blocks instead, which
  // add their sums over DSMEM.
  gemm_.cluster = at_.schedule.cluster.value_or(std::array<int, 3>{1, 1, 1});
  if (gemm_.groups[2] != 1) {
    return at_.wrong("unsupported", "groups", "groups along K are not supported for sm90",
                     {{"help", "write 1 for the third number"}});
  }
  if (gemm_.groups[3] != 1 && gemm_.cluster[2] != 1) {
    return at_.wrong("unsupported", "groups",
                     "groups over successive tiles do not go with blocks that share K",
                     {{"help", "write 1 for the last number of the groups or of the cluster"}});
  }
  if (!check_threads(at_, gemm_.threads(), "the groups and the producer warpgroup")) return false;
  if (gemm_.blocks() > at_.target.cluster) {
    return at_.wrong("schedule-cluster", "cluster",
                     "a cluster has at most " + std::to_string(at_.target.cluster) +
                         " blocks, not " + std::to_string(gemm_.blocks()));
  }
  // Every consumer needs whole atoms.
  const std::array<int, 3> least{gemm_.groups[0] * gemm_.mma.shape[0],
                                 gemm_.groups[1] * gemm_.mma.shape[1], k_of_atom};
  return check_tile(at_, gemm_, least, "groups");
}

// A cluster's rows are those of one segment, of the atom's first operand.
bool Shaper::choose_segments() {
  gemm_.segments = at_.form.segments;
  if (!gemm_.segments) return true;
  const int rows = gemm_.cluster_tile()[0];
  if (gemm_.swap_ab) {
    return at_.wrong("unsupported", "swap_ab",
                     "the rows of a grouped product are those of the instruction",
                     {{"help", "leave `swap_ab` out"}});
  }
  if (rows == gemm_.segments->rows) return true;
  return at_.wrong("unsupported", at_.schedule.tile ? "tile" : "schedule",
                   "the tiles of a grouped product have " + std::to_string(gemm_.segments->rows) +
                       " rows in all of its schedules, not " + std::to_string(rows),
                   {{"help", "one number of rows, cluster[0] * tile[0], in each schedule"}});
}

// The part of the tile that one block loads where several blocks of the cluster need it.
bool Shaper::choose_slice(TmaOperand& operand, int axis) {
  if (const auto slice = slice_of(gemm_, operand, axis)) {
    operand.slice = *slice;
    operand.box = box_of(operand);
    return true;
  }
  const int unit = unit_of_slice(operand);
  return at_.wrong("schedule-cluster", "cluster",
                   "the " + std::to_string(gemm_.cluster[axis == 0 ? 1 : 0]) +
                       " blocks that share a tile of " + (axis == 0 ? "A" : "B") +
                       " cannot load it in equal parts" +
                       (unit > 1 ? " of whole " + std::to_string(unit) + " elements" : ""));
}

// The layout that was asked for is one that TMA writes and the atom reads.
bool Shaper::choose_shared(TmaOperand& operand, int axis, const std::optional<AnyLayout>& asked) {
  const int outer = gemm_.tile[static_cast<std::size_t>(axis)], k = gemm_.tile[2];
  const ElementType type = at_.kernel.loaded(operand.load).element;
  const int element = bits(type);
  // The span divides the row of the tile, and the atom's part of it where that is what runs. An
  // atom that reads all of the tile's outer index may leave the end of its last row alone: 136
  // columns are three rows of 64.
  const int atom = axis == 0 ? gemm_.mma.shape[0] : gemm_.mma.shape[1];
  const bool leaves_end = !operand.along_k && !operand.view && atom == outer;
  const int run = (operand.along_k ? k : atom) * element / 8;
  std::vector<int> spans;
  // What the atom reads, boxes of TMA must write. In the order of the atom's record: the first that
  // fits is the default.
  const std::vector<int>& widths = box_widths();
  for (const int span : gemm_.mma.swizzle_widths) {
    const bool writable = std::ranges::find(widths, span) != widths.end();
    if (writable && (leaves_end || run % span == 0)) spans.push_back(span);
  }
  // Roles, as with_operand_roles left them; messages point at the entry that the user wrote.
  const std::string name = axis == 0 ? "A" : "B";
  if (spans.empty()) {
    return at_.wrong("schedule-smem", "tile",
                     "rows of " + std::to_string(run) + " bytes of " + name +
                         " are no multiple of " + std::to_string(widths.back()) +
                         " bytes, the narrowest swizzle");
  }
  const auto take = [&](int span) {
    const int row = 8 * span / element;
    operand.span = span;
    operand.extent = operand.along_k ? outer : (outer + row - 1) / row * row;
    operand.shared = operand_layout(operand.extent, k, operand.along_k, span, type);
  };
  if (asked) {
    for (const int span : spans) {
      take(span);
      // Compared element by element: the user may write the same layout in other words.
      if (elements_of(*asked) == operand.extent * k && values(*asked) == values(operand.shared))
        return true;
    }
  }
  take(spans.front());
  if (!asked) return true;
  return at_.wrong("schedule-smem", "smem " + name,
                   "no descriptor of " + gemm_.mma.name + " expresses " + to_string(*asked) +
                       ", (" + (axis == 0 ? "m" : "n") + ",k) -> offset in elements",
                   {{"works", to_string(operand.shared)}});
}

bool Shaper::unreadable() const {
  return at_.wrong("unsupported", "schedule",
                   "TMA cannot read the operands: their modes are plain, one of them has stride 1 "
                   "and is k's or the "
                   "output's, and the "
                   "other strides are whole 16 bytes");
}

bool Shaper::choose_operand(TmaOperand& operand, int axis) {
  const GemmForm& form = at_.form;
  return axis == 0 ? choose_operand(operand, 0, form.a, form.a_value, form.a_view)
                   : choose_operand(operand, 1, form.b, form.b_value, form.b_view);
}

// Further products have operands as B is. What they do not go with is said at its entry.
bool Shaper::choose_further() {
  if (at_.form.further.empty()) return true;
  const auto excluded = [&](const char* entry, const std::string& what, const char* help) {
    return at_.wrong("unsupported", entry, "several products in one launch do not go with " + what,
                     {{"help", help}});
  };
  if (gemm_.swap_ab) return excluded("swap_ab", "exchanged factors", "leave `swap_ab` out");
  if (gemm_.consumer_groups() > 1)
    return excluded("groups", "groups over successive tiles", "write 1 for the last number");
  if (gemm_.cluster[2] > 1) return excluded("cluster", "blocks that share K", "write two numbers");
  if (gemm_.promotion_interval > 0)
    return excluded("promotion_interval", "sums in intervals", "leave `promotion_interval` out");
  if (gemm_.a.fragment)
    return excluded("mma", "an atom that reads registers", "an atom that reads shared memory");
  // Each gets boxes, swizzle and slices by the laws of B, from the same entries.
  for (const FurtherForm& each : at_.form.further) {
    FurtherGemm made{each.contraction, {}};
    if (!choose_operand(made.b, 1, each.b, each.b_value, {})) return false;
    if (made.b.along_k != gemm_.b.along_k)
      return at_.wrong("unsupported", "schedule",
                       at_.kernel.loaded(each.b).name + " and " +
                           at_.kernel.loaded(gemm_.b.load).name +
                           " do not run along one index, as operands of one launch do",
                       {{"help", "`operands = \"stored\"` for a launch each"}});
    gemm_.further.push_back(std::move(made));
  }
  return true;
}

bool Shaper::choose_operand(TmaOperand& operand, int axis, sema::NodeId load, sema::NodeId value,
                            const std::optional<tile::OperandView>& view) {
  const ElementType element = at_.kernel.loaded(load).element;
  operand.load = load;
  operand.element_bits = bits(element);
  operand.value = value;
  operand.converted = element != (axis == 0 ? gemm_.mma.a_type : gemm_.mma.b_type) ||
                      !is_as_stored(at_.kernel, at_.form, operand.value, load);
  operand.outer = axis == 0 ? gemm_.m : gemm_.n;
  const auto& what = at_.kernel.load(load);
  // Adds what TMA needs to the variant's conditions: strides of whole 16 bytes, an aligned base.
  const auto order = tma_order(at_.kernel, what.tensor, at_.facts, at_.conditions);
  if (!order) return unreadable();
  operand.order = *order;
  operand.view = view;
  // A view's zeros are TMA's, which a conversion of what is read does not say. Two elements of 4
  // bits share a byte, and no tensor map has them.
  if (operand.converted && (operand.view || is_half_byte(element))) return unreadable();
  if (operand.view) {
    const auto needed = conditions_of_view(*operand.view, gemm_.tile[2]);
    if (!needed || operand.view->run != order->front()) return unreadable();
    for (const Predicate& condition : *needed)
      if (!at_.facts.proves(condition)) add(at_.conditions, {{condition}, {}});
    if (!operand.view->order.empty()) operand.order = operand.view->order;
    operand.along_k = operand.view->runs_along_k();
  } else {
    const sema::IndexId run =
        bare_index(at_.kernel, what.coordinate[static_cast<std::size_t>(order->front())]);
    if (run != gemm_.k && run != operand.outer) return unreadable();
    operand.along_k = run == gemm_.k;
  }
  const bool takes = axis == 0 ? gemm_.mma.takes_transposed_a() : gemm_.mma.takes_transposed_b();
  if (!operand.along_k && !takes) {
    return at_.wrong("unsupported", "mma",
                     gemm_.mma.name + " reads " + (axis == 0 ? "A" : "B") + " along k, and " +
                         at_.kernel.loaded(load).name + " runs along " +
                         at_.kernel.indices[static_cast<std::size_t>(operand.outer)].name);
  }
  // wgmma reads B from shared memory always, A from there or from registers.
  if (axis == 0 && !gemm_.mma.a_shared) operand.fragment = fragment_of_operand(gemm_, operand);
  return choose_shared(operand, axis, axis == 0 ? at_.schedule.shared_a : at_.schedule.shared_b) &&
         choose_slice(operand, axis);
}

// Returns the number of stages that fit beside this store through shared memory.
int Shaper::stages_beside(const std::optional<StagedStore>& store) const {
  Sm90Gemm with = gemm_;
  with.store = store;
  choose_split(with);
  with.stages = 0;
  // shared_bytes is linear in the stages: twice asked gives the size of one.
  const int without = shared_bytes(with, at_.kernel);
  with.stages = 1;
  return (at_.target.block_shared - without) / (shared_bytes(with, at_.kernel) - without);
}

// How outputs leave and inputs of their shape come: through shared memory where they can, in
// narrower spans where that makes room for the stages that were asked for or, beside several of
// them, for enough; else from and to the registers.
void Shaper::choose_stores() {
  constexpr int enough = 4, least = 2;  // stages
  const Layout atom = fragment_of(gemm_.mma.c, {gemm_.mma.shape[0], gemm_.mma.shape[1]});
  std::vector<sema::NodeId> loads = full_loads(at_.kernel, gemm_);
  // Each round fits the outputs and the inputs that are left; the last round has outputs alone.
  while (true) {
    // Several tensors to stage compete with the stages of the main loop for shared memory.
    const bool several = at_.kernel.assignments.size() > 1 || !loads.empty();
    // One output without inputs takes the widest span, whatever is left for stages; with more to
    // stage, subtiles get narrower until four stages, or those asked for, fit.
    const int wanted =
        at_.schedule.stages.value_or(several ? std::min(enough, stages_beside({})) : 0);
    std::optional<StagedStore> chosen;
    Conditions needed;
    int most = 0;
    for (const int span : box_widths()) {
      if (most >= std::max(1, wanted)) break;
      Conditions known = at_.conditions;
      const auto store =
          staged_store(at_.kernel, gemm_, atom, loads, at_.width, at_.facts, known, span);
      if (!store) break;
      const int stages = stages_beside(store);
      if (chosen && stages <= most) continue;
      chosen = store;
      needed = known;
      most = stages;
      if (gemm_.cluster[2] > 1 && !several) break;
    }
    const bool fits = most >= std::max(least, at_.schedule.stages.value_or(0));
    // Inputs are dropped from the last on: they are read from memory by the epilogue instead.
    if (several && !fits) {
      if (loads.empty()) return choose_vectors(at_, gemm_);
      loads.pop_back();
      continue;
    }
    if (!chosen) return choose_vectors(at_, gemm_);
    gemm_.store = chosen;
    at_.conditions = needed;
    return;
  }
}

// Chooses which block adds up which columns, where blocks share K.
void Shaper::choose_split(Sm90Gemm& gemm) {
  gemm.split = split_of(gemm);
  if (!gemm.split || !gemm.store) return;
  gemm.store->buffers = gemm.split->each;
  gemm.store->loads_ahead = std::min(gemm.split->each, gemm.store->loads_ahead);
}

bool Shaper::choose_stages() {
  constexpr int enough_stages = 8, enough_bytes = 128 * 1024;  // on their way
  gemm_.stages = 0;
  const int without = shared_bytes(gemm_, at_.kernel);
  gemm_.stages = 1;
  const int stage = shared_bytes(gemm_, at_.kernel) - without;
  const int fit = (at_.target.block_shared - without) / stage;
  // The number of stages that fit, up to 8 or 128 KiB in flight: more hide no further latency.
  gemm_.stages =
      at_.schedule.stages.value_or(std::min(fit, std::max(enough_stages, enough_bytes / stage)));
  if (gemm_.stages >= 2 && gemm_.stages <= fit) {
    if (gemm_.store) choose_buffers();
    return true;
  }
  return at_.wrong(
      "schedule-shared", at_.schedule.stages ? "stages" : "tile",
      std::to_string(std::max(2, gemm_.stages)) + " stages of " + std::to_string(stage) +
          " bytes and " + std::to_string(without) + " for sums and outputs take more than the " +
          std::to_string(at_.target.block_shared) + " bytes of shared memory of a block",
      {{"help", fit >= 2 ? "at most " + std::to_string(fit) + " stages" : "a smaller tile"}});
}

// Gives the memory that stages leave to further buffers. First to buffers of the inputs, up to all
// of a tile, so that more inputs are on their way during the products. Then to buffers of the
// outputs, so that stores need not be waited for: as many as a tile fills, or a number that divides
// it, for then each store has its buffer in every tile.
void Shaper::choose_buffers() {
  const auto fits = [&](const StagedStore& more) {
    Sm90Gemm with = gemm_;
    with.store = more;
    return shared_bytes(with, at_.kernel) <= at_.target.block_shared;
  };
  // More buffers than stores a tile are of no use.
  const int all = gemm_.split ? gemm_.split->each : gemm_.stores();
  StagedStore more = *gemm_.store;
  for (more.loads_ahead = std::min(all, more.loads_ahead);
       more.in_by_tma() && more.loads_ahead <= all && fits(more); ++more.loads_ahead)
    gemm_.store->loads_ahead = more.loads_ahead;
  if (gemm_.split || !gemm_.store->out_by_tma()) return;
  more = *gemm_.store;
  for (more.buffers = gemm_.store->buffers + 1; more.buffers <= all && fits(more); ++more.buffers) {
    if (all % more.buffers == 0) gemm_.store->buffers = more.buffers;
  }
}

// Registers move from the producer threads to the consumers, in eights, and a launch has no more of
// them than its threads begin with: an increase that no warpgroup has released blocks forever (PTX
// ISA, setmaxnreg). Beside its accumulators a thread holds a K tile's part of A, where the atom
// reads it from registers, totals, where sums are added up in parts, scales of such parts, and what
// it adds up of its own where blocks share K, which also takes more addresses. Where totals take
// the sums of each K tile and registers are left, there is a second set of accumulators.
bool Shaper::choose_registers() {
  // f32 accumulators of a thread: 128 x 256 by one consumer of 128 threads is 256, by two 128.
  // Promotion doubles them.
  const int held = gemm_.part()[0] * gemm_.part()[1] / warpgroup *
                   (gemm_.promotion_interval ? 2 : 1) * gemm_.products();
  const int of_a = gemm_.fragment_registers();
  const int sums = gemm_.split ? gemm_.split->each * gemm_.split->values : 0;
  const int others = (gemm_.split ? 60 : 24) + gemm_.scale_registers();
  // The registers that the launch gives each thread: 65536 / 384 = 170, in eights 168.
  int each =
      std::min(at_.target.thread_registers, at_.target.sm_registers / gemm_.threads() / 8 * 8);
  // ptxas fits each instruction into what a thread begins with, whatever it is given later (C7602):
  // `of_instruction` registers beside its accumulators, and `of_its_a` of A.
  // Read off compiled kernels, not derived.
  constexpr int of_instruction = 26, of_its_a = 4;
  const int atom = gemm_.mma.shape[0] * gemm_.mma.shape[1] / warpgroup,
            least = atom + of_instruction + (of_a > 0 ? of_its_a : 0);
  if (least > each)
    return at_.wrong(
        "schedule-registers", "mma",
        "the instruction with its " + std::to_string(atom) + " accumulators takes " +
            std::to_string(least) + " registers, and " + std::to_string(gemm_.threads()) +
            " threads begin with " + std::to_string(each) + " each",
        {{"help", "fewer groups, or an atom of fewer columns, several of which make up the tile"}});
  if (gemm_.consumers() > 1) {
    // setmaxnreg moves registers between warpgroups; the sum stays what the launch gave. Two
    // consumers at 168: (504 - 40) / 2 = 232, and 504 - 2 * 232 = 40 for the producer.
    const int all = each * (1 + gemm_.consumers());
    constexpr int of_copies = 40, of_copies_of_parts = 56, of_copies_tight = 24, most = 240;
    // Producers of multicast or split K hold masks and addresses of other blocks: they get 56
    // registers where the consumers can spare them.
    constexpr int few = 64;  // accumulators, which leave registers for both
    const bool many_parts = gemm_.split || gemm_.multicast_size() > 2 || held <= few;
    // The producer keeps as much as leaves the consumers what they hold: 56, 40 or 24.
    for (const int copies :
         {many_parts ? of_copies_of_parts : of_copies, of_copies, of_copies_tight}) {
      each = std::min(most, (all - copies) / gemm_.consumers() / 8 * 8);
      gemm_.registers = {{all - gemm_.consumers() * each, each}};
      if (held + of_a + sums + others <= each) break;
    }
  }
  const int all = held + of_a + sums + others;
  if (all <= each) {
    const bool promotes_each = gemm_.promotion_interval == gemm_.tile[2] && of_a == 0;
    if (promotes_each && all + held / 2 + gemm_.scale_registers() <= each)
      gemm_.accumulator_sets = 2;
    return true;
  }
  return at_.wrong(
      "schedule-registers", "tile",
      "a part of " + tuple_text(gemm_.part()) + " leaves " + std::to_string(held) +
          " accumulators" +
          (gemm_.scales.empty() ? "" : ", " + std::to_string(gemm_.scale_registers()) + " scales") +
          (of_a > 0 ? " and " + std::to_string(of_a) + " registers of A" : "") +
          (sums > 0 ? " and " + std::to_string(sums) + " sums" : "") +
          " to each thread of a consumer, which has " + std::to_string(each) + " registers",
      {{"help", "a smaller tile or more groups"}});
}

std::optional<Sm90Gemm> Shaper::run() {
  const AtomDemand demand{
      "sm90", "of 64 rows that a warpgroup executes, its second operand in shared memory",
      "sm90.wgmma(n = 256, ab = bf16, acc = f32)", [](const sema::Atom& atom) {
        return atom.kind == "warpgroup" && atom.count() == warpgroup &&
               atom.shape[0] == rows_of_atom && atom.b_shared;
      }};
  gemm_.sms = at_.target.sms;
  gemm_.copies = at_.schedule.copies;
  gemm_.swap_ab = at_.schedule.swap_ab;
  gemm_.alternate_k = at_.schedule.alternate_k.value_or(false);
  const WayThroughK way = gemm_.alternate_k ? WayThroughK::alternates : WayThroughK::ahead;
  if (!choose_atom(at_, gemm_, demand) || !choose_tile() || !choose_segments() ||
      !choose_promotion(at_, gemm_, way) || !choose_operand(gemm_.a, 0) ||
      !choose_operand(gemm_.b, 1) || !choose_further() || !choose_accumulators(at_, gemm_) ||
      !choose_scales(at_, gemm_)) {
    return std::nullopt;
  }
  choose_stores();
  choose_split(gemm_);
  // Tiles that a mask empties have no products: only their zeros are stored.
  gemm_.mask = mask_of_tiles(at_.kernel, gemm_);
  const Tiling tiling = tiling_of(gemm_);
  const auto order = taken_order(at_.kernel, tiling, at_.schedule.order,
                                 rows_for_clusters(tiling, gemm_.mask.has_value()),
                                 at_.schedule.at("rasterization"), at_.problems);
  if (!order) return std::nullopt;
  gemm_.order = *order;
  if (!choose_stages() || !choose_registers() || !choose_tail(at_, gemm_)) return std::nullopt;
  return gemm_;
}

}  // namespace

std::optional<Sm90Gemm> shape_sm90(const TensorShaping& shaping) {
  return Shaper(shaping).run();
}

int shared_bytes(const Sm90Gemm& gemm, const sema::Kernel& kernel) {
  constexpr int slack = 1024, barriers = 512, barrier = 8, warps = 4;  // slack for alignment
  const int a = gemm.a.extent * gemm.tile[2] * kernel.loaded(gemm.a.load).element_bytes();
  const int b =
      gemm.products() * gemm.b.extent * gemm.tile[2] * kernel.loaded(gemm.b.load).element_bytes();
  const int out = gemm.store ? gemm.consumers() * shared_bytes(*gemm.store, kernel) : 0;
  // A block receives, from every other block that shares K, the subtiles that it adds up.
  const int given = gemm.split ? (gemm.cluster[2] - 1) * gemm.split->each * gemm.split->values *
                                     warpgroup * gemm.consumers() * bits(gemm.total) / 8
                               : 0;
  const bool inputs_by_tma = gemm.store && gemm.store->in_by_tma();
  const int arrived =
      inputs_by_tma ? barrier * warps * gemm.consumers() * gemm.store->loads_ahead : 0;
  return gemm.stages * (a + b) + out + given + slack + barriers + arrived;
}

}  // namespace lay::plan
