// The kernel as text: complete, readable, the same for the same kernel. parse.h reads it back:
// print(parse(print(k))) == print(k).
//
// The notation, beyond what ir.h shows at its top:
//   7 is s32, 1.5 is f32, s64(7) f64(1.5) are literals of other types, f32(x) is a cast; [M*N] is a Size that is not
//   just a dim, s64[M*N] one of another type; at(L, e), slot(r), phase(r), select(c, a, b); `and` `or` `not`.
//   @3 "note" at the end of a statement is its origin.
//   A name that is a word of this language stands in backquotes.
#pragma once

#include <string>
#include <vector>

#include "backend/ir/ir.h"

namespace lay::ir {

std::string print(const Kernel& kernel);

// Parts, for messages. An expression that has more than 10,000 nodes when its shared parts are written out prints as
// "<n nodes>" (the verifier refuses it).
std::string print(const Kernel& kernel, ExprId expr);
std::string print(const Kernel& kernel, const Ref& ref);
std::string print_first_line(const Kernel& kernel, const Stmt& stmt);

// The nodes of every expression, with shared parts written out; stays at 1,000,000.
std::vector<int> written_sizes(const Kernel& kernel);

}  // namespace lay::ir
