// Composition by the table of values: complete for literal operands, at the cost of one step an
// element.

#include <algorithm>

#include "frontend/algebra/composition/compose.h"
#include "frontend/algebra/support/interruption.h"

namespace lay {
namespace {

// A literal layout as a plain function on integers. Its last mode goes on for ever; below 0 it is
// its mirror image.
class IndexFunction {
 public:
  IndexFunction(const Layout& a, const Directions& directions) : width_(directions.paths.size()) {
    for (const Mode& mode : extended_modes(Facts(), a)) {
      modes_.push_back(
          {mode.extent.value(), mode.stride.value().value(), directions.of(mode.stride.path())});
    }
  }

  // The digits of the index, lowest mode first; `%` and `/` round towards 0, which makes a negative
  // index the mirror image of the positive one.
  void add(int64_t index, int64_t* value) const {
    for (size_t i = 0; i + 1 < modes_.size(); ++i) {
      step(modes_[i], index % modes_[i].extent, value);
      index /= modes_[i].extent;
    }
    step(modes_.back(), index, value);
  }

  Column column(const Column& indices) const {
    Column f{std::vector<int64_t>(indices.count() * width_, 0), width_};
    for (size_t i = 0; i < indices.count(); ++i) add(indices.numbers[i], &f.numbers[i * width_]);
    return f;
  }

 private:
  struct PlainMode {
    int64_t extent, stride;
    size_t direction;
  };
  static void step(const PlainMode& mode, int64_t times, int64_t* value) {
    value[mode.direction] = checked_add(value[mode.direction], checked_mul(times, mode.stride));
  }
  std::vector<PlainMode> modes_;
  size_t width_;
};

bool is_multiple(const int64_t* value, int64_t times, const int64_t* of, size_t width) {
  for (size_t k = 0; k < width; ++k) {
    int64_t expected;
    if (__builtin_mul_overflow(times, of[k], &expected) || value[k] != expected) return false;
  }
  return true;
}

bool is_sum(const int64_t* value, const int64_t* base, int64_t times, const int64_t* step,
            size_t width) {
  for (size_t k = 0; k < width; ++k) {
    int64_t expected;
    if (__builtin_mul_overflow(times, step[k], &expected) ||
        __builtin_add_overflow(base[k], expected, &expected))
      return false;
    if (value[k] != expected) return false;
  }
  return true;
}

bool is_zero(const int64_t* value, size_t width) {
  return std::all_of(value, value + width, [](int64_t x) { return x == 0; });
}

// The step as a stride: an integer, one basis element, or none where it goes in two directions at
// once.
std::optional<Tuple> as_stride(const int64_t* step, const Directions& directions) {
  std::optional<Tuple> stride;
  for (size_t k = 0; k < directions.paths.size(); ++k) {
    if (step[k] == 0) continue;
    if (stride) return std::nullopt;
    stride = Tuple::basis(step[k], directions.paths[k]);
  }
  return stride ? stride : Tuple(0);
}

// The first mode of a coalesced layout is as long as its values go on evenly: if that length does
// not divide, there is no layout. So the modes found are the only ones.
//     0 4 8 1 5 9     modes 3:4 and 2:1
//     0 4 8 1 5       3 does not divide 5: no layout
std::optional<std::vector<Mode>> fit(const Column& f, const Directions& directions) {
  const size_t width = f.width;
  std::vector<Mode> modes;
  size_t step = 1, count = f.count();
  if (count == 0 || !is_zero(f.at(0), width)) return std::nullopt;
  while (count > 1) {
    // The value at the first coordinate of the mode is its stride.
    const int64_t* d = f.at(step);
    size_t n = 2;
    // As long as the values go on evenly they belong to this mode: a shorter one would coalesce.
    while (n < count && is_multiple(f.at(n * step), static_cast<int64_t>(n), d, width)) ++n;
    const auto stride = as_stride(d, directions);
    if (count % n != 0 || !stride) return std::nullopt;
    for (size_t i = 0; i < count; ++i) {
      const size_t digit = i % n;
      // And everywhere above, a step of the digit must add the same.
      if (!is_sum(f.at(i * step), f.at((i - digit) * step), static_cast<int64_t>(digit), d, width))
        return std::nullopt;
    }
    modes.push_back({static_cast<int64_t>(n), *stride});
    step *= n;
    count /= n;
  }
  if (modes.empty()) modes.push_back({1, 0});
  return modes;
}

// The sums of one entry of every column, the first column fastest.
std::vector<int64_t> sums(const std::vector<Column>& columns, size_t width) {
  std::vector<int64_t> all(width, 0);
  for (const Column& column : columns) {
    const size_t before = all.size();
    for (size_t i = 1; i < column.count(); ++i) {
      for (size_t j = 0; j < before; ++j)
        all.push_back(checked_add(all[j], column.at(i)[j % width]));
    }
  }
  return all;
}

// Even steps where a column has no form; the column then holds them.
// The layout that one would guess from the first two values: it is shown as what would be wrong.
std::vector<Mode> straighten(Column& column, const Directions& directions) {
  const size_t width = column.width, count = column.count();
  std::vector<int64_t> step(column.numbers.begin() + static_cast<std::ptrdiff_t>(width),
                            column.numbers.begin() + static_cast<std::ptrdiff_t>(2 * width));
  if (!as_stride(step.data(), directions)) std::fill(step.begin(), step.end(), 0);
  for (size_t i = 0; i < column.numbers.size(); ++i) {
    column.numbers[i] = checked_mul(static_cast<int64_t>(i / width), step[i % width]);
  }
  return {{static_cast<int64_t>(count), *as_stride(step.data(), directions)}};
}

// The numbers as the value that a layout gives: an integer or a coordinate.
Tuple as_value(const int64_t* numbers, const Directions& directions) {
  Tuple value = 0;
  for (size_t k = 0; k < directions.paths.size(); ++k) {
    if (directions.paths[k].empty()) return numbers[k];
    value = add(add(Tuple::basis(1, directions.paths[k]), value),
                Tuple::basis(numbers[k] - 1, directions.paths[k]));
  }
  return value;
}

Layout in_profile(const Tuple& shape, const std::vector<std::vector<Mode>>& modes, size_t& next) {
  if (shape.is_leaf()) return from_modes(modes[next++], {});
  std::vector<Layout> parts;
  for (const Tuple& mode : shape.modes()) parts.push_back(in_profile(mode, modes, next));
  return make_layout(parts);
}

}  // namespace

Directions directions_of(const Layout& a) {
  Directions directions;
  for (const Tuple& stride : leaves(a.stride)) {
    const bool fresh = std::find(directions.paths.begin(), directions.paths.end(), stride.path()) ==
                       directions.paths.end();
    if (fresh && !stride.is_literal(0)) directions.paths.push_back(stride.path());
  }
  if (directions.paths.empty()) directions.paths.emplace_back();
  return directions;
}

size_t Directions::of(const std::vector<int>& path) const {
  const auto found = std::find(paths.begin(), paths.end(), path);
  return found == paths.end()
             ? 0
             : static_cast<size_t>(found - paths.begin());  // stride 0 goes nowhere
}

std::optional<std::vector<Mode>> fit(const std::vector<int64_t>& values) {
  return fit(Column{values, 1}, Directions{{{}}});
}

// a(b(i)) for every i, and for each leaf of b the values along it. A layout of b's profile exists
// exactly where every column has a form and their sums are the values: the columns are the result's
// modes, since the others are at 0 there.
std::optional<CompositionTable> tabulate(const Layout& a, const Layout& b) {
  if (!a.is_known() || !b.is_known()) return std::nullopt;
  const std::vector<Tuple> extents = leaves(b.shape), steps = leaves(b.stride);
  int64_t size_b = 1;
  for (const Tuple& extent : extents) {
    if (__builtin_mul_overflow(size_b, extent.value().value(), &size_b) || size_b > most_listed)
      return std::nullopt;
  }
  CompositionTable table{b.shape, directions_of(a), {}, {}};
  const size_t width = table.directions.paths.size();
  table.columns.assign(extents.size(), Column{{}, width});
  table.expected.assign(static_cast<size_t>(size_b) * width, 0);
  // An integer goes through all of a; a step along a path goes through that mode of a alone.
  for (const std::vector<int>& path : directions_of(b).paths) {
    const IndexFunction f(get(a, path), table.directions);
    std::vector<Column> indices;  // where the leaves of b go in this mode of a
    for (size_t k = 0; k < extents.size(); ++k) {
      const bool here = steps[k].path() == path;
      indices.push_back({{}, 1});
      for (int64_t i = 0; i < extents[k].value().value(); ++i) {
        indices[k].numbers.push_back(here ? checked_mul(i, steps[k].value().value()) : 0);
      }
      if (here || steps[k].is_literal(0)) table.columns[k] = f.column(indices[k]);
    }
    const std::vector<int64_t> index = sums(indices, 1);
    for (size_t i = 0; i < index.size(); ++i) f.add(index[i], &table.expected[i * width]);
  }
  return table;
}

std::optional<Layout> fit(const CompositionTable& table) {
  std::vector<std::vector<Mode>> modes;
  for (const Column& column : table.columns) {
    auto fitted = fit(column, table.directions);
    if (!fitted) return std::nullopt;
    modes.push_back(std::move(*fitted));
  }
  if (sums(table.columns, table.directions.paths.size()) != table.expected) return std::nullopt;
  size_t next = 0;
  return in_profile(table.profile, modes, next);
}

std::optional<Layout> compose_by_table(const Layout& a, const Layout& b) {
  const auto table = tabulate(a, b);
  return table ? fit(*table) : std::nullopt;
}

std::optional<TableMismatch> nearest_mismatch(const CompositionTable& table) {
  const size_t width = table.directions.paths.size();
  std::vector<std::vector<Mode>> modes;
  std::vector<Column> columns = table.columns;
  for (Column& column : columns) {
    auto fitted = fit(column, table.directions);
    if (!fitted) fitted = straighten(column, table.directions);
    modes.push_back(std::move(*fitted));
  }
  const std::vector<int64_t> actual = sums(columns, width);
  const auto differs = std::mismatch(actual.begin(), actual.end(), table.expected.begin());
  if (differs.first == actual.end()) return std::nullopt;
  const size_t index = static_cast<size_t>(differs.first - actual.begin()) / width;
  size_t next = 0;
  return TableMismatch{
      static_cast<int64_t>(index), as_value(&table.expected[index * width], table.directions),
      as_value(&actual[index * width], table.directions), in_profile(table.profile, modes, next)};
}

}  // namespace lay
