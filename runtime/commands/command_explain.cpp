#include "runtime/commands/asker.h"
#include "runtime/commands/commands.h"

namespace lay::runtime {

int explain_expression(const ExplainOptions& options) {
  Asker asker({options.file, options.set}, {});
  const std::string& text = options.expression;
  const auto last = text.rfind(';');
  const std::size_t begin = last == text.npos ? 0 : last + 1;
  asker.ask(text.substr(0, begin) + "explain " + text.substr(begin));
  return asker.code();
}

}  // namespace lay::runtime
