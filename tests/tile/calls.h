// Calls of kernels that are written in Lay, for tests that hold floors against one another.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/reference.h"
#include "tests/tile/programs.h"

namespace lay::test {

// Evaluates a script and hands each kernel call to `check`; error messages of the script.
inline std::string for_each_call(const std::string& script,
                                 const std::function<void(const sema::KernelCall&)>& check) {
  Sources sources;
  sema::Host host;
  host.print = [](const std::string&) {};
  host.call = [&](const sema::KernelCall& call) {
    check(call);
    return sema::run_reference(call);
  };
  sema::Evaluator evaluator(sources, host, {sema::Mode::run, {}});
  std::string messages;
  for (const auto& outcome : evaluator.run("script.lay", script))
    for (const Diagnostic& d : outcome.diagnostics.list())
      if (d.severity == Severity::error) messages += render(sources, d);
  return messages;
}

// Returns the most values that the reductions of the call join.
inline std::int64_t terms_of(const sema::KernelCall& call) {
  std::int64_t most = 1;
  for (const sema::Node& node : call.kernel->nodes) {
    const auto* reduce = std::get_if<sema::Reduce>(&node.what);
    if (!reduce) continue;
    std::int64_t terms = 1;
    for (const sema::IndexId index : reduce->indices)
      terms *= call.kernel->index(index).extent.evaluate(call.sizes).value();
    most = std::max(most, terms);
  }
  return most;
}

inline bool holds(const std::vector<Predicate>& conditions, const Binding& sizes) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Predicate& condition) { return condition.evaluate(sizes) == true; });
}

}  // namespace lay::test
