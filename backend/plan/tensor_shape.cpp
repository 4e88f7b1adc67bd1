#include "backend/plan/tensor_shape.h"

#include "backend/plan/launches/product.h"
#include "backend/plan/simt/simt.h"
#include "backend/plan/text.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/memo.h"

namespace lay::plan {

namespace {

std::string text(ElementType type) {
  return std::string(element_name(type));
}

// Returns true if they cover the tile exactly once; the variants of a plan ask again.
bool is_cover(const Layout& accumulators, const std::array<int, 3>& tile) {
  static Memo<std::string, bool> known;
  return known(accumulators.to_string() + tuple_text(tile), [&] {
    return !cover_fault(accumulators, {tile[0], tile[1]});
  });
}

}  // namespace

bool TensorShaping::wrong(const char* code, const std::string& entry, std::string message,
                          Notes notes) const {
  problems.push_back({code, std::move(message), schedule.at(entry), {}, std::move(notes), {}});
  return false;
}

bool is_as_stored(const sema::Kernel& kernel, const GemmForm& form, sema::NodeId value,
                  sema::NodeId load) {
  const ElementType sum = kernel.node(form.contraction).type;
  // f32(bf16) is what the tensor core does itself; f32(f16(e4m3)) would round in between.
  // So would no s32 around integers of 8 bits.
  const ElementType element = kernel.node(load).type;
  const bool small_integer = !is_float(element) && bits(element) <= 8;
  // A view's zeros outside of the tensor are what TMA puts there: the arm with the element counts.
  const auto behind = [&](sema::NodeId id) {
    const auto& apply = std::get<sema::Apply>(kernel.node(id).what);
    return apply.operands[apply.function == ElementFunction::select ? 1 : 0];
  };
  for (; value != load; value = behind(value)) {
    const ElementType type = kernel.node(value).type;
    if (type == element) continue;
    if (type != sum && !(small_integer && type == ElementType::s32)) return false;
  }
  return true;
}

bool is_convertible(const sema::Kernel& kernel, sema::NodeId value, const sema::Atom& atom,
                    int operand) {
  if (operand == 0 ? atom.a_shared : atom.b_shared) return false;
  const ElementType type = operand == 0 ? atom.a_type : atom.b_type;
  // Integers are no operands that a conversion makes: their atoms sum integers, and a factor in f32
  // is not one of theirs whatever its values are.
  return is_float(type) && is_exact(kernel, value, type);
}

bool choose_atom(const TensorShaping& at, TensorGemm& gemm, const AtomDemand& demand) {
  const sema::Kernel& kernel = at.kernel;
  const GemmForm& form = at.form;
  gemm.contraction = form.contraction;
  gemm.m = form.m;
  gemm.n = form.n;
  gemm.k = form.k;
  gemm.batch = form.batch;
  // The checks stand in the order in which a user would mend them: an atom, one of the right kind,
  // one that the GPU has, one of the kernel's types.
  if (!at.schedule.mma) {
    return at.wrong("schedule-entry", "mma", "a schedule for " + demand.family + " names its atom",
                    {{"works", "mma = " + demand.example}});
  }
  gemm.mma = *at.schedule.mma;
  const sema::Atom& atom = gemm.mma;
  if (!demand.meets(atom)) {
    return at.wrong("schedule-entry", "mma",
                    "`mma` takes an atom " + demand.what + ", which " + atom.name + " is not",
                    {{"works", demand.example}});
  }
  if (atom.since > at.target.capability) {
    return at.wrong("schedule-capability", "mma",
                    atom.name + " needs compute capability " + capability_text(atom.since) +
                        ", and " + at.target.name + " has " + capability_text(at.target.capability),
                    {{"help", "an atom that the GPU has, or a schedule for a newer one"}});
  }
  // No GPU from compute capability 9.0 on multiplies elements of 4 bits.
  if (bits(atom.a_type) < 8 || bits(atom.b_type) < 8) {
    return at.wrong("unsupported", "mma",
                    atom.name + " multiplies elements of " + text(atom.a_type) +
                        ", which share bytes, and a kernel takes none that does",
                    {{"help", "an atom of 16 bits, to which elements of 4 bits are converted"}});
  }
  const ElementType a = kernel.loaded(form.a).element, b = kernel.loaded(form.b).element,
                    sum = kernel.node(form.contraction).type;
  // Scaled integers are summed as such within a group: |products| of 8 bits are at most 2^16, and
  // an interval of 4096 of them fits 32 bits.
  const bool scaled_integers =
      !form.scales.empty() && sum == ElementType::f32 && atom.accumulator == ElementType::s32;
  const bool same_sum = sum == atom.accumulator || scaled_integers;
  // s8 beside bf16: the atom of bf16 takes both, one as it lies in memory and one converted.
  // Factors of the atom's type that are no plain elements have been looked at before
  // (tensor_variant.cpp).
  const bool takes = (a == atom.a_type || is_convertible(kernel, form.a_value, atom, 0)) &&
                     (b == atom.b_type || is_convertible(kernel, form.b_value, atom, 1));
  if (takes && same_sum) return true;
  return at.wrong("schedule-types", "mma",
                  atom.name + " multiplies " + text(atom.a_type) + " by " + text(atom.b_type) +
                      " into " + text(atom.accumulator) + ", and the kernel " + text(a) + " by " +
                      text(b) + " into " + text(sum));
}

bool check_tile(const TensorShaping& at, const TensorGemm& gemm, const std::array<int, 3>& least,
                const char* who) {
  // `least` is what all groups with one atom each cover.
  if (gemm.tile[0] % least[0] == 0 && gemm.tile[1] % least[1] == 0 &&
      gemm.tile[2] % least[2] == 0) {
    // Asked before anything lists the elements of the tile.
    const std::int64_t threads = gemm.groups[0] * gemm.groups[1] * gemm.mma.count(),
                       held = std::int64_t{gemm.tile[0]} * gemm.tile[1] / threads;
    if (held <= at.target.thread_registers) return true;
    return at.wrong("schedule-registers", "tile",
                    "the tile " + tuple_text(gemm.tile) + " leaves " + std::to_string(held) +
                        " accumulators to each of " + std::to_string(threads) +
                        " threads, which has " + std::to_string(at.target.thread_registers) +
                        " registers",
                    {{"help", "a smaller tile or more groups"}});
  }
  return at.wrong("schedule-cover", "tile",
                  "the accumulators of " + std::to_string(gemm.groups[0]) + " x " +
                      std::to_string(gemm.groups[1]) + " " + who + " with " + gemm.mma.name +
                      " do not cover the tile " + tuple_text(gemm.tile) + " exactly once",
                  {{"works", "a tile of multiples of " + tuple_text(least)}});
}

bool check_threads(const TensorShaping& at, int threads, const char* whose) {
  if (threads <= at.target.block_threads) return true;
  return at.wrong("schedule-threads", "groups",
                  std::string(whose) + " are " + std::to_string(threads) +
                      " threads, and a block has at most " +
                      std::to_string(at.target.block_threads),
                  {{"help", "fewer groups, each with more of the tile"}});
}

Layout fragment_of(const Layout& operand, std::array<int, 2> shape) {
  Facts facts;
  // The atom's layouts give column-major numbers in (outer, k); composed with the identity on
  // coordinates they give the coordinates themselves.
  const Layout coordinates(tuple(shape[0], shape[1]),
                           tuple(Tuple::basis(1, {0}), Tuple::basis(1, {1})));
  return composition(facts, coordinates, operand);
}

// The atom's accumulators, again for each atom of a group and for each group.
bool choose_accumulators(const TensorShaping& at, TensorGemm& gemm) {
  const auto& shape = gemm.mma.shape;
  const Layout atom = fragment_of(gemm.mma.c, {shape[0], shape[1]});
  const auto part = gemm.part();
  const auto repeats = gemm.repeats();
  // A group begins a part further, a repeat an atom further: (64@0,128@1) for parts of 64 x 128.
  const auto over = [](int m, int n) { return tuple(Tuple::basis(m, {0}), Tuple::basis(n, {1})); };
  gemm.accumulators = Layout(tuple(tuple(atom.shape[0], tuple(gemm.groups[0], gemm.groups[1])),
                                   tuple(atom.shape[1], tuple(repeats[0], repeats[1]))),
                             tuple(tuple(atom.stride[0], over(part[0], part[1])),
                                   tuple(atom.stride[1], over(shape[0], shape[1]))));
  if (is_cover(gemm.accumulators, gemm.tile)) return true;
  return at.wrong(
      "schedule-cover", "tile",
      "the accumulators " + gemm.accumulators.to_string() + " do not cover the tile exactly once");
}

void choose_vectors(const TensorShaping& at, TensorGemm& gemm) {
  // mma's accumulators come in pairs along n: (0,0) and (0,1), then (8,0) and (8,1).
  const Layout held = gemm.accumulators[1];
  const auto at_m = values(along(held, 0)), at_n = values(along(held, 1));
  bool pairs = at.width == Width::vectors && at_m.size() % 2 == 0;
  for (std::size_t i = 0; pairs && i < at_m.size(); i += 2) {
    // Values 2 i and 2 i + 1 are neighbours along n from an even column on, as in every mma of
    // NVIDIA's.
    pairs = at_m[i] == at_m[i + 1] && at_n[i] + 1 == at_n[i + 1] && at_n[i] % 2 == 0;
  }
  for (const sema::Assignment& assignment : at.kernel.assignments) {
    const sema::Tensor& tensor = at.kernel.tensor(assignment.target);
    const int unit = pairs ? tile::unit_mode(at.facts, tensor.layout) : -1;
    int vector = 1;
    if (unit >= 0 && assignment.indices[static_cast<std::size_t>(unit)] == gemm.n) {
      const Conditions needed{tile::vector_conditions(at.facts, tensor.layout, unit, 2),
                              {{assignment.target, 2 * tensor.element_bytes()}}};
      if (!is_never(needed)) {
        add(at.conditions, needed);
        vector = 2;
      }
    }
    gemm.vectors.push_back(vector);
  }
}

}  // namespace lay::plan
