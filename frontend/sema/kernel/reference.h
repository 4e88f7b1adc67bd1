// The meaning of a checked kernel: plain loops over its indices. Slow and obvious, and the measure
// of the interpreter and of every emitted kernel.
//
//   for every (m,n):  C[m,n] = value(m,n)      a sum starts from 0 and goes on by fma, k = 0, 1, 2,
//   ... in order; other reductions start from their identity
//
// A reduction keeps its last value for as long as the indices that it depends on stay where they
// are: the maximum of a row is computed once a row.
//
// Every node is computed in its own type and rounded to it. A product under a sum is fused with the
// addition; nothing else is. `select`, `and` and `or` evaluate only what they take. Integers of 32
// bits and fewer wrap.
#pragma once

#include "frontend/sema/kernel/kernel_call.h"

namespace lay::sema {

// The outputs and inouts in the order of the tensors. The inputs are those of the call; sizes of 0
// are legal.
KernelResult run_reference(const KernelCall& call);

}  // namespace lay::sema
