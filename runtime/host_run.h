// One launch in the host interpreter.
#pragma once

#include "backend/ir/ir.h"
#include "runtime/packed_call.h"

namespace lay::runtime {

struct HostRun {
  double seconds = 0;
  int threads = 1;
  bool checked = true;  // uninitialised reads, races and overflow were looked for
};

// Writes the outputs into the memory of the call. What the kernel does wrong is a Refusal with the thread, the
// coordinate and the line. Shows progress on standard error under the kernel's name when it takes long.
HostRun run_on_host(const ir::Kernel& kernel, PackedCall& call, bool checked);

}  // namespace lay::runtime
