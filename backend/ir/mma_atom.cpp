#include "backend/ir/mma_atom.h"

#include <stdexcept>

namespace lay::ir {
namespace {

void settle(std::string& instruction, const std::string& what, bool value) {
  for (auto at = instruction.find(what); at != std::string::npos; at = instruction.find(what, at)) {
    instruction.replace(at, what.size(), value ? "1" : "0");
  }
}

}  // namespace

bool takes(const sema::Atom& atom, Transposed transposed) {
  return (!transposed.a || (atom.a_shared && atom.takes_transposed_a())) &&
         (!transposed.b || (atom.b_shared && atom.takes_transposed_b()));
}

MmaAtom mma_atom(const sema::Atom& atom, Transposed transposed) {
  if (!takes(atom, transposed)) throw std::logic_error("internal: " + atom.name + " takes k-major operands");
  MmaAtom made;
  made.name = atom.name;
  made.shape = atom.shape;
  made.d = atom.c;
  if (!atom.a_shared) made.a = atom.a;
  if (!atom.b_shared) made.b = atom.b;
  made.instruction = atom.instruction;
  settle(made.instruction, "$trans_a", transposed.a);
  settle(made.instruction, "$trans_b", transposed.b);
  return made;
}

MmaKind mma_kind(const sema::Atom& atom) {
  if (atom.kind == "warpgroup") return MmaKind::wgmma;
  if (atom.kind == "warp") return MmaKind::mma_sync;
  throw std::logic_error("internal: " + atom.name + " is executed by a " + atom.kind);
}

}  // namespace lay::ir
