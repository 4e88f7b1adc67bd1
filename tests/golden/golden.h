// Programs that carry their expectation. Short results stand behind the statement,
// `print size(a)  // expect: 8`, or alone on the next line; all else that a program says stands in
// a file beside it, `name.expected`. With LAY_BLESS=1 in the environment both are rewritten, and
// `git diff` is the review.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/sema/evaluator.h"

namespace lay::test {

// The working directory while it lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& folder)
      : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~WorkingFolder() { std::filesystem::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  std::filesystem::path before_;
};

// The output of one statement.
struct Said {
  std::size_t line = 0;   // on which it ends, from 1; 0 of the program as a whole
  std::string statement;  // in one line
  std::string text;
};

struct Ran {
  std::vector<Said> said;
  std::vector<std::string> codes;  // of the errors, in order
};

// Evaluates a program statement by statement; kernels run in the host interpreter. `folder` is its
// working directory.
Ran run_program(const std::string& name, const std::string& text,
                const std::filesystem::path& folder);

// Holds what was said against the expectations, or writes them.
void check_program(const std::filesystem::path& file, const Ran& ran);
void check_expected(const std::filesystem::path& expected, const std::string& actual);

bool blessing();
std::filesystem::path source_root();
std::vector<std::filesystem::path> files_in(const std::string& folder,
                                            const std::string& extension);
std::string slurp(const std::filesystem::path& file);
void put(const std::filesystem::path& file, const std::string& text);
std::vector<std::string> lines_of(const std::string& text);

}  // namespace lay::test
