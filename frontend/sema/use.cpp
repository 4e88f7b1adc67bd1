// `use atoms.sm90` from the standard library, `use "mine.lay"` from beside the script.

#include <algorithm>

#include "frontend/sema/statement.h"
#include "frontend/sema/stdlib.h"
#include "frontend/source/text.h"
#include "frontend/syntax/archive/archive.h"
#include "frontend/syntax/parse.h"

namespace lay::sema {
namespace {

constexpr std::size_t kMostFiles = 1000, kDeepest = 64;

// A relative path below the script's folder, of plain components.
bool is_safe(const std::string& path) {
  if (path.empty() || path.size() > 4096 || path.front() == '/' || !path.ends_with(".lay"))
    return false;
  if (path.find_first_of("\\:\n\r") != std::string::npos || path.find('\0') != std::string::npos)
    return false;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    std::size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

std::string stem(const std::string& path) {
  std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.substr(0, name.size() - 4);
}

bool is_identifier(const std::string& s) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !s.empty() && letter(s.front()) && std::all_of(s.begin(), s.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

std::string dotted(const std::vector<syntax::Identifier>& path) {
  std::string name;
  for (const syntax::Identifier& part : path) name += (name.empty() ? "" : ".") + part.text;
  return name;
}

[[noreturn]] void fail_unknown_library(const std::string& name, Span where) {
  std::vector<std::string> known = stdlib_names();
  std::vector<Note> notes;
  if (auto near = nearest(name, known)) notes.push_back({"help", "did you mean " + *near + "?"});
  fail("unknown-library", "the standard library has no " + name, where, {}, std::move(notes));
}

std::string read_file(Session& session, const std::string& path, Span where) {
  if (!is_safe(path)) {
    fail(
        "use-path", "this is no path to a .lay file below the script's folder", where, {},
        {{"help", "a relative path without . and .., such as \"tiles.lay\" or \"lib/tiles.lay\""}});
  }
  if (!session.host.read) fail("unavailable", "files cannot be used here", where);
  try {
    return session.host.read(path);
  } catch (const Refusal& refusal) {
    throw DiagnosticError(to_diagnostic(refusal, where, {}));
  }
}

// Throws the first error.
void pass_on(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.list())
    if (d.severity == Severity::error) throw DiagnosticError(d);
}

std::shared_ptr<Module> load_library(Session& session, const std::string& name) {
  return load_tree(session, library_tree(session, name));
}

std::shared_ptr<Module> load_file(Session& session, const std::string& path,
                                  const std::string& text) {
  const syntax::Parsed parsed = syntax::parse(session.sources, session.sources.add(path, text));
  pass_on(parsed.diagnostics);
  return load_tree(session, parsed.tree);
}

std::shared_ptr<Module> load_once(Session& session, const std::string& key, const std::string& path,
                                  bool library, Span where) {
  if (auto found = session.loaded.find(key); found != session.loaded.end()) return found->second;
  auto open = std::find(session.loading.begin(), session.loading.end(), key);
  if (open != session.loading.end()) {
    std::string cycle;
    for (auto file = open; file != session.loading.end(); ++file) cycle += *file + " uses ";
    fail("use-cycle", "files use each other in a circle: " + cycle + key, where);
  }
  if (session.loaded.size() >= kMostFiles || session.loading.size() >= kDeepest) {
    fail("limit", "too many files use one another", where);
  }
  if (library && !stdlib_text(path)) fail_unknown_library(path, where);
  const std::string text = library ? "" : read_file(session, path, where);
  session.loading.push_back(key);
  try {
    auto module = library ? load_library(session, path) : load_file(session, path, text);
    session.loading.pop_back();
    return session.loaded[key] = module;
  } catch (...) {
    session.loading.pop_back();
    throw;
  }
}

}  // namespace

std::shared_ptr<Module> load_tree(Session& session, const std::shared_ptr<const syntax::Tree>& tree,
                                  const std::function<bool(const syntax::Statement&)>& wanted) {
  auto module = std::make_shared<Module>();
  try {
    for (const syntax::Statement& statement : tree->statements) {
      if (wanted && !wanted(statement)) continue;
      pass_on(evaluate_statement(session, module, tree, statement).diagnostics);
    }
  } catch (...) {
    module->clear();
    throw;
  }
  return module;
}

std::shared_ptr<const syntax::Tree> library_tree(Session& session, const std::string& name) {
  const int file = session.sources.add("stdlib/" + name, *stdlib_text(name));
  return std::make_shared<const syntax::Tree>(syntax::read_tree(*stdlib_archive(name), file));
}

void use_library(Session& session, Module& module, const syntax::Use& use, Span where) {
  bool library = !use.file;
  std::string path = library ? dotted(use.path) : *use.file;
  auto used = load_once(session, (library ? "stdlib/" : "") + path, path, library, where);
  std::string name = library ? use.path.back().text : stem(path);
  Record record{name, name, {}};
  for (const auto& [entry_name, entries] : used->entries()) {
    if (entries.back().value) record.fields.emplace_back(entry_name, *entries.back().value);
  }
  const bool named = is_identifier(name) && !record.find(name);
  for (auto& [field, value] : record.fields) {
    if (const auto* maker = value.as<RecordMakerPtr>(); maker && named) {
      RecordMaker from = **maker;
      from.library = name;
      value.data = std::make_shared<const RecordMaker>(std::move(from));
    }
    module.define(field, value, where);
    if (&module == session.main.get() && value.as<KernelFamilyPtr>())
      session.kernel_order.push_back(field);
  }
  if (named) {
    module.define(name, Value(std::make_shared<const Record>(std::move(record))), where);
  }
}

}  // namespace lay::sema
