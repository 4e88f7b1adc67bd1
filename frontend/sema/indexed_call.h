// Calls over indices, NAME[i,j](...): the reductions of kernels, and defs with index parameters.
// The parser knows no name: sum[k](x) is a call of sum[k], and what `sum` is decides. Internal to
// this folder.
#pragma once

#include <variant>

#include "frontend/sema/kernel/reduce_function.h"
#include "frontend/sema/session.h"

namespace lay::sema {

using IndexedCallee = std::variant<const ReduceRow*, FunctionPtr>;

// Returns what NAME[...](...) calls over indices; nothing where the call is of another form, or
// NAME is a value whose mode is called, as of a tuple of layouts. A user's name comes before a
// reduction, and that before the prelude.
std::optional<IndexedCallee> indexed_callee(Session& session, const Frame& frame,
                                            const syntax::Call& call);

// Evaluates a call over indices. Throws "kernel-only" outside of kernels, "reduction-form" for
// brackets that hold no index names, "not-indexable" for a function without index parameters.
Value call_over(Session& session, Frame& frame, const IndexedCallee& callee,
                const syntax::Call& call, Span whole);

}  // namespace lay::sema
