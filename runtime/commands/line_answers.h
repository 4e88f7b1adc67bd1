// The answers of `lay eval`: a line of statements in, an object of JSON out. The forms stand in
// docs/language.md under `lay eval`.
//
//   LineAnswers answers;
//   answers.answer("size((4,2):(1,4))", 1) == R"({"ok":true,"kind":"int","text":"8","value":8})"
#pragma once

#include <string>
#include <vector>

#include "runtime/execute/program.h"

namespace lay::runtime {

// Answers lines with the names of one program.
class LineAnswers {
 public:
  // `printed` receives what the program prints, and is emptied by each answer; both outlive this.
  LineAnswers(Program& program, std::string& printed) : program_(program), printed_(printed) {}

  std::string answer(const std::string& line, int number);

  // What the statements of the last line came to.
  const std::vector<sema::Outcome>& outcomes() const { return outcomes_; }

 private:
  std::string error(const sema::Outcome& outcome, int number) const;
  std::string result() const;

  Program& program_;
  std::string& printed_;
  std::vector<sema::Outcome> outcomes_;
};

}  // namespace lay::runtime
