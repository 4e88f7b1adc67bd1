// A program on the host: the texts of a script or a session, what their names stand for, and the
// machine on which their kernels run. Scripts, the REPL, `lay eval` and the C library each hold
// one.
//
//   Program program(make_host(print_line));
//   for (const auto& outcome : program.evaluator.run("<input>", "(4,2):(1,4) o 2:4")) ...
#pragma once

#include "frontend/sema/evaluator.h"
#include "frontend/source/source.h"
#include "runtime/execute/executor.h"

namespace lay::runtime {

// How a program is evaluated, and where its kernels run.
struct ProgramOptions {
  sema::Options evaluation{};
  MachineChoice on = MachineChoice::any;
  Log log{};
  HostChoices host{};
};

struct Program {
  // The program's kernels are called by `executor`, whatever `host.call` is.
  explicit Program(sema::Host host, ProgramOptions options = {});
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Sources sources;
  Executor executor;
  sema::Evaluator evaluator;
};

}  // namespace lay::runtime
