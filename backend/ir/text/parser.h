// Inside the parser: declarations (parse.cpp) and statements (parse_statements.cpp) of the IR's
// text.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/ir/build.h"
#include "backend/ir/text/parse_expression.h"
#include "backend/notation/cursor.h"

namespace lay::ir {

using notation::lex;

// A recursive descent parser: one function for each rule of the text, named after what it reads. It
// builds by Builder, as lowering does, so that both make the same kernels.
class Parser {
 public:
  explicit Parser(std::string_view text)
      : cursor_(lex(text)), build_(kernel_), expr_(cursor_, build_) {}
  Kernel run();

 private:
  // Declarations, which stand before the roles.
  void declaration();
  void sizes();
  void scalar();
  void buffer(Space space);
  void tensor_map();
  void mma_atom();
  void copy_atom();
  void barrier();
  void ring();
  void launch();
  void role();

  using Node = decltype(Stmt::node);
  // Statements: `body` reads a block in which variables are in scope, `from` is the origin of the
  // statement around it.
  Block block();
  Block body(Origin& from, const std::vector<VarId>& vars);
  Stmt statement();
  std::optional<Node> with_body(Origin& from);
  Node without_body();
  Let let();
  Shuffle shuffle();
  AtomicCount atomic_count();
  SyncAny sync_any();
  void enter_scope(VarId var) { expr_.scopes.back()[kernel_.var(var).name] = var; }
  Assign assign();
  Fill fill();
  Copy copy();
  void no_more_clauses(std::string_view kind);
  // Clauses of copies, shared by several kinds.
  CopyVector vector();
  // Kinds of copies with the same clauses.
  template <class Kind>
  Kind plain_copy();
  // `atom "sm80.cp_async(bytes = 16)"`; "" where there is none.
  std::string atom();
  MbarrierSlot completion();
  TmaLoad tma_load();
  RemoteStore remote_store();
  int tensor_map_name();
  Mma mma();
  For loop(Origin& from);
  If branch(Origin& from);
  TileLoop tiles(Origin& from);
  Sync sync();
  Wait wait();
  Advance advance();

  // Names that must be declared already.
  VarId var();
  BarrierId barrier_name();
  void barrier_slot(BarrierId& barrier, ExprId& slot);
  std::vector<int> list();
  Origin origin();
  ElementType element();
  std::string declared();
  // The value whose word stands here; `what` is expected otherwise: "a kind of fence".
  template <class Table>
  auto word(const Table& table, std::string_view what);

  Cursor cursor_;
  Kernel kernel_;
  Builder build_;
  ExpressionParser expr_;
  std::map<std::string, BarrierId> barriers_;
  std::map<std::string, int> maps_;
};

template <class Table>
auto Parser::word(const Table& table, std::string_view what) {
  const Token token = cursor_.peek();
  const auto found = token.kind == TokenKind::word ? table.find(token.text) : std::nullopt;
  if (!found) cursor_.fail("expected " + std::string(what) + ", found `" + token.text + "`");
  cursor_.take();
  return *found;
}

}  // namespace lay::ir
