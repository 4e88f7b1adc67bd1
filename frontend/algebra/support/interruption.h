#pragma once

// Inside the algebra: searches that may take seconds ask now and then whether anybody still waits.
//
//     Asking asking([&] { if (interrupted()) throw Stop(); });     who waits: the thread's searches
//     call this lay::ask();                                                  a search: goes on, or
//     leaves with what was thrown

#include <cstdint>
#include <functional>
#include <utility>

namespace lay {

inline constinit thread_local const std::function<void()>* waiting = nullptr;

// While it lives, this thread's searches call the question. An exception that it throws must be no
// Refusal: searches catch those.
class Asking {
 public:
  explicit Asking(std::function<void()> question)
      : question_(std::move(question)), before_(std::exchange(waiting, &question_)) {}
  ~Asking() { waiting = before_; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  std::function<void()> question_;
  const std::function<void()>* before_;
};

// The most values that an operation lists to decide by them.
inline constinit thread_local int64_t most_listed = int64_t{1} << 20;

// Keeps operations short while they are tried as repairs: a refusal that offers other arguments
// must not take longer than the check that failed. One that needs more values counts as refused.
class ShortTrial {
 public:
  ShortTrial() : before_(std::exchange(most_listed, int64_t{1} << 12)) {}
  ~ShortTrial() { most_listed = before_; }
  ShortTrial(const ShortTrial&) = delete;
  ShortTrial& operator=(const ShortTrial&) = delete;

 private:
  int64_t before_;
};

inline void ask() {
  if (waiting) (*waiting)();
}

}  // namespace lay
