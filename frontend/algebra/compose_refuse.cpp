#include <algorithm>

#include "frontend/algebra/compose.h"

namespace lay {
namespace {

constexpr int64_t kMaxRepair = 4096;
constexpr int64_t kMaxWitness = int64_t{1} << 20;

// The layout that somebody might take for a o b: each mode on its own, even steps where a mode has no form.
Layout nearest(const Table& a, const Layout& b) {
  const auto one = [&](const Tuple& shape, const Tuple& stride) {
    const int64_t n = shape.value().value(), d = stride.value().value();
    std::vector<int64_t> values;
    for (int64_t i = 0; i < n; ++i) values.push_back(a(checked_mul(i, d)));
    if (const auto modes = fit(values)) return from_modes(*modes, {});
    return Layout(shape, n > 1 ? values[1] : 0);
  };
  const std::function<Layout(const Tuple&, const Tuple&)> all = [&](const Tuple& shape, const Tuple& stride) {
    if (shape.is_leaf()) return one(shape, stride);
    std::vector<Layout> modes;
    for (int i = 0; i < shape.rank(); ++i) modes.push_back(all(shape[i], stride[i]));
    return make_layout(modes);
  };
  return all(b.shape, b.stride);
}

std::optional<Counterexample> counterexample(Facts& facts, const Table& a, const Layout& b) {
  if (size(b).value() > kMaxWitness) return std::nullopt;
  const Layout claimed = nearest(a, b);
  const std::vector<int64_t> middle = values(b), actual = values(claimed);
  for (size_t i = 0; i < middle.size(); ++i) {
    const int64_t due = a(middle[i]);
    if (due == actual[i]) continue;
    const auto index = static_cast<int64_t>(i);
    return Counterexample{index,
                          b.shape.is_leaf() ? "" : idx2crd(facts, index, b.shape).to_string(),
                          std::to_string(middle[i]),
                          std::to_string(due),
                          std::to_string(actual[i]),
                          claimed.to_string()};
  }
  return std::nullopt;
}

// The mode of the right side with other steps, nearest first: whole modes of the left side, then whole fractions of
// one.
std::optional<std::string> repair_right(const Table& a, const Layout& b, const Misfit& misfit) {
  if (size(b).value() > kMaxRepair || misfit.right_mode >= b.rank()) return std::nullopt;
  const bool alone = b.shape.is_leaf();
  const Layout mode = alone ? b : b[misfit.right_mode];
  if (mode.shape.is_tuple()) return std::nullopt;
  const int64_t d = mode.stride.value().value(), c = misfit.extent.value();
  std::vector<int64_t> steps{(d / c + 1) * c};
  for (int64_t step = std::min(d - 1, c); step >= 1 && step > d - 64; --step) steps.push_back(step);
  for (const int64_t step : steps) {
    const Layout changed(mode.shape, step);
    const Layout right = alone ? changed : replace(b, misfit.right_mode, changed);
    if (compose_by_table(a, right)) return "the right side as " + right.to_string();
  }
  return std::nullopt;
}

// The size, if it fits 64 bits.
std::optional<int64_t> known_product(const Tuple& shape) {
  int64_t product = 1;
  for (const Tuple& extent : leaves(shape)) {
    if (__builtin_mul_overflow(product, extent.value().value(), &product)) return std::nullopt;
  }
  return product;
}

void word(Refusal& r, const Misfit& misfit) {
  const std::string mode = "mode " + std::to_string(misfit.right_mode);
  const std::string left = "mode " + std::to_string(misfit.left_mode) + " of the left side";
  if (misfit.code == "composition-stride") {
    r.labels.push_back({1, mode + " steps by " + misfit.step.to_string() +
                               ", which neither divides nor is divided by " + misfit.extent.to_string() +
                               ", the extent of " + left});
  } else if (misfit.code == "composition-shape") {
    r.labels.push_back({1, mode + " takes " + misfit.count.to_string() + " steps of " + misfit.step.to_string() +
                               " and leaves " + left + ", of extent " + misfit.extent.to_string() +
                               ", in the middle of a round"});
  } else if (misfit.code == "composition-carry") {
    r.labels.push_back({1, misfit.step.is(-1)
                               ? "modes step up and down and borrow from " + left
                               : mode + " steps by " + misfit.step.to_string() + " and carries out of " + left});
  } else {
    r.message = "this composition is a layout only under a condition that is not known";
    r.labels.push_back({1, mode + " steps by " + misfit.step.to_string() + " through " + left + ", of extent " +
                               misfit.extent.to_string()});
    r.help = "assume " + misfit.missing;
  }
}

}  // namespace

Refusal refuse_composition(Facts& facts, const Layout& a, const Layout& b, const Misfit& misfit) {
  Refusal r = refusal(misfit.code, "this composition is not a layout");
  r.operands = {a.to_string(), b.to_string()};
  r.mode = misfit.right_mode;
  word(r, misfit);
  const auto table = as_table(extended_modes(facts, a));
  if (!table || !b.is_known() || b.has_basis()) return r;
  if (size(b).value() > kMaxWitness) r.message = "no layout was found for this composition";
  r.witness = counterexample(facts, *table, b);
  if (const auto n = known_product(a.shape)) {
    r.works.push_back("the left side as " + Layout(*n, flat_modes(a)[0].stride).to_string());
  }
  if (const auto right = repair_right(*table, b, misfit)) r.works.push_back(*right);
  return r;
}

}  // namespace lay
