#include "runtime/bench/host_work.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lay::bench {

int most_parts() {
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int in_parts(std::int64_t count, std::int64_t least,
             const std::function<void(int, std::int64_t, std::int64_t)>& run) {
  const auto parts = static_cast<int>(std::clamp<std::int64_t>(count / least, 1, most_parts()));
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(parts));
  const auto part = [&](int i) {
    try {
      run(i, count * i / parts, count * (i + 1) / parts);
    } catch (...) {
      failures[static_cast<std::size_t>(i)] = std::current_exception();
    }
  };
  std::vector<std::thread> running;
  for (int i = 1; i < parts; ++i) running.emplace_back(part, i);
  part(0);
  for (std::thread& each : running) each.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return parts;
}

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int never = -1;
  mallopt(M_MMAP_MAX, 0);  // large blocks come from the heap too, which keeps them
  mallopt(M_TRIM_THRESHOLD, never);
#endif
}

}  // namespace lay::bench
