#include "runtime/commands/commands.h"
#include "runtime/commands/expression_query.h"

namespace lay::runtime {

int explain_expression(const ExplainOptions& options) {
  ExpressionQuery query({options.file, options.set}, {});
  // Only the last statement is explained: `dim M; M:1 o 4` explains the composition.
  const std::string& text = options.expression;
  const auto last = text.rfind(';');
  const std::size_t begin = last == text.npos ? 0 : last + 1;
  query.run(text.substr(0, begin) + "explain " + text.substr(begin));
  return query.code();
}

}  // namespace lay::runtime
