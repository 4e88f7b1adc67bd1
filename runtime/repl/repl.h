// The REPL: statements in, what they are worth out. On a terminal with editing, colours and
// numbered results; from a pipe the bare results and nothing else.
//
//   lay> (4,2):(1,4) o 2:4
//   r1 = 2:4
//   lay> size(r1)
//   r2 = 2
#pragma once

#include <map>
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
  bool numbered = false;          // results get names and are shown with them
  Colour colour = Colour::never;  // on standard output
  Say say;                        // where kernels ran
  int columns = 0;                // of the terminal: wider lines are clipped; 0: none are
  bool tables = true;             // below layouts of rank 2
  bool hints = false;             // the first error of a code says where its page is
};

class Repl {
 public:
  explicit Repl(ReplOptions options);

  // Takes a statement, or a command that begins with ':' or '?'. False after `:quit`.
  bool take(const std::string& text);

  // Whether anything has failed so far.
  bool failed() const { return failed_; }

  Completions complete(std::string_view text, std::size_t cursor) const;

 private:
  bool command(const std::string& text);
  void draw(const picture::Picture& picture);
  void show_picture_of(const std::string& argument);
  void export_layout(const std::string& argument);
  void reset();
  // What `:save` keeps of the text: as it is, or naming its result. Nothing where something failed.
  std::optional<std::string> evaluate(const std::string& text, const std::string& name = "");
  void keep(std::optional<std::string> statement);
  std::string show(const sema::Outcome& outcome);
  void hint(const Diagnostics& diagnostics);
  void show_help(const std::string& name);
  void show_type(const std::string& expression);
  void explain(const std::string& expression);
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
  std::vector<std::string> accepted_;  // statements that went well, for :save
  std::vector<picture::Picture>* collected_ =
      nullptr;                                  // where pictures go that are meant for a file
  std::set<std::string> defined_;               // names, for :names
  std::map<std::string, std::string> made_by_;  // the expression of each result
  std::set<std::string> hinted_;                // codes of errors
};

}  // namespace lay::runtime
