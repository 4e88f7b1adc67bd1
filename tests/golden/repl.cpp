// Transcripts of the REPL: `lay> ` before what is typed, `   > ` before its further lines, then what it answers.
#include "runtime/repl.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <sstream>

#include "tests/golden/golden.h"

using namespace lay::test;

namespace {

constexpr std::string_view prompt = "lay> ", continuation = "   > ";

// Standard output and standard error, in the order written.
class Captured {
 public:
  Captured() : out_(std::cout.rdbuf(text_.rdbuf())), error_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Captured() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(error_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  std::string take() {
    const std::string text = text_.str();
    text_.str("");
    return text;
  }

 private:
  std::ostringstream text_;
  std::streambuf *out_, *error_;
};

std::string replay(const std::string& transcript) {
  std::string result;
  lay::runtime::Repl repl({true, lay::Colour::never, {}});
  Captured captured;
  const auto lines = lines_of(transcript);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].rfind(prompt, 0) != 0) continue;
    std::string typed = lines[i].substr(prompt.size());
    result += lines[i] + "\n";
    for (; i + 1 < lines.size() && lines[i + 1].rfind(continuation, 0) == 0; ++i) {
      typed += "\n" + lines[i + 1].substr(continuation.size());
      result += lines[i + 1] + "\n";
    }
    const bool goes_on = repl.take(typed);
    result += captured.take();
    if (!goes_on) break;
  }
  return result;
}

}  // namespace

TEST_CASE("REPL transcripts") {
  for (const auto& file : files_in("tests/repl", ".txt")) DYNAMIC_SECTION(file.filename().string()) {
      check_expected(file, replay(slurp(file)));
    }
}
