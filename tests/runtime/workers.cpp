#include "runtime/compile/workers.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

namespace lay::test {

using runtime::Workers;

TEST_CASE("workers run every task once, no more at a time than there are cores") {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<int> running = 0, most = 0, runs = 0;
  std::vector<std::future<int>> results;
  {
    Workers workers;
    for (int i = 0; i < 200; ++i)
      results.push_back(workers.run([&, i] {
        const int now = ++running;
        int seen = most;
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        ++runs;
        --running;
        return i * i;
      }));
    for (int i = 0; i < 200; ++i) CHECK(results[static_cast<std::size_t>(i)].get() == i * i);
  }
  CHECK(runs == 200);
  CHECK(most <= cores);
}

TEST_CASE("what a task throws comes out where its result is asked for") {
  Workers workers;
  auto thrown = workers.run([]() -> int { throw std::runtime_error("no"); });
  auto next = workers.run([] { return 7; });
  CHECK_THROWS_AS(thrown.get(), std::runtime_error);
  CHECK(next.get() == 7);
}

TEST_CASE("the end of workers waits for tasks that run, and drops those that wait") {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::promise<void> go;
  const std::shared_future<void> gone(go.get_future());
  std::atomic<unsigned> begun = 0, ended = 0;
  std::future<void> last;
  std::thread other;
  {
    Workers workers;
    for (unsigned i = 0; i < cores; ++i)
      workers.run([&, gone] {
        ++begun;
        gone.wait();
        ++ended;
      });
    last = workers.run([&] { ++ended; });
    while (begun < cores) std::this_thread::yield();
    other = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      go.set_value();
    });
  }
  CHECK(ended == cores);
  CHECK_THROWS_AS(last.get(), std::future_error);
  other.join();
  Workers idle;  // ends without a task
}

}  // namespace lay::test
