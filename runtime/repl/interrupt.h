// Ctrl-C while something runs: the work is told to stop, and the session lives.
#pragma once

namespace lay::runtime {

// While it lives, SIGINT sets a flag instead of ending the process. One at a time.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

// Whether SIGINT came since the scope began; false outside of one.
bool interrupted();

}  // namespace lay::runtime
