#include "backend/ir/walk.h"

#include "frontend/algebra/support/overloaded.h"

namespace lay::ir {
namespace {

// Collects the uses of one statement: an overload for each kind, so that a kind without one does
// not compile.
class Collector {
 public:
  Uses made;

  void operator()(const Let& let) {
    made.binds.push_back(let.var);
    use(let.value);
  }
  void operator()(const Shuffle& shuffle) {
    made.binds.push_back(shuffle.var);
    use(shuffle.value);
  }
  void operator()(const AtomicCount& count) {
    made.binds.push_back(count.var);
    use(count.at);
  }
  void operator()(const SyncAny& sync) {
    made.binds.push_back(sync.var);
    made.barriers.push_back(sync.barrier);
    use(sync.value);
    optional(sync.slot);
  }
  void operator()(const Assign& assign) { use(assign.to), use(assign.value); }
  void operator()(const Fill& fill) {
    made.buffers.push_back(fill.buffer);
    use(fill.value);
  }
  void operator()(const Copy& copy) {
    use(copy.dst), use(copy.src);
    std::visit(*this, copy.how);
  }
  void operator()(const PlainCopy& copy) { optional(copy.guard.predicate); }
  void operator()(const AsyncCopy& copy) { optional(copy.guard.predicate); }
  void operator()(const TmaLoad& load) {
    made.tensor_maps.push_back(load.tensor_map);
    use(load.completion);
    optional(load.multicast);
    for (const ExprId offset : load.offsets) use(offset);
  }
  void operator()(const TmaStore& store) { made.tensor_maps.push_back(store.tensor_map); }
  void operator()(const WarpCopy&) {}
  void operator()(const RemoteStore& store) {
    use(store.completion);
    use(store.block);
  }
  void operator()(const Mma& mma) { use(mma.d), use(mma.a), use(mma.b), optional(mma.zero); }
  void operator()(const For& loop) {
    made.binds.push_back(loop.var);
    use(loop.begin), use(loop.end);
  }
  void operator()(const If& branch) { use(branch.condition); }
  void operator()(const Elect&) {}
  void operator()(const TileLoop& tiles) {
    made.binds.push_back(tiles.tile);
    use(tiles.first), use(tiles.count), use(tiles.stride);
  }
  void operator()(const Sync& sync) {
    made.barriers.push_back(sync.barrier);
    optional(sync.slot);
    std::visit(overloaded{
                   [&](const ArriveMbarrier& arrive) { optional(arrive.block); },
                   // The verifier says which of the two is missing, so neither is required here.
                   [&](const ArriveExpectBytes& expect) { optional(expect.bytes); },
                   [&](const WaitMbarrier& wait) { optional(wait.phase); },
                   [](const auto&) {},
               },
               sync.operation);
  }
  void operator()(const Fence&) {}
  void operator()(const Commit&) {}
  void operator()(const Wait&) {}
  void operator()(const Advance& advance) {
    made.rings.push_back(advance.ring);
    optional(advance.count);
  }

 private:
  void use(ExprId id) { made.exprs.push_back(id); }
  void optional(ExprId id) {
    if (id) made.exprs.push_back(id);
  }
  void use(const Ref& ref) {
    made.buffers.push_back(ref.buffer);
    made.exprs.insert(made.exprs.end(), ref.coordinate.begin(), ref.coordinate.end());
  }
  void use(const MbarrierSlot& at) {
    made.barriers.push_back(at.barrier);
    optional(at.slot);
  }
};

}  // namespace

std::vector<ExprId> operands(const Expr& expr) {
  return std::visit(overloaded{
                        [](const Apply& apply) { return apply.operands; },
                        [](const Read& read) { return read.from.coordinate; },
                        [](const LayoutOffset& offset) { return std::vector{offset.index}; },
                        [](const auto&) { return std::vector<ExprId>{}; },
                    },
                    expr.node);
}

Uses uses(const Stmt& stmt) {
  Collector collector;
  std::visit(collector, stmt.node);
  return std::move(collector.made);
}

namespace {

// A kind with a member `body` has one block; `if` has one or two.
std::vector<Block*> blocks_inside(const Stmt& stmt) {
  return std::visit(
      [](const auto& node) {
        std::vector<Block*> made;
        if constexpr (requires { node.then; }) {
          made.push_back(node.then.get());
          if (node.otherwise) made.push_back(node.otherwise.get());
        } else if constexpr (requires { node.body; }) {
          made.push_back(node.body.get());
        }
        return made;
      },
      stmt.node);
}

}  // namespace

std::vector<Block*> bodies(Stmt& stmt) {
  return blocks_inside(stmt);
}

std::vector<const Block*> bodies(const Stmt& stmt) {
  const std::vector<Block*> made = blocks_inside(stmt);
  return {made.begin(), made.end()};
}

}  // namespace lay::ir
