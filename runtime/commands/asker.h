// One question about an expression, for `lay show`, `lay export` and `lay explain`: a script's
// statements first, where one is given, then the question as a statement of its own. Diagnostics go
// to standard error.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "frontend/sema/evaluator.h"
#include "runtime/commands/exit_code.h"
#include "runtime/execute/executor.h"

namespace lay::runtime {

struct Asked {
  std::string file;                        // a script whose names the question may use; empty: none
  std::map<std::string, std::string> set;  // sizes: each is a dim, also where no statement says so
  bool for_tex = false;                    // pictures that TeX has room for
};

class Asker {
 public:
  // `show` gets the pictures of the question, not those of the script. What the script prints is
  // not shown.
  Asker(const Asked& asked, std::function<void(const picture::Picture&)> show);

  // What the statement came to.
  std::vector<sema::Outcome> ask(const std::string& statement);
  ExitCode code() const { return code_; }

 private:
  sema::Host host(const std::string& file);
  std::vector<sema::Outcome> run(const std::string& name, const std::string& text);

  std::function<void(const picture::Picture&)> show_;
  bool asking_ = false;
  Sources sources_;
  Executor executor_{sources_};
  sema::Evaluator evaluator_;
  ExitCode code_ = exit_ok;
};

}  // namespace lay::runtime
