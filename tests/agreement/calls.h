// Calls of kernels on small integers, whose sums are exact, and what is wrong with their results.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backend/ir/ir.h"
#include "runtime/execute/executor.h"

namespace lay::test {

struct Extents {
  std::int64_t m, n, k;
};

// A call of the kernel with its dims by name. `draw` gives every element, but those of outputs in
// floating-point types, which are NaN.
sema::KernelCall drawn_call(const sema::KernelPtr& kernel,
                            const std::map<std::string, std::int64_t>& sizes,
                            const std::function<double()>& draw);

// Inputs from -3 to 3, outputs of NaN; scalars, where there are two, -1 and 2. Sums stay exact in
// 24 bits, and below 256, which bf16 holds, where K is at most 28.
sema::KernelCall integer_call(const sema::KernelPtr& kernel, const Extents& sizes);

// The first element that differs, NaN from everything; empty if none.
std::string difference(const sema::Array& got, const sema::Array& expected);

// The same where elements may differ by that part of the largest finite one, and NaN is NaN.
std::string difference(const sema::Array& got, const sema::Array& expected, double of_largest);

// Returns the error in a run of a variant's launches on the host: the fault, or what `differs` says
// of the first output that is wrong; empty if nothing.
using Differs = std::function<std::string(const sema::Array& got, const sema::Array& expected)>;
std::string trouble(const std::vector<ir::Kernel>& launches, const sema::KernelCall& call,
                    const sema::KernelResult& expected, const Differs& differs,
                    std::uint64_t seed = 0);

// Returns the error in a run of the kernel on the host: the fault, or the first element that is not
// the expected one; empty if nothing. The seed varies the order of warps.
std::string trouble(const ir::Kernel& kernel, const sema::KernelCall& call,
                    const sema::Array& expected, std::uint64_t seed = 0);

}  // namespace lay::test
