#include "frontend/sema/prelude.h"

#include <algorithm>

#include "frontend/algebra/support/trace.h"
#include "frontend/sema/stdlib.h"

namespace lay::sema {

namespace {

// The name that the line begins to define; empty where it goes on with what the lines before it
// began.
std::string_view defined_by(std::string_view line) {
  for (const std::string_view word : {"def ", "record "}) {
    if (!line.starts_with(word)) continue;
    line.remove_prefix(word.size());
    return line.substr(0, line.find_first_of("([ "));
  }
  return {};
}

}  // namespace

Prelude::Prelude(Session& session) : session_(session) {
  list("prelude");
  list("tiled");
}

void Prelude::list(const std::string& library) {
  const std::string_view text = *stdlib_text(library);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (const auto name = defined_by(text.substr(begin, end - begin)); !name.empty())
      definitions_[std::string(name)] = {library, nullptr};
    begin = end + 1;
  }
}

void Prelude::read(const std::string& name, Definition& definition) {
  const trace::Quiet quiet;
  auto& tree = trees_[definition.library];
  if (!tree) tree = library_tree(session_, definition.library);
  definition.module = load_tree(session_, tree, [&](const syntax::Statement& statement) {
    const auto* def = std::get_if<syntax::Def>(&statement.node);
    const auto* record = std::get_if<syntax::Record>(&statement.node);
    return (def && def->name.text == name) || (record && record->name.text == name);
  });
}

const Module::Entry* Prelude::find(const std::string& name) {
  const auto at = definitions_.find(name);
  if (at == definitions_.end()) return nullptr;
  Definition& definition = at->second;
  if (!definition.module) read(name, definition);
  return definition.module->find(name, definition.module->generation());
}

std::vector<std::string> Prelude::names() const {
  std::vector<std::string> names;
  for (const auto& [name, definition] : definitions_) names.push_back(name);
  return names;
}

void Prelude::clear() {
  for (auto& [name, definition] : definitions_) {
    if (definition.module) definition.module->clear();
  }
}

}  // namespace lay::sema
