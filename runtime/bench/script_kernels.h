// The kernels of a script, and the sizes that a command line gives them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/commands/script.h"

namespace lay::bench {

// The sizes of one problem, by dim; under no name: of every dim.
using SizeArgument = std::map<std::string, std::int64_t>;

// The script checked, its diagnostics reported; null where it has errors. DiagnosticError where it
// cannot be read.
std::unique_ptr<runtime::Script> checked_script(const std::string& file);

// All kernels, of which there is one at least, or the one of that name. DiagnosticError
// "no-kernel".
std::vector<sema::KernelPtr> wanted_kernels(const runtime::Script& script, const std::string& file,
                                            const std::string& name);

// What was given for each problem; one of 4096 everywhere where nothing was.
std::vector<std::map<std::string, std::int64_t>> problems_for(
    const sema::Kernel& kernel, const std::vector<SizeArgument>& given);

}  // namespace lay::bench
