#include "frontend/sema/builtins/table.h"

#include <algorithm>
#include <vector>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {
namespace {

constexpr std::int64_t kMost = 32;

std::string padded(const std::string& s, std::size_t width) {
  return std::string(width > s.size() ? width - s.size() : 0, ' ') + s;
}

// The layout whose shape says rows and columns.
const Layout* domain_of(const Value& value) {
  if (const Layout* l = value.as<Layout>()) return l;
  const Composed* c = value.as<Composed>();
  return c ? std::get_if<Layout>(&c->inner) : nullptr;
}

struct Grid {
  std::vector<std::string> head, side;
  std::vector<std::vector<std::string>> cells;
};

Grid grid_of(const AnyLayout& layout, const Tuple& shape, std::int64_t rows, std::int64_t columns) {
  Facts facts;
  Grid grid;
  for (std::int64_t j = 0; j < columns; ++j)
    grid.head.push_back(idx2crd(facts, j, shape[1]).to_string());
  for (std::int64_t i = 0; i < rows; ++i) {
    grid.side.push_back(idx2crd(facts, i, shape[0]).to_string());
    grid.cells.emplace_back();
    for (std::int64_t j = 0; j < columns; ++j) {
      grid.cells.back().push_back(evaluate(facts, layout, tuple(i, j)).to_string());
    }
  }
  return grid;
}

std::string drawn(const Grid& grid) {
  std::size_t side = 0, width = 0;
  for (const std::string& s : grid.side) side = std::max(side, s.size());
  for (const std::string& s : grid.head) width = std::max(width, s.size());
  for (const auto& row : grid.cells) {
    for (const std::string& s : row) width = std::max(width, s.size());
  }
  std::string result = "\n  " + std::string(side, ' ');
  for (const std::string& s : grid.head) result += "  " + padded(s, width);
  for (std::size_t i = 0; i < grid.cells.size(); ++i) {
    result += "\n  " + padded(grid.side[i], side);
    for (const std::string& s : grid.cells[i]) result += "  " + padded(s, width);
  }
  return result;
}

// Returns true for a record that an operation gave: such a record is named after it.
bool is_result(const Record& record) {
  return find_builtin(record.name) != nullptr || record.name.starts_with("find ");
}

std::string fields_below(const Record& record) {
  if (!is_result(record)) return "";
  std::size_t width = 0;
  for (const auto& [name, value] : record.fields) width = std::max(width, name.size());
  std::string result;
  for (const auto& [name, value] : record.fields) {
    std::string words = text(value);
    if (const auto* inner = value.as<RecordPtr>()) {
      words.clear();
      for (const auto& [label, x] : (*inner)->fields)
        words += (words.empty() ? "" : ", ") + label + " " + text(x);
    }
    if (const auto* s = value.as<std::string>()) words = *s;
    result += "\n  " + name + std::string(width - name.size() + 2, ' ') + words;
  }
  return result;
}

}  // namespace

std::string table_below(const Value& value) {
  if (const RecordPtr* record = value.as<RecordPtr>()) return fields_below(**record);
  const Layout* domain = domain_of(value);
  if (!domain || domain->rank() != 2 || !domain->shape.is_tuple() || !domain->is_known()) return "";
  std::int64_t m = size(domain->shape[0]).value(), n = size(domain->shape[1]).value();
  if (m > kMost || n > kMost) {
    return "\n  " + std::to_string(m) + " rows and " + std::to_string(n) +
           " columns: show draws them";
  }
  AnyLayout layout = *domain;
  if (const Composed* c = value.as<Composed>()) layout = *c;
  return drawn(grid_of(layout, domain->shape, m, n));
}

}  // namespace lay::sema
