// The rules that a kernel keeps: what the interpreter and the emitters may rely on.
//
// Ids are in range and operands come before uses; types fit; variables are bound once, in scope,
// and not claimed more uniform than they are; coordinates have the rank of their layout; registers
// are indexed by constants and unrolled loops; vector copies are contiguous and aligned for every
// value of the sizes that the assumptions admit; all threads that a barrier waits for reach it;
// roles, registers, shared memory and tensor maps keep the machine's limits.
//
// A problem found here is our bug, never the user's: the user's mistakes end in the plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ir/ir.h"

namespace lay::ir {

// The limits of the machine that runs the kernel. The defaults are those of compute capability 9.0.
struct Limits {
  std::int64_t shared_bytes = 232448;  // of a block
  int threads = 1024;                  // of a block
  int registers = 65536;               // of a block
  int cluster = 8;                     // blocks
};

struct Problem {
  std::string code;     // "variable-scope"
  std::string message;  // one lower-case sentence
  // In the IR's text; empty for declarations.
  std::string statement;
  int line = 0;  // of the script
};

// In the order of the kernel; at most 100.
std::vector<Problem> verify(const Kernel& kernel, const Limits& limits = {});

// After a pass: std::logic_error that names it, if anything is wrong.
void verify_after(std::string_view pass, const Kernel& kernel, const Limits& limits = {});

}  // namespace lay::ir
