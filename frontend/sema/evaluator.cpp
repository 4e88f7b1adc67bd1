#include "frontend/sema/evaluator.h"

#include <algorithm>

#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/builtins/find.h"
#include "frontend/sema/kernel/reduce_function.h"
#include "frontend/sema/prelude.h"
#include "frontend/sema/show/export.h"
#include "frontend/sema/statement.h"
#include "frontend/source/text.h"
#include "frontend/syntax/parse.h"

namespace lay::sema {

Evaluator::Evaluator(Sources& sources, Host host, Options options)
    : session_(std::make_unique<Session>(sources, std::move(host), std::move(options))) {}

Evaluator::~Evaluator() = default;

std::vector<Outcome> Evaluator::run(const std::string& name, std::string_view text,
                                    int first_line) {
  int file = session_->sources.add(name, text, first_line);
  syntax::Parsed parsed = syntax::parse(session_->sources, file);
  std::vector<Outcome> outcomes;
  if (!parsed.diagnostics.list().empty()) {
    outcomes.emplace_back();
    outcomes.back().diagnostics = parsed.diagnostics;
  }
  Module& names = *session_->main;
  for (const syntax::Identifier& broken : parsed.tree->broken) {
    if (!names.find(broken.text, names.generation()))
      names.define(broken.text, std::nullopt, broken.span);
  }
  for (const syntax::Statement& statement : parsed.tree->statements) {
    outcomes.push_back(evaluate(parsed.tree, statement));
    const auto& interrupted = session_->host.interrupted;
    if (!outcomes.back().ok() && interrupted && interrupted()) break;
  }
  return outcomes;
}

Outcome Evaluator::evaluate(const std::shared_ptr<const syntax::Tree>& tree,
                            const syntax::Statement& statement) {
  return evaluate_statement(*session_, session_->main, tree, statement);
}

namespace {

// Evaluates the one statement of a text, which is a `Node`; error `syntax` for another text.
template <class Node>
Outcome evaluate_alone(Session& session, const std::string& name, std::string_view text,
                       const Bindings& bindings) {
  const int file = session.sources.add(name, text);
  const syntax::Parsed parsed = syntax::parse(session.sources, file);
  Outcome failed;
  failed.where = {file, 0, static_cast<std::uint32_t>(session.sources[file].text.size())};
  failed.diagnostics = parsed.diagnostics;
  if (!parsed.diagnostics.ok()) return failed;
  const auto& statements = parsed.tree->statements;
  if (statements.size() == 1 && std::holds_alternative<Node>(statements[0].node))
    return evaluate_statement(session, session.main, parsed.tree, statements[0], bindings);
  Diagnostic d;
  d.code = "syntax";
  d.message = "expected one expression, got " +
              (statements.size() == 1 ? "another statement"
                                      : std::to_string(statements.size()) + " statements");
  d.primary = failed.where;
  failed.diagnostics.add(std::move(d));
  return failed;
}

}  // namespace

Outcome Evaluator::evaluate_expression(const std::string& name, std::string_view text,
                                       const Bindings& bindings,
                                       const std::map<std::string, std::int64_t>& sizes) {
  auto all = sizes;
  all.insert(session_->options.sizes.begin(), session_->options.sizes.end());
  std::swap(session_->options.sizes, all);
  Outcome outcome = evaluate_alone<syntax::Evaluate>(*session_, name, text, bindings);
  std::swap(session_->options.sizes, all);
  return outcome;
}

Outcome Evaluator::prove_expression(const std::string& name, std::string_view text,
                                    const Bindings& bindings) {
  return evaluate_alone<syntax::Prove>(*session_, name, "prove " + std::string(text), bindings);
}

Outcome Evaluator::show_expression(const std::string& name, std::string_view text,
                                   const Bindings& bindings) {
  return evaluate_alone<syntax::Show>(*session_, name, "show " + std::string(text), bindings);
}

void Evaluator::draw_for_tex(bool on) {
  session_->options.for_tex = on;
}

void Evaluator::define(const std::string& name, Value value,
                       std::shared_ptr<const Definition> made_by) {
  session_->main->define(name, std::move(value), Span{}, std::move(made_by));
}

std::vector<KernelPtr> Evaluator::kernels() const {
  std::vector<KernelPtr> result;
  for (const std::string& name : session_->kernel_order) {
    const Module::Entry* entry = session_->main->find(name, session_->main->generation());
    if (!entry || !entry->value) continue;
    const auto* family = entry->value->as<KernelFamilyPtr>();
    if (family && std::find(result.begin(), result.end(), (*family)->checked) == result.end()) {
      result.push_back((*family)->checked);
    }
  }
  return result;
}

int Evaluator::kernel_calls() const {
  return session_->kernel_calls;
}

std::vector<Guard> Evaluator::simplified(const std::vector<Guard>& guards) const {
  return session_->facts.simplify(guards);
}

Value Evaluator::settled(const Value& value) const {
  return settle(*session_, value);
}

std::string Evaluator::printed(const Value& value) const {
  return print_text(*session_, {value});
}

std::vector<std::string> Evaluator::names() const {
  Frame frame{{nullptr, session_->main, session_->main->generation()}, {}};
  std::vector<std::string> names = visible_names(*session_, frame);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

namespace {

constexpr std::size_t kMostShown = 200;  // of a value

std::string signature_of(const std::string& name, const std::vector<syntax::Parameter>& parameters,
                         const std::vector<syntax::Identifier>& indices = {}) {
  std::string signature = name;
  for (const syntax::Identifier& index : indices)
    signature += (&index == indices.data() ? "[" : ",") + index.text;
  signature += indices.empty() ? "(" : "](";
  for (const syntax::Parameter& p : parameters) {
    if (signature.back() != '(') signature += ", ";
    signature += p.name.text;
  }
  return signature + ")";
}

// Returns what is known of a size without a known number; nothing for other values.
std::optional<std::string> size_law(const Session& session, const Value& value) {
  const auto* t = value.as<Tuple>();
  if (!t || !t->is_int() || !t->value().dim_id()) return std::nullopt;
  const Facts& facts = session.facts;
  const Int& size = t->value();
  std::string law = "a size of at least " + std::to_string(facts.lower(size).value_or(1));
  if (const auto most = facts.upper(size)) law += ", at most " + std::to_string(*most);
  if (const int64_t by = facts.divisor(size); by > 1)
    law += ", a multiple of " + std::to_string(by);
  return law;
}

}  // namespace

std::string Evaluator::exported(const Value& value, const std::string& name,
                                const std::string& target, const std::optional<Tuple>& tile) const {
  return exported_text(*session_, value, name, target, tile, {});
}

std::optional<Help> Evaluator::help(const std::string& name) const {
  if (const Builtin* builtin = find_builtin(name)) {
    return Help{name, std::string(builtin->signature), std::string(builtin->law)};
  }
  if (name == "find") return Help{name, std::string(kFindSignature), std::string(kFindLaw)};
  Frame frame{{nullptr, session_->main, session_->main->generation()}, {}};
  const Module::Entry* entry = session_->main->find(name, session_->main->generation());
  if (!entry) entry = session_->prelude().find(name);
  if (const ReduceRow* row = entry ? nullptr : find_reduce(name))
    return Help{name, name + "[k](x)", std::string(row->law)};
  if (!entry || !entry->value) {
    const auto type = parse_element(name);
    return type ? std::optional(Help{name, name,
                                     "an element type of " + std::to_string(bits(*type)) + " bits"})
                : std::nullopt;
  }
  if (const auto* function = entry->value->as<FunctionPtr>()) {
    const Function& f = **function;
    const std::string_view body = session_->sources.text((*f.closure.tree)[f.def->body].span);
    return Help{name, signature_of(name, f.def->parameters, f.def->indices), "= " + one_line(body)};
  }
  if (const auto* maker = entry->value->as<RecordMakerPtr>()) {
    std::string fields;
    for (const syntax::Field& field : (*maker)->record->fields)
      fields += (fields.empty() ? "" : ", ") + field.name.text;
    return Help{name, signature_of(name, (*maker)->record->parameters), "a record of " + fields};
  }
  if (const auto known = size_law(*session_, *entry->value)) return Help{name, name, *known};
  return Help{
      name, name,
      kind_name(*entry->value) + ": " + one_line(text(*entry->value)).substr(0, kMostShown)};
}

std::vector<std::string> Evaluator::fields(const std::string& path) const {
  const std::size_t dot = path.find('.');
  const std::string first = path.substr(0, dot);
  const Module::Entry* entry = session_->main->find(first, session_->main->generation());
  if (!entry) entry = session_->prelude().find(first);
  const Value* value = entry && entry->value ? &*entry->value : nullptr;
  for (std::size_t begin = dot; value && begin != path.npos;) {
    const std::size_t end = path.find('.', begin + 1);
    const auto* record = value->as<RecordPtr>();
    value = record ? (*record)->find(path.substr(begin + 1, end - begin - 1)) : nullptr;
    begin = end;
  }
  std::vector<std::string> names;
  if (!value) return names;
  if (const auto* record = value->as<RecordPtr>())
    for (const auto& [name, field] : (*record)->fields) names.push_back(name);
  return names;
}

const Facts& Evaluator::facts() const {
  return session_->facts;
}

}  // namespace lay::sema
