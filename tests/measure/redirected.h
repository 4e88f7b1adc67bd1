// The text that a command writes to a stream while this lives.
#pragma once

#include <ostream>
#include <sstream>
#include <string>

namespace lay::test {

class Redirected {
 public:
  explicit Redirected(std::ostream& stream)
      : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Redirected() { stream_.rdbuf(before_); }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostream& stream_;
  std::ostringstream text_;
  std::streambuf* before_;
};

}  // namespace lay::test
