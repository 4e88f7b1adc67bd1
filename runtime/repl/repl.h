// The REPL reads statements and prints their values: on a terminal with editing, colours and
// numbered results, from a pipe the bare results and nothing else.
//
//   lay> (4,2):(1,4) o 2:4
//   r1 = 2:4
//   lay> size(r1)
//   r2 = 2
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/sema/evaluator.h"
#include "runtime/execute/program.h"
#include "runtime/repl/line_editor.h"

namespace lay::runtime {

// How the session looks: on a terminal with all of it, from a pipe with none.
struct ReplOptions {
  // Name results r1, r2, ... and print the names.
  bool numbered = false;
  Colour colour = Colour::never;  // on standard output
  // Receives where each kernel ran.
  Log log;
  // Returns the terminal's columns now, to which lines are clipped unless it is 0.
  std::function<int()> columns = {};
  // Print the table of a layout of rank 2.
  bool tables = true;
  // Name the page of an error code at its first error.
  bool hints = false;
};

// A session: an evaluator, what was printed, and the commands that begin with ':'.
class Repl {
 public:
  explicit Repl(ReplOptions options);

  // Evaluates a text: statements, commands that begin with ':' or '?', or a copied session with its
  // prompts. Returns false after `exit` or `:quit`.
  bool take(const std::string& text);

  // Returns whether any statement or command has failed so far.
  bool failed() const { return failed_; }

  // Returns what Tab offers at the cursor.
  Completions complete(std::string_view text, std::size_t cursor) const;

 private:
  // Evaluates one part of split_commands(); returns false to end the session.
  bool take_part(const std::string& text);
  // Returns whether the user defined the name before the parentheses of `exit` or `exit()`.
  bool is_defined(std::string_view call) const;
  // Executes a command such as `:load FILE`; returns false to end the session.
  bool command(const std::string& text);
  // Returns the terminal's columns now, 0 where nothing is clipped.
  int columns() const;
  // Prints a picture, or keeps it while `:show EXPR -o FILE` collects.
  void draw(const picture::Picture& picture);
  // Commands, each with the text behind its name.
  void show_picture_of(const std::string& argument);
  void export_layout(const std::string& argument);
  void reset();
  // Evaluates statements and prints their results. Returns the text that `:save` writes, with the
  // name of the result; nothing if a statement failed.
  std::optional<std::string> evaluate(const std::string& text, const std::string& name = "");
  // Adds a statement to those that `:save` writes.
  void keep(std::optional<std::string> statement);
  // Prints what a statement came to; returns the name of its result, if it got one.
  std::string show(const sema::Outcome& outcome);
  // Names the help page of an error code, once for each code.
  void hint(const Diagnostics& diagnostics);
  void show_help(const std::string& name);
  void show_type(const std::string& expression);
  void show_names();
  void save(const std::string& file);
  void unknown_command(const std::string& name);
  // Reports an error of a command, which counts as a failure.
  void complain(const std::string& code, const std::string& message);
  std::string next_name();

  ReplOptions options_;
  bool failed_ = false;
  int results_ = 0, line_ = 1;
  std::unique_ptr<Program> program_;
  // The statements that `:save` writes.
  std::vector<std::string> accepted_;
  // Set while pictures go to a file.
  std::vector<picture::Picture>* collected_ = nullptr;
  // The user's names, for `:names`
  std::set<std::string> defined_;
  // Error codes whose page was named.
  std::set<std::string> hinted_;
};

}  // namespace lay::runtime
