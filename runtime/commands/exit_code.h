// The exit codes that `lay` returns to the shell.
#pragma once

namespace lay::runtime {

enum ExitCode : int {
  exit_ok = 0,
  exit_program = 1,  // the script, an expression or an array is wrong, or a claim was refuted; `fmt
                     // --check`: unformatted
  exit_usage = 2,    // the command line is wrong
  exit_machine = 3,  // this machine cannot do it: no memory, or no GPU where one was asked for
  exit_internal = 4,  // a mistake of ours
};

}  // namespace lay::runtime
