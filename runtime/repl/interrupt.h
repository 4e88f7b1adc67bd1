// Ctrl-C while a statement runs: the statement stops, the session goes on. The evaluator and the
// interpreter ask interrupted() from time to time (sema::Host::interrupted).
#pragma once

#include <csignal>

namespace lay::runtime {

// During the life of a scope SIGINT sets a flag and does not end the process. A scope begins and
// ends without the flag; one within another, such as that of a statement within its session's,
// ends first.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  struct sigaction before_ {};
};

// Returns whether SIGINT came since the last scope began or ended.
bool interrupted();

}  // namespace lay::runtime
