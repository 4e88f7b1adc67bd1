#include "runtime/repl/interrupt.h"

#include <atomic>

namespace lay::runtime {
namespace {

// A signal handler may only touch lock-free atomics.
std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

InterruptScope::InterruptScope() {
  flag = false;
  struct sigaction action {};
  action.sa_handler = [](int) { flag = true; };
  action.sa_flags = SA_RESTART;  // reads that the signal interrupts go on
  ::sigaction(SIGINT, &action, &before_);
}

InterruptScope::~InterruptScope() {
  ::sigaction(SIGINT, &before_, nullptr);
  flag = false;
}

bool interrupted() {
  return flag;
}

}  // namespace lay::runtime
