// A kernel's function for TVM-FFI in a bundle: `__tvm_ffi_<name>`, by the packed calling convention
// of launcher/tvm_ffi.c.
//
//   mod = tvm_ffi.load_module("liblinear.so")
//   mod.linear(X, W, b, Y)
//
// Arguments come in the order of the kernel's signature, outputs among them. Sizes are solved from
// the tensors, as sema::solve_sizes_in_memory solves them; what no tensor fixes is an integer
// behind the signature's arguments.
#pragma once

#include <string>

#include "frontend/sema/kernel/kernel.h"
#include "runtime/bundle/c_text.h"

namespace lay::runtime {

// The function, in C, behind those of the header; `name` is the kernel's with its prefix. Empty
// where TVM-FFI keeps the symbol for itself: behind `__tvm_ffi_` such names begin with `_`.
// `has_workspace`: a launch may need some.
std::string tvm_ffi_text(const std::string& name, const sema::Kernel& kernel,
                         const ArgumentNames& names, bool has_workspace);

}  // namespace lay::runtime
