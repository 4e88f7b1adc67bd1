#include "runtime/commands/asker.h"

#include <algorithm>

#include "runtime/commands/report.h"
#include "runtime/commands/script.h"
#include "runtime/execute/host.h"
#include "runtime/io/file.h"

namespace lay::runtime {
namespace {

// A name that nothing has may be meant as a size.
Diagnostics with_advice(const Diagnostics& diagnostics) {
  Diagnostics result;
  for (Diagnostic d : diagnostics.list()) {
    if (d.code == "unknown-name")
      d.notes.push_back({"help", "--set NAME=8 gives a size, --file SCRIPT the names of a script"});
    result.add(std::move(d));
  }
  return result;
}

}  // namespace

Asker::Asker(const Asked& asked, std::function<void(const picture::Picture&)> show)
    : show_(std::move(show)),
      evaluator_(sources_, host(asked.file),
                 {sema::Mode::run, sizes_of(asked.set), asked.for_tex}) {
  for (const auto& [name, number] : asked.set) run("--set", "dim " + name);
  if (!asked.file.empty()) run(asked.file, read_file(asked.file, most_script_bytes));
}

std::vector<sema::Outcome> Asker::ask(const std::string& statement) {
  asking_ = true;
  return run("<expression>", statement);
}

sema::Host Asker::host(const std::string& file) {
  const auto call = [this](const sema::KernelCall& c) { return executor_.run(c); };
  const auto print = [this](const std::string& text) {
    if (asking_) print_line(text);
  };
  sema::Host result = make_host(print, call, file.empty() ? "." : folder_of(file));
  result.show = [this](const picture::Picture& picture) {
    if (asking_ && show_) show_(picture);
  };
  return result;
}

std::vector<sema::Outcome> Asker::run(const std::string& name, const std::string& text) {
  auto outcomes = evaluator_.run(name, text);
  if (asking_)
    for (sema::Outcome& outcome : outcomes) outcome.diagnostics = with_advice(outcome.diagnostics);
  report(sources_, outcomes);
  code_ = std::max(code_, exit_code_of(outcomes));
  return outcomes;
}

}  // namespace lay::runtime
