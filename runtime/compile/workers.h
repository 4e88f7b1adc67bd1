// Tasks in threads, begun in the order in which they came.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace lay::runtime {

// As many threads as the machine has cores, begun with the first tasks. The end waits for tasks
// that run, and drops those that have not begun: whoever waits for one of these gets
// std::future_error.
class Workers {
 public:
  Workers() = default;
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Returns what the task will return, or the exception that it ends with.
  template <class Task>
  auto run(Task task) -> std::future<decltype(task())> {
    auto made = std::make_shared<std::packaged_task<decltype(task())()>>(std::move(task));
    auto result = made->get_future();
    add([made] { (*made)(); });
    return result;
  }

 private:
  void add(std::function<void()> task);
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lay::runtime
