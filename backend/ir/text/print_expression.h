// Expressions as text, with as few parentheses as the tree allows.
#pragma once

#include <string>
#include <vector>

#include "backend/ir/ir.h"
#include "backend/ir/text/print.h"

namespace lay::ir {

// Writes expressions so that the parser reads back the same ones.
class ExpressionPrinter {
 public:
  explicit ExpressionPrinter(const Kernel& of);

  std::string operator()(ExprId id) const;
  std::string operator()(const Ref& ref) const;
  std::string buffer(BufferId id) const;

  const Kernel& kernel;

 private:
  // A text, and how tightly its outermost operator binds.
  struct Text;
  Text write(ExprId id) const;
  Text apply(const Apply& apply, ElementType type) const;
  Text cast(const Apply& apply, ElementType type) const;
  std::string size(const Size& size, ElementType type) const;
  std::string list(const std::vector<ExprId>& operands) const;

  std::vector<Written> written_;
};

}  // namespace lay::ir
