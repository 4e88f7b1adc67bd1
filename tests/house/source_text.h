// A C++ source split into code and comments, line by line.
//
//   int sms = 0;  // of the device     code "int sms = 0;  ", comment "// of the device"
//   R"(// CUDA text)"                  code only, in_raw_string from the second line on
#pragma once

#include <string>
#include <vector>

#include "tests/house/tree.h"

namespace lay::test {

struct SourceLine {
  int number = 0;
  std::string text;
  std::string code;     // without the comment; texts of literals included
  std::string comment;  // from "//" on; empty where there is none
  // True if the line begins inside a raw string, as CUDA, scripts and JavaScript in sources do.
  bool in_raw_string = false;

  bool is_blank() const;
  // Returns true if the line is a comment alone, with at least a word: rulers do not count.
  bool is_comment() const;
};

std::vector<SourceLine> source_lines(const TextFile& file);

// Returns the whole words of a text: letters, digits and underscores.
std::vector<std::string> words_of(const std::string& text);

}  // namespace lay::test
