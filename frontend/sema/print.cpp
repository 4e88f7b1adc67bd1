// What `print` writes.

#include "frontend/sema/statement.h"
#include "frontend/sema/table.h"

namespace lay::sema {

Value settle(const Session& session, const Value& value) {
  const auto* p = value.as<Predicate>();
  if (!p || p->is_always() || p->is_never()) return value;
  Value result = value;
  if (session.facts.proves(*p)) result.data = Predicate(true);
  if (session.facts.proves(negate(*p))) result.data = Predicate(false);
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
