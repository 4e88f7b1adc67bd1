#include "runtime/compile/workers.h"

#include <algorithm>

namespace lay::runtime {

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& each : threads_) each.join();
}

void Workers::add(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(task));
  if (threads_.size() < std::max(1u, std::thread::hardware_concurrency()))
    threads_.emplace_back([this] { work(); });
  changed_.notify_one();
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
    if (ended_) return;
    const std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace lay::runtime
