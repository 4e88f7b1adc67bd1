#include "backend/ir/lower/mma_atom.h"

#include <stdexcept>

namespace lay::ir {

MmaAtom mma_atom(const sema::Atom& atom) {
  MmaAtom made;
  made.name = atom.name;
  made.shape = atom.shape;
  made.d = atom.c;
  // Operands that the instruction reads from shared memory have no layout of registers.
  if (!atom.a_shared) made.a = atom.a;
  if (!atom.b_shared) made.b = atom.b;
  made.instruction = atom.instruction;
  return made;
}

MmaKind mma_kind(const sema::Atom& atom) {
  if (atom.kind == "warpgroup") return MmaKind::wgmma;
  if (atom.kind == "warp") return MmaKind::mma_sync;
  throw std::logic_error("internal: " + atom.name + " is executed by a " + atom.kind);
}

}  // namespace lay::ir
