// The `lay` binary on a terminal of its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace lay::test {

class Terminal {
 public:
  explicit Terminal(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment = {});
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Waits until the text appears after what was waited for before, and returns all that was shown
  // up to its end. Fails the test after ten seconds.
  std::string wait_for(const std::string& text);
  void type(const std::string& keys);
  // Waits for the end and returns the exit code, -1 after a signal. Fails the test after ten
  // seconds.
  int finish();

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  bool read_more();

  int master_ = -1;
  pid_t child_ = -1;
  std::string shown_;
  std::size_t seen_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace lay::test
