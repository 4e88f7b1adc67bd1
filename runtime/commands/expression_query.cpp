#include "runtime/commands/expression_query.h"

#include <algorithm>

#include "runtime/commands/report.h"
#include "runtime/commands/script.h"
#include "runtime/execute/host.h"
#include "runtime/io/file.h"

namespace lay::runtime {
namespace {

// Adds the flags that define a name to each error about an unknown one.
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

ExpressionQuery::ExpressionQuery(const QueryOptions& options,
                                 std::function<void(const picture::Picture&)> show)
    : show_(std::move(show)),
      program_(host(options.file), {{sema::Mode::run, sizes_of(options.set), options.for_tex}}) {
  for (const auto& [name, number] : options.set) evaluate("--set", "dim " + name);
  if (!options.file.empty()) evaluate(options.file, read_file(options.file, most_script_bytes));
}

std::vector<sema::Outcome> ExpressionQuery::run(const std::string& question) {
  in_question_ = true;
  return evaluate("<expression>", question);
}

sema::Host ExpressionQuery::host(const std::string& file) {
  const auto print = [this](const std::string& text) {
    if (in_question_) print_line(text);
  };
  sema::Host result = make_host(print, file.empty() ? "." : folder_of(file));
  result.show = [this](const picture::Picture& picture) {
    if (in_question_ && show_) show_(picture);
  };
  return result;
}

std::vector<sema::Outcome> ExpressionQuery::evaluate(const std::string& name,
                                                     const std::string& text) {
  auto outcomes = program_.evaluator.run(name, text);
  if (in_question_)
    for (sema::Outcome& outcome : outcomes) outcome.diagnostics = with_advice(outcome.diagnostics);
  report(program_.sources, outcomes);
  code_ = std::max(code_, exit_code_of(outcomes));
  return outcomes;
}

std::string ExpressionQuery::exported(const sema::Value& value, const std::string& name,
                                      const std::string& target,
                                      const std::optional<Tuple>& tile) const {
  return program_.evaluator.exported(value, name, target, tile);
}

}  // namespace lay::runtime
