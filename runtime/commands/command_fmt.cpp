#include <iostream>
#include <iterator>

#include "frontend/syntax/format.h"
#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/report.h"
#include "runtime/io/file.h"

namespace lay::runtime {
namespace {

std::string standard_input() {
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

ExitCode format_one(const std::string& name, bool check) {
  Sources sources;
  const bool piped = name == "-";
  const std::string text = piped ? standard_input() : read_file(name);
  const auto formatted = syntax::format(sources, sources.add(piped ? "<input>" : name, text));
  report(sources, formatted.diagnostics);
  if (!formatted.ok()) return exit_program;
  if (check) {
    if (formatted.text == text) return exit_ok;
    std::cout << (piped ? "<input>" : name) << "\n";
    return exit_program;
  }
  if (piped)
    std::cout << formatted.text;
  else if (formatted.text != text)
    write_file(name, {formatted.text});
  return exit_ok;
}

}  // namespace

int format_files(const FormatOptions& options) {
  ExitCode code = exit_ok;
  for (const auto& name : options.files.empty() ? std::vector<std::string>{"-"} : options.files) {
    try {
      if (format_one(name, options.check) != exit_ok) code = exit_program;
    } catch (const DiagnosticError& e) {
      report(Sources(), e.diagnostic);
      code = exit_program;
    }
  }
  return code;
}

}  // namespace lay::runtime
