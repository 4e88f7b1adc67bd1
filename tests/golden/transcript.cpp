#include "tests/golden/transcript.h"

#include <iostream>
#include <sstream>

#include "tests/golden/golden.h"

namespace lay::test {
namespace {

constexpr std::string_view prompt = "lay> ", continuation = "   > ";

class Captured {
 public:
  Captured() : out_(std::cout.rdbuf(text_.rdbuf())), error_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Captured() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(error_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf *out_, *error_;
};

}  // namespace

std::string answer(runtime::Repl& repl, const std::string& text) {
  const Captured captured;
  repl.take(text);
  return captured.text();
}

std::string replay(runtime::Repl& repl, const std::string& transcript) {
  std::string result;
  const auto lines = lines_of(transcript);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].rfind(prompt, 0) != 0) continue;
    std::string typed = lines[i].substr(prompt.size());
    result += lines[i] + "\n";
    for (; i + 1 < lines.size() && lines[i + 1].rfind(continuation, 0) == 0; ++i) {
      typed += "\n" + lines[i + 1].substr(continuation.size());
      result += lines[i + 1] + "\n";
    }
    result += answer(repl, typed);
  }
  return result;
}

bool is_transcript(const std::string& text) {
  return text.rfind(prompt, 0) == 0;
}

}  // namespace lay::test
