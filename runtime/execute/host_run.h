// The launches of a variant in the host interpreter.
#pragma once

#include <functional>

#include "backend/interpret/launches.h"
#include "runtime/execute/packed_call.h"
#include "runtime/gpu/launches.h"

namespace lay::runtime {

// The options that a user may give the interpreter.
struct HostChoices {
  bool counts = false;      // of wavefronts and sectors
  std::uint64_t order = 0;  // of warps and copies: each number is another
  // Every variant that takes the sizes is also run in field mode (field_run.h).
  bool field = false;
  // A kernel that is slow for its plan is refused, not warned of.
  bool strict = false;
  // Asked now and then; true ends the run. Empty: a signal does (runtime/repl/interrupt.h).
  std::function<bool()> interrupted{};
  // A line on standard error says how far a long run is.
  bool progress = true;

  bool is_interrupted() const;
};

struct HostRun {
  double seconds = 0;
  int threads = 1;
  // Uninitialised reads, races and overflow were looked for.
  bool checked = true;
  interpret::Report counters;  // if asked for
};

// Returns what the interpreter takes for the call: its sizes, scalars and memory by name; the
// memory must outlive the run.
interpret::NamedArguments named_arguments(PackedCall& call);

// Writes the outputs into the memory of the call. An error of a launch is a Refusal with the
// thread, the coordinate and the line. Shows progress on standard error under the kernel's name
// when it takes long.
HostRun run_on_host(const Launches& launches, PackedCall& call, bool checked,
                    const HostChoices& choices = {});

}  // namespace lay::runtime
