// What `print` writes.

#include "frontend/algebra/tuple_operations.h"
#include "frontend/sema/statement.h"
#include "frontend/sema/table.h"

namespace lay::sema {

namespace {

Tuple settled(const Facts& facts, const Tuple& tuple) {
  if (tuple.is_known()) return tuple;
  return transform(tuple, [&](const Tuple& leaf) {
    if (leaf.is_underscore() || leaf.value().is_literal()) return leaf;
    return Tuple::basis(facts.simplify(leaf.value()), leaf.path());
  });
}

Layout settled(const Facts& facts, const Layout& layout) {
  if (layout.is_known()) return layout;
  return Layout(settled(facts, layout.shape), settled(facts, layout.stride), layout.units);
}

}  // namespace

Value settle(const Session& session, const Value& value) {
  const Facts& facts = session.facts;
  Value result = value;
  if (const auto* p = value.as<Predicate>(); p && !p->is_always() && !p->is_never()) {
    if (facts.proves(*p)) result.data = Predicate(true);
    if (facts.proves(negate(*p))) result.data = Predicate(false);
  }
  if (const auto* tuple = value.as<Tuple>()) result.data = settled(facts, *tuple);
  if (const auto* layout = value.as<Layout>()) result.data = settled(facts, *layout);
  return result;
}

std::string print_text(const Session& session, const std::vector<Value>& values) {
  std::string line;
  std::vector<Guard> guards;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) line += ' ';
    const auto* words = values[i].as<std::string>();
    line += words ? *words : text(settle(session, values[i]));
    guards.insert(guards.end(), values[i].guards.begin(), values[i].guards.end());
  }
  bool first = true;
  for (const Guard& guard : session.facts.simplify(guards)) {
    line += (first ? "  // guarded by " : ", ") + guard.to_string();
    first = false;
  }
  if (values.size() == 1) line += table_below(values[0]);
  return line;
}

}  // namespace lay::sema
