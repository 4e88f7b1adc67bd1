// The report of ptxas about the code that it made, read from a compiler's log: NVRTC's and nvcc's
// hold the same lines.
#pragma once

#include <string>
#include <vector>

namespace lay::runtime {

// The resources of an SM that a kernel takes, as ptxas reports them.
struct Resources {
  int registers = 0;
  // Local memory: arrays that registers could not hold, and what is spilled.
  int stack_bytes = 0;
  int spill_store_bytes = 0, spill_load_bytes = 0;
  int shared_bytes = 0;  // declared statically
};
Resources resources_in(const std::string& log);

// Returns what makes a kernel slower than its text says, a sentence each: spilled registers, local
// memory, and what ptxas numbers, each number once: serialised wgmma, ignored setmaxnreg, waits
// that it puts in. Empty for a log without remarks, and for one of no ptxas (PTX).
std::vector<std::string> remarks_in(const std::string& log);

}  // namespace lay::runtime
