// An instruction of the library as the IR holds it.
#pragma once

#include "backend/ir/ir.h"
#include "backend/plan/plan.h"

namespace lay::ir {

MmaAtom mma_atom(const sema::Atom& atom);

// Which statement executes it. Expects a warp or a warpgroup.
MmaKind mma_kind(const sema::Atom& atom);

}  // namespace lay::ir
