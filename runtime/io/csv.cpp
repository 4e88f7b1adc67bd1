#include "runtime/io/csv.h"

#include <charconv>
#include <optional>
#include <vector>

#include "frontend/source/diagnostic.h"
#include "frontend/source/text.h"
#include "runtime/io/file.h"

namespace lay::runtime {
namespace {

constexpr std::uint64_t longest = std::uint64_t{64} << 20;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  Diagnostic d;
  d.code = "csv";
  d.message = "`" + escaped(path) + "` " + what;
  throw DiagnosticError(std::move(d));
}

std::string_view trimmed(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

template <class Number>
std::optional<Number> parsed(std::string_view s) {
  Number x{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), x);
  return error == std::errc() && end == s.data() + s.size() ? std::optional(x) : std::nullopt;
}

// The cell up to the next separator, which is taken off.
std::string_view cut(std::string_view& s, char separator) {
  const std::size_t end = s.find(separator);
  const std::string_view cell = s.substr(0, end);
  s = end == std::string_view::npos ? std::string_view() : s.substr(end + 1);
  return cell;
}

struct Table {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  bool integral = true;
  std::int64_t rows = 0, columns = 0;
};

void add_row(const std::string& path, std::string_view line, std::int64_t number, Table& table) {
  std::int64_t columns = 0;
  while (columns == 0 || !line.empty()) {
    const bool last = line.find(',') == std::string_view::npos;
    const std::string_view cell = trimmed(cut(line, ','));
    ++columns;
    const auto real = parsed<double>(cell);
    const auto integer = parsed<std::int64_t>(cell);
    if (!real || (!last && line.empty())) {
      fail(path, "has no number at line " + std::to_string(number) + ", column " +
                     std::to_string(real ? columns + 1 : columns) + ", but `" +
                     escaped(real ? "" : cell) + "`");
    }
    table.integral = table.integral && integer;
    table.integers.push_back(integer.value_or(0));
    table.reals.push_back(*real);
  }
  if (table.rows == 0) table.columns = columns;
  if (columns != table.columns) {
    fail(path, "has " + std::to_string(columns) +
                   (columns == 1 ? " number in line " : " numbers in line ") +
                   std::to_string(number) + " and " + std::to_string(table.columns) +
                   " in the first");
  }
  ++table.rows;
}

}  // namespace

sema::Array read_csv(const std::string& path) {
  const std::string text = read_file(path, longest);
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF"))
    rest.remove_prefix(3);  // the mark with which spreadsheets begin UTF-8
  Table table;
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = trimmed(cut(rest, '\n'));
    if (!line.empty()) add_row(path, line, number, table);
  }
  if (table.rows == 0) fail(path, "has no numbers");
  std::vector<std::int64_t> shape{table.rows, table.columns};
  if (table.rows == 1 || table.columns == 1) shape = {table.rows * table.columns};
  sema::Array array =
      sema::Array::make(table.integral ? ElementType::s64 : ElementType::f64, shape);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (table.integral) {
      array.set_integer(i, table.integers[at]);
    } else {
      array.set_real(i, table.reals[at]);
    }
  }
  return array;
}

}  // namespace lay::runtime
