// Transcripts of the REPL: `lay> ` before what is typed, `   > ` before its further lines, then
// what it answers.
#pragma once

#include <string>

#include "runtime/repl/repl.h"

namespace lay::test {

// Returns the REPL's answer to a text, standard output and standard error in the order written.
std::string answer(runtime::Repl& repl, const std::string& text);

// The transcript with the answers that the REPL gives now.
std::string replay(runtime::Repl& repl, const std::string& transcript);

bool is_transcript(const std::string& text);

}  // namespace lay::test
