// Schedules that were found by measuring, in a file beside the script: `gemm.lay` is planned with
// those of `gemm.tuned.lay`, if there is one. The file is Lay: `schedule` statements, and whatever
// these need (`use atoms.sm90`). `lay tune` writes it; whoever edits it gets the messages of any
// script.
//
// The schedules stand as if behind the kernel's own statement. A kernel for which the script has a
// schedule itself takes none of them.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontend/source/source.h"
#include "frontend/syntax/parse.h"

namespace lay::runtime {

// "gemm.tuned.lay" for "gemm.lay".
std::string tuned_path(const std::string& script);

// The schedules of a file of `lay tune`.
class Tuned {
 public:
  // For the script with that name and tree. Without a file nothing stands behind any statement.
  // DiagnosticError where there is one that cannot be read.
  Tuned(Sources& sources, const std::string& script, const syntax::Tree& tree);

  const std::shared_ptr<const syntax::Tree>& tree() const { return parsed_.tree; }
  const Diagnostics& diagnostics() const { return parsed_.diagnostics; }  // of its syntax
  bool is_there() const { return parsed_.tree != nullptr; }
  // Returns what is to be evaluated behind a statement of the script: for a kernel its schedules;
  // before the first of them everything that is no schedule.
  std::vector<const syntax::Statement*> behind(const syntax::Statement& statement);

 private:
  syntax::Parsed parsed_;
  // Kernels that the script schedules itself.
  std::set<std::string> own_;
  bool began_ = false;
};

}  // namespace lay::runtime
