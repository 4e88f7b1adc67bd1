#include "runtime/commands/script.h"

#include <charconv>
#include <filesystem>
#include <utility>

#include "frontend/source/diagnostic.h"
#include "frontend/syntax/parse.h"
#include "runtime/commands/tuned.h"
#include "runtime/io/file.h"

namespace lay::runtime {

std::unique_ptr<Script> evaluate_script(const std::string& file, ScriptOptions options) {
  const std::string text = read_file(file, most_script_bytes);
  if (!options.print) options.print = [](const std::string&) {};
  const std::string folder = folder_of(file);
  const auto files = std::make_shared<std::vector<std::string>>(1, file);
  sema::Host host = make_host(std::move(options.print), folder);
  if (options.show) host.show = std::move(options.show);
  host.read = [read = std::move(host.read), files, folder](const std::string& name) {
    std::string used = read(name);
    files->push_back((std::filesystem::path(folder) / name).string());
    return used;
  };
  auto script = std::make_unique<Script>(
      std::move(host), ProgramOptions{std::move(options.evaluation), options.on,
                                      std::move(options.log), std::move(options.host)});
  const auto done = [&](sema::Outcome outcome) {
    script->outcomes.push_back(std::move(outcome));
    if (options.after) options.after(script->sources, script->outcomes.back());
  };
  const auto parsed = syntax::parse(script->sources, script->sources.add(file, text));
  const auto report_syntax = [&](const Diagnostics& diagnostics) {
    if (diagnostics.list().empty()) return;
    sema::Outcome syntax_errors;
    syntax_errors.diagnostics = diagnostics;
    done(std::move(syntax_errors));
  };
  report_syntax(parsed.diagnostics);
  Tuned tuned(script->sources, file, *parsed.tree);
  report_syntax(tuned.diagnostics());
  if (tuned.is_there()) files->push_back(tuned_path(file));
  for (const auto& statement : parsed.tree->statements) {
    done(script->evaluator.evaluate(parsed.tree, statement));
    for (const auto* also : tuned.behind(statement))
      done(script->evaluator.evaluate(tuned.tree(), *also));
  }
  script->files = *files;
  return script;
}

std::vector<sema::KernelPtr> kernels_named(const Program& program, const std::string& name) {
  std::vector<sema::KernelPtr> named;
  std::string names;
  for (const auto& kernel : program.evaluator.kernels()) {
    names += (names.empty() ? "`" : ", `") + kernel->name + "`";
    if (name.empty() || kernel->name == name) named.push_back(kernel);
  }
  if (!named.empty() || name.empty()) return named;
  throw DiagnosticError("no-kernel",
                        names.empty() ? "the script has no kernel"
                                      : "the script has no kernel `" + name + "`: it has " + names);
}

std::map<std::string, std::int64_t> sizes_of(const std::map<std::string, std::string>& set) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, text] : set) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) sizes[name] = value;
  }
  return sizes;
}

}  // namespace lay::runtime
