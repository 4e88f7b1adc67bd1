#include "backend/plan/sm80.h"

#include <algorithm>

#include "backend/plan/axes.h"
#include "backend/plan/order.h"
#include "backend/plan/simt.h"
#include "backend/plan/sm80_operand.h"
#include "backend/plan/vectors.h"
#include "frontend/algebra/operations.h"

namespace lay::plan {

namespace {

constexpr int warp = 32, widest_access = 16;  // bytes

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

std::string text(const std::array<int, 3>& tile) {
  return "(" + std::to_string(tile[0]) + "," + std::to_string(tile[1]) + "," + std::to_string(tile[2]) + ")";
}

bool never(const Conditions& conditions) {
  return std::any_of(conditions.when.begin(), conditions.when.end(), [](const Predicate& p) { return p.is_never(); });
}

class Shaper {
 public:
  Shaper(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule, const Target& target,
         Facts& facts, Width width, Conditions& conditions, std::vector<Problem>& problems)
      : kernel_(kernel),
        form_(form),
        schedule_(schedule),
        target_(target),
        facts_(facts),
        width_(width),
        conditions_(conditions),
        problems_(problems) {}

  std::optional<Sm80Gemm> run();

 private:
  using Notes = std::vector<std::pair<std::string, std::string>>;
  bool wrong(const char* code, const std::string& entry, std::string message, Notes notes = {}) {
    problems_.push_back({code, std::move(message), schedule_.at(entry), {}, std::move(notes), {}});
    return false;
  }

  bool take_atom();
  bool take_tile();
  bool take_cover();
  bool take_operand(Sm80Operand& operand, sema::NodeId load, int axis);
  bool take_shared(Sm80Operand& operand, int axis, const std::optional<AnyLayout>& asked);
  void take_stores();
  bool take_order();
  bool take_room();

  const sema::Kernel& kernel_;
  const GemmForm& form_;
  const TensorSchedule& schedule_;
  const Target& target_;
  Facts& facts_;
  Width width_;
  Conditions& conditions_;
  std::vector<Problem>& problems_;
  Sm80Gemm gemm_;
};

bool Shaper::take_atom() {
  const std::string example = "sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)";
  if (!schedule_.mma) {
    return wrong("schedule-entry", "mma", "a schedule for sm80 names its atom", {{"works", "mma = " + example}});
  }
  gemm_.mma = *schedule_.mma;
  const sema::Atom& atom = gemm_.mma;
  if (atom.kind != "warp" || atom.a_shared || atom.b_shared) {
    return wrong("schedule-entry", "mma",
                 "`mma` takes an atom that a warp executes on registers, which " + atom.name + " is not",
                 {{"works", example}});
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
  const auto& shape = gemm_.mma.shape;
  gemm_.tile = schedule_.tile.value_or(std::array<int, 3>{8 * shape[0], 16 * shape[1], 2 * shape[2]});
  gemm_.groups = schedule_.groups.value_or(std::array<int, 4>{2, 2, 1, 1});
  gemm_.stages = schedule_.stages.value_or(3);
  if (schedule_.cluster && *schedule_.cluster != std::array<int, 2>{1, 1}) {
    return wrong("unsupported", "cluster", "blocks of compute capability 8 form no clusters");
  }
  if (gemm_.groups[2] != 1 || gemm_.groups[3] != 1) {
    return wrong("unsupported", "groups", "groups along K and over successive tiles are not supported for sm80",
                 {{"help", "write 1 for the last two numbers"}});
  }
  if (gemm_.threads() > target_.block_threads) {
    return wrong("schedule-threads", "groups",
                 "the groups are " + std::to_string(gemm_.threads()) + " threads, and a block has at most " +
                     std::to_string(target_.block_threads),
                 {{"help", "fewer groups, each with more of the tile"}});
  }
  if (gemm_.stages < 2) {
    return wrong("schedule-entry", "stages", "the next K tile is on its way during the products: at least 2 stages");
  }
  // One step of K is read while another is multiplied, in two sets of registers.
  const std::array<int, 3> least{gemm_.groups[0] * shape[0], gemm_.groups[1] * shape[1], 2 * shape[2]};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (gemm_.tile[axis] % least[axis] == 0) continue;
    return wrong("schedule-cover", "tile",
                 "the accumulators of " + std::to_string(gemm_.groups[0]) + " x " + std::to_string(gemm_.groups[1]) +
                     " warps with " + gemm_.mma.name + " do not cover the tile " + text(gemm_.tile) + " exactly once",
                 {{"works", "a tile of multiples of " + text(least)}});
  }
  return true;
}

// (thread, value) -> (m, n): the atom's accumulators, again for each atom of a warp and for each warp.
bool Shaper::take_cover() {
  const Layout atom = fragment_of(gemm_.mma.c, {gemm_.mma.shape[0], gemm_.mma.shape[1]});
  const auto part = gemm_.part();
  const auto repeats = gemm_.repeats();
  const auto over = [](int m, int n) { return tuple(Tuple::basis(m, {0}), Tuple::basis(n, {1})); };
  gemm_.accumulators = Layout(tuple(tuple(atom.shape[0], tuple(gemm_.groups[0], gemm_.groups[1])),
                                    tuple(atom.shape[1], tuple(repeats[0], repeats[1]))),
                              tuple(tuple(atom.stride[0], over(part[0], part[1])),
                                    tuple(atom.stride[1], over(gemm_.mma.shape[0], gemm_.mma.shape[1]))));
  if (!cover_fault(gemm_.accumulators, {gemm_.tile[0], gemm_.tile[1]})) return true;
  return wrong("schedule-cover", "tile",
               "the accumulators " + gemm_.accumulators.to_string() + " do not cover the tile exactly once");
}

bool Shaper::take_operand(Sm80Operand& operand, sema::NodeId load, int axis) {
  operand.load = load;
  operand.outer = axis == 0 ? gemm_.m : gemm_.n;
  const sema::Tensor& tensor = loaded(kernel_, load);
  const auto& what = std::get<sema::Load>(node(kernel_, load).what);
  const int unit = unit_mode(facts_, tensor.layout);
  const sema::IndexId run = unit < 0 ? -1 : bare_index(kernel_, what.coordinate[static_cast<std::size_t>(unit)]);
  operand.along_k = run != operand.outer;
  for (std::size_t i = 0; i < what.coordinate.size(); ++i) {
    if (bare_index(kernel_, what.coordinate[i]) == (operand.along_k ? gemm_.k : operand.outer)) {
      operand.vector_mode = static_cast<int>(i);
    }
  }
  operand.vector = 1;
  if (width_ == Width::vectors && (run == gemm_.k || run == operand.outer)) {
    const int vector = widest_access / bytes_of(tensor);
    const Conditions needed{vector_conditions(facts_, tensor.layout, unit, vector), {{what.tensor, widest_access}}};
    if (!never(needed)) {
      operand.vector = vector;
      add(conditions_, needed);
    }
  }
  operand.async = operand.vector * bytes_of(tensor) >= 4;
  const std::array<int, 2> tile{gemm_.tile[static_cast<std::size_t>(axis)], gemm_.tile[2]};
  const auto threads = shared_copy(tile, operand.along_k, operand.vector, gemm_.threads());
  if (!threads) {
    return wrong("schedule-copy", "tile",
                 std::to_string(gemm_.threads()) + " threads cannot share a tile of " + std::to_string(tile[0]) +
                     " x " + std::to_string(tile[1]) + " elements evenly",
                 {{"works", "tile extents and groups that are powers of two"}});
  }
  operand.threads = *threads;
  const auto& atom = axis == 0 ? gemm_.mma.a : gemm_.mma.b;
  operand.fragment = fragment_of(atom, {gemm_.mma.shape[static_cast<std::size_t>(axis)], gemm_.mma.shape[2]});
  take_matrices(operand, bits(tensor.element));
  return take_shared(operand, axis, axis == 0 ? schedule_.shared_a : schedule_.shared_b);
}

// The layout that was asked for holds each element once, and the elements of every access together.
bool Shaper::take_shared(Sm80Operand& operand, int axis, const std::optional<AnyLayout>& asked) {
  const int element = bits(loaded(kernel_, operand.load).element);
  take_swizzle(operand, gemm_, element);
  if (!asked) return true;
  const std::array<int, 2> tile{gemm_.tile[static_cast<std::size_t>(axis)], gemm_.tile[2]};
  const auto* composed = std::get_if<Composed>(&*asked);
  const Layout* inner = composed ? std::get_if<Layout>(&composed->inner) : std::get_if<Layout>(&*asked);
  const std::string name = axis == 0 ? "A" : "B";
  const auto misfit = [&](const std::string& what) {
    return wrong("schedule-smem", "smem " + name, "the layout " + to_string(*asked) + " " + what,
                 {{"works", to_string(operand.shared)}});
  };
  if (!inner || !inner->is_known() || inner->has_basis() || inner->rank() != 2 || !size((*inner)[0]).is(tile[0]) ||
      !size((*inner)[1]).is(tile[1])) {
    return misfit("is not one of the tile (" + std::to_string(tile[0]) + "," + std::to_string(tile[1]) + ") of " +
                  name);
  }
  const auto offsets = values(*asked);
  auto sorted = offsets;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() < 0 || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return misfit("gives two elements of " + name + " one place");
  }
  const int together = operand.matrices > 0 ? widest_access * 8 / element : operand.vector;
  const std::size_t step = operand.along_k ? static_cast<std::size_t>(tile[0]) : 1;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::size_t at = operand.along_k ? i / step : i % static_cast<std::size_t>(tile[0]);
    const auto place = at % static_cast<std::size_t>(together);
    if (offsets[i] % together != static_cast<std::int64_t>(place) ||
        (place > 0 && offsets[i] != offsets[i - step] + 1)) {
      return misfit("does not keep the " + std::to_string(together) + " elements of an access together");
    }
  }
  operand.shared = *asked;
  return true;
}

// Two neighbouring accumulators of a thread lie side by side along n.
void Shaper::take_stores() {
  const Layout atom = gemm_.accumulators[1];
  const auto at_m = values(along(atom, 0)), at_n = values(along(atom, 1));
  bool pairs = at_m.size() % 2 == 0;
  for (std::size_t i = 0; pairs && i < at_m.size(); i += 2) {
    pairs = at_m[i] == at_m[i + 1] && at_n[i] + 1 == at_n[i + 1] && at_n[i] % 2 == 0;
  }
  for (const sema::Assignment& assignment : kernel_.assignments) {
    const sema::Tensor& tensor = kernel_.tensors[static_cast<std::size_t>(assignment.target)];
    const int unit = unit_mode(facts_, tensor.layout);
    int vector = 1;
    if (pairs && width_ == Width::vectors && unit >= 0 &&
        assignment.indices[static_cast<std::size_t>(unit)] == gemm_.n) {
      const Conditions needed{vector_conditions(facts_, tensor.layout, unit, 2),
                              {{assignment.target, 2 * bytes_of(tensor)}}};
      if (!never(needed)) {
        add(conditions_, needed);
        vector = 2;
      }
    }
    gemm_.vectors.push_back(vector);
  }
}

bool Shaper::take_order() {
  const Tiling tiling{gemm_.m, gemm_.n, gemm_.batch, {gemm_.tile[0], gemm_.tile[1]}};
  gemm_.order = schedule_.order.value_or(default_order(kernel_, tiling));
  return !schedule_.order || check_order(kernel_, tiling, gemm_.order, schedule_.at("order"), problems_);
}

bool Shaper::take_room() {
  if (const int bytes = shared_bytes(gemm_, kernel_); bytes > target_.shared_bytes) {
    return wrong("schedule-shared", schedule_.stages ? "stages" : "tile",
                 std::to_string(gemm_.stages) + " stages take " + std::to_string(bytes) +
                     " bytes of shared memory, and a block has " + std::to_string(target_.shared_bytes),
                 {{"help", "fewer stages or a smaller tile"}});
  }
  const int most = std::min(target_.thread_registers, target_.registers / gemm_.threads());
  if (const int least = least_registers(gemm_); least > most) {
    return wrong(
        "schedule-registers", "tile",
        "the tile takes at least " + std::to_string(least) + " registers a thread, which has " + std::to_string(most),
        {{"help", "a smaller tile or more groups"}});
  }
  return true;
}

std::optional<Sm80Gemm> Shaper::run() {
  gemm_.contraction = form_.contraction;
  gemm_.m = form_.m;
  gemm_.n = form_.n;
  gemm_.k = form_.k;
  gemm_.batch = form_.batch;
  if (!take_atom() || !take_tile() || !take_cover() || !take_operand(gemm_.a, form_.a, 0) ||
      !take_operand(gemm_.b, form_.b, 1)) {
    return std::nullopt;
  }
  take_stores();
  if (!take_order() || !take_room()) return std::nullopt;
  return gemm_;
}

}  // namespace

std::optional<Sm80Gemm> shape_sm80(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule,
                                   const Target& target, Facts& facts, Width width, Conditions& conditions,
                                   std::vector<Problem>& problems) {
  return Shaper(kernel, form, schedule, target, facts, width, conditions, problems).run();
}

int shared_bytes(const Sm80Gemm& gemm, const sema::Kernel& kernel) {
  const auto bytes = [&](const Sm80Operand& operand) {
    const auto offsets = values(operand.shared);
    return static_cast<int>(*std::max_element(offsets.begin(), offsets.end()) + 1) *
           bytes_of(loaded(kernel, operand.load));
  };
  return gemm.stages * (bytes(gemm.a) + bytes(gemm.b));
}

int least_registers(const Sm80Gemm& gemm) {
  const auto repeats = gemm.repeats();
  const auto held = [](const Layout& operand, ElementType type) {
    return static_cast<int>(size(operand[1]).value()) * bits(type) / 32;
  };
  const int a = repeats[0] * held(gemm.mma.a, gemm.mma.a_type), b = repeats[1] * held(gemm.mma.b, gemm.mma.b_type);
  return repeats[0] * repeats[1] * held(gemm.mma.c, gemm.mma.accumulator) + 2 * (a + b);
}

}  // namespace lay::plan
