#include "frontend/sema/session.h"

#include <algorithm>
#include <limits>

#include "frontend/algebra/support/interruption.h"
#include "frontend/sema/builtins/array_operations.h"
#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/kernel/reduce_function.h"
#include "frontend/sema/prelude.h"
#include "frontend/source/text.h"

namespace lay::sema {

void Module::define(const std::string& name, std::optional<Value> value, Span where,
                    std::shared_ptr<const Definition> made_by) {
  entries_[name].push_back({++generation_, std::move(value), where, std::move(made_by)});
}

const Module::Entry* Module::find(const std::string& name, int generation) const {
  auto at = entries_.find(name);
  if (at == entries_.end()) return nullptr;
  const auto found = std::find_if(at->second.rbegin(), at->second.rend(), [&](const Entry& entry) {
    return entry.generation <= generation;
  });
  return found == at->second.rend() ? nullptr : &*found;
}

Session::Session(Sources& s, Host h, Options o)
    : sources(s),
      host(std::move(h)),
      options(std::move(o)),
      prelude_(std::make_unique<Prelude>(*this)) {}

Session::~Session() {
  main->clear();
  prelude_->clear();
  for (auto& [name, module] : loaded) module->clear();
}

void Session::charge(std::int64_t n, Span where) {
  constexpr std::int64_t between_questions = 1024;
  if (steps / between_questions != (steps + n) / between_questions) ask();
  steps += n;
  if (steps > kStepBudget) {
    fail("limit", "this statement takes more than " + std::to_string(kStepBudget) + " steps",
         where);
  }
}

void fail(std::string code, std::string message, Span where, std::vector<Label> labels,
          std::vector<Note> notes) {
  Diagnostic d;
  d.code = std::move(code);
  d.message = std::move(message);
  d.primary = where;
  d.labels = std::move(labels);
  d.notes = std::move(notes);
  throw DiagnosticError(std::move(d));
}

std::string fact_json(const std::string& text) {
  if (text.find_first_not_of("-0123456789(),") != std::string::npos) return quoted(text);
  std::string json;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool closes_tuple_of_one = c == ',' && i + 1 < text.size() && text[i + 1] == ')';
    if (!closes_tuple_of_one) json += c == '(' ? '[' : c == ')' ? ']' : c;
  }
  return json;
}

Diagnostic to_diagnostic(const Refusal& refusal, Span whole, const std::vector<Span>& operands) {
  Diagnostic d;
  d.code = refusal.code;
  d.message = refusal.message;
  d.primary = whole;
  for (const OperandNote& label : refusal.labels) {
    auto k = static_cast<std::size_t>(label.operand);
    if (k >= operands.size() || !operands[k].known()) {
      d.notes.push_back({"", label.text});
      continue;
    }
    d.labels.push_back({operands[k], label.text});
    if (operands.size() == 2) d.primary = operands[1 - k];
  }
  if (d.labels.size() > 1) d.primary = whole;
  for (const auto& [kind, note] : refusal.notes()) d.notes.push_back({kind, note});
  if (refusal.mode) d.witness.emplace_back("mode", std::to_string(*refusal.mode));
  if (const auto& w = refusal.witness) {
    d.witness.emplace_back("index", std::to_string(w->index));
    if (!w->coordinate.empty()) d.witness.emplace_back("coordinate", fact_json(w->coordinate));
    if (!w->middle.empty()) d.witness.emplace_back("middle", fact_json(w->middle));
    if (!w->expected.empty()) d.witness.emplace_back("expected", fact_json(w->expected));
    if (!w->got.empty()) d.witness.emplace_back("got", fact_json(w->got));
  }
  for (const auto& [name, value] : refusal.sizes)
    d.witness.emplace_back(name, std::to_string(value));
  return d;
}

namespace {

constexpr std::int64_t kElementsPerStep = 16;

}  // namespace

void require_array_steps(Session& session, const std::vector<std::int64_t>& shape, Span where) {
  const std::optional<std::int64_t> elements = elements_of(shape);
  if (elements && *elements / kElementsPerStep <= kStepBudget - session.steps) return;
  fail("limit",
       "this statement takes more than " + std::to_string(kStepBudget) + " steps: an array of " +
           (elements ? std::to_string(*elements) : "more than 2^63") + " elements",
       where, {},
       {{"help", "a statement works on at most " + std::to_string(kStepBudget * kElementsPerStep) +
                     " elements"}});
}

void charge_array_pair(Session& session, const Value& a, const Value& b, Span where) {
  session.charge(work_of(a) + work_of(b), where);
  const auto *x = a.as<Array>(), *y = b.as<Array>();
  if (x && y) require_array_steps(session, joint_shape(*x, *y), where);
}

std::int64_t work_of(const Value& value) {
  if (const auto* a = value.as<Array>()) return a->size() / kElementsPerStep;
  return weight(value) / 4;
}

std::optional<bool> decide(Session& session, const Predicate& condition) {
  if (condition.is_always()) return true;
  if (condition.is_never()) return false;
  if (session.facts.proves(condition)) return true;
  if (session.facts.proves(negate(condition))) return false;
  return std::nullopt;
}

std::vector<Predicate> conjuncts(const Predicate& condition) {
  if (condition.is_always()) return {};
  if (condition.kind() != PredicateKind::both) return {condition};
  std::vector<Predicate> parts = conjuncts(Predicate::of(condition.node().left));
  for (const Predicate& part : conjuncts(Predicate::of(condition.node().right)))
    parts.push_back(part);
  return parts;
}

Predicate as_condition(const Value& value, Span where) {
  if (const auto* p = value.as<Predicate>()) return *p;
  fail("operand-kind", "a condition must stand here, not " + kind_name(value), where);
}

namespace {

// Names that stand for themselves: orders and units.
bool is_word(const std::string& name) {
  static constexpr std::string_view words[] = {"left", "right", "bytes", "threads", "coordinates"};
  return std::find(std::begin(words), std::end(words), name) != std::end(words);
}

// The guard of a name is broken by what was assumed since: says by which assumption, the first that
// breaks it together with those before it.
[[noreturn]] void ruled_out(const Facts& facts, const std::string& name, const Guard& guard,
                            Span where) {
  std::vector<Note> notes;
  Facts known;
  for (const Predicate& assumption : facts.assumptions()) {
    known.assume(assumption);
    if (!known.rules_out(guard)) continue;
    notes.push_back({"help", "`assume " + assumption.to_string() +
                                 "` rules it out; state it before `let " + name +
                                 "`, and the operation takes it into account or refuses"});
    break;
  }
  fail("guard",
       name + " holds only where " + guard.to_string() + ", which what is known by now rules out",
       where, {}, std::move(notes));
}

// Returns what a name of CuTe, C++ or Python is in Lay, where that has no such name.
std::string of_other_language(const std::string& name) {
  static const std::map<std::string, std::string> words = {
      {"True", "write true"},
      {"False", "write false"},
      {"None", "Lay has no None: a mode that is kept is `_`, and what is not needed is left out"},
      {"null", "Lay has no null: a mode that is kept is `_`, and what is not needed is left out"},
      {"int8", "the type is s8"},
      {"int8_t", "the type is s8"},
      {"uint8", "the type is u8"},
      {"uint8_t", "the type is u8"},
      {"int16", "the type is s16"},
      {"int32", "the type is s32"},
      {"int32_t", "the type is s32"},
      {"int64", "the type is s64"},
      {"int64_t", "the type is s64"},
      {"int", "the type of elements is s32, the kind of a parameter Int"},
      {"float", "the type is f32"},
      {"float32", "the type is f32"},
      {"fp32", "the type is f32"},
      {"double", "the type is f64"},
      {"float64", "the type is f64"},
      {"half", "the type is f16"},
      {"half_t", "the type is f16"},
      {"float16", "the type is f16"},
      {"fp16", "the type is f16"},
      {"bfloat16", "the type is bf16"},
      {"bfloat16_t", "the type is bf16"},
      {"float8_e4m3", "the type is e4m3"},
      {"float8_e5m2", "the type is e5m2"},
      {"len", "rank(t) counts modes, size(t) elements"},
      {"range", "a comprehension runs over a range: [f(i) for i in 0..4]"},
      {"pow", "write x * x, or exp(y * log(x))"},
      {"make_shape", "a shape is a tuple: (4,2)"},
      {"make_stride", "strides are a tuple: make_layout((4,2), (1,4))"},
      {"make_coord", "a coordinate is a tuple: (3,1)"},
      {"make_tuple", "a tuple is written in parentheses: (4,2)"},
      {"make_tile", "a tiler is a tuple: (2:1,4)"},
      {"LayoutLeft", "layout(S)"},
      {"LayoutRight", "layout(S, right)"},
      {"GenColMajor", "layout(S)"},
      {"GenRowMajor", "layout(S, right)"},
      {"make_composed_layout", "Sw<3,3,3> o 0 o L"},
      {"Swizzle", "Sw<3,3,3>"},
      {"print_layout", "show L"},
      {"print_latex", "show L, and lay show -o L.tex"},
      {"ArithTuple", "cute(\"...\") reads what CuTe prints"},
  };
  const auto word = words.find(name);
  return word == words.end() ? "" : word->second;
}

}  // namespace

void inherit_guards(Session& session, const std::string& name, const Value& value, Span where) {
  for (const Guard& guard : value.guards) {
    if (session.facts.rules_out(guard)) ruled_out(session.facts, name, guard, where);
    session.facts.raise(guard);
    session.inherited.push_back(guard);
  }
}

Value look_up(Session& session, Frame& frame, const std::string& name, Span where) {
  const auto local = std::find_if(frame.locals.rbegin(), frame.locals.rend(),
                                  [&](const auto& each) { return each.first == name; });
  if (local != frame.locals.rend()) return local->second;
  const Module::Entry* entry = frame.closure.module->find(name, frame.closure.generation);
  if (!entry) {
    if (const Builtin* builtin = find_builtin(name)) return Value(builtin);
    if (auto type = parse_element(name)) return Value(*type);
    if (is_word(name)) return Value(name);
    if (name == "inf") return Value(std::numeric_limits<double>::infinity());
    if (name == "nan") return Value(std::numeric_limits<double>::quiet_NaN());
    entry = session.prelude().find(name);
  }
  if (!entry) {
    std::vector<Note> notes;
    if (const std::string here = of_other_language(name); !here.empty())
      notes.push_back({"help", here});
    else if (auto near = nearest(name, visible_names(session, frame)))
      notes.push_back({"help", "did you mean " + *near + "?"});
    if (session.kernel && notes.empty())
      notes.push_back(
          {"help", "an index is on the left, C[m,n] = ..., or is reduced over: sum[k](...)"});
    const Span slashes{where.file, where.begin < 3 ? 0 : where.begin - 3, where.begin};
    if (session.sources.text(slashes).find("//") != std::string_view::npos)
      notes.push_back(
          {"help",
           "a comment after code has at least two blanks before it; a // b with fewer divides"});
    fail("unknown-name", "nothing is called " + name, where, {}, std::move(notes));
  }
  if (!entry->value) throw Poisoned{};
  inherit_guards(session, name, *entry->value, where);
  return *entry->value;
}

Definition definition_of(const Frame& frame, syntax::ExpressionId id) {
  Definition found{frame.closure, id};
  for (;;) {
    const auto* name = std::get_if<syntax::Name>(&(*found.closure.tree)[found.expression].node);
    if (!name) return found;
    for (const auto& [local, value] : frame.locals)
      if (local == name->text) return found;
    // A definition is older than its name, so this ends.
    const Module::Entry* entry = found.closure.module->find(name->text, found.closure.generation);
    if (!entry || !entry->made_by) return found;
    found = *entry->made_by;
  }
}

std::vector<std::string> visible_names(Session& session, const Frame& frame) {
  std::vector<std::string> names;
  for (const auto& [name, value] : frame.locals) names.push_back(name);
  for (const auto& [name, entries] : frame.closure.module->entries()) names.push_back(name);
  for (const Builtin* builtin : all_builtins()) names.emplace_back(builtin->name);
  for (const ElementRow& row : element_rows()) names.emplace_back(row.name);
  for (std::string& name : session.prelude().names()) names.push_back(std::move(name));
  for (const ReduceRow& row : reduce_rows()) names.emplace_back(row.name);
  return names;
}

}  // namespace lay::sema
