// The choices of a variant of chained products as `lay plan` prints them.
#pragma once

#include <string>
#include <vector>

#include "backend/tile/program.h"

namespace lay::plan {

// Adds the entries of the schedule, and as comments what follows from them: warpgroups, atoms, and
// how tiles lie in shared memory.
void chained_lines(const tile::Program& program, std::vector<std::string>& lines);

}  // namespace lay::plan
