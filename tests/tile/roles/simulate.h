// The roles of a program at their barriers, as steps of a machine (machine.h). Those that copy,
// read and arrive are read from the program itself; counts of arrivals, slots, stages and phases
// are those of the passes, which the machine so holds to the program.
#pragma once

#include <random>
#include <string>

#include "backend/tile/roles/specialise.h"

namespace lay::test {

// Runs some tiles of a cluster with as many rounds as are drawn; returns the first fault.
std::string simulate(const tile::Program& program, const tile::Specialised& said,
                     std::mt19937& random);

}  // namespace lay::test
