// Schedules of many kinds for Hopper's tensor cores: one or two consumers of 64 rows each, two of
// 128 and two in ping-pong, widths of the instruction, with and without neighbours that share their
// loads or K, tiles of one and two swizzle spans along K and rings of several depths; and for few
// rows the instruction's rows as the output's columns. The planner's laws refuse some of them.
#pragma once

#include <vector>

#include "backend/plan/recognise.h"

namespace lay::test {

std::vector<sema::Schedule> sm90_proposals(const sema::Kernel& kernel, const plan::GemmForm& form);

}  // namespace lay::test
