// The one evaluator. A session: it takes statements one after the other, as the REPL does, or whole
// scripts, and gives back what each is worth as data; `lay check`, `lay run`, `lay eval` and the
// REPL share it. Checking is evaluating with sizes that are not known: in Mode::check host
// statements (load, save, kernel calls) are not executed, and what only they would know is Unknown.
//
//   Sources sources;
//   Evaluator evaluator(sources, host, {Mode::run});
//   for (const Outcome& outcome : evaluator.run("tiles.lay", text)) ...
//
// The evaluator does no I/O: a Host does. One error does not hide the next: a failed statement
// leaves its name poisoned, and what uses that name fails without a word.
//
// Every script ends, within limits: 20 million steps and 2^20 elements of a tuple a statement
// (error `limit`); no def can reach itself (error `recursion`).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/algebra/integers/facts.h"
#include "frontend/sema/kernel/kernel_call.h"
#include "frontend/sema/values/value.h"
#include "frontend/source/diagnostic.h"
#include "frontend/source/source.h"
#include "frontend/syntax/tree.h"

namespace lay::picture {
struct Picture;
}

namespace lay::sema {

enum class Mode { check, run };

// The evaluator's requests to the world. A function may throw Refusal (its code and message are
// shown at the place of the call); one that is empty makes its call an error `unavailable`.
struct Host {
  // A line, or several with newlines between.
  std::function<void(const std::string&)> print;
  std::function<void(const picture::Picture&)> show;
  // An .npy file.
  std::function<Array(const std::string&)> load;
  std::function<void(const std::string&, const Array&)> save;
  // Runs a kernel.
  std::function<KernelResult(const KernelCall&)> call;
  // The text of a used file, a path beside the script.
  std::function<std::string(const std::string&)> read;
  // Asked now and then: true ends the statement.
  std::function<bool()> interrupted;
};

// How a script is evaluated.
struct Options {
  Mode mode = Mode::run;
  // --set M=128: dims of kernels that arrays leave open, and top-level dims.
  std::map<std::string, std::int64_t> sizes;
  // Pictures have so few boxes that TeX has room for them.
  bool for_tex = false;
};

// An obligation that did not become an error, or a claim that was asked about.
struct Finding {
  Verdict verdict;
  std::string claim;  // Lay text: "M % 96 == 0"
  // "prove", "assert", or the operation that raised it.
  std::string origin;
  // The smallest sizes that break it, where found.
  Sizes breaks;
  Span where;
  // Undecided, and left to a guard that the launcher checks.
  bool guarded = false;
  // Undecided: what would decide it, "assume ldc >= M"
  std::vector<std::string> decided_by{};
};

struct Definition;

// Names and what they stand for.
using Bindings = std::vector<std::pair<std::string, Value>>;

// The outcome of one statement.
struct Outcome {
  Span where;
  std::vector<std::string> names;  // that the statement defines, if it does and is no error
  std::optional<Value>
      value;  // of an expression that stands alone or a let; nothing after an error
  // The expression of that value.
  std::shared_ptr<const Definition> made_by;
  // Errors, warnings and notes.
  Diagnostics diagnostics;
  std::vector<Finding> findings;
  // Not evaluated: it depends on a name whose statement failed.
  bool poisoned = false;

  bool ok() const { return diagnostics.ok() && !poisoned; }
};

struct Help {
  std::string name, signature, law;
};

class Session;

class Evaluator {
 public:
  Evaluator(Sources& sources, Host host, Options options = {});
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Parses and evaluates a whole text. Syntax errors come first, as an outcome of their own; the
  // statements that parse are evaluated all the same, up to one that is interrupted.
  std::vector<Outcome> run(const std::string& name, std::string_view text, int first_line = 1);
  // One statement of a tree.
  Outcome evaluate(const std::shared_ptr<const syntax::Tree>& tree,
                   const syntax::Statement& statement);

  // One expression, alone in its text, in which the names of `bindings` stand for their values,
  // whatever else they name; `sizes` are dims of kernels that it calls, before those of the
  // options. Error `syntax` for a text that is anything else. Nothing stays in force.
  Outcome evaluate_expression(const std::string& name, std::string_view text,
                              const Bindings& bindings = {},
                              const std::map<std::string, std::int64_t>& sizes = {});
  // `prove` of such an expression: the verdict is among the findings.
  Outcome prove_expression(const std::string& name, std::string_view text,
                           const Bindings& bindings = {});
  // `show` of such an expression: the pictures go to the host.
  Outcome show_expression(const std::string& name, std::string_view text,
                          const Bindings& bindings = {});

  // Draws pictures from here on for TeX, if `on`.
  void draw_for_tex(bool on);

  // Gives a value a name, as a `let` would: a REPL's results. `made_by` is what `explain` and
  // `show` of the name tell of (Outcome::made_by).
  void define(const std::string& name, Value value,
              std::shared_ptr<const Definition> made_by = nullptr);

  // The kernels defined so far, in order, each with the schedules given so far.
  std::vector<KernelPtr> kernels() const;
  // Returns how many times a kernel was called (a script that calls none leaves running them to the
  // command).
  int kernel_calls() const;

  // Guards as they read under what is known by now, without doubles.
  std::vector<Guard> simplified(const std::vector<Guard>& guards) const;
  // The value with conditions that are decided by now in place of undecided ones: what a REPL
  // shows.
  Value settled(const Value& value) const;
  // Returns what `print` writes for the value: its text, and for a layout of rank 2 the table.
  std::string printed(const Value& value) const;

  // The value as text for another tool (frontend/sema/show/export.h).
  std::string exported(const Value& value, const std::string& name, const std::string& target,
                       const std::optional<Tuple>& tile) const;

  // Everything that can be named, for completion, and what is known of a name.
  std::vector<std::string> names() const;
  std::optional<Help> help(const std::string& name) const;
  // The fields of what a name, or a record in it, `sm80` or `found.read`, stands for.
  std::vector<std::string> fields(const std::string& path) const;
  const Facts& facts() const;

 private:
  std::unique_ptr<Session> session_;
};

}  // namespace lay::sema
