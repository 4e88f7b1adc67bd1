// The state of one session and the frames of names that an expression is evaluated in. Internal to
// this folder.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/algebra/claims/propositions.h"
#include "frontend/sema/evaluator.h"

namespace lay::sema {

class KernelBuilder;

// The expression that made the value of a name, with the names as they stood when it did. `explain`
// and `show` of the name are about this expression: after `let R = A o B` they derive and draw the
// composition, also where A has been given another value since.
struct Definition {
  Closure closure;
  syntax::ExpressionId expression;
};

// The names of one file. A name may be given again; a def keeps the meaning that its names had when
// it was defined, because it sees only what is not younger than itself.
class Module {
 public:
  struct Entry {
    int generation;
    std::optional<Value> value;  // nothing: its statement failed
    Span where;
    std::shared_ptr<const Definition> made_by;  // of a `let` or a result of the REPL
  };

  void define(const std::string& name, std::optional<Value> value, Span where,
              std::shared_ptr<const Definition> made_by = nullptr);
  const Entry* find(const std::string& name, int generation) const;
  int generation() const { return generation_; }
  // Forgets everything: defs hold the module that holds them, and would keep each other alive.
  void clear() { entries_.clear(); }
  // Newest meaning of every name.
  const std::map<std::string, std::vector<Entry>>& entries() const { return entries_; }

 private:
  std::map<std::string, std::vector<Entry>> entries_;
  int generation_ = 0;
};

// Where an expression stands: the tree, the names of its file, and the local names, innermost last.
struct Frame {
  Closure closure;
  Bindings locals;
  std::vector<std::string> indices{};  // the locals that are index parameters of a def

  const syntax::Tree& tree() const { return *closure.tree; }
};

// Thrown instead of a diagnostic where a name's statement failed before: reported once already.
struct Poisoned {};

class Prelude;

class Session {
 public:
  Session(Sources& s, Host h, Options o);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Sources& sources;
  Host host;
  Options options;
  Facts facts;
  // top-level dims by name, the newest of each: `show L, M = 8`
  std::map<std::string, Int> dims;
  std::shared_ptr<Module> main = std::make_shared<Module>();

  // The outcome of the statement that is being evaluated.
  Outcome* outcome = nullptr;
  std::int64_t steps = 0;
  int call_depth = 0;
  // While a kernel's body is evaluated.
  KernelBuilder* kernel = nullptr;
  // Guards that came with names: reported where they were raised.
  std::vector<Guard> inherited;
  bool claiming =
      false;  // what is evaluated is what `prove` asks: a claim may answer by one counterexample
  std::optional<Conclusion> refutation;  // of the last claim that was refuted
  // Name of the embedded library whose def is running; empty in the user's own text.
  std::string library;

  // Kernels by name in order of definition, with the schedules given so far.
  std::vector<std::string> kernel_order;
  int kernel_calls = 0;

  // Used libraries and files: each is evaluated once. `loading` finds cycles.
  std::map<std::string, std::shared_ptr<Module>> loaded;
  std::vector<std::string> loading;

  Prelude& prelude() { return *prelude_; }

  // Counts work; error `limit` beyond the budget of a statement.
  void charge(std::int64_t n, Span where);
  bool running() const { return options.mode == Mode::run; }

 private:
  std::unique_ptr<Prelude> prelude_;
};

inline constexpr std::int64_t kStepBudget = 20'000'000;
inline constexpr int kCallDepth = 100;
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 20;

[[noreturn]] void fail(std::string code, std::string message, Span where,
                       std::vector<Label> labels = {}, std::vector<Note> notes = {});

// A refusal of the algebra as a diagnostic about the text: `whole` is the operation, `operands` its
// parts.
Diagnostic to_diagnostic(const Refusal& refusal, Span whole, const std::vector<Span>& operands);

// Lay text of a number or of a tuple of numbers as JSON: 8, [2,1]; other text as a string.
std::string fact_json(const std::string& text);

// The steps that reading a value through takes.
std::int64_t work_of(const Value& value);

// Throws `limit` where an array of the shape takes more steps than a statement has: asked before
// the array is made. The steps themselves are charged with the result.
void require_array_steps(Session& session, const std::vector<std::int64_t>& shape, Span where);
// The same of what two arrays, or an array and a number, become together.
void charge_array_pair(Session& session, const Value& a, const Value& b, Span where);

// Evaluation of expressions (expression.cpp). May throw DiagnosticError or Poisoned.
Value evaluate(Session& session, Frame& frame, syntax::ExpressionId id);

// Decides a condition by what is known: true, false, or undecided.
std::optional<bool> decide(Session& session, const Predicate& condition);
// The parts of `a and b and c`, without what always holds.
std::vector<Predicate> conjuncts(const Predicate& condition);
// The truth value of a condition; error `operand-kind` for other kinds.
Predicate as_condition(const Value& value, Span where);

// The guards of a named value become those of what uses it; error `refuted` for one that cannot
// hold.
void inherit_guards(Session& session, const std::string& name, const Value& value, Span where);
// The name's value, seen from the frame; error `unknown-name` with a near name.
Value look_up(Session& session, Frame& frame, const std::string& name, Span where);
// Returns the expression that made the value of a bare name, followed through `let b = a`. Returns
// any other expression, and a name that no expression made, as they stand in the frame.
Definition definition_of(const Frame& frame, syntax::ExpressionId id);
// Every name that the frame can see.
std::vector<std::string> visible_names(Session& session, const Frame& frame);

// The names that the statements of a file define, those that `wanted` picks where it is given;
// throws the first error (use.cpp).
std::shared_ptr<Module> load_tree(
    Session& session, const std::shared_ptr<const syntax::Tree>& tree,
    const std::function<bool(const syntax::Statement&)>& wanted = nullptr);
// The tree of a file of the standard library, whose text joins the session's sources.
std::shared_ptr<const syntax::Tree> library_tree(Session& session, const std::string& name);

}  // namespace lay::sema
