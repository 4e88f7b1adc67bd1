#include "frontend/sema/builtins/call_repair.h"

#include "frontend/algebra/support/interruption.h"
#include "frontend/algebra/support/trace.h"

namespace lay::sema {
namespace {

constexpr std::int64_t kFarthest = 64;
constexpr std::int64_t kMostSteps = 200'000;  // of the statement's, for all that is tried

thread_local bool trying = false;  // what is refused in a trial is not repaired

// Trials leave nothing behind: no guards, no steps of a derivation, no work counted.
class Trial {
 public:
  explicit Trial(Session& session) : session_(session), steps_(session.steps) { trying = true; }
  ~Trial() {
    trying = false;
    session_.steps = steps_;
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  bool may_go_on() const { return session_.steps - steps_ < kMostSteps; }

 private:
  Session& session_;
  std::int64_t steps_;
  trace::Quiet quiet_;
  ShortTrial short_;
};

// The tuple with the k-th integer replaced, in the order of writing.
Tuple with_leaf(const Tuple& t, std::int64_t k, std::int64_t value) {
  std::int64_t next = 0;
  return transform(t, [&](const Tuple& leaf) { return next++ == k ? Tuple(value) : leaf; });
}

bool succeeds(Session& session, const std::vector<CallArgument>& arguments, const Retry& retry) {
  const GuardScope dropped = GuardScope::attempt(session.facts);
  try {
    retry(arguments);
    return dropped.guards().empty();
  } catch (const DiagnosticError& error) {
    if (error.diagnostic.code == "interrupted") throw;
    return false;
  } catch (const Refusal&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> call_repairs(Session& session, const std::string& parameter,
                                      const std::vector<CallArgument>& arguments,
                                      const Retry& retry) {
  const Tuple* whole = arguments.empty() ? nullptr : arguments.back().value.as<Tuple>();
  if (!whole || trying || session.kernel) return {};
  Trial trial(session);
  const std::vector<Tuple> numbers = leaves(*whole);
  for (std::int64_t distance = 1; distance <= kFarthest && trial.may_go_on(); ++distance) {
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      if (!numbers[k].is_int() || !numbers[k].value().is_literal()) continue;
      for (const std::int64_t value :
           {numbers[k].value().value() - distance, numbers[k].value().value() + distance}) {
        if (value < 2) continue;
        const Tuple changed = whole->is_leaf()
                                  ? Tuple(value)
                                  : with_leaf(*whole, static_cast<std::int64_t>(k), value);
        std::vector<CallArgument> list = arguments;
        list.back().value = Value(changed);
        if (succeeds(session, list, retry)) return {parameter + " = " + changed.to_string()};
      }
    }
  }
  return {};
}

}  // namespace lay::sema
