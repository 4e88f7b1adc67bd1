// A script on its way through the stages: what run, check, plan and build begin with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontend/sema/evaluator.h"
#include "frontend/source/source.h"
#include "runtime/execute/host.h"
#include "runtime/execute/program.h"

namespace lay::runtime {

// A script may be this long.
inline constexpr std::uint64_t most_script_bytes = std::uint64_t{4} << 20;

// A script after its evaluation, with all that its statements came to.
struct Script : Program {
  using Program::Program;

  std::vector<sema::Outcome> outcomes;
  // What it was read from: its own path, then those of the files that it uses and of its tuned
  // schedules.
  std::vector<std::string> files;
};

struct ScriptOptions {
  sema::Options evaluation;
  // Empty: `print` says nothing.
  Printer print;
  // Empty: `show` writes text by `print`
  std::function<void(const picture::Picture&)> show;
  std::function<void(const Sources&, const sema::Outcome&)>
      // Called after each statement; may be empty.
      after;
  MachineChoice on = MachineChoice::any;
  Log log;
  HostChoices host{};
};

// Reads and evaluates the file, and with it what was tuned for it (tuned.h). DiagnosticError where
// it cannot be read.
std::unique_ptr<Script> evaluate_script(const std::string& file, ScriptOptions options);

// All kernels of the program, or the one of that name where there is one: DiagnosticError
// `no-kernel` where it is not among them.
std::vector<sema::KernelPtr> kernels_named(const Program& program, const std::string& name);

// The integers among NAME=NUMBER; others are scalars of a kernel. Error `set` for what is no
// number.
std::map<std::string, std::int64_t> sizes_of(const std::map<std::string, std::string>& set);

}  // namespace lay::runtime
