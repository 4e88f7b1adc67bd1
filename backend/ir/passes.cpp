#include "backend/ir/passes.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "backend/ir/walk.h"

namespace lay::ir {

namespace {

// The variable of a statement that does nothing but bind it; none for other statements.
std::optional<VarId> bound_alone(const Stmt& stmt) {
  if (const auto* let = std::get_if<Let>(&stmt.node)) return let->var;
  if (const auto* shuffle = std::get_if<Shuffle>(&stmt.node)) return shuffle->var;
  return std::nullopt;
}

// The expressions that statements use, and through them the variables.
class Used {
 public:
  explicit Used(const Kernel& kernel)
      : kernel_(kernel), exprs_(kernel.exprs.size()), vars_(kernel.vars.size()) {
    visit(kernel.epilogue);
    for (const Role& role : kernel.roles) visit(role.body);
    visit(kernel.prologue);
  }
  bool operator()(VarId var) const { return vars_[static_cast<size_t>(var.index)]; }

 private:
  void use(ExprId id) {
    if (!id || exprs_[static_cast<size_t>(id.index)]) return;
    exprs_[static_cast<size_t>(id.index)] = true;
    const Expr& expr = kernel_.expr(id);
    if (const auto* ref = std::get_if<VarRef>(&expr.node))
      vars_[static_cast<size_t>(ref->var.index)] = true;
    for (const ExprId operand : operands(expr)) use(operand);
  }
  // Backwards: what reads a variable comes after it.
  void visit(const Block& block) {
    std::for_each(block.rbegin(), block.rend(), [&](const Stmt& stmt) { visit(stmt); });
  }
  void visit(const Stmt& stmt) {
    const std::optional<VarId> var = bound_alone(stmt);
    if (var && !(*this)(*var)) return;
    const std::vector<const Block*> inside = bodies(stmt);
    std::for_each(inside.rbegin(), inside.rend(), [&](const Block* body) { visit(*body); });
    for (const ExprId id : uses(stmt).exprs) use(id);
  }

  const Kernel& kernel_;
  std::vector<bool> exprs_, vars_;
};

void drop(Block& block, const Used& used) {
  std::erase_if(block, [&](const Stmt& stmt) {
    const std::optional<VarId> var = bound_alone(stmt);
    return var && !used(*var);
  });
  for (Stmt& stmt : block) {
    for (Block* body : bodies(stmt)) drop(*body, used);
  }
}

}  // namespace

void drop_unused_variables(Kernel& kernel) {
  const Used used(kernel);
  drop(kernel.prologue, used);
  for (Role& role : kernel.roles) drop(role.body, used);
  drop(kernel.epilogue, used);
}

}  // namespace lay::ir
