#include "backend/tile/online_softmax.h"

#include "frontend/sema/kernel/kernel_walk.h"

namespace lay::tile {

using namespace sema;

bool is_exponential(const Kernel& kernel, NodeId id, NodeId maximum) {
  const auto* exponential = std::get_if<Apply>(&kernel.node(id).what);
  if (!exponential || exponential->function != ElementFunction::exp) return false;
  const auto* difference = std::get_if<Apply>(&kernel.node(exponential->operands[0]).what);
  if (!difference || difference->function != ElementFunction::sub) return false;
  const auto* reduce = std::get_if<sema::Reduce>(&kernel.node(maximum).what);
  return reduce && reduce->function == ReduceFunction::max && difference->operands[1] == maximum &&
         difference->operands[0] == reduce->body;
}

bool is_multiple_of_exponential(const Kernel& kernel, NodeId id, NodeId maximum) {
  if (is_exponential(kernel, id, maximum)) return true;
  const auto* apply = std::get_if<Apply>(&kernel.node(id).what);
  if (!apply || !is_float(kernel.node(id).type)) return false;
  const auto multiple = [&](std::size_t i) {
    return is_multiple_of_exponential(kernel, apply->operands[i], maximum);
  };
  const auto constant = [&](std::size_t i) {
    return !reachable(kernel, {apply->operands[i]})[static_cast<std::size_t>(maximum)];
  };
  using enum ElementFunction;
  if (apply->function == cast) return multiple(0);
  if (apply->function == mul) return (multiple(0) && constant(1)) || (constant(0) && multiple(1));
  return apply->function == div && multiple(0) && constant(1);
}

}  // namespace lay::tile
