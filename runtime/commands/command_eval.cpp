#include <iostream>
#include <stdexcept>
#include <string>

#include "frontend/sema/evaluator.h"
#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/report.h"
#include "runtime/execute/executor.h"
#include "runtime/execute/host.h"
#include "runtime/io/value_json.h"

namespace lay::runtime {
namespace {

std::string guards_json(const std::vector<Guard>& guards) {
  std::vector<std::string> texts;
  for (const Guard& guard : guards) texts.push_back(json_string(guard.to_string()));
  return json_array(texts);
}

const Diagnostic* first_error(const sema::Outcome& outcome) {
  for (const Diagnostic& d : outcome.diagnostics.list())
    if (d.severity == Severity::error) return &d;
  return nullptr;
}

// Answers the lines of one session.
class LineEvaluator {
 public:
  LineEvaluator() : evaluator_(sources_, host()) {}

  std::string answer(const std::string& line, int number) {
    printed_.clear();
    try {
      const auto outcomes = evaluator_.run("<input>", line, number);
      for (const auto& outcome : outcomes)
        if (!outcome.ok()) return error(outcome, number);
      return result(outcomes);
    } catch (const std::logic_error&
                 e) {  // our mistake: it is said, and the next line is answered all the same
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

 private:
  sema::Host host() {
    const auto print = [this](const std::string& text) { printed_ += text + "\n"; };
    const auto call = [this](const sema::KernelCall& c) { return executor_.run(c); };
    return make_host(print, call);
  }

  std::string error(const sema::Outcome& outcome, int number) const {
    const Diagnostic* d = first_error(outcome);
    JsonObject object, witness;
    object.boolean("ok", false);
    object.string("code", d ? d->code : "poisoned");
    object.string("message", d ? d->message : "this needs a name whose own statement failed");
    // Where the error lies in the library, its place in this line is that of the statement.
    const Span where = d && d->primary.known() && sources_[d->primary.file].name == "<input>"
                           ? d->primary
                           : outcome.where;
    const Position at = where.known() ? sources_.position(where) : Position{number, 1};
    object.integer("line", at.line).integer("column", at.column);
    if (d)
      for (const auto& [name, json] : d->witness) witness.raw(name, json);
    object.raw("witness", witness.text());
    return object.text();
  }

  std::string result(const std::vector<sema::Outcome>& outcomes) const {
    JsonObject object;
    object.boolean("ok", true);
    const sema::Outcome* last = outcomes.empty() ? nullptr : &outcomes.back();
    const bool is_expression = last && last->value && last->names.empty();
    const sema::Value value =
        last && last->value ? evaluator_.settled(*last->value) : sema::Value();
    describe(object, is_expression ? value : sema::Value());
    if (const auto guards = evaluator_.simplified(value.guards); !guards.empty())
      object.raw("guards", guards_json(guards));
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

  Sources sources_;
  Executor executor_{sources_};
  std::string printed_;
  sema::Evaluator evaluator_;
};

}  // namespace

int evaluate_lines() {
  LineEvaluator evaluator;
  int number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.ends_with('\r')) line.pop_back();
    std::cout << evaluator.answer(line, ++number) << std::endl;
  }
  return exit_ok;
}

}  // namespace lay::runtime
