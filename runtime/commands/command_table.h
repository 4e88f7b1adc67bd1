// The commands of `lay` and their options as data, and what is generated from it: completions for
// three shells and the man page. runtime/main.cpp makes the table from the parser of the command
// line, so that neither can know another command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lay::runtime {

// An option, a flag or a positional argument of a command.
struct CommandOption {
  // "-o", "--output"; empty for a positional argument.
  std::vector<std::string> names;
  std::string value;  // what the value is called; empty for a flag
  std::string description;
  // All values there are; empty where they are free.
  std::vector<std::string> choices;
  bool required = false;
};

// One command.
struct CommandEntry {
  std::string name, description;
  std::vector<CommandOption> options;
};

// The whole command line.
struct CommandTable {
  std::string name, description, footer, version;
  std::vector<CommandOption> options;  // of `lay` itself
  std::vector<CommandEntry> commands;
};

// Returns the completion script for "bash", "zsh" or "fish".
std::string completion_script(const CommandTable& table, std::string_view shell);

// Returns the man page lay.1 as roff.
std::string man_page(const CommandTable& table);

}  // namespace lay::runtime
