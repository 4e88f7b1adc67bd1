#pragma once

// The answer of Lay to a case, asked in its own language.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/sema/evaluator.h"
#include "tests/conformance/cases.h"

namespace conformance {

struct Answer {
  std::optional<Outcome> outcome;  // nothing: refused
  std::vector<lay::Guard> guards;
  std::string code, message;  // of the refusal
};

// A session that answers one case after the other.
class Lay {
 public:
  Lay();

  // Throws std::runtime_error if the operation is not in the table, or the answer is of a kind that
  // no vector has.
  Answer ask(const Case& c);

  // The same with a dim for each number from 2 up in the shapes of operands and tilers, and in
  // their strides if asked; what divides what is known. The answer has the numbers in their places
  // again; `guards_hold` says whether its guards allow these numbers.
  struct Symbolic {
    Answer answer;
    std::string text;
    bool guards_hold = true;
  };
  Symbolic ask_with_symbols(const Case& c, bool strides);

 private:
  struct Session;
  Answer evaluate(const Case& c, const std::string& text);
  void restart();
  std::string dim_of(int64_t n, std::string& statements);

  std::shared_ptr<Session> session_;
  std::map<int64_t, std::string> dims_;
};

}  // namespace conformance
