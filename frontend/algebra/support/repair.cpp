#include "frontend/algebra/support/repair.h"

#include <algorithm>
#include <cstdlib>

#include "frontend/algebra/integers/knowledge.h"
#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/support/trace.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {
namespace {

constexpr int64_t kSmall = 4096;

}  // namespace

std::optional<Layout> spread(const Layout& a) {
  if (!a.is_known() || a.has_basis()) return std::nullopt;
  std::vector<Mode> modes = flat_modes(a);
  std::vector<size_t> order;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (!modes[i].stride.is_literal(0) && !modes[i].extent.is(1)) order.push_back(i);
  }
  const auto magnitude = [&](size_t i) { return std::abs(modes[i].stride.value().value()); };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t i, size_t k) { return magnitude(i) < magnitude(k); });
  try {
    int64_t last = 1, covered = 1;
    std::vector<Tuple> strides = leaves(a.stride);
    for (const size_t i : order) {
      const Int apart = ceil_div(std::max(magnitude(i), covered), last) * last;
      last = apart.value();
      covered = checked_mul(last, modes[i].extent.value());
      strides[i] = modes[i].stride.value().value() < 0 ? -apart : apart;
    }
    return Layout(a.shape,
                  a.shape.is_leaf() ? strides[0] : unflatten(Tuple(std::move(strides)), a.shape),
                  a.units);
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

std::optional<Layout> small_at(const Layout& a, const Numbers& numbers) {
  const Layout known = substitute(a, numbers);
  if (!known.is_known()) return std::nullopt;
  int64_t n = 1;
  for (const Tuple& extent : leaves(known.shape)) {
    if (__builtin_mul_overflow(n, extent.value().value(), &n) || n > kSmall) return std::nullopt;
  }
  return known;
}

void show_sizes(const Facts& facts, const std::vector<Layout>& operands, const AtSizes& operation,
                Refusal& r) {
  std::map<DimId, std::string> dims;
  for (const Layout& operand : operands) {
    for (const Tuple& leaf : leaves(operand.shape)) leaf.value().collect_dims(dims);
    for (const Tuple& leaf : leaves(operand.stride)) leaf.value().collect_dims(dims);
  }
  if (dims.empty()) return;
  const trace::Quiet trials;
  std::optional<Refusal> refused;
  const SizeTest accepts = [&](const Binding& at) -> std::optional<bool> {
    Numbers numbers;
    for (const auto& [id, value] : at) numbers[id] = value;
    Facts plain;
    try {
      if (!operation(plain, numbers)) return std::nullopt;
      return true;
    } catch (const Refusal& refusal) {
      if (refusal.code != r.code)
        return std::nullopt;  // no layout at these sizes, or numbers beyond 64 bits
      refused = refusal;
      return false;
    }
  };
  const Search search = search_counterexample(Knowledge(facts), dims, accepts);
  if (!search.witness || !accepts(search.at).has_value() || !refused) return;
  r.sizes = *search.witness;
  r.witness = refused->witness;
}

}  // namespace lay
