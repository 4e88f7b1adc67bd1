// An instruction of the library as the IR holds it.
#pragma once

#include "backend/ir/ir.h"
#include "backend/plan/plan.h"

namespace lay::ir {

// Operands of the atom that lie in shared memory and are m- or n-major there.
struct Transposed {
  bool a = false, b = false;
};

// Whether the instruction takes these operands: one in registers is as its layout says, one in shared memory is
// k-major, or the template asks.
bool takes(const sema::Atom& atom, Transposed transposed);

// The atom with its template settled. Expects takes(atom, transposed).
MmaAtom mma_atom(const sema::Atom& atom, Transposed transposed = {});

// Which statement executes it. Expects a warp or a warpgroup.
MmaKind mma_kind(const sema::Atom& atom);

}  // namespace lay::ir
