#include "runtime/commands/tuned.h"

#include <filesystem>

#include "runtime/commands/script.h"
#include "runtime/io/file.h"

namespace lay::runtime {

namespace {

// The kernel that a schedule, or a statement of sizes, is for; null for other statements.
const syntax::Identifier* kernel_of(const syntax::Statement& statement) {
  if (const auto* schedule = std::get_if<syntax::Schedule>(&statement.node))
    return &schedule->kernel;
  if (const auto* sizes = std::get_if<syntax::Sizes>(&statement.node)) return &sizes->kernel;
  return nullptr;
}

}  // namespace

std::string tuned_path(const std::string& script) {
  return std::filesystem::path(script).replace_extension(".tuned.lay").string();
}

Tuned::Tuned(Sources& sources, const std::string& script, const syntax::Tree& tree) {
  const std::string path = tuned_path(script);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  parsed_ = syntax::parse(sources, sources.add(path, read_file(path, most_script_bytes)));
  for (const syntax::Statement& statement : tree.statements)
    if (const auto* schedule = std::get_if<syntax::Schedule>(&statement.node))
      own_.insert(schedule->kernel.text);
}

std::vector<const syntax::Statement*> Tuned::behind(const syntax::Statement& statement) {
  std::vector<const syntax::Statement*> all;
  const auto* kernel = std::get_if<syntax::Kernel>(&statement.node);
  if (!parsed_.tree || !kernel || own_.contains(kernel->name.text)) return all;
  for (const syntax::Statement& each : parsed_.tree->statements) {
    const syntax::Identifier* named = kernel_of(each);
    if (named ? named->text == kernel->name.text : !began_) all.push_back(&each);
  }
  began_ = true;
  return all;
}

}  // namespace lay::runtime
