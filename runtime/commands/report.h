// A command's report on the statements of a script: diagnostics and verdicts, and the exit code
// they come to.
#pragma once

#include <string>
#include <vector>

#include "frontend/sema/evaluator.h"
#include "frontend/source/diagnostic.h"
#include "frontend/source/source.h"
#include "runtime/commands/exit_code.h"

namespace lay::runtime {

// A line about what runs, on standard error.
void log_to_stderr(const std::string& line);

// Colours if standard error is a terminal that wants them.
Colour error_colour();

// Writes the diagnostics of one outcome, or one alone, to standard error.
void report(const Sources& sources, const Diagnostics& diagnostics);
void report(const Sources& sources, const Diagnostic& diagnostic);

// Reports all outcomes.
void report(const Sources& sources, const std::vector<sema::Outcome>& outcomes);

// exit_program where an outcome has an error.
ExitCode exit_code_of(const std::vector<sema::Outcome>& outcomes);

// The error of an outcome that was not evaluated: it uses a name whose own statement failed.
Diagnostic poisoned(const sema::Outcome& outcome);

// "tiles.lay:9:1: guarded   M % 96 == 0   (divide_exactly; smallest break: M = 128)"
std::string finding_line(const Sources& sources, const sema::Finding& finding);
// "refuted   M % 96 == 0   (smallest break: M = 128)"
std::string verdict_text(const Sources& sources, const sema::Finding& finding);
std::string_view verdict_word(const sema::Finding& finding);
// "M % 96 == 0": the claim, in the script's words where it was decided as it was read.
std::string finding_claim(const Sources& sources, const sema::Finding& finding);

// "M = 128, N = 1"
std::string sizes_text(const Sizes& sizes);

// "M % 96 == 0   (divide_exactly; smallest break: M = 128)"
std::string guard_text(const Guard& guard);

}  // namespace lay::runtime
