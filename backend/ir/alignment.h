// Finds powers of two that divide expressions and offsets: proof that a vector access is aligned.
#pragma once

#include <vector>

#include "backend/ir/ir.h"
#include "frontend/algebra/integers/facts.h"

namespace lay::ir {

class Alignment {
 public:
  explicit Alignment(const Kernel& kernel);

  // Records a power of two that divides the variable. A variable without such a record counts as
  // divisible by 1 only.
  void bind(VarId var, std::int64_t divisor);

  // A power of two that divides the expression's value whatever the sizes; at most 2^20, which also
  // stands for 0.
  std::int64_t of(ExprId id);

  // The same for the offset in elements that the access starts at.
  std::int64_t of(const Ref& ref);

  // Returns true if it is proved that n divides the size.
  bool divides(const Int& size, std::int64_t n) { return facts_.proves(lay::divides(size, n)); }

  // Returns true if `count` consecutive coordinates along the mode are consecutive offsets, given
  // that the access starts at a multiple of `count`.
  bool contiguous(const Ref& ref, int mode, int count);

 private:
  std::int64_t of(const Int& size);
  std::int64_t compute(const Expr& expr);
  std::int64_t apply(const Apply& apply);
  std::int64_t mode(const Tuple& shape, const Tuple& stride, std::int64_t coordinate);

  const Kernel& kernel_;
  Facts facts_;
  std::vector<std::int64_t> vars_;  // by VarId
  // By ExprId; 0: not known yet.
  std::vector<std::int64_t> exprs_;
};

}  // namespace lay::ir
