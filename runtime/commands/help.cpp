#include "runtime/commands/help.h"

#include <algorithm>

#include "frontend/source/text.h"
#include "runtime/commands/help_files.h"

namespace lay::runtime {
namespace {

constexpr std::size_t columns = 100, most_lines = 24;
constexpr const char *kErrors = "docs/errors.md", *kOperations = "docs/operations.md",
                     *kWords = "docs/words.md";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// A program or message as it stands, indented; a long one is cut.
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
  const auto found =
      std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

// A heading may name several words, as one page tells of `/ // %`.
std::vector<std::string> names_of(const HelpSection& section) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < section.name.size();) {
    const std::size_t end = std::min(section.name.find(' ', at), section.name.size());
    names.push_back(section.name.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

// Prose filled, examples as they stand.
std::string page_text(std::string_view text, const std::string& indent) {
  std::string result, prose;
  bool code = false;
  const auto flush = [&] {
    if (!prose.empty()) result += filled(prose, columns, indent);
    prose.clear();
  };
  for (const std::string_view line : lines_of(text)) {
    if (line.rfind("```", 0) == 0) {
      flush();
      code = !code;
    } else if (code) {
      result += indent + std::string(line) + "\n";
    } else {
      prose += std::string(line) + "\n";
    }
  }
  flush();
  return result;
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

std::string filled(std::string_view text, std::size_t width, const std::string& indent) {
  std::string result, line;
  const auto flush = [&] {
    if (!line.empty()) result += indent + line + "\n";
    line.clear();
  };
  for (const std::string_view part : lines_of(text)) {
    if (part.empty()) flush();
    for (std::size_t at = 0; at < part.size();) {
      const std::size_t end = std::min(part.find(' ', at), part.size());
      const std::string_view word = part.substr(at, end - at);
      if (!line.empty() && indent.size() + line.size() + 1 + word.size() > width) flush();
      if (!word.empty()) line += (line.empty() ? "" : " ") + std::string(word);
      at = end + 1;
    }
  }
  flush();
  return result;
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
  const bool says_law =
      section->text.rfind("`" + name + "(", 0) == 0;  // the first line, for who reads the file
  return page +
         page_text(
             std::string_view(section->text).substr(says_law ? section->text.find('\n') + 1 : 0),
             "  ");
}

std::optional<std::string> word_page(std::string_view word) {
  for (const HelpSection& section : sections_of(kWords)) {
    const auto names = names_of(section);
    if (std::find(names.begin(), names.end(), word) != names.end())
      return page_text(section.text, "  ");
  }
  return std::nullopt;
}

std::string help_page(const std::string& topic, const sema::Evaluator& evaluator) {
  auto page = operation_page(topic, evaluator);
  if (!page) page = word_page(topic);
  const auto error = error_page(topic);
  if (page && error) return *page + "\nThe error code " + *error;
  if (page || error) return page ? *page : *error;
  Diagnostic d;
  d.code = "unknown-name";
  d.message = "nothing is known of `" + topic + "`";
  std::vector<std::string> names = help_topics();
  for (const std::string& name : evaluator.names()) names.push_back(name);
  if (const auto near = nearest(topic, names))
    d.notes.push_back({"help", "did you mean " + *near + "?"});
  throw DiagnosticError(std::move(d));
}

std::vector<std::string> help_topics() {
  std::vector<std::string> names;
  for (const char* file : {kErrors, kOperations, kWords}) {
    for (const HelpSection& section : sections_of(file)) {
      for (std::string& name : names_of(section)) names.push_back(std::move(name));
    }
  }
  return names;
}

std::string help_index() {
  return index_of("words and signs", kWords) + "\n" + index_of("operations", kOperations) + "\n" +
         index_of("error codes", kErrors) +
         "\n`lay help NAME` prints the page of any of these; in the REPL `?NAME` does.\n";
}

}  // namespace lay::runtime
