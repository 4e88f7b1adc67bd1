#include "tests/conformance/answer.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "frontend/sema/values/value.h"
#include "generated/tests/paths.h"
#include "tests/conformance/expression.h"

namespace conformance {

using namespace lay;

struct Lay::Session {
  Sources sources;
  sema::Evaluator evaluator{sources, sema::Host{}};

  // CuTe's names of atoms, when the first case mentions one.
  void know_atoms() {
    if (std::exchange(knows_atoms_, true)) return;
    std::ifstream atoms(LAY_SOURCE_DIR "/tests/conformance/atoms.lay");
    std::ostringstream text;
    text << atoms.rdbuf();
    expect(text.str());
  }
  void expect(const std::string& text) {
    for (const sema::Outcome& outcome : evaluator.run("conformance.lay", text)) {
      if (!outcome.ok()) throw std::runtime_error("conformance: a statement fails in\n" + text);
    }
  }
  Int dim(const std::string& name) {
    return evaluator.run("conformance.lay", name).back().value->as<Tuple>()->value();
  }

 private:
  bool knows_atoms_ = false;
};

namespace {

Outcome outcome_of(const Case& c, const sema::Value& value) {
  if (const auto* l = value.as<Layout>()) return {simplified(*l), 0, {}};
  if (const auto* composed = value.as<Composed>()) return {simplified(*composed), 0, {}};
  if (const auto* s = value.as<Swizzle>()) return {*s, 0, {}};
  if (const auto* t = value.as<Tuple>()) return {*t, 0, {}};
  if (const auto* p = value.as<Predicate>()) return {Tuple(p->is_always() ? 1 : 0), 0, {}};
  const auto* list = value.as<sema::ListPtr>();
  if (list && (*list)->elements.size() == 2) {
    const sema::Value &first = (*list)->elements[0], &second = (*list)->elements[1];
    const auto *l = first.as<Layout>(), *table = second.as<Layout>();
    if (const auto* offset = second.as<Tuple>(); l && offset) return {AnyLayout(*l), *offset, {}};
    if (l && table) return {AnyLayout(*l), 0, values(*table)};
  }
  throw std::runtime_error("conformance: unexpected answer to " + c.describe());
}

AnyLayout substituted(const AnyLayout& a, const std::map<DimId, Int>& numbers) {
  return std::visit([&](const auto& x) -> AnyLayout { return substitute(x, numbers); }, a);
}

}  // namespace

Lay::Lay() : session_(std::make_shared<Session>()) {}

void Lay::restart() {
  session_ = std::make_shared<Session>();
  dims_.clear();
}

Answer Lay::evaluate(const Case& c, const std::string& text) {
  const auto outcomes = session_->evaluator.run("conformance.lay", text);
  Answer answer;
  for (const sema::Outcome& outcome : outcomes) {
    for (const Diagnostic& d : outcome.diagnostics.list()) {
      if (d.severity == Severity::error && answer.code.empty()) {
        answer.code = d.code;
        answer.message = d.message;
      }
    }
  }
  if (!answer.code.empty()) return answer;
  const sema::Value& value = *outcomes.back().value;
  answer.guards = value.guards;
  answer.outcome = outcome_of(c, value);
  return answer;
}

Answer Lay::ask(const Case& c) {
  const auto text = expression_of(c);
  if (!text) throw std::runtime_error("conformance: no row for " + c.op);
  if (c.args.contains("of")) session_->know_atoms();
  return evaluate(c, *text);
}

std::string Lay::dim_of(int64_t n, std::string& statements) {
  if (n < 2) return std::to_string(n);
  const auto [at, fresh] = dims_.try_emplace(n, "D" + std::to_string(n));
  if (fresh) {
    statements += "dim " + at->second + "\n";
    for (const auto& [m, name] : dims_) {
      if (m < n && n % m == 0) statements += "assume " + at->second + " % " + name + " == 0\n";
      if (m > n && m % n == 0) statements += "assume " + name + " % " + at->second + " == 0\n";
    }
  }
  return at->second;
}

Lay::Symbolic Lay::ask_with_symbols(const Case& c, bool strides) {
  restart();
  std::string statements;
  Spelling spelling;
  spelling.extent = [&](int64_t n) { return dim_of(n, statements); };
  if (strides) spelling.stride = spelling.extent;
  Symbolic result;
  result.text = *expression_of(c, spelling);
  session_->expect(statements);
  result.answer = evaluate(c, result.text);
  std::map<DimId, Int> numbers;
  Binding binding;
  for (const auto& [n, name] : dims_) {
    const DimId id = *session_->dim(name).dim_id();
    numbers[id] = n;
    binding[id] = n;
  }
  for (const Guard& guard : result.answer.guards) {
    if (either(negate(guard.path), guard.predicate).evaluate(binding) != true)
      result.guards_hold = false;
  }
  if (!result.answer.outcome || !result.guards_hold) return result;
  Outcome& outcome = *result.answer.outcome;
  if (auto* a = std::get_if<AnyLayout>(&outcome.result)) outcome.result = substituted(*a, numbers);
  if (auto* t = std::get_if<Tuple>(&outcome.result)) outcome.result = substitute(*t, numbers);
  outcome.offset = substitute(outcome.offset, numbers);
  return result;
}

}  // namespace conformance
