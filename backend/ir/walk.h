// The references of a kernel's parts. Every walk over statements and expressions goes through these
// functions, so that a new kind of statement is enumerated in one place.
#pragma once

#include <vector>

#include "backend/ir/ir.h"

namespace lay::ir {

// The expressions that an expression is computed from.
std::vector<ExprId> operands(const Expr& expr);

// The parts that a statement itself refers to, without the statements inside it. Required ids are
// listed even where they are missing (negative), optional ones only where they are given.
struct Uses {
  std::vector<ExprId> exprs;
  // The variables that it declares.
  std::vector<VarId> binds;
  std::vector<BufferId> buffers;
  std::vector<BarrierId> barriers;
  std::vector<RingId> rings;
  std::vector<int> tensor_maps;
};
Uses uses(const Stmt& stmt);

// The blocks inside a statement, in the order of the text. An absent `otherwise` is left out; a
// required body that is missing is null, which the verifier refuses before anything else looks.
std::vector<const Block*> bodies(const Stmt& stmt);
std::vector<Block*> bodies(Stmt& stmt);

// Calls `see` for every statement of the block and of the blocks inside it, in the order of the
// text.
template <class See>
void for_each_statement(const Block& block, const See& see) {
  for (const Stmt& stmt : block) {
    see(stmt);
    for (const Block* inner : bodies(stmt)) for_each_statement(*inner, see);
  }
}
// The same for the whole kernel: prologue, roles, epilogue.
template <class See>
void for_each_statement(const Kernel& kernel, const See& see) {
  for_each_statement(kernel.prologue, see);
  for (const Role& role : kernel.roles) for_each_statement(role.body, see);
  for_each_statement(kernel.epilogue, see);
}

}  // namespace lay::ir
