// The launches of a variant one after the other, on the memory of one call.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/interpret/interpret.h"

namespace lay::interpret {

// Values of parameters, and memory of global buffers that are no workspace: names mean the same in
// all launches.
using NamedArguments = std::map<std::string, Argument>;

// Runs the launches and provides their workspace: one piece of memory, 0xff where nothing has been
// written, which with checks is a fault to read. Counts are those of all launches; after a fault no
// further launch runs. A name that `arguments` lacks is a fault too.
Report run_all(const std::vector<ir::Kernel>& launches, const NamedArguments& arguments,
               const Options& options = {});

}  // namespace lay::interpret
