#include "backend/ir/types.h"

#include <algorithm>

#include "frontend/algebra/support/overloaded.h"

namespace lay::ir {
namespace {

std::string quoted(ElementType type) {
  return std::string(element_name(type));
}

// `select`: a truth value, then two of one type.
ResultType selection(std::span<const ElementType> operands) {
  if (operands[0] != ElementType::pred)
    return {{}, "takes a pred first, not " + quoted(operands[0])};
  if (operands[1] != operands[2]) {
    return {
        {},
        "takes two arms of one type, not " + quoted(operands[1]) + " and " + quoted(operands[2])};
  }
  return {operands[1], ""};
}

ResultType conversion(ElementType from, ElementType to) {
  if (from == ElementType::pred && is_float(to))
    return {{}, "does not convert pred to " + quoted(to)};
  if (to == ElementType::pred) return {{}, "does not convert to pred; compare instead"};
  return {to, ""};
}

Uniformity uniformity(Builtin builtin) {
  switch (builtin) {
    case Builtin::thread:
    case Builtin::lane:
      return Uniformity::thread;
    case Builtin::warp:
      return Uniformity::warp;
    case Builtin::warpgroup:
      return Uniformity::warpgroup;
    case Builtin::block_x:
    case Builtin::block_y:
    case Builtin::block_z:
    case Builtin::cluster_rank:
      return Uniformity::block;
    case Builtin::cluster_count:
    case Builtin::grid_x:
      return Uniformity::grid;
  }
  return Uniformity::thread;
}

}  // namespace

BarrierKind barrier_kind(const Sync::Operation& operation) {
  return std::visit(overloaded{
                        [](const SyncBlock&) { return BarrierKind::block; },
                        [](const SyncNamed&) { return BarrierKind::named; },
                        [](const ArriveNamed&) { return BarrierKind::named; },
                        [](const SyncCluster&) { return BarrierKind::cluster; },
                        [](const ArriveCluster&) { return BarrierKind::cluster; },
                        [](const WaitCluster&) { return BarrierKind::cluster; },
                        [](const InitMbarrier&) { return BarrierKind::mbarrier; },
                        [](const ArriveMbarrier&) { return BarrierKind::mbarrier; },
                        [](const ArriveExpectBytes&) { return BarrierKind::mbarrier; },
                        [](const WaitMbarrier&) { return BarrierKind::mbarrier; },
                        [](const InvalidateMbarrier&) { return BarrierKind::mbarrier; },
                    },
                    operation);
}

const CopyAtom* copy_atom(const Kernel& kernel, const std::string& name) {
  const auto found = std::ranges::find(kernel.copy_atoms, name, &CopyAtom::name);
  return found == kernel.copy_atoms.end() ? nullptr : &*found;
}

bool overlaps(const Kernel& kernel) {
  return std::any_of(kernel.prologue.begin(), kernel.prologue.end(), [](const Stmt& statement) {
    const auto* fence = std::get_if<Fence>(&statement.node);
    return fence && fence->kind == FenceKind::grid_dependency_wait;
  });
}

bool computes(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::f64:
    case ElementType::s32:
    case ElementType::u32:
    case ElementType::s64:
    case ElementType::u64:
      return true;
    default:
      return false;
  }
}

ResultType result_type(ElementFunction function, std::span<const ElementType> operands,
                       ElementType asked) {
  const FunctionRow& row = function_row(function);
  if (static_cast<int>(operands.size()) != row.arity) {
    return {
        {},
        "takes " + std::to_string(row.arity) + " operands, not " + std::to_string(operands.size())};
  }
  if (function == ElementFunction::select) return selection(operands);
  if (function == ElementFunction::cast) return conversion(operands[0], asked);
  const ElementType type = operands[0];
  for (const ElementType other : operands) {
    if (other != type)
      return {{}, "takes operands of one type, not " + quoted(type) + " and " + quoted(other)};
  }
  const bool logic = !row.floats && !row.integers;
  if (logic) {
    if (type != ElementType::pred) return {{}, "takes pred, not " + quoted(type)};
  } else if (!computes(type)) {
    return {{}, "does not compute in " + quoted(type) + "; cast it first"};
  } else if (is_float(type) ? !row.floats : !row.integers) {
    return {{}, "is not defined on " + quoted(type)};
  }
  return {row.result == ResultKind::truth ? ElementType::pred : type, ""};
}

Uniformity uniformity(const Kernel& kernel, const Expr& expr, std::span<const Uniformity> known) {
  return std::visit(overloaded{
                        [](const Constant&) { return Uniformity::grid; },
                        [](const Special& special) { return uniformity(special.which); },
                        [](const Size&) { return Uniformity::grid; },
                        [](const Scalar&) { return Uniformity::grid; },
                        [&](const VarRef& ref) { return kernel.var(ref.var).uniformity; },
                        [](const RingSlot&) { return Uniformity::warpgroup; },
                        [](const RingPhase&) { return Uniformity::warpgroup; },
                        [&](const LayoutOffset& at) { return known[at.index.index]; },
                        [&](const Apply& apply) {
                          Uniformity widest = Uniformity::grid;
                          for (const ExprId operand : apply.operands)
                            widest = std::min(widest, known[operand.index]);
                          return widest;
                        },
                        [&](const Read& read) {
                          const Buffer& buffer = kernel.buffer(read.from.buffer);
                          if (buffer.space != Space::global || buffer.written)
                            return Uniformity::thread;
                          Uniformity widest = Uniformity::grid;
                          for (const ExprId coordinate : read.from.coordinate)
                            widest = std::min(widest, known[coordinate.index]);
                          return widest;
                        },
                    },
                    expr.node);
}

std::vector<Uniformity> uniformities(const Kernel& kernel) {
  std::vector<Uniformity> known;
  known.reserve(kernel.exprs.size());
  for (const Expr& expr : kernel.exprs) known.push_back(uniformity(kernel, expr, known));
  return known;
}

}  // namespace lay::ir
