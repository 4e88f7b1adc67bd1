// The kernels of a script, and the sizes that a command line gives them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/commands/script.h"

namespace lay::bench {

// The sizes of one problem, by dim. The name "" gives every dim its size.
using SizeArgument = std::map<std::string, std::int64_t>;

// Checks a script and reports its diagnostics. Returns null if it has errors. Throws
// DiagnosticError if the file cannot be read.
std::unique_ptr<runtime::Script> checked_script(const std::string& file);

// Returns the kernel of that name, or all kernels if the name is empty: at least one. Throws
// DiagnosticError "no-kernel".
std::vector<sema::KernelPtr> wanted_kernels(const runtime::Script& script, const std::string& file,
                                            const std::string& name);

// Returns the sizes of each problem, by dim; without any, those that the script states for the
// kernel, else one problem. Dims that are left open are 4096.
std::vector<std::map<std::string, std::int64_t>> problems_for(
    const sema::Kernel& kernel, const std::vector<SizeArgument>& given);

}  // namespace lay::bench
