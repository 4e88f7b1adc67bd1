// Inside the compiler: instructions for statements.
#pragma once

#include <vector>

#include "backend/interpret/placement.h"
#include "backend/interpret/values/expression.h"

namespace lay::interpret {

class Statements {
 public:
  Statements(Program& program, ExpressionCompiler& expressions)
      : program_(program), expr_(expressions) {}
  void block(const ir::Block& block);
  void scope(const ir::Block& block);
  int emit(Handler run) { return expr_.emit({.run = run}); }

 private:
  void statement(const ir::Stmt& stmt);
  void compile(const ir::Let& let);
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

  void copy_elements(const ir::Copy& copy, bool zeros);
  void copy_box(const ir::Copy& copy);
  void copy_to_block(const ir::Copy& copy);
  void copy_matrices(const ir::Copy& copy);
  void multiply_atom(const ir::Mma& mma, Handler run);
  std::vector<int> element_offsets(const Access& access, int modes);
  Placement tile_coordinate(const Layout& order, int mode);
  template <class Then, class Otherwise>
  void branch(int condition, Then then, Otherwise otherwise);

  Program& program_;
  ExpressionCompiler& expr_;
};

}  // namespace lay::interpret
