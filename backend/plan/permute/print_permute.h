// The entries of a permute kernel's schedule, as `lay plan` prints them.
#pragma once

#include <string>
#include <vector>

#include "backend/tile/program.h"

namespace lay::plan {

// Adds the entries but for the name, and comments on what is read and written how. `access_bytes`
// is Variant::access_bytes.
void permute_lines(const tile::Program& program, int access_bytes, std::vector<std::string>& lines);

// "i,j"
std::string index_names(const tile::Program& program);

}  // namespace lay::plan
