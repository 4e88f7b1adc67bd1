#include "backend/ir/truth.h"

namespace lay::ir {

Truth truth(const sema::Kernel& kernel, sema::NodeId condition, bool holds) {
  const auto* apply = std::get_if<sema::Apply>(&kernel.node(condition).what);
  if (apply && apply->function == ElementFunction::not_)
    return truth(kernel, apply->operands[0], !holds);
  if (apply && apply->function == ElementFunction::eq) return {apply->operands, holds};
  if (apply && apply->function == ElementFunction::ne) return {apply->operands, !holds};
  return {{condition}, holds};
}

}  // namespace lay::ir
