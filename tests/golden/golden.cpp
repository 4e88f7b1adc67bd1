#include "tests/golden/golden.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "backend/plan/make.h"
#include "frontend/source/diagnostic.h"
#include "frontend/source/text.h"
#include "frontend/syntax/parse.h"
#include "generated/tests/paths.h"
#include "runtime/execute/host.h"
#include "runtime/execute/program.h"
#include "runtime/execute/stages.h"

namespace lay::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = "// expect: ";

// Returns true if the line is an expectation alone, of the statement that ends before it.
bool is_mark_alone(const std::string& line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at != std::string::npos && line.compare(at, mark.size(), mark) == 0;
}

std::string trimmed_end(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

}  // namespace

bool blessing() {
  const char* bless = std::getenv("LAY_BLESS");
  return bless && *bless && *bless != '0';
}

fs::path source_root() {
  return LAY_SOURCE_DIR;
}

std::vector<fs::path> files_in(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> files;
  if (!fs::exists(source_root() / folder)) return files;
  for (const auto& entry : fs::directory_iterator(source_root() / folder))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string slurp(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

Ran run_program(const std::string& name, const std::string& text, const fs::path& folder) {
  const WorkingFolder inside(folder);
  std::string printed;
  const auto print = [&](const std::string& line) { printed += line + "\n"; };
  runtime::ProgramOptions options;
  options.on = runtime::MachineChoice::host;
  runtime::Program program(runtime::make_host(print, folder.string()), std::move(options));
  Sources& sources = program.sources;
  sema::Evaluator& evaluator = program.evaluator;
  Ran ran;
  const auto add = [&](std::size_t line, const std::string& statement,
                       const Diagnostics& diagnostics) {
    for (const auto& d : diagnostics.list()) {
      printed += (printed.empty() ? "" : "\n") + render(sources, d);
      if (d.severity == Severity::error) ran.codes.push_back(d.code);
    }
    if (!printed.empty()) ran.said.push_back({line, statement, printed});
    printed.clear();
  };
  const auto parsed = syntax::parse(sources, sources.add(name, text));
  add(0, "", parsed.diagnostics);
  for (const auto& statement : parsed.tree->statements) {
    const auto outcome = evaluator.evaluate(parsed.tree, statement);
    const auto last = statement.span.end == 0 ? 0 : statement.span.end - 1;
    add(static_cast<std::size_t>(sources.position(statement.span.file, last).line),
        one_line(sources.text(statement.span)), outcome.diagnostics);
  }
  for (const auto& kernel : evaluator.kernels())
    add(0, "", runtime::problems_of(plan::make_plan(kernel)));
  return ran;
}

void check_expected(const fs::path& expected, const std::string& actual) {
  if (blessing()) {
    if (actual.empty())
      fs::remove(expected);
    else
      put(expected, actual);
    return;
  }
  INFO(expected.string() << " (LAY_BLESS=1 rewrites it)");
  CHECK(actual == slurp(expected));
}

void check_program(const fs::path& file, const Ran& ran) {
  std::vector<std::string> lines = lines_of(slurp(file));
  std::string rest;
  std::vector<bool> met(lines.size(), false);
  for (const Said& said : ran.said) {
    const std::size_t last = said.line == 0 ? lines.size() : said.line - 1;
    const std::size_t at =
        last + 1 < lines.size() && is_mark_alone(lines[last + 1]) ? last + 1 : last;
    const std::size_t marked = at < lines.size() ? lines[at].find(mark) : std::string::npos;
    const std::string text = trimmed_end(said.text);
    const std::string first = text.substr(0, text.find('\n'));
    const bool is_error = text.rfind("error[", 0) == 0;
    if (marked == std::string::npos || is_error || first != text) {
      const std::string where = said.line == 0 || is_error
                                    ? ""
                                    : std::to_string(said.line) + ": " + said.statement + "\n";
      rest += (rest.empty() ? "" : "\n") + where + text + "\n";
    }
    if (marked == std::string::npos || is_error) continue;
    met[at] = true;
    if (blessing()) {
      lines[at] = lines[at].substr(0, marked + mark.size()) + first;
    } else {
      INFO(file.string() << ":" << said.line);
      CHECK(first == lines[at].substr(marked + mark.size()));
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO(file.string() << ":" << i + 1 << ": an expectation, but nothing was printed");
    CHECK((met[i] || lines[i].find(mark) == std::string::npos));
  }
  if (blessing()) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    if (text != slurp(file)) put(file, text);
  }
  check_expected(fs::path(file).replace_extension(".expected"), rest);
}

}  // namespace lay::test
