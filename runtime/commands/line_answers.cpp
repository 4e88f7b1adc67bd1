#include "runtime/commands/line_answers.h"

#include <stdexcept>

#include "runtime/commands/report.h"
#include "runtime/io/value_json.h"

namespace lay::runtime {
namespace {

const Diagnostic* first_error(const sema::Outcome& outcome) {
  for (const Diagnostic& d : outcome.diagnostics.list())
    if (d.severity == Severity::error) return &d;
  return nullptr;
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
  const Diagnostic* d = first_error(outcome);
  JsonObject object, witness;
  object.boolean("ok", false);
  object.string("code", d ? d->code : "poisoned");
  object.string("message", d ? d->message : "this needs a name whose own statement failed");
  // Where the error lies in the library, its place in this line is that of the statement.
  const Span where = d && d->primary.known() && program_.sources[d->primary.file].name == "<input>"
                         ? d->primary
                         : outcome.where;
  const Position at = where.known() ? program_.sources.position(where) : Position{number, 1};
  object.integer("line", at.line).integer("column", at.column);
  if (d)
    for (const auto& [name, json] : d->witness) witness.raw(name, json);
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
        std::vector<std::string> conditions;
        for (const std::string& condition : finding.decided_by)
          conditions.push_back(json_string(condition));
        if (!conditions.empty()) object.raw("decided_by", json_array(conditions));
      }
  if (!printed_.empty()) object.string("printed", printed_);
  return object.text();
}

}  // namespace lay::runtime
