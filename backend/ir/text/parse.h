// The IR's text back as a kernel (the notation is described in print.h).
//
// parse(print(k)) prints as print(k). What is parsed is well-formed text with declared names and
// well-typed expressions; whether it is a kernel that makes sense is the verifier's question.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "backend/ir/ir.h"

namespace lay::ir {

// The first place where the text is no kernel. Lines and columns count from 1, columns in bytes.
struct ParseError : std::exception {
  ParseError(int at_line, int at_column, const std::string& what_is_wrong);
  int line = 0, column = 0;
  std::string message;  // one lower-case sentence
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;  // "3:14: expected `=`, found `+`"
};

// Throws ParseError.
Kernel parse(std::string_view text);

}  // namespace lay::ir
