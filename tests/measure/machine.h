// A GPU that is the host interpreter: what the fake driver is asked to run is looked up among the
// lowered kernels of a script and interpreted.
#pragma once

#include <string>

#include "runtime/gpu/gpu.h"

namespace lay::test {

// The kernels of a script, all variants, the plain one, candidates for simt and the epilogues
// alone, can be launched from now on.
void know_kernels(const std::string& script);

// Changes one element of every result of the variants whose name ends so; empty: of none.
void break_variant(const std::string& ending);

// The same of the first input; other results stay right.
void spoil_input(const std::string& ending);

// A launch of the emitted function takes the time of `launches`.
void set_cost(const std::string& function, long launches);

}  // namespace lay::test
