#pragma once

// The exception that an operation throws when its law cannot be kept: facts first, worded in one
// place (refusal.cpp).
//
// A Refusal is always about the user's values. A mistake of ours is a std::logic_error.

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/algebra/integers/facts.h"

namespace lay {

// Where a law fails: the smallest index, its coordinate, the value that the law expects there and
// the one that it gets. Texts are Lay.
struct Counterexample {
  int64_t index = 0;
  std::string coordinate;
  std::string middle;  // what the right operand gives there (composition)
  std::string expected;
  std::string got;
  std::string claimed;  // the layout that would be wrong
};

// A remark that belongs to one operand (0 is the first).
struct OperandNote {
  int operand;
  std::string text;
};

struct Refusal : std::exception {
  std::string code;  // "composition-carry"
  // One lower-case sentence with the values.
  std::string message;
  std::vector<std::string> operands;  // their texts
  // The mode that fails.
  std::optional<int> mode;
  std::vector<OperandNote> labels;
  std::optional<Counterexample> witness;
  // The smallest sizes that break a symbolic claim.
  Sizes sizes;
  // Repairs that were tried and work.
  std::vector<std::string> works;
  // A next step, where there is no tried repair.
  std::string help;

  // All of it as (kind, text): "at" for the witness and sizes, "works" for repairs, "help".
  std::vector<std::pair<std::string, std::string>> notes() const;
  const char* what() const noexcept override { return message.c_str(); }
};

// A refusal of which only code, sentence and a next step are known.
Refusal refusal(std::string code, std::string message, std::string help = "");

}  // namespace lay
