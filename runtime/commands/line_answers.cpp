#include "runtime/commands/line_answers.h"

#include <stdexcept>

#include "runtime/commands/report.h"
#include "runtime/io/value_json.h"

namespace lay::runtime {
namespace {

// Why the outcome is not ok.
Diagnostic first_error(const sema::Outcome& outcome) {
  for (const Diagnostic& d : outcome.diagnostics.list())
    if (d.severity == Severity::error) return d;
  return poisoned(outcome);
}

}  // namespace

std::string LineAnswers::answer(const std::string& line, int number) {
  printed_.clear();
  try {
    outcomes_.clear();
    outcomes_ = program_.evaluator.run("<input>", line, number);
    for (const auto& outcome : outcomes_)
      if (!outcome.ok()) return error(outcome, number);
    return result();
  } catch (const std::logic_error& e) {
    // Our mistake: it is said, and the next line is answered all the same.
    return JsonObject()
        .boolean("ok", false)
        .string("code", "internal")
        .string("message", e.what())
        .integer("line", number)
        .integer("column", 1)
        .raw("witness", "{}")
        .text();
  }
}

std::string LineAnswers::error(const sema::Outcome& outcome, int number) const {
  const Diagnostic d = first_error(outcome);
  JsonObject object, witness;
  object.boolean("ok", false).string("code", d.code).string("message", d.message);
  // Where the error lies in the library, its place in this line is that of the statement.
  const bool is_here = d.primary.known() && program_.sources[d.primary.file].name == "<input>";
  const Span where = is_here ? d.primary : outcome.where;
  const Position at = where.known() ? program_.sources.position(where) : Position{number, 1};
  object.integer("line", at.line).integer("column", at.column);
  for (const auto& [name, json] : d.witness) witness.raw(name, json);
  object.raw("witness", witness.text());
  return object.text();
}

std::string LineAnswers::result() const {
  JsonObject object;
  object.boolean("ok", true);
  const sema::Outcome* last = outcomes_.empty() ? nullptr : &outcomes_.back();
  const bool is_expression = last && last->value && last->names.empty();
  const sema::Value value =
      last && last->value ? program_.evaluator.settled(*last->value) : sema::Value();
  describe(object, is_expression ? value : sema::Value());
  if (const auto guards = program_.evaluator.simplified(value.guards); !guards.empty())
    object.raw("guards", to_json(guards));
  if (last)
    for (const auto& finding : last->findings)
      if (finding.origin == "prove") {
        object.string("verdict", verdict_word(finding));
        if (!finding.breaks.empty()) object.raw("witness", to_json(finding.breaks));
        if (!finding.decided_by.empty()) object.raw("decided_by", json_strings(finding.decided_by));
      }
  if (!printed_.empty()) object.string("printed", printed_);
  return object.text();
}

}  // namespace lay::runtime
