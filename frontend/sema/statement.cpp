#include "frontend/sema/statement.h"

#include <algorithm>
#include <new>

#include "frontend/algebra/support/interruption.h"
#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/explain/derivation.h"
#include "frontend/sema/explain/refutation.h"
#include "frontend/sema/indexed_call.h"
#include "frontend/sema/show/show.h"
#include "frontend/sema/values/names.h"
#include "frontend/sema/values/operators.h"
#include "frontend/source/text.h"

namespace lay::sema {
namespace {

class StatementEvaluation {
 public:
  StatementEvaluation(Session& session, const std::shared_ptr<Module>& module,
                      const std::shared_ptr<const syntax::Tree>& tree, Outcome& outcome,
                      const Bindings& locals)
      : session_(session), module_(module), outcome_(outcome) {
    frame_.closure = {tree, module, module->generation()};
    frame_.locals = locals;
  }

  void operator()(const syntax::Let& s) {
    if (!s.indices.empty()) {
      fail("kernel-only", "a let with indices is allowed only in the body of a kernel",
           s.indices.front().span);
    }
    Value value = guarded(s.value);
    made_by(s.value);
    module_->define(s.name.text, value, s.name.span, outcome_.made_by);
    outcome_.value = std::move(value);
  }

  void operator()(const syntax::Def& s) {
    std::vector<std::string> bound;
    for (const syntax::Identifier& index : s.indices) {
      if (std::find(bound.begin(), bound.end(), index.text) != bound.end())
        fail("duplicate-name", "two indices are called " + index.text, index.span);
      bound.push_back(index.text);
    }
    for (const syntax::Parameter& p : s.parameters) {
      if (std::find(bound.begin(), bound.end(), p.name.text) != bound.end()) {
        fail("duplicate-name", "two parameters are called " + p.name.text, p.name.span);
      }
      bound.push_back(p.name.text);
      check_type_word(p.type);
    }
    check_type_word(s.result);
    for_each_free_name(
        *frame_.closure.tree, s.body, bound,
        [&](const std::string& name, Span where) {
          if (name == s.name.text) {
            fail("recursion", name + " cannot use itself: every script ends", where, {},
                 {{"help", "a comprehension [f(i) for i in 0..n] repeats"}});
          }
          GuardScope ignored(session_.facts);
          look_up(session_, frame_, name, where);
        },
        [&](const syntax::Call& call) { return over_indices(s.name, call); });
    auto function = std::make_shared<const Function>(Function{frame_.closure, &s});
    module_->define(s.name.text, Value(FunctionPtr(function)), s.name.span);
  }

  void operator()(const syntax::Dim& s) {
    for (const syntax::Identifier& name : s.names) {
      Int symbol = session_.facts.dim(name.text);
      session_.dims[name.text] = symbol;
      auto set = session_.options.sizes.find(name.text);
      bool known = session_.running() && set != session_.options.sizes.end();
      module_->define(name.text, Value(known ? Int(set->second) : symbol), name.span);
    }
  }

  void operator()(const syntax::Assume& s) {
    Value value = evaluate(session_, frame_, s.condition);
    if (value.is_unknown())
      fail("symbolic", "what only a run knows cannot be assumed", span(s.condition));
    session_.facts.assume(as_condition(value, span(s.condition)));
  }

  void operator()(const syntax::Assert& s) {
    Value value = evaluate(session_, frame_, s.condition);
    if (value.is_unknown()) return;
    Predicate condition = as_condition(value, span(s.condition));
    Conclusion decision = session_.facts.decide(condition);
    if (decision.verdict == Verdict::proved) {
      finding(Verdict::proved, condition, "assert", {});
      return;
    }
    if (decide(session_, condition) == false) {
      std::string message = "this does not hold";
      if (s.message) {
        Value words = evaluate(session_, frame_, *s.message);
        message = words.as<std::string>() ? *words.as<std::string>() : text(words);
      }
      std::vector<Note> notes = sides(s.condition);
      if (session_.refutation) {
        for (Note& note : counterexample(*session_.refutation)) notes.push_back(std::move(note));
      }
      fail("assertion", message, span(s.condition), {}, std::move(notes));
    }
    finding(Verdict::undecided, condition, "assert", decision.sizes);
    outcome_.findings.back().guarded = true;
  }

  void operator()(const syntax::Print& s) {
    std::vector<Value> values;
    for (syntax::ExpressionId id : s.values) values.push_back(guarded(id));
    if (std::any_of(values.begin(), values.end(), [](const Value& v) { return v.is_unknown(); }))
      return;
    say({print_text(session_, values)});
  }

  void operator()(const syntax::Show& s) {
    const std::vector<picture::Picture> pictures = draw(session_, frame_, s, outcome_.where);
    if (!session_.running() || module_ != session_.main || !session_.host.show) return;
    for (const picture::Picture& picture : pictures) session_.host.show(picture);
  }
  void operator()(const syntax::Explain& s) {
    trace::Derivation derivation;
    std::optional<Value> value;
    try {
      const Definition definition = definition_of(frame_, s.value);
      frame_.closure = definition.closure;
      const trace::Listening listening(derivation);
      value = guarded(definition.expression);
    } catch (...) {
      say(derivation_lines(derivation, session_.facts));
      throw;
    }
    if (value->is_unknown()) return;
    std::vector<std::string> lines = derivation_lines(derivation, session_.facts);
    if (lines.empty()) lines.push_back("nothing to derive: this is " + text(*value));
    say(lines);
  }

  void operator()(const syntax::Prove& s) {
    Value value;
    try {
      session_.claiming = true;
      value = evaluate(session_, frame_, s.claim);
    } catch (const DiagnosticError& error) {
      if (error.diagnostic.code != "undecided") throw;
      std::string claim(session_.sources.text(span(s.claim)));
      outcome_.findings.push_back({Verdict::undecided, claim, "prove", {}, outcome_.where});
      for (const Note& note : error.diagnostic.notes) {
        if (note.kind == "works") outcome_.findings.back().decided_by.push_back(note.text);
      }
      return;
    }
    if (value.is_unknown()) return;
    Predicate claim = as_condition(value, span(s.claim));
    const Conclusion decided = session_.facts.decide(claim);
    finding(decided.verdict, claim, "prove", decided.sizes);
    if (decided.verdict == Verdict::refuted) refuted(claim, decided.sizes, s.claim);
  }

  void operator()(const syntax::Use& s) { use_library(session_, *module_, s, outcome_.where); }

  void operator()(const syntax::Record& s) {
    std::vector<std::string> names;
    for (const syntax::Parameter& p : s.parameters) unique(names, p.name);
    for (const syntax::Field& field : s.fields) unique(names, field.name);
    if (!s.parameters.empty()) {
      check_record_names(s);
      auto maker = std::make_shared<const RecordMaker>(RecordMaker{frame_.closure, &s});
      module_->define(s.name.text, Value(RecordMakerPtr(maker)), s.name.span);
      return;
    }
    Record record{s.name.text, s.name.text, {}};
    for (const syntax::Field& field : s.fields) {
      Value value = evaluate(session_, frame_, field.value);
      frame_.locals.emplace_back(field.name.text, value);
      record.fields.emplace_back(field.name.text, std::move(value));
    }
    module_->define(s.name.text, Value(std::make_shared<const Record>(std::move(record))),
                    s.name.span);
  }

  void operator()(const syntax::Kernel& s) {
    define_kernel(session_, module_, frame_.closure, s, outcome_.where);
  }

  void operator()(const syntax::Schedule& s) {
    add_schedule(session_, module_, frame_.closure, s, outcome_.where);
  }

  void operator()(const syntax::Sizes& s) {
    add_sizes(session_, module_, frame_.closure, s, outcome_.where);
  }

  void operator()(const syntax::Evaluate& s) {
    outcome_.value = guarded(s.value);
    made_by(s.value);
  }

  // The guards of this statement that did not come with the names it uses, as they read now.
  void report_guards() {
    for (const Guard& guard : session_.facts.simplify(raised_)) {
      const std::vector<Guard>& old = session_.inherited;
      if (std::find(old.begin(), old.end(), guard) != old.end()) continue;
      outcome_.findings.push_back({Verdict::undecided, guard.to_string(), guard.origin,
                                   guard.breaks, outcome_.where, true});
    }
  }

 private:
  Span span(syntax::ExpressionId id) const { return frame_.tree()[id].span; }

  void made_by(syntax::ExpressionId id) {
    outcome_.made_by = std::make_shared<const Definition>(Definition{frame_.closure, id});
  }

  // The value with the guards that it was raised under.
  Value guarded(syntax::ExpressionId id) {
    GuardScope scope(session_.facts);
    for (const auto& [name, local] : frame_.locals)
      inherit_guards(session_, name, local, outcome_.where);
    Value value = evaluate(session_, frame_, id);
    for (const Guard& guard : scope.guards()) {
      bool known = std::find(value.guards.begin(), value.guards.end(), guard) != value.guards.end();
      if (!known) value.guards.push_back(guard);
    }
    raised_.insert(raised_.end(), scope.guards().begin(), scope.guards().end());
    return value;
  }

  void finding(Verdict verdict, const Predicate& claim, std::string origin, Sizes breaks) {
    outcome_.findings.push_back(
        {verdict, claim.to_string(), std::move(origin), std::move(breaks), outcome_.where});
  }

  void say(const std::vector<std::string>& lines) {
    if (!session_.running() || module_ != session_.main || !session_.host.print) return;
    std::string all;
    for (const std::string& line : lines) all += (all.empty() ? "" : "\n") + line;
    if (!lines.empty()) session_.host.print(all);
  }

  [[noreturn]] void not_yet(const std::string& word, Span where) {
    fail("unsupported", word + " is not there yet", where, {},
         {{"help", "print writes a layout and, if it has rank 2, its table"}});
  }

  [[noreturn]] void refuted(const Predicate& claim, const Sizes& sizes,
                            syntax::ExpressionId asked) {
    Diagnostic d;
    d.code = "refuted";
    d.message = claim.is_never() ? "this never holds" : claim.to_string() + " does not always hold";
    d.primary = span(asked);
    if (claim.is_never() && session_.refutation) {
      const bool always = session_.refutation->never;
      d.message = always ? "this does not hold" : "this does not always hold";
      d.witness = witness(*session_.refutation);
      d.notes = counterexample(*session_.refutation);
      throw DiagnosticError(std::move(d));
    }
    if (claim.is_never()) d.notes = sides(asked, &d.witness);
    std::string values;
    for (const auto& [name, value] : sizes) {
      values += (values.empty() ? "" : ", ") + name + " = " + std::to_string(value);
      d.witness.emplace_back(name, std::to_string(value));
    }
    if (!values.empty()) d.notes.push_back({"at", values});
    throw DiagnosticError(std::move(d));
  }

  // The two sides of a comparison that failed, as values.
  std::vector<Note> sides(syntax::ExpressionId id,
                          std::vector<std::pair<std::string, std::string>>* facts = nullptr) {
    const auto* comparison = std::get_if<syntax::Binary>(&frame_.tree()[id].node);
    if (!comparison) return {};
    Value left = settle(session_, evaluate(session_, frame_, comparison->left));
    Value right = settle(session_, evaluate(session_, frame_, comparison->right));
    if (facts) {
      facts->emplace_back("left", fact_json(text(left)));
      facts->emplace_back("right", fact_json(text(right)));
    }
    return {{"", "the left side is " + text(left)}, {"", "the right side is " + text(right)}};
  }

  static void unique(std::vector<std::string>& names, const syntax::Identifier& name) {
    if (std::find(names.begin(), names.end(), name.text) != names.end()) {
      fail("duplicate-name", "two fields are called " + name.text, name.span);
    }
    names.push_back(name.text);
  }

  void check_record_names(const syntax::Record& s) {
    std::vector<std::string> bound;
    for (const syntax::Parameter& p : s.parameters) {
      bound.push_back(p.name.text);
      check_type_word(p.type);
    }
    for (const syntax::Field& field : s.fields) {
      for_each_free_name(
          frame_.tree(), field.value, bound,
          [&](const std::string& name, Span where) {
            if (name == s.name.text) fail("recursion", "a record cannot use itself", where);
            GuardScope ignored(session_.facts);
            look_up(session_, frame_, name, where);
          },
          [&](const syntax::Call& call) { return over_indices(s.name, call); });
      bound.push_back(field.name.text);
    }
  }

  // Returns true if a call in a name's definition is over indices. Error "recursion" for the name.
  bool over_indices(const syntax::Identifier& name, const syntax::Call& call) {
    const auto callee = indexed_callee(session_, frame_, call);
    if (!callee) return false;
    const auto& brackets = std::get<syntax::Index>(frame_.tree()[call.callee].node);
    const syntax::Expression& object = frame_.tree()[brackets.object];
    if (std::holds_alternative<FunctionPtr>(*callee) &&
        std::get<syntax::Name>(object.node).text == name.text)
      fail("recursion", name.text + " cannot use itself: every script ends", object.span);
    return true;
  }

  static void check_type_word(const std::optional<syntax::Identifier>& type) {
    static const std::vector<std::string> kWords = {
        "Any",   "Int",    "Tuple",  "Layout", "Bool",     "Real",   "String",
        "Array", "Record", "Kernel", "Type",   "Function", "Swizzle"};
    if (!type || std::find(kWords.begin(), kWords.end(), type->text) != kWords.end()) return;
    std::vector<Note> notes;
    if (auto near = nearest(type->text, kWords))
      notes.push_back({"help", "did you mean " + *near + "?"});
    if (notes.empty())
      notes.push_back(
          {"help",
           "the kinds are Int, Tuple, Layout, Swizzle, Bool, Real, String, Array, Record, Type"});
    fail("unknown-type", "there is no kind of value called " + type->text, type->span, {},
         std::move(notes));
  }

  Session& session_;
  std::shared_ptr<Module> module_;
  Outcome& outcome_;
  Frame frame_;
  std::vector<Guard> raised_;  // by values that carry them on
};

// The names that a statement defines, or would have if it had not failed.
std::vector<syntax::Identifier> defined_names(const syntax::Statement& statement) {
  if (const auto* s = std::get_if<syntax::Let>(&statement.node)) return {s->name};
  if (const auto* s = std::get_if<syntax::Def>(&statement.node)) return {s->name};
  if (const auto* s = std::get_if<syntax::Record>(&statement.node)) return {s->name};
  if (const auto* s = std::get_if<syntax::Kernel>(&statement.node)) return {s->name};
  if (const auto* s = std::get_if<syntax::Dim>(&statement.node)) return s->names;
  if (const auto* s = std::get_if<syntax::Use>(&statement.node)) {
    if (!s->path.empty()) return {s->path.back()};
  }
  return {};
}

}  // namespace

Outcome evaluate_statement(Session& session, const std::shared_ptr<Module>& module,
                           const std::shared_ptr<const syntax::Tree>& tree,
                           const syntax::Statement& statement, const Bindings& locals) {
  Outcome outcome;
  outcome.where = statement.span;
  Outcome* outer = std::exchange(session.outcome, &outcome);
  std::vector<Guard> inherited = std::exchange(session.inherited, {});
  std::optional<Conclusion> refutation = std::exchange(session.refutation, {});
  const bool claiming = std::exchange(session.claiming, false);
  if (!outer) session.steps = 0;
  bool failed = true;
  const Asking asking([&] {
    if (!session.host.interrupted || !session.host.interrupted()) return;
    fail("interrupted", "the statement was interrupted", statement.span);
  });
  try {
    GuardScope scope(session.facts);
    StatementEvaluation evaluation(session, module, tree, outcome, locals);
    std::visit(evaluation, statement.node);
    evaluation.report_guards();
    for (const syntax::Identifier& name : defined_names(statement))
      outcome.names.push_back(name.text);
    failed = false;
  } catch (const DiagnosticError& error) {
    outcome.diagnostics.add(error.diagnostic);
  } catch (const Refusal& refusal) {
    outcome.diagnostics.add(to_diagnostic(refusal, statement.span, {}));
  } catch (const Poisoned&) {
    outcome.poisoned = true;
  } catch (const std::bad_alloc&) {
    Diagnostic d;
    d.code = "limit";
    d.message = "this statement takes more memory than there is";
    d.primary = statement.span;
    outcome.diagnostics.add(std::move(d));
  }
  if (failed) {
    outcome.value.reset();
    for (const syntax::Identifier& name : defined_names(statement))
      module->define(name.text, std::nullopt, name.span);
  }
  if (outer) {  // what asked for a name goes on
    session.refutation = std::move(refutation);
    session.claiming = claiming;
  }
  session.outcome = outer;
  session.inherited = std::move(inherited);
  return outcome;
}

}  // namespace lay::sema
