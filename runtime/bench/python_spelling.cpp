#include "runtime/bench/python_spelling.h"

#include <algorithm>

namespace lay::bench {

namespace {

using enum ElementFunction;

// PyTorch's tensors and Triton's blocks have Python's operators. Neither has `and`, `or` and `not`,
// which Python does not let a library define: & and | stand in for them on truth values.
constexpr PythonSpelling operators[] = {
    {add, "$0 + $1"}, {sub, "$0 - $1"},  {mul, "$0 * $1"}, {div, "$0 / $1"}, {neg, "-$0"},
    {lt, "$0 < $1"},  {le, "$0 <= $1"},  {gt, "$0 > $1"},  {ge, "$0 >= $1"}, {eq, "$0 == $1"},
    {ne, "$0 != $1"}, {and_, "$0 & $1"}, {or_, "$0 | $1"},
};

}  // namespace

const char* python_spelling(ElementFunction function, std::span<const PythonSpelling> library) {
  const auto in = [&](std::span<const PythonSpelling> table) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const PythonSpelling& each) {
      return each.function == function;
    });
    return found == table.end() ? nullptr : found->text;
  };
  const char* text = in(operators);
  return text ? text : in(library);
}

std::string filled(const char* text, const std::vector<std::string>& operands) {
  std::string result;
  for (const char* at = text; *at; ++at)
    result += *at == '$' ? operands[static_cast<std::size_t>(*++at - '0')] : std::string(1, *at);
  return result;
}

}  // namespace lay::bench
