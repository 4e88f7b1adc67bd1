// The text of a tile program back as the program, given its kernel (the notation is described in
// print.h).
//
// parse(print(p), p.kernel) == p. The arithmetic that the text shows must be the kernel's: a text
// that says something else is an error at the first token that differs.
#pragma once

#include <string_view>
#include <vector>

#include "backend/notation/cursor.h"
#include "backend/tile/program.h"

namespace lay::tile {

// Parses a program or throws notation::ParseError; only the verifier tells if it makes sense. An
// instruction is one of `atoms` or `copies`, those that a script defines, or one of the library.
Program parse(std::string_view text, sema::KernelPtr kernel,
              const std::vector<sema::Atom>& atoms = {},
              const std::vector<sema::CopyInstruction>& copies = {});

}  // namespace lay::tile
