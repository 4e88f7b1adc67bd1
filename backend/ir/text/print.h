// The kernel as text: complete, readable, the same for the same kernel. parse.h reads it back:
// print(parse(print(k))) == print(k).
//
// The notation, beyond what ir.h shows at its top:
//   7 is s32, 1.5 is f32, s64(7) f64(1.5) are literals of other types, f32(x) is a cast; [M*N] is a
//   Size that is not just a dim, s64[M*N] one of another type; at(L, e), slot(r), phase(r),
//   select(c, a, b); `and` `or` `not`.
//   @3 "note" at the end of a statement is its origin.
//   A name that is a word of this language stands in backquotes.
#pragma once

#include <string>
#include <vector>

#include "backend/ir/ir.h"

namespace lay::ir {

std::string print(const Kernel& kernel);

// Parts, for messages. An expression beyond the limits of Written prints as "<n nodes>".
std::string print(const Kernel& kernel, ExprId expr);
std::string print(const Kernel& kernel, const Ref& ref);
std::string print_first_line(const Kernel& kernel, const Stmt& stmt);

// How large an expression is when its shared parts are written out. The verifier refuses what is
// not readable: parts of it are to be bound with let.
struct Written {
  int nodes = 1;  // stays at 1,000,000
  int depth = 1;
  bool readable() const { return nodes <= 10'000 && depth <= 400; }
};
std::vector<Written> written(const Kernel& kernel);

}  // namespace lay::ir
