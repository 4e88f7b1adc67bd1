#include "frontend/sema/evaluator.h"
#include "runtime/commands.h"
#include "runtime/executor.h"
#include "runtime/host.h"
#include "runtime/report.h"

namespace lay::runtime {

int explain_expression(const std::string& expression) {
  Sources sources;
  Executor executor(sources, MachineChoice::any, say_on_standard_error);
  sema::Evaluator evaluator(sources, make_host(print_line, [&](const sema::KernelCall& c) { return executor.run(c); }));
  const auto last = expression.rfind(';');
  const std::size_t begin = last == expression.npos ? 0 : last + 1;
  const auto outcomes =
      evaluator.run("<expression>", expression.substr(0, begin) + "explain " + expression.substr(begin));
  report(sources, outcomes);
  return exit_code_of(outcomes);
}

}  // namespace lay::runtime
