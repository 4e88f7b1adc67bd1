// fit(values): from a table of offsets to the layout behind it.

#include <cmath>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/fit.h"
#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 20;

// Extents, outermost first, and the values with the last extent fastest.
struct RowMajor {
  std::vector<std::int64_t> extents, values;
};

void read(const Tuple& t, std::size_t depth, RowMajor& table) {
  if (t.is_tuple()) {
    if (t.rank() == 0) throw refusal("empty", "a table without entries has no layout");
    if (table.extents.size() == depth && table.values.empty()) table.extents.push_back(t.rank());
    if (depth >= table.extents.size() || table.extents[depth] != t.rank()) {
      throw refusal("argument-kind", "the rows of the table are not equally long");
    }
    for (const Tuple& mode : t.modes()) read(mode, depth + 1, table);
    return;
  }
  if (!t.is_int())
    throw refusal("argument-kind", "the entries of the table are integers, not " + t.to_string());
  if (!t.value().is_literal()) {
    throw refusal("symbolic", "the entries of the table are known numbers, and " + t.to_string() +
                                  " is not known yet");
  }
  if (depth != table.extents.size())
    throw refusal("argument-kind", "the rows of the table are not equally deep");
  table.values.push_back(t.value().value());
}

RowMajor read(const Array& array) {
  RowMajor table{array.shape, {}};
  if (array.size() == 0) throw refusal("empty", "a table without entries has no layout");
  if (array.size() > kMost)
    throw refusal("too-many", "a table of more than 2^20 entries is not fitted");
  for (std::int64_t i = 0; i < array.size(); ++i) {
    if (!is_float(array.element)) {
      table.values.push_back(array.integer(i));
      continue;
    }
    const double x = array.real(i);
    if (std::floor(x) != x || std::abs(x) > 9e15) {
      throw refusal("argument-kind", "entry " + std::to_string(i) + " of the table is " +
                                         real_text(x) + ", no integer");
    }
    table.values.push_back(static_cast<std::int64_t>(x));
  }
  return table;
}

// Modes in the order of the indices, the first one fastest.
OffsetTable first_fastest(const RowMajor& rows) {
  OffsetTable table{rows.extents, {}};
  if (table.extents.empty()) table.extents = {1};
  const std::size_t rank = table.extents.size();
  std::vector<std::int64_t> step(rank, 1), at(rank, 0);
  for (std::size_t k = rank - 1; k-- > 0;) step[k] = step[k + 1] * table.extents[k + 1];
  table.values.reserve(rows.values.size());
  std::int64_t from = 0;
  for (std::size_t i = 0; i < rows.values.size(); ++i) {
    table.values.push_back(rows.values[static_cast<std::size_t>(from)]);
    for (std::size_t k = 0; k < rank; ++k) {
      from += step[k];
      if (++at[k] < table.extents[k]) break;
      from -= step[k] * table.extents[k];
      at[k] = 0;
    }
  }
  return table;
}

[[noreturn]] void refuse(const OffsetTable& table, const FittedLayout& fitted) {
  Facts facts;
  std::vector<Tuple> shape(table.extents.begin(), table.extents.end());
  const Tuple extents = shape.size() == 1 ? shape[0] : Tuple(std::move(shape));
  const std::string coordinate =
      extents.is_leaf() ? "" : idx2crd(facts, fitted.broken, extents).to_string();
  const std::int64_t entry = table.values[static_cast<std::size_t>(fitted.broken)];
  std::int64_t apart;
  const bool is_far = __builtin_sub_overflow(entry, table.values[0], &apart);
  const std::string expected = is_far            ? "a number less than 2^63 from entry 0"
                               : fitted.expected ? std::to_string(*fitted.expected)
                                                 : "another number";
  Refusal r = refusal("fit", "no layout, swizzled or not, has these values: entry " +
                                 std::to_string(fitted.broken) + " breaks every candidate");
  r.witness = Counterexample{fitted.broken, coordinate, "", expected, std::to_string(entry), ""};
  throw r;
}

Value fit_(Arguments& a) {
  RowMajor rows;
  if (const Array* array = a.as<Array>(0)) {
    rows = read(*array);
  } else {
    read(a.tuple(0), 0, rows);
  }
  const OffsetTable table = first_fastest(rows);
  a.session.charge(static_cast<std::int64_t>(table.values.size()), a.whole());
  const FittedLayout fitted = fit_table(table);
  if (!fitted.layout) refuse(table, fitted);
  if (const auto* layout = std::get_if<Layout>(&*fitted.layout)) return Value(*layout);
  return Value(std::get<Composed>(*fitted.layout));
}

constexpr Builtin kFitRows[] = {
    {"fit", "fit(X)",
     "the smallest layout, else swizzled layout, whose values are the entries of X", 1, 1, fit_},
};

}  // namespace

std::span<const Builtin> fit_builtins() {
  return kFitRows;
}

}  // namespace lay::sema
