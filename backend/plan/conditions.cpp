#include "backend/plan/conditions.h"

#include <algorithm>

namespace lay::plan {

std::optional<std::vector<Predicate>> open_conditions(const Facts& facts,
                                                      const std::vector<Predicate>& when) {
  std::vector<Predicate> open;
  for (const Predicate& condition : when) {
    if (condition.is_never() || facts.proves(negate(condition))) return std::nullopt;
    if (!facts.proves(condition)) open.push_back(condition);
  }
  return open;
}

bool contradicts(Facts facts, const std::vector<Predicate>& when) {
  return !std::all_of(when.begin(), when.end(),
                      [&](const Predicate& condition) { return facts.suppose(condition); });
}

bool never_holds(Facts facts, const std::vector<Predicate>& when) {
  return !std::all_of(when.begin(), when.end(), [&](const Predicate& condition) {
    return facts.decide(negate(condition)).verdict != Verdict::proved && facts.suppose(condition);
  });
}

bool unconditional(const Variant& variant) {
  return variant.when.empty() && variant.aligned.empty();
}

}  // namespace lay::plan
