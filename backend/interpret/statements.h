// Inside the compiler: instructions for statements.
#pragma once

#include <vector>

#include "backend/interpret/placement.h"
#include "backend/interpret/values/expression.h"

namespace lay::interpret {

// Compiles the statements of a block to instructions, in order. A handler (control.h,
// async/async.h, mma/atoms.h) runs each of them for a warp of 32 lanes.
class Statements {
 public:
  Statements(Program& program, ExpressionCompiler& expressions)
      : program_(program), expr_(expressions) {}
  // The statements of a block; `scope` also forgets its variables at the end.
  void block(const ir::Block& block);
  void scope(const ir::Block& block);
  int emit(Handler run) { return expr_.emit({.run = run}); }

 private:
  void statement(const ir::Stmt& stmt);
  // One function for each kind of statement.
  void compile(const ir::Let& let);
  void compile(const ir::Shuffle& shuffle);
  void compile(const ir::AtomicCount& count);
  void compile(const ir::SyncAny& sync);
  void compile(const ir::Assign& assign);
  void compile(const ir::Fill& fill);
  void compile(const ir::Copy& copy);
  void compile(const ir::Mma& mma);
  void compile(const ir::For& loop);
  void compile(const ir::If& branch);
  void compile(const ir::Elect& elect);
  void compile(const ir::TileLoop& tiles);
  void compile(const ir::Sync& sync);
  void compile(const ir::Fence& fence);
  void compile(const ir::Commit& commit);
  void compile(const ir::Wait& wait);
  void compile(const ir::Advance& advance);

  // One function for each kind of copy.
  void compile(const ir::Copy& copy, const ir::PlainCopy& how);
  void compile(const ir::Copy& copy, const ir::AsyncCopy& how);
  void compile(const ir::Copy& copy, const ir::TmaLoad& how);
  void compile(const ir::Copy& copy, const ir::TmaStore& how);
  void compile(const ir::Copy& copy, const ir::WarpCopy& how);
  void compile(const ir::Copy& copy, const ir::RemoteStore& how);
  // Runs the body where the guard holds, and writes zeros where it does not, if the copy asks for
  // them.
  template <class Body>
  void guarded(const ir::CopyGuard& guard, Body body);
  // Both sides of a copy as accesses, and how many elements along which modes.
  CopyPlan copy_plan(const ir::Copy& copy, const ir::CopyVector& vector);
  void copy_elements(const ir::Copy& copy, const ir::CopyVector& vector, Handler run, bool zeros);
  // A box of TMA: coordinates of its first element, and the mbarrier it completes on.
  void copy_box(int map, Handler run, const ir::Ref& tensor, const ir::Ref& shared,
                Instruction made, int barrier, const std::vector<ir::ExprId>& offsets);
  void multiply_atom(const ir::Mma& mma, Handler run);
  // The offsets of all elements of an operand in registers, from that of its first.
  std::vector<int> element_offsets(const Access& access, int modes);
  // A branch of the lanes for which the slot `condition` holds, and of the others.
  template <class Then, class Otherwise>
  void branch(int condition, Then then, Otherwise otherwise);

  Program& program_;
  ExpressionCompiler& expr_;
};

}  // namespace lay::interpret
