// The passes over tile programs, one after the other, as `lay plan --dump` prints them.
#pragma once

#include <string>

#include "backend/plan/plan.h"
#include "frontend/source/source.h"

namespace lay::runtime {

// The text of the programs that a pass leaves behind:
//   form        what is computed in which order, each program once
//   bind        of each variant, where and by whom
//   pipeline    of each variant, which tiles are copied ahead, and what says that they are there
//   specialise  of each variant, which threads run what, and the barriers between them
//   expand      of each variant, the kernel IR
// With the name of a variant that one alone; DiagnosticError `unknown-variant` where there is none.
// A kernel that is no tile program is a comment that says so.
std::string tile_dump(const Sources& sources, const plan::Plan& plan, const std::string& pass,
                      const std::string& variant);

}  // namespace lay::runtime
