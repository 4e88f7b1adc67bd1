// Inside the verifier: one walk over the kernel that keeps what is in scope. Its parts stand in
// verify.cpp (declarations), verify_expressions.cpp, verify_statements.cpp, verify_atoms.cpp,
// verify_copies.cpp and verify_barriers.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/ir/alignment.h"
#include "backend/ir/text/print_expression.h"
#include "backend/ir/verify/verify.h"

namespace lay::ir {

// Checks one kernel. Problems are collected, so that a kernel shows all of them at once; they are
// mistakes of ours, named by code and statement.
class Verifier {
 public:
  Verifier(const Kernel& kernel, const Limits& limits);
  std::vector<Problem> run();

 private:
  // ---- declarations. False: what the rest builds on is broken, and the walk does not begin.
  bool ids();
  bool expressions();
  void expression(size_t index);
  void names();
  void params();
  void buffers();
  void buffer(const Buffer& buffer);
  // All shared buffers and barriers together, against the limit of the target.
  void shared_memory();
  void tensor_map(const TensorMap& map);
  void mma_atom(const MmaAtom& atom);
  // Both sides of a copy have all bits.
  void copy_atom(const CopyAtom& atom);
  // Each operand of an atom covers its tile: d once, a and b perhaps again along threads.
  void atom_operand(const MmaAtom& atom, char operand, const Layout& layout, int rows, int columns);
  void barriers();
  void rings();
  void launch();
  void roles();
  // Register budgets: together no more than the launch has (PTX ISA, setmaxnreg).
  void role_registers();

  // ---- statements
  void block(const Block& block);
  void statement(const Stmt& stmt);
  // One function for each kind of statement.
  void check(const Let& let);
  void check(const Shuffle& shuffle);
  void check(const AtomicCount& count);
  void check(const SyncAny& sync);
  void check(const Assign& assign);
  void check(const Fill& fill);
  void check(const Copy& copy);
  void check(const Mma& mma);
  void check(const For& loop);
  void check(const If& branch);
  void check(const Elect& elect);
  void check(const TileLoop& tiles);
  void check(const Sync& sync);
  void check(const Fence& fence);
  void check(const Commit& commit);
  void check(const Wait& wait);
  void check(const Advance& advance);

  // ---- parts of statements
  // The variable comes into scope with what is known of its value.
  void bind(VarId var, ElementType type, Uniformity uniform, std::int64_t divisor, bool is_static);
  // A block inside a statement, under a condition that is as uniform as `control`.
  void body(const std::shared_ptr<Block>& body, size_t bound, Uniformity control);
  void leave(size_t outer);
  // The expression stands here: its variables are in scope, its reads are allowed.
  void use(ExprId id, std::string_view what);
  void use(ExprId id, std::string_view what, ElementType type);
  void use_integer(ExprId id, std::string_view what);
  // The expression is evaluated ahead of its statement, so it must not read memory.
  void no_reads(ExprId id, std::string_view what);
  void visit(ExprId id, std::set<int>& seen);
  // buffer[coordinate]; `given` coordinates are those of the modes after the first `without`.
  void ref(const Ref& ref, bool written, int without = 0);
  // Registers have no addresses: coordinates must be known when the kernel is compiled.
  void constant_coordinates(const Ref& ref, int without);
  void register_index(const Ref& ref);
  bool is_static(ExprId id) const;

  // One function for each kind of copy.
  void check(const Copy& copy, const PlainCopy& how);
  void check(const Copy& copy, const AsyncCopy& how);
  void check(const Copy& copy, const TmaLoad& how);
  void check(const Copy& copy, const TmaStore& how);
  void check(const Copy& copy, const WarpCopy& how);
  void check(const Copy& copy, const RemoteStore& how);
  void guard(const CopyGuard& guard);
  // Both sides of a vector copy: contiguous, aligned, inside the buffer.
  void vector_sides(const Copy& copy, const CopyVector& vector);
  void vector_side(const Ref& side, int mode, int count, std::string_view name);
  // A write of `count` elements to memory fills whole bytes.
  void whole_bytes(const Ref& to, int count);
  void tma_box(int tensor_map, const Ref& tensor, const Ref& shared);
  void box_atom(const TensorMap& map, const CopyAtom& atom, const Ref& shared);
  // The atom of a copy by threads of that scope between the spaces of its sides; null and a problem
  // where there is none.
  const CopyAtom* atom_of(const Copy& copy, const std::string& name, CopyScope scope);
  void completion(const MbarrierSlot& at);
  std::int64_t bytes(const Copy& copy, int count) const;
  void simt(const Mma& mma);
  void check_atom(const Mma& mma);
  void slot(BarrierId barrier, ExprId slot);
  // All threads that the barrier counts must come: it may not stand in a branch that some do not
  // take.
  void convergence(const Sync& sync, const Barrier& barrier);
  void named(const Barrier& barrier, ExprId slot);
  // The statement stands where `least` threads run together.
  void needs(Uniformity least, std::string_view what);
  void needs_whole_warps(std::string_view what);

  Uniformity uniform(ExprId id) const;
  ElementType type(ExprId id) const { return kernel_.expr(id).type; }
  Space space(const Ref& ref) const { return kernel_.buffer(ref.buffer).space; }
  const Buffer& buffer_of(const Ref& ref) const { return kernel_.buffer(ref.buffer); }
  int rank(BufferId buffer) const;

  void problem(std::string code, std::string message);

  const Kernel& kernel_;
  const Limits& limits_;
  Alignment alignment_;
  std::vector<Problem> problems_;

  const Stmt* statement_ = nullptr;
  // Null in prologue and epilogue.
  const Role* role_ = nullptr;
  Uniformity control_ = Uniformity::grid;  // of the conditions around this statement
  // One lane runs it.
  bool elected_ = false;
  // Global memory may be touched.
  bool grid_dependencies_done_ = true;
  // By VarId.
  std::vector<bool> bound_, in_scope_, static_;
  // In scope, the latest last.
  std::vector<VarId> scope_;
  // The number of variables that have the name.
  std::map<std::string, int> names_in_scope_;
  std::vector<Uniformity> uniform_;  // by ExprId
};

// A role or block of all threads has this name in messages.
std::string quoted_name(const std::string& name);

}  // namespace lay::ir
