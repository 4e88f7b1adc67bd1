#include <algorithm>

#include "frontend/algebra/composition/compose.h"
#include "frontend/algebra/support/repair.h"

namespace lay {
namespace {

// A repair is tried by its table of values, up to `kMaxRepair` elements: a refusal must not take
// longer than the check before it.
constexpr int64_t kMaxRepair = 4096;

std::optional<Counterexample> counterexample(Facts& facts, const Layout& a, const Layout& b) {
  const auto table = tabulate(a, b);
  const auto wrong = table ? nearest_mismatch(*table) : std::nullopt;
  if (!wrong) return std::nullopt;
  return Counterexample{wrong->index,
                        b.shape.is_leaf() ? "" : idx2crd(facts, wrong->index, b.shape).to_string(),
                        evaluate(facts, b, wrong->index).to_string(),
                        wrong->expected.to_string(),
                        wrong->got.to_string(),
                        wrong->claimed.to_string()};
}

// The size, if it fits 64 bits.
std::optional<int64_t> known_product(const Tuple& shape) {
  int64_t product = 1;
  for (const Tuple& extent : leaves(shape)) {
    if (__builtin_mul_overflow(product, extent.value().value(), &product)) return std::nullopt;
  }
  return product;
}

// The mode of the right side with other steps, nearest first: whole modes of the left side, then
// whole fractions of one.
std::optional<std::string> repair_right(const Layout& a, const Layout& b, const Misfit& misfit) {
  if (misfit.right_mode >= b.rank()) return std::nullopt;
  const bool alone = b.shape.is_leaf();
  const Layout mode = alone ? b : b[misfit.right_mode];
  if (mode.shape.is_tuple()) return std::nullopt;
  // Candidates: the next multiple of c above d, which goes over the mode, then every step below d
  // down to 1, at most 64 of them.
  const int64_t d = mode.stride.value().value(), c = misfit.extent.value();
  if (d < 1 || d > INT64_MAX - c) return std::nullopt;
  std::vector<int64_t> steps{(d / c + 1) * c};
  for (int64_t step = std::min(d - 1, c); step >= 1 && step > d - 64; --step) steps.push_back(step);
  for (const int64_t step : steps) {
    const Layout changed(mode.shape, Tuple::basis(step, mode.stride.path()));
    const Layout right = alone ? changed : replace(b, misfit.right_mode, changed);
    if (compose_by_table(a, right)) return "the right side as " + right.to_string();
  }
  return std::nullopt;
}

// The mode with another number of steps, nearest first.
// The mode leaves a round unfinished: up to 64 steps less or more may finish it.
std::optional<std::string> repair_count(const Layout& a, const Layout& b, const Misfit& misfit) {
  const bool alone = b.shape.is_leaf();
  const Layout mode = alone ? b : b[misfit.right_mode];
  if (mode.shape.is_tuple()) return std::nullopt;
  const int64_t n = mode.shape.value().value();
  for (int64_t step = 1; step <= 64; ++step) {
    for (const int64_t count : {n - step, n + step}) {
      if (count < 2) continue;
      const Layout changed(count, mode.stride);
      const Layout right = alone ? changed : replace(b, misfit.right_mode, changed);
      // Tried, not guessed: what is offered composes.
      if (compose_by_table(a, right)) return "the right side as " + right.to_string();
    }
  }
  return std::nullopt;
}

void word(Refusal& r, const Misfit& misfit) {
  const std::string mode = "mode " + std::to_string(misfit.right_mode);
  const std::string left = "mode " + std::to_string(misfit.left_mode) + " of the left side";
  if (misfit.code == "composition-stride") {
    r.labels.push_back({1, mode + " steps by " + misfit.step.to_string() +
                               ", which neither divides nor is divided by " +
                               misfit.extent.to_string() + ", the extent of " + left});
  } else if (misfit.code == "composition-shape") {
    r.labels.push_back({1, mode + " takes " + misfit.count.to_string() + " steps of " +
                               misfit.step.to_string() + " and leaves " + left + ", of extent " +
                               misfit.extent.to_string() + ", in the middle of a round"});
  } else if (misfit.code == "composition-carry") {
    r.labels.push_back({1, misfit.step.is(-1) ? "modes step up and down and borrow from " + left
                                              : mode + " steps by " + misfit.step.to_string() +
                                                    " and carries out of " + left});
  } else {
    r.message = "this composition is a layout only under a condition that is not known";
    r.labels.push_back({1, mode + " steps by " + misfit.step.to_string() + " through " + left +
                               ", of extent " + misfit.extent.to_string()});
    r.help = "assume " + misfit.missing;
  }
}

}  // namespace

Refusal refuse_composition(Facts& facts, const Layout& a, const Layout& b, const Misfit& misfit) {
  Refusal r = refusal(misfit.code, "this composition is not a layout");
  r.operands = {a.to_string(), b.to_string()};
  r.mode = misfit.right_mode;
  word(r, misfit);
  // With symbols the failure is shown at the smallest sizes at which it happens.
  if (!a.is_known() || !b.is_known()) {
    if (misfit.code == "undecided") return r;
    r.message = "no layout was found for this composition";
    show_sizes(
        facts, {a, b},
        [&](Facts& plain, const Numbers& numbers) {
          const auto outer = substitute(a, numbers);
          const auto inner = small_at(b, numbers);
          if (!inner || !outer.is_known()) return false;
          if (compose_by_table(outer, *inner)) return true;
          Refusal refused = refusal(r.code, "");
          refused.witness = counterexample(plain, outer, *inner);
          throw refused;
        },
        r);
    return r;
  }
  r.witness = counterexample(facts, a, b);
  if (!r.witness) r.message = "no layout was found for this composition";
  const auto n_a = known_product(a.shape), n_b = known_product(b.shape);
  // One mode of the same size has nothing to carry out of.
  if (n_a && !b.has_basis() && !flat_modes(a)[0].stride.is_literal(0)) {
    r.works.push_back("the left side as " + Layout(*n_a, flat_modes(a)[0].stride).to_string());
  }
  if (!n_b || *n_b > kMaxRepair) return r;
  if (misfit.code == "composition-shape") {
    if (const auto right = repair_count(a, b, misfit)) r.works.push_back(*right);
  } else if (const auto right = repair_right(a, b, misfit)) {
    r.works.push_back(*right);
  }
  return r;
}

}  // namespace lay
