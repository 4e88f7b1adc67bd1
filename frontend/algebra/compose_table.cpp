#include <algorithm>

#include "frontend/algebra/compose.h"

namespace lay {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 20;

// How far values[i] == i * values[1] goes on.
size_t run_of(const std::vector<int64_t>& values, size_t step, size_t count) {
  if (count < 2) return count;
  const int64_t d = values[step];
  size_t n = 2;
  int64_t next;
  while (n < count && !__builtin_mul_overflow(d, static_cast<int64_t>(n), &next) && values[n * step] == next) ++n;
  return n;
}

Tuple fit_shape(const Tuple& shape, const Tuple& stride, const Table& a, Tuple& strides, bool& fits) {
  if (shape.is_tuple()) {
    std::vector<Tuple> shapes, all_strides;
    for (int i = 0; i < shape.rank() && fits; ++i) {
      Tuple mode_strides;
      shapes.push_back(fit_shape(shape[i], stride[i], a, mode_strides, fits));
      all_strides.push_back(mode_strides);
    }
    strides = Tuple(std::move(all_strides));
    return Tuple(std::move(shapes));
  }
  const int64_t n = shape.value().value(), d = stride.value().value();
  std::vector<int64_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(a(checked_mul(i, d)));
  const auto modes = fit(values);
  fits = modes.has_value();
  if (!fits) return shape;
  const Layout fitted = from_modes(*modes, {});
  strides = fitted.stride;
  return fitted.shape;
}

}  // namespace

int64_t Table::operator()(int64_t index) const {
  int64_t value = 0;
  for (size_t i = 0; i + 1 < extents.size(); ++i) {
    value = checked_add(value, checked_mul(index % extents[i], strides[i]));
    index /= extents[i];
  }
  return checked_add(value, checked_mul(index, strides.back()));
}

std::optional<Table> as_table(const std::vector<Mode>& left) {
  Table table;
  for (const Mode& mode : left) {
    if (!mode.extent.is_literal() || !mode.stride.is_int() || !mode.stride.value().is_literal()) return std::nullopt;
    table.extents.push_back(mode.extent.value());
    table.strides.push_back(mode.stride.value().value());
  }
  return table;
}

// The first mode of a coalesced layout is as long as its values go on evenly: if that length does not divide, there is
// no layout.
std::optional<std::vector<Mode>> fit(const std::vector<int64_t>& values) {
  std::vector<Mode> modes;
  size_t step = 1, count = values.size();
  if (values.empty() || values[0] != 0) return std::nullopt;
  while (count > 1) {
    const size_t n = run_of(values, step, count);
    if (count % n != 0) return std::nullopt;
    const int64_t d = values[step];
    for (size_t i = 0; i < count; ++i) {
      const size_t digit = i % n;
      int64_t due;
      if (__builtin_mul_overflow(static_cast<int64_t>(digit), d, &due) ||
          __builtin_add_overflow(values[(i - digit) * step], due, &due) || values[i * step] != due) {
        return std::nullopt;
      }
    }
    modes.push_back({static_cast<int64_t>(n), d});
    step *= n;
    count /= n;
  }
  if (modes.empty()) modes.push_back({1, 0});
  return modes;
}

std::optional<Layout> compose_by_table(const Table& a, const Layout& b) {
  const Int size_b = size(b);
  if (!b.is_known() || b.has_basis() || size_b.value() > kMaxElements) return std::nullopt;
  bool fits = true;
  Tuple strides;
  const Tuple shape = fit_shape(b.shape, b.stride, a, strides, fits);
  if (!fits) return std::nullopt;
  const Layout result(shape, strides);
  const std::vector<int64_t> due = values(b), actual = values(result);
  for (size_t i = 0; i < due.size(); ++i) {
    if (a(due[i]) != actual[i]) return std::nullopt;
  }
  return result;
}

}  // namespace lay
