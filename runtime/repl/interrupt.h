// Ctrl-C while a statement runs: the statement stops, the session goes on. The evaluator and the
// interpreter ask interrupted() from time to time (sema::Host::interrupted).
#pragma once

namespace lay::runtime {

// During the life of a scope SIGINT sets a flag and does not end the process. Scopes do not nest.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

// Returns whether SIGINT came since the scope began; false outside of a scope.
bool interrupted();

}  // namespace lay::runtime
