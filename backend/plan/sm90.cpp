#include "backend/plan/sm90.h"

#include <algorithm>

#include "backend/plan/mask.h"
#include "backend/plan/order.h"
#include "backend/plan/simt.h"
#include "backend/plan/tma.h"
#include "backend/plan/vectors.h"
#include "frontend/algebra/operations.h"

namespace lay::plan {

namespace {

constexpr int warpgroup = 128, rows_of_atom = 64, most_box = 256, swizzle_rows = 8;

const sema::Node& node(const sema::Kernel& kernel, sema::NodeId id) {
  return kernel.nodes[static_cast<std::size_t>(id)];
}

const sema::Tensor& loaded(const sema::Kernel& kernel, sema::NodeId load) {
  return kernel.tensors[static_cast<std::size_t>(std::get<sema::Load>(node(kernel, load).what).tensor)];
}

int bytes_of(const sema::Tensor& tensor) {
  return bits(tensor.element) / 8;
}

std::string text(ElementType type) {
  return std::string(element_name(type));
}

std::string text(const std::array<int, 2>& pair) {
  return "(" + std::to_string(pair[0]) + "," + std::to_string(pair[1]) + ")";
}

std::int64_t elements_of(const AnyLayout& layout) {
  const auto* composed = std::get_if<Composed>(&layout);
  const Int all = size(composed ? composed->layout() : std::get<Layout>(layout));
  return all.is_literal() ? all.value() : -1;
}

class Shaper {
 public:
  Shaper(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule, Width width,
         const Target& target, Facts& facts, Conditions& conditions, std::vector<Problem>& problems)
      : kernel_(kernel),
        form_(form),
        schedule_(schedule),
        width_(width),
        target_(target),
        facts_(facts),
        conditions_(conditions),
        problems_(problems) {}

  std::optional<Sm90Gemm> run();

 private:
  using Notes = std::vector<std::pair<std::string, std::string>>;
  bool wrong(const char* code, const std::string& entry, std::string message, Notes notes = {}) {
    problems_.push_back({code, std::move(message), schedule_.at(entry), {}, std::move(notes), {}});
    return false;
  }

  bool take_atom();
  bool take_tile();
  bool take_operand(TmaOperand& operand, sema::NodeId load, int axis);
  bool take_slice(TmaOperand& operand, int axis);
  bool take_shared(TmaOperand& operand, int axis, const std::optional<AnyLayout>& asked);
  Layout atom_accumulators();
  Layout held_by_consumers();
  void take_stores();
  bool take_stages();
  bool take_registers();

  const sema::Kernel& kernel_;
  const GemmForm& form_;
  const TensorSchedule& schedule_;
  const Width width_;
  const Target& target_;
  Facts& facts_;
  Conditions& conditions_;
  std::vector<Problem>& problems_;
  Sm90Gemm gemm_;
};

bool Shaper::take_atom() {
  if (!schedule_.mma) {
    return wrong("schedule-entry", "mma", "a schedule for sm90 names its atom",
                 {{"works", "mma = sm90.wgmma(n = 256, ab = bf16, acc = f32)"}});
  }
  gemm_.mma = *schedule_.mma;
  const sema::Atom& atom = gemm_.mma;
  const auto usable = [&] {
    return atom.kind == "warpgroup" && atom.count() == warpgroup && atom.shape[0] == rows_of_atom && atom.a_shared &&
           atom.b_shared;
  };
  if (!usable()) {
    return wrong(
        "schedule-entry", "mma",
        "`mma` takes an atom of 64 rows that a warpgroup executes on shared memory, which " + atom.name + " is not",
        {{"works", "sm90.wgmma(n = 256, ab = bf16, acc = f32)"}});
  }
  const ElementType a = loaded(kernel_, form_.a).element, b = loaded(kernel_, form_.b).element,
                    sum = node(kernel_, form_.contraction).type;
  if (a != atom.a_type || b != atom.b_type || sum != atom.accumulator) {
    return wrong("schedule-types", "mma",
                 atom.name + " multiplies " + text(atom.a_type) + " by " + text(atom.b_type) + " into " +
                     text(atom.accumulator) + ", and the kernel " + text(a) + " by " + text(b) + " into " + text(sum));
  }
  return true;
}

bool Shaper::take_tile() {
  const int k_of_atom = gemm_.mma.shape[2];
  gemm_.tile = schedule_.tile.value_or(std::array<int, 3>{2 * rows_of_atom, gemm_.mma.shape[1], 4 * k_of_atom});
  gemm_.groups = schedule_.groups.value_or(std::array<int, 4>{std::max(1, gemm_.tile[0] / rows_of_atom),
                                                              std::max(1, gemm_.tile[1] / gemm_.mma.shape[1]), 1, 1});
  gemm_.cluster = schedule_.cluster.value_or(std::array<int, 2>{1, 1});
  if (gemm_.groups[2] != 1 || gemm_.groups[3] != 1) {
    return wrong("unsupported", "groups", "groups along K and over successive tiles are not supported for sm90",
                 {{"help", "write 1 for the last two numbers"}});
  }
  if (gemm_.threads() > target_.block_threads) {
    return wrong("schedule-threads", "groups",
                 "the groups and the copying warpgroup are " + std::to_string(gemm_.threads()) +
                     " threads, and a block has at most " + std::to_string(target_.block_threads),
                 {{"help", "fewer groups, each with more of the tile"}});
  }
  constexpr int most_blocks = 8;
  if (gemm_.blocks() > most_blocks) {
    return wrong("schedule-cluster", "cluster",
                 "a cluster has at most 8 blocks, not " + std::to_string(gemm_.blocks()));
  }
  const std::array<int, 3> least{gemm_.groups[0] * gemm_.mma.shape[0], gemm_.groups[1] * gemm_.mma.shape[1], k_of_atom};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (gemm_.tile[axis] % least[axis] == 0) continue;
    return wrong("schedule-cover", "tile",
                 "the accumulators of " + std::to_string(gemm_.groups[0]) + " x " + std::to_string(gemm_.groups[1]) +
                     " groups with " + gemm_.mma.name + " do not cover the tile (" + std::to_string(gemm_.tile[0]) +
                     "," + std::to_string(gemm_.tile[1]) + "," + std::to_string(gemm_.tile[2]) + ") exactly once",
                 {{"works", "a tile of multiples of (" + std::to_string(least[0]) + "," + std::to_string(least[1]) +
                                "," + std::to_string(least[2]) + ")"}});
  }
  return true;
}

// The part of the tile that one block loads where several blocks of the cluster need it.
bool Shaper::take_slice(TmaOperand& operand, int axis) {
  const auto at = static_cast<std::size_t>(axis);
  const int outer = gemm_.tile[at], k = gemm_.tile[2], sharers = gemm_.cluster[1 - at];
  const int row = operand.span / bytes_of(loaded(kernel_, operand.load));
  const int unit = operand.along_k ? swizzle_rows : row;  // of a slice along the outer index
  operand.slice = {outer, k};
  if (outer % (sharers * unit) == 0) {
    operand.slice[0] = outer / sharers;
  } else if (!operand.along_k && k % (sharers * swizzle_rows) == 0) {
    operand.slice[1] = k / sharers;
  } else {
    return wrong("schedule-cluster", "cluster",
                 "the " + std::to_string(sharers) + " blocks that share a tile of " + (axis == 0 ? "A" : "B") +
                     " cannot load it in equal parts of whole " + std::to_string(unit) + " elements");
  }
  operand.box = operand.along_k ? std::array<int, 2>{operand.slice[0], row} : std::array<int, 2>{row, operand.slice[1]};
  const int long_side = operand.along_k ? 0 : 1;
  while (operand.box[static_cast<std::size_t>(long_side)] > most_box)
    operand.box[static_cast<std::size_t>(long_side)] /= 2;
  return true;
}

// The layout that was asked for is one that TMA writes and the atom reads.
bool Shaper::take_shared(TmaOperand& operand, int axis, const std::optional<AnyLayout>& asked) {
  const int outer = gemm_.tile[static_cast<std::size_t>(axis)], k = gemm_.tile[2];
  const int element = bits(loaded(kernel_, operand.load).element);
  // The span divides the row of the tile, and the atom's part of it where that is what runs.
  const int atom = axis == 0 ? gemm_.mma.shape[0] : gemm_.mma.shape[1];
  const int run = (operand.along_k ? k : atom) * element / 8;
  std::vector<int> spans;
  for (const int span : gemm_.mma.spans) {
    if (span >= 32 && run % span == 0) spans.push_back(span);
  }
  const std::string name = axis == 0 ? "A" : "B";
  if (spans.empty()) {
    return wrong(
        "schedule-smem", "tile",
        "rows of " + std::to_string(run) + " bytes of " + name + " are no whole number of swizzle spans of 32 bytes");
  }
  const auto layout = [&](int span) { return operand_layout(outer, k, operand.along_k, span, element); };
  operand.span = spans.front();
  operand.shared = layout(operand.span);
  if (!asked) return true;
  for (const int span : spans) {
    const AnyLayout canonical = layout(span);
    if (elements_of(*asked) == outer * k && values(*asked) == values(canonical)) {
      operand.span = span;
      operand.shared = canonical;
      return true;
    }
  }
  return wrong("schedule-smem", "smem " + name,
               "no descriptor of " + gemm_.mma.name + " expresses " + to_string(*asked) + ", (" +
                   (axis == 0 ? "m" : "n") + ",k) -> offset in elements",
               {{"works", to_string(operand.shared)}});
}

bool Shaper::take_operand(TmaOperand& operand, sema::NodeId load, int axis) {
  operand.load = load;
  operand.outer = axis == 0 ? gemm_.m : gemm_.n;
  const auto& what = std::get<sema::Load>(node(kernel_, load).what);
  const auto order = tma_order(kernel_, what.tensor, facts_, conditions_);
  if (!order) return false;
  operand.order = *order;
  const sema::IndexId run = bare_index(kernel_, what.coordinate[static_cast<std::size_t>(order->front())]);
  if (run != gemm_.k && run != operand.outer) return false;
  operand.along_k = run == gemm_.k;
  const bool takes = axis == 0 ? gemm_.mma.takes_transposed_a() : gemm_.mma.takes_transposed_b();
  if (!operand.along_k && !takes) {
    if (!schedule_.of_script) return false;
    return wrong("unsupported", "mma",
                 gemm_.mma.name + " reads " + (axis == 0 ? "A" : "B") + " along k, and " + loaded(kernel_, load).name +
                     " runs along " + kernel_.indices[static_cast<std::size_t>(operand.outer)].name);
  }
  return take_shared(operand, axis, axis == 0 ? schedule_.shared_a : schedule_.shared_b) && take_slice(operand, axis);
}

// (thread, value) -> (m, n) of one atom.
Layout Shaper::atom_accumulators() {
  const Tuple element = tuple(Tuple::basis(1, {0}), Tuple::basis(1, {1}));
  return composition(facts_, Layout(tuple(gemm_.mma.shape[0], gemm_.mma.shape[1]), element), gemm_.mma.c);
}

// (thread of the consumers, value) -> (m, n): the atom's accumulators, again for each atom of a consumer and for each
// consumer.
Layout Shaper::held_by_consumers() {
  const Layout element(tuple(gemm_.mma.shape[0], gemm_.mma.shape[1]),
                       tuple(Tuple::basis(1, {0}), Tuple::basis(1, {1})));
  const Layout atom = composition(facts_, element, gemm_.mma.c);
  const auto part = gemm_.part();
  const auto repeats = gemm_.repeats();
  const Tuple over_m = Tuple::basis(part[0], {0}), over_n = Tuple::basis(part[1], {1});
  const Tuple next_m = Tuple::basis(gemm_.mma.shape[0], {0}), next_n = Tuple::basis(gemm_.mma.shape[1], {1});
  return Layout(tuple(tuple(atom.shape[0], tuple(gemm_.groups[0], gemm_.groups[1])),
                      tuple(atom.shape[1], tuple(repeats[0], repeats[1]))),
                tuple(tuple(atom.stride[0], tuple(over_m, over_n)), tuple(atom.stride[1], tuple(next_m, next_n))));
}

// A fragment of 8x8 matrices holds, of matrix j, values 2j and 2j+1 of a quad of threads, and row r in the threads 4r
// to 4r+3 of a warp (PTX ISA, stmatrix); lane l of the warp names row l % 8 of matrix l / 8. Transposed, rows in memory
// are the fragment's columns. Nothing where the atom's accumulators are no such matrices.
std::optional<Layout> rows_of_stmatrix(Facts& facts, const Layout& atom, bool along_n) {
  const Layout quad = composition(facts, atom, Layout(tuple(4, 8, 2), tuple(1, 4, warpgroup)));
  const Tuple matrix = tuple(Tuple::basis(2, {1}), Tuple::basis(1, {0}), Tuple::basis(1, {1}));
  if (!(coalesce(facts, quad) == Layout(tuple(4, 8, 2), matrix))) return std::nullopt;
  return composition(facts, atom,
                     along_n ? Layout(tuple(8, 4, 4), tuple(4, 2 * warpgroup, 32))
                             : Layout(tuple(2, 4, 4, 4), tuple(warpgroup, 1, 2 * warpgroup, 32)));
}

// How outputs leave: by TMA where there is one of 16-bit elements that runs along m or n, else from the registers.
void Shaper::take_stores() {
  const sema::Assignment& first = kernel_.assignments.front();
  const sema::Tensor& tensor = kernel_.tensors[static_cast<std::size_t>(first.target)];
  const int columns = gemm_.part()[1];
  int width = 64;
  while (columns % width != 0) width /= 2;
  if (width_ == Width::elements) {
    gemm_.vectors.assign(kernel_.assignments.size(), 1);
    return;
  }
  if (kernel_.assignments.size() == 1 && bits(tensor.element) == 16 && width >= 16) {
    Conditions needed;
    const auto order = tma_order(kernel_, first.target, facts_, needed);
    const sema::IndexId run = order ? first.indices[static_cast<std::size_t>(order->front())] : -1;
    if (run == gemm_.m || run == gemm_.n) {
      const bool along_n = run == gemm_.n;
      if (const auto rows = rows_of_stmatrix(facts_, atom_accumulators(), along_n)) {
        add(conditions_, needed);
        gemm_.store =
            TmaStore{first.target, along_n, width, *order, store_layout(rows_of_atom, width, along_n, 16), *rows};
        return;
      }
    }
  }
  for (const sema::Assignment& assignment : kernel_.assignments) {
    const sema::Tensor& target = kernel_.tensors[static_cast<std::size_t>(assignment.target)];
    const int unit = unit_mode(facts_, target.layout);
    const bool along_n = unit >= 0 && assignment.indices[static_cast<std::size_t>(unit)] == gemm_.n;
    int vector = 1;
    if (along_n) {
      Conditions needed{vector_conditions(facts_, target.layout, unit, 2), {{assignment.target, 2 * bytes_of(target)}}};
      if (std::none_of(needed.when.begin(), needed.when.end(), [](const Predicate& p) { return p.is_never(); })) {
        add(conditions_, needed);
        vector = 2;
      }
    }
    gemm_.vectors.push_back(vector);
  }
}

bool Shaper::take_stages() {
  constexpr int most_stages = 8;
  gemm_.stages = 0;
  const int without = shared_bytes(gemm_, kernel_);
  gemm_.stages = 1;
  const int stage = shared_bytes(gemm_, kernel_) - without;
  const int fit = (target_.shared_bytes - without) / stage;
  gemm_.stages = schedule_.stages.value_or(std::min(fit, most_stages));
  if (gemm_.stages >= 2 && gemm_.stages <= fit) return true;
  return wrong("schedule-shared", schedule_.stages ? "stages" : "tile",
               std::to_string(std::max(2, gemm_.stages)) + " stages of " + std::to_string(stage) + " bytes and " +
                   std::to_string(without) + " for outputs take more than the " + std::to_string(target_.shared_bytes) +
                   " bytes of shared memory of a block",
               {{"help", fit >= 2 ? "at most " + std::to_string(fit) + " stages" : "a smaller tile"}});
}

// Registers move from the copying threads to the consumers, in eights (PTX ISA, setmaxnreg).
bool Shaper::take_registers() {
  const int held = gemm_.part()[0] * gemm_.part()[1] / warpgroup;
  constexpr int others = 24, of_copies_tight = 24, of_copies = 40, many = 208;
  int each = std::min(target_.thread_registers, target_.registers / gemm_.threads() / 8 * 8);
  if (gemm_.consumers() > 1) {
    const int copies = held >= many || gemm_.consumers() > 2 ? of_copies_tight : of_copies;
    const int left = target_.registers / warpgroup - copies;
    each = std::min(240, left / gemm_.consumers() / 8 * 8);
    gemm_.registers = {{copies, each}};
  }
  if (held + others <= each) return true;
  return wrong("schedule-registers", "tile",
               "a part of " + text(gemm_.part()) + " leaves " + std::to_string(held) +
                   " accumulators to each thread of a consumer, which has " + std::to_string(each) + " registers",
               {{"help", "a smaller tile or more groups"}});
}

std::optional<Sm90Gemm> Shaper::run() {
  gemm_.contraction = form_.contraction;
  gemm_.m = form_.m;
  gemm_.n = form_.n;
  gemm_.k = form_.k;
  gemm_.batch = form_.batch;
  gemm_.multiprocessors = target_.multiprocessors;
  if (!take_atom() || !take_tile() || !take_operand(gemm_.a, form_.a, 0) || !take_operand(gemm_.b, form_.b, 1)) {
    return std::nullopt;
  }
  gemm_.accumulators = held_by_consumers();
  if (const auto fault = cover_fault(gemm_.accumulators, {gemm_.tile[0], gemm_.tile[1]})) {
    wrong("schedule-cover", "tile",
          "the accumulators " + gemm_.accumulators.to_string() + " do not cover the tile " + "exactly once");
    return std::nullopt;
  }
  take_stores();
  gemm_.mask = mask_of(kernel_, gemm_.contraction);
  const Tiling tiling{gemm_.m, gemm_.n, gemm_.batch, gemm_.cluster_tile()};
  gemm_.order = schedule_.order.value_or(persistent_order(kernel_, tiling));
  const bool ordered = !schedule_.order || check_order(kernel_, tiling, gemm_.order, schedule_.at("order"), problems_);
  if (!ordered || !take_stages() || !take_registers()) return std::nullopt;
  return gemm_;
}

}  // namespace

bool multiplies_as_stored(const sema::Kernel& kernel, const GemmForm& form) {
  const auto plain = [&](sema::NodeId value, sema::NodeId load) {
    const ElementType sum = node(kernel, form.contraction).type;
    for (; value != load; value = std::get<sema::Apply>(node(kernel, value).what).operands[0]) {
      if (node(kernel, value).type != sum) return false;
    }
    return true;
  };
  return plain(form.a_value, form.a) && plain(form.b_value, form.b);
}

std::optional<Sm90Gemm> shape_sm90(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule,
                                   Width width, const Target& target, Facts& facts, Conditions& conditions,
                                   std::vector<Problem>& problems) {
  return Shaper(kernel, form, schedule, width, target, facts, conditions, problems).run();
}

int shared_bytes(const Sm90Gemm& gemm, const sema::Kernel& kernel) {
  constexpr int slack = 1024, barriers = 512;  // what alignment can cost
  const int a = gemm.tile[0] * gemm.tile[2] * bytes_of(loaded(kernel, gemm.a.load));
  const int b = gemm.tile[1] * gemm.tile[2] * bytes_of(loaded(kernel, gemm.b.load));
  const int out = gemm.store ? gemm.consumers() * 2 * rows_of_atom * gemm.store->width * 2 : 0;
  return gemm.stages * (a + b) + out + slack + barriers;
}

}  // namespace lay::plan
