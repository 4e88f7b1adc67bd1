// Calls f(x), modes and elements x[i], fields r.f. Internal to this folder.
#pragma once

#include <string>
#include <vector>

#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/values/operators.h"

namespace lay::sema {

// A layout takes coordinates (and `_`), a def, record or builtin its arguments, a kernel arrays, a
// type a number.
Value apply(Session& session, const Operand& callee, std::vector<CallArgument> arguments,
            Span whole);
Value apply_index(Session& session, const Operand& object, const std::vector<Operand>& indices,
                  Span whole);
Value member(Session& session, const Operand& object, const std::string& name, Span where);

// A def over indices, in a kernel: softmax[n](x).
Value apply_over(Session& session, const FunctionPtr& function, std::vector<Value> indices,
                 const std::vector<CallArgument>& arguments, Span whole);

// reference(kernel, arguments...): the kernel by its meaning, plain loops (kernel_apply.cpp).
Value apply_reference(Session& session, std::vector<CallArgument> arguments, Span whole);
// A kernel with arrays (kernel_apply.cpp).
Value apply_kernel(Session& session, const KernelFamilyPtr& family,
                   const std::vector<CallArgument>& arguments, Span whole);

}  // namespace lay::sema
