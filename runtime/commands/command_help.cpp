#include <iostream>

#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/help/help.h"

namespace lay::runtime {

int print_help(const std::string& topic) {
  Sources sources;
  const sema::Evaluator evaluator(sources, {});
  std::cout << (topic.empty() ? help_index() : help_page(topic, evaluator));
  return exit_ok;
}

}  // namespace lay::runtime
