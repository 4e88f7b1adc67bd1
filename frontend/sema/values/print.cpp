// The text that `print` writes.

#include <algorithm>

#include "frontend/algebra/support/refusal.h"
#include "frontend/algebra/tuples/tuple_operations.h"
#include "frontend/sema/builtins/table.h"
#include "frontend/sema/statement.h"

namespace lay::sema {

namespace {

Tuple settled(const Facts& facts, const Tuple& tuple) {
  if (tuple.is_known()) return tuple;
  return transform(tuple, [&](const Tuple& leaf) {
    if (leaf.is_underscore() || leaf.value().is_literal()) return leaf;
    return Tuple::basis(facts.simplify(leaf.value()), leaf.path());
  });
}

// A layout whose guards are broken by what is known now may have no extents any more; it is shown
// as it stands.
Layout settled(const Facts& facts, const Layout& layout) {
  if (layout.is_known()) return layout;
  try {
    return Layout(settled(facts, layout.shape), settled(facts, layout.stride), layout.units,
                  layout.names);
  } catch (const Refusal&) {
    return layout;
  }
}

Composed settled(const Facts& facts, const Composed& composed) {
  const auto settled_part = [&](auto part) {
    if (const auto* layout = std::get_if<Layout>(&part)) part = settled(facts, *layout);
    return part;
  };
  return {settled_part(composed.outer), settled(facts, composed.offset),
          settled_part(composed.inner)};
}

bool is_symbolic(const Value& value) {
  if (const auto* p = value.as<Predicate>()) return !p->is_always() && !p->is_never();
  if (const auto* tuple = value.as<Tuple>()) return !tuple->is_known();
  if (const auto* layout = value.as<Layout>()) return !layout->is_known();
  if (const auto* composed = value.as<Composed>()) {
    const auto is_open = [](const auto& part) {
      const auto* layout = std::get_if<Layout>(&part);
      return layout && !layout->is_known();
    };
    return !composed->offset.is_known() || is_open(composed->outer) || is_open(composed->inner);
  }
  if (const auto* list = value.as<ListPtr>())
    return std::any_of((*list)->elements.begin(), (*list)->elements.end(), is_symbolic);
  if (const auto* record = value.as<RecordPtr>())
    return std::any_of((*record)->fields.begin(), (*record)->fields.end(),
                       [](const auto& field) { return is_symbolic(field.second); });
  return false;
}

}  // namespace

Value settle(const Session& session, const Value& value) {
  if (!is_symbolic(value)) return value;
  const Facts& facts = session.facts;
  Value result = value;
  if (const auto* p = value.as<Predicate>()) {
    if (facts.proves(*p)) result.data = Predicate(true);
    if (facts.proves(negate(*p))) result.data = Predicate(false);
  }
  if (const auto* tuple = value.as<Tuple>()) result.data = settled(facts, *tuple);
  if (const auto* layout = value.as<Layout>()) result.data = settled(facts, *layout);
  if (const auto* composed = value.as<Composed>()) result.data = settled(facts, *composed);
  if (const auto* list = value.as<ListPtr>()) {
    List parts = **list;
    for (Value& element : parts.elements) element = settle(session, element);
    result.data = std::make_shared<const List>(std::move(parts));
  }
  if (const auto* record = value.as<RecordPtr>()) {
    Record parts = **record;
    for (auto& field : parts.fields) field.second = settle(session, field.second);
    result.data = std::make_shared<const Record>(std::move(parts));
  }
  return result;
}

std::string print_text(const Session& session, const std::vector<Value>& values) {
  std::string line;
  std::vector<Guard> guards;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) line += ' ';
    const auto* words = values[i].as<std::string>();
    line += words ? *words : text(settle(session, values[i]));
    // Text of several lines is for another tool: it says its guards itself, by other signs.
    if (words && words->find('\n') != words->npos) continue;
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
