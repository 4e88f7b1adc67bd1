#include "runtime/commands/help/help.h"

#include <algorithm>

#include "backend/plan/schedule/entries.h"
#include "frontend/source/text.h"
#include "runtime/commands/help_files.h"

namespace lay::runtime {
namespace {

constexpr std::size_t columns = 100, most_lines = 24;
constexpr const char *kErrors = "docs/errors.md", *kOperations = "docs/operations.md";
struct PageFile {
  const char *path, *title;
};
// In the order in which the pages of one name are printed.
constexpr PageFile page_files[] = {{kOperations, "operations"},
                                   {"docs/keywords.md", "keywords and tokens"},
                                   {"docs/schedules.md", "schedules"},
                                   {"docs/terms.md", "GPU terms"},
                                   {kErrors, "error codes"}};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Returns a program or message indented, its lines and its length cut.
std::string quoted_text(std::string_view title, std::string_view text) {
  if (text.empty()) return "";
  std::string result = "\n" + std::string(title) + "\n\n";
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i) {
    const bool fits = lines[i].size() <= 160;
    result += "    " + std::string(lines[i].substr(0, 160)) + (fits ? "\n" : " ...\n");
  }
  return result + (lines.size() > most_lines ? "    ...\n" : "");
}

std::vector<HelpSection> sections_of(std::string_view file) {
  return help_sections(help_file(file));
}

const HelpSection* find(const std::vector<HelpSection>& sections, std::string_view name) {
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const auto& section) {
    const auto names = names_of(section);
    return std::find(names.begin(), names.end(), name) != names.end();
  });
  return found == sections.end() ? nullptr : &*found;
}

// Returns a topic as the headings of terms spell it: "Bank Conflict", "bank_conflict" and
// "cp.async" as "bank-conflict" and "cp-async".
std::string canonical(std::string_view topic) {
  std::string result;
  for (const char c : topic) {
    const bool joins = c == ' ' || c == '_' || c == '.' || c == '-';
    if (!joins)
      result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  return result;
}

// The spellings under which a topic is looked up, the typed one first.
std::vector<std::string> spellings(const std::string& topic) {
  std::vector<std::string> result{topic};
  const auto add = [&](std::string spelling) {
    if (std::find(result.begin(), result.end(), spelling) == result.end())
      result.push_back(std::move(spelling));
  };
  const std::string words = canonical(topic);
  std::string name = words;
  std::replace(name.begin(), name.end(), '-', '_');  // as operations and entries are spelled
  for (const std::string& spelling : {words, name}) {
    add(spelling);
    if (spelling.size() > 3 && spelling.ends_with('s'))
      add(spelling.substr(0, spelling.size() - 1));
  }
  return result;
}

// Returns the cells of a row of a table: "| a | b |" as a, b.
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  for (std::size_t at = 1; at < row.size();) {
    const std::size_t end = std::min(row.find('|', at), row.size());
    cells.push_back(one_line(row.substr(at, end - at)));
    if (!cells.back().empty() && cells.back().back() == ' ') cells.back().pop_back();
    at = end + 1;
  }
  return cells;
}

// Returns a table for the terminal: its columns aligned, the last one filled. Of the two lines at
// its head, titles and rule, the rule is left out.
std::string table_text(const std::vector<std::string_view>& rows, const std::string& indent) {
  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> table;
  for (const std::string_view row : rows) {
    if (row.starts_with("|--") || row.starts_with("| --")) continue;
    table.push_back(cells_of(row));
    widths.resize(std::max(widths.size(), table.back().size()));
    for (std::size_t i = 0; i < table.back().size(); ++i)
      widths[i] = std::max(widths[i], table.back()[i].size());
  }
  std::string result;
  for (const auto& cells : table) {
    std::string line = indent;
    for (std::size_t i = 0; i + 1 < cells.size(); ++i)
      line += cells[i] + std::string(widths[i] + 2 - cells[i].size(), ' ');
    const std::string last = cells.empty() ? "" : cells.back();
    const std::string text = filled(last, columns, std::string(line.size(), ' '));
    result += text.empty() ? line + "\n" : line + text.substr(line.size());
  }
  return result;
}

// Returns a section for the terminal: prose is filled, examples stay as they are.
std::string page_text(std::string_view text, const std::string& indent) {
  std::string result, prose;
  std::vector<std::string_view> table;
  bool code = false;
  const auto flush = [&] {
    if (!prose.empty()) result += filled(prose, columns, indent);
    if (!table.empty()) result += table_text(table, indent);
    prose.clear();
    table.clear();
  };
  for (const std::string_view line : lines_of(text)) {
    if (line.rfind("```", 0) == 0) {
      flush();
      code = !code;
    } else if (code) {
      result += indent + std::string(line) + "\n";
    } else if (line.starts_with("|")) {
      if (table.empty()) flush();
      table.push_back(line);
    } else {
      if (!table.empty()) flush();
      prose += std::string(line) + "\n";
    }
  }
  flush();
  return result;
}

// Returns the page of a name in a file of sections; nothing if the file has none.
std::optional<std::string> section_page(const char* file, const std::string& name) {
  const auto sections = sections_of(file);
  const HelpSection* section = find(sections, name);
  if (!section) return std::nullopt;
  return page_text(section->text, "  ");
}

std::string index_of(std::string_view title, std::string_view file) {
  std::string result = std::string(title) + "\n", group;
  std::vector<HelpSection> sections = sections_of(file);
  for (std::size_t i = 0; i < sections.size();) {
    std::string names;
    const std::string name = sections[i].group;
    for (; i < sections.size() && sections[i].group == name; ++i) names += sections[i].name + " ";
    result += "  " + name + "\n" + filled(names, columns, "    ");
  }
  return result;
}

}  // namespace

namespace {

// The end of a word of prose. Code between backticks that closes on its line is not broken.
std::size_t word_end(std::string_view line, std::size_t at) {
  std::size_t end = at;
  while (end < line.size() && line[end] != ' ') {
    const std::size_t close = line[end] == '`' ? line.find('`', end + 1) : line.npos;
    end = close == line.npos ? end + 1 : close + 1;
  }
  return end;
}

}  // namespace

std::string filled(std::string_view text, std::size_t width, const std::string& indent) {
  std::string result, line;
  const auto flush = [&] {
    if (!line.empty()) result += indent + line + "\n";
    line.clear();
  };
  for (const std::string_view part : lines_of(text)) {
    if (part.empty() || part.starts_with("* ")) flush();
    for (std::size_t at = 0; at < part.size();) {
      const std::size_t end = word_end(part, at);
      const std::string_view word = part.substr(at, end - at);
      if (!line.empty() && indent.size() + line.size() + 1 + word.size() > width) flush();
      if (!word.empty()) line += (line.empty() ? "" : " ") + std::string(word);
      at = end + 1;
    }
  }
  flush();
  return result;
}

// A heading may have several names, as one page tells of `/ // %`.
std::vector<std::string> names_of(const HelpSection& section) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < section.name.size();) {
    const std::size_t end = std::min(section.name.find(' ', at), section.name.size());
    names.push_back(section.name.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::vector<HelpSection> help_sections(std::string_view text) {
  std::vector<HelpSection> sections;
  std::string group;
  bool code = false;
  for (const std::string_view line : lines_of(text)) {
    if (line.rfind("```", 0) == 0) code = !code;
    if (!code && line.rfind("# ", 0) == 0) {
      group = line.substr(2);
    } else if (!code && line.rfind("## ", 0) == 0) {
      sections.push_back({group, std::string(line.substr(3)), ""});
    } else if (!sections.empty() && sections.back().group == group) {
      sections.back().text += std::string(line) + "\n";
    }
  }
  return sections;
}

std::optional<std::string> error_page(const std::string& code) {
  const auto sections = sections_of(kErrors);
  const HelpSection* section = find(sections, code);
  if (!section) return std::nullopt;
  std::string page = code + "\n" + page_text(section->text, "  ");
  for (const char* folder : {"tests/errors/", "tests/errors/syntax/"}) {
    const std::string base = folder + code;
    page += quoted_text("This fails:", help_file(base + ".lay"));
    page += quoted_text(help_file(base + ".lay").empty() ? "It says:" : "with:",
                        help_file(base + ".expected"));
    page += quoted_text("This works:", help_file(base + ".cured.lay"));
  }
  return page;
}

std::optional<std::string> operation_page(const std::string& name,
                                          const sema::Evaluator& evaluator) {
  const auto help = evaluator.help(name);
  const auto sections = sections_of(kOperations);
  const HelpSection* section = find(sections, name);
  if (!help) return std::nullopt;
  std::string page = help->signature + "\n  " + help->law + "\n";
  if (!section) return page;
  // The first paragraph of a section repeats signature and law for readers of the file.
  std::string_view rest = section->text;
  if (rest.starts_with("`" + name + "("))
    rest.remove_prefix(std::min(rest.find("\n```"), rest.find("\n\n")) + 1);
  return page + page_text(rest, "  ");
}

namespace {

// Returns the pages that have exactly this name, each below its title.
std::vector<std::string> pages_named(const std::string& name, const sema::Evaluator& evaluator) {
  std::vector<std::string> pages;
  if (auto page = operation_page(name, evaluator)) pages.push_back(std::move(*page));
  for (const auto& [path, title] : page_files) {
    if (path == kOperations || path == kErrors) continue;
    auto page = section_page(path, name);
    if (!page) continue;
    const std::string_view kind = title;
    const std::string heading = kind == "schedules"   ? "The schedule entry " + name + "\n"
                                : kind == "GPU terms" ? "The term " + name + "\n"
                                                      : "";
    pages.push_back(heading + *page);
  }
  if (auto page = error_page(name))
    pages.push_back((pages.empty() ? "" : "The error code ") + *page);
  return pages;
}

void append(std::vector<std::string>& pages, std::vector<std::string> more) {
  for (std::string& page : more)
    if (std::find(pages.begin(), pages.end(), page) == pages.end())
      pages.push_back(std::move(page));
}

[[noreturn]] void unknown_topic(const std::string& topic, const sema::Evaluator& evaluator) {
  Diagnostic d;
  d.code = "unknown-name";
  d.message = "there is no page for `" + topic + "`";
  std::vector<std::string> names = help_topics();
  for (const std::string& name : evaluator.names()) names.push_back(name);
  if (const auto near = nearest(topic, names))
    d.notes.push_back({"help", "did you mean " + *near + "?"});
  throw DiagnosticError(std::move(d));
}

}  // namespace

std::string help_page(const std::string& topic, const sema::Evaluator& evaluator) {
  std::vector<std::string> pages;
  for (const std::string& spelling : spellings(topic))
    append(pages, pages_named(spelling, evaluator));
  for (const std::string_view entry : plan::entries_called(topic)) {
    append(pages, {"`" + topic + "` is called `" + std::string(entry) + "` in a schedule\n"});
    append(pages, pages_named(std::string(entry), evaluator));
  }
  if (pages.empty()) unknown_topic(topic, evaluator);
  std::string all;
  for (const std::string& page : pages) all += (all.empty() ? "" : "\n") + page;
  return all;
}

std::vector<std::string> help_topics() {
  std::vector<std::string> names;
  for (const auto& [path, title] : page_files) {
    for (const HelpSection& section : sections_of(path)) {
      for (std::string& name : names_of(section)) names.push_back(std::move(name));
    }
  }
  return names;
}

std::string help_index() {
  std::string index;
  for (const auto& [path, title] : page_files) {
    if (path == kOperations) continue;
    index += index_of(title, path) + "\n";
    if (std::string_view(title) == "keywords and tokens")
      index += index_of("operations", kOperations) + "\n";
  }
  return index + "`lay help NAME` prints the page of any of these; in the REPL `?NAME` does.\n";
}

}  // namespace lay::runtime
