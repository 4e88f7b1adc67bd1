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
#include "frontend/source/source.h"
#include "runtime/execute/executor.h"
#include "runtime/repl/line_editor.h"

namespace lay::runtime {

struct ReplOptions {
  bool numbered = false;          // name results r1, r2, ... and print the names
  Colour colour = Colour::never;  // on standard output
  Log log;                        // receives where each kernel ran
  // Returns the terminal's columns now, to which lines are clipped unless it is 0.
  std::function<int()> columns = {};
  bool tables = true;  // print the table of a layout of rank 2
  bool hints = false;  // name the page of an error code at its first error
};

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
  void show_picture_of(const std::string& argument);
  void export_layout(const std::string& argument);
  void reset();
  // Evaluates statements and prints their results. Returns the text that `:save` writes, with the
  // name of the result; nothing if a statement failed.
  std::optional<std::string> evaluate(const std::string& text, const std::string& name = "");
  void keep(std::optional<std::string> statement);
  // Prints what a statement came to; returns the name of its result, if it got one.
  std::string show(const sema::Outcome& outcome);
  void hint(const Diagnostics& diagnostics);
  void show_help(const std::string& name);
  void show_type(const std::string& expression);
  void show_names();
  void save(const std::string& file);
  void unknown_command(const std::string& name);
  void complain(const std::string& code, const std::string& message);
  std::string next_name();

  ReplOptions options_;
  bool failed_ = false;
  int results_ = 0, line_ = 1;
  Sources sources_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<sema::Evaluator> evaluator_;
  std::vector<std::string> accepted_;                   // the statements that `:save` writes
  std::vector<picture::Picture>* collected_ = nullptr;  // set while pictures go to a file
  std::set<std::string> defined_;                       // the user's names, for `:names`
  std::set<std::string> hinted_;                        // error codes whose page was named
};

}  // namespace lay::runtime
