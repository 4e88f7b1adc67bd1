// One question about an expression, for `lay show`, `lay export` and `lay explain`: the statements
// of a script first, where `--file` names one, then the question as a statement of its own.
// Diagnostics go to standard error.
//
//   ExpressionQuery query({"gemm.lay", {{"M", 128}}}, {});
//   query.run("explain tile_of_A");
//   return query.code();
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "frontend/sema/evaluator.h"
#include "runtime/commands/exit_code.h"
#include "runtime/execute/program.h"

namespace lay::runtime {

struct QueryOptions {
  // A script whose names may be used; empty: none.
  std::string file;
  // Sizes: each becomes a dim, declared or not.
  std::map<std::string, std::string> set;
  // Draw pictures of few enough boxes for TeX.
  bool for_tex = false;
};

class ExpressionQuery {
 public:
  // `show` receives the pictures of the question. The pictures and the output of the script are
  // dropped.
  ExpressionQuery(const QueryOptions& options, std::function<void(const picture::Picture&)> show);

  // Evaluates the question and returns one outcome for each of its statements.
  std::vector<sema::Outcome> run(const std::string& question);
  // Returns the value as text for another tool, as the builtin `export` does.
  std::string exported(const sema::Value& value, const std::string& name, const std::string& target,
                       const std::optional<Tuple>& tile) const;
  // The exit code of everything evaluated so far.
  ExitCode code() const { return code_; }

 private:
  sema::Host host(const std::string& file);
  std::vector<sema::Outcome> evaluate(const std::string& name, const std::string& text);

  std::function<void(const picture::Picture&)> show_;
  // False while the script is evaluated.
  bool in_question_ = false;
  Program program_;
  ExitCode code_ = exit_ok;
};

}  // namespace lay::runtime
