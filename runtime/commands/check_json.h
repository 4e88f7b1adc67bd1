// The output of `lay check --json`: an object a line, for editors and other tools.
//
//   {"kind":"error","code":"not-exact","message":"7 / 2 is not an
//   integer","file":"a.lay","line":8,"column":9,
//    "end_line":8,"end_column":14,"labels":[],"notes":[{"kind":"help","text":"..."}],"witness":{}}
//   {"kind":"verdict","verdict":"guarded","claim":"M % 8 ==
//   0","origin":"divide_exactly",...,"witness":{"M":4}}
//   {"kind":"guard","kernel":"g","claim":"M % 4 == 0","origin":"assume","witness":{}}
//
// Lines and columns count from 1, columns in characters; the end is the place after the last
// character.
#pragma once

#include <string>

#include "frontend/sema/evaluator.h"
#include "frontend/source/diagnostic.h"
#include "frontend/source/source.h"

namespace lay::runtime {

std::string diagnostic_json(const Sources& sources, const Diagnostic& diagnostic);
std::string finding_json(const Sources& sources, const sema::Finding& finding);
std::string guard_json(const std::string& kernel, const Guard& guard);

}  // namespace lay::runtime
