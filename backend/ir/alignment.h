// What powers of two divide expressions and offsets: the proof that a vector access is aligned.
#pragma once

#include <vector>

#include "backend/ir/ir.h"
#include "frontend/algebra/integers/facts.h"

namespace lay::ir {

class Alignment {
 public:
  explicit Alignment(const Kernel& kernel);

  // What is known of a variable: a power of two that divides it. Variables of which nothing is
  // said: 1.
  void bind(VarId var, std::int64_t divisor);

  // A power of two that divides the expression's value whatever the sizes; at most 2^20, which also
  // stands for 0.
  std::int64_t of(ExprId id);

  // The same for the offset in elements that the access starts at.
  std::int64_t of(const Ref& ref);

  // Whether it is proved that n divides the size.
  bool divides(const Int& size, std::int64_t n) { return facts_.proves(lay::divides(size, n)); }

  // Whether `count` consecutive coordinates along the mode are consecutive offsets, given that the
  // access starts at a multiple of `count`.
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
