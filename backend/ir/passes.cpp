#include "backend/ir/passes.h"

#include <algorithm>
#include <vector>

#include "frontend/algebra/support/overloaded.h"

namespace lay::ir {

namespace {

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
    std::visit(overloaded{
                   [](const Constant&) {},
                   [](const Special&) {},
                   [](const Size&) {},
                   [](const Scalar&) {},
                   [&](const VarRef& ref) { vars_[static_cast<size_t>(ref.var.index)] = true; },
                   [](const RingSlot&) {},
                   [](const RingPhase&) {},
                   [&](const At& at) { use(at.index); },
                   [&](const Apply& apply) {
                     for (ExprId operand : apply.operands) use(operand);
                   },
                   [&](const Read& read) { use(read.from); },
               },
               kernel_.exprs[static_cast<size_t>(id.index)].node);
  }
  void use(const Ref& ref) {
    for (ExprId coordinate : ref.coordinate) use(coordinate);
  }
  // Backwards: what reads a variable comes after it.
  void visit(const Block& block) {
    for (auto stmt = block.rbegin(); stmt != block.rend(); ++stmt) visit(*stmt);
  }
  void visit(const std::shared_ptr<Block>& block) {
    if (block) visit(*block);
  }
  void visit(const Stmt& stmt) {
    std::visit(overloaded{
                   [&](const Let& let) {
                     if ((*this)(let.var)) use(let.value);
                   },
                   [&](const Assign& assign) { use(assign.to), use(assign.value); },
                   [&](const Fill& fill) { use(fill.value); },
                   [&](const Copy& copy) {
                     use(copy.dst), use(copy.src), use(copy.predicate);
                     use(copy.slot), use(copy.multicast), use(copy.remote);
                   },
                   [&](const Mma& mma) { use(mma.d), use(mma.a), use(mma.b), use(mma.zero); },
                   [&](const For& loop) { visit(loop.body), use(loop.begin), use(loop.end); },
                   [&](const If& branch) {
                     visit(branch.otherwise), visit(branch.then), use(branch.condition);
                   },
                   [&](const Elect& elect) { visit(elect.body); },
                   [&](const TileLoop& loop) {
                     visit(loop.body), use(loop.first), use(loop.count), use(loop.stride),
                         use(loop.live);
                   },
                   [&](const Sync& sync) {
                     use(sync.slot), use(sync.phase), use(sync.bytes), use(sync.remote);
                   },
                   [](const Fence&) {},
                   [](const Commit&) {},
                   [](const Wait&) {},
                   [&](const Advance& advance) { use(advance.count); },
               },
               stmt.node);
  }

  const Kernel& kernel_;
  std::vector<bool> exprs_, vars_;
};

void drop(Block& block, const Used& used) {
  std::erase_if(block, [&](const Stmt& stmt) {
    const auto* let = std::get_if<Let>(&stmt.node);
    return let && !used(let->var);
  });
  const auto inside = [&](const std::shared_ptr<Block>& body) {
    if (body) drop(*body, used);
  };
  for (Stmt& stmt : block) {
    if (auto* loop = std::get_if<For>(&stmt.node)) inside(loop->body);
    if (auto* branch = std::get_if<If>(&stmt.node)) inside(branch->then), inside(branch->otherwise);
    if (auto* elect = std::get_if<Elect>(&stmt.node)) inside(elect->body);
    if (auto* loop = std::get_if<TileLoop>(&stmt.node)) inside(loop->body);
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
