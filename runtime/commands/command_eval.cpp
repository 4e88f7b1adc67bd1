#include <iostream>
#include <string>

#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/line_answers.h"
#include "runtime/execute/host.h"

namespace lay::runtime {

int evaluate_lines() {
  std::string printed;
  Program program(make_host([&printed](const std::string& text) { printed += text + "\n"; }));
  LineAnswers answers(program, printed);
  int number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.ends_with('\r')) line.pop_back();
    std::cout << answers.answer(line, ++number) << std::endl;
  }
  return exit_ok;
}

}  // namespace lay::runtime
