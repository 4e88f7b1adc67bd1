// Text that comes from a script, made harmless: identifiers and comments.
//
//   Names names;
//   names.add("A")            "A_"
//   names.add("unsigned")     "unsigned_"
//   names.add("A")            "A_2_"          another thing of the same name
//   names.add("x;}\n#if")     "x_if_"
//
// Every identifier begins with a letter, holds letters, digits and single underscores, and ends in
// one underscore, as no keyword, builtin or macro of CUDA does; the emitter's own names end
// otherwise. A name is given twice only after its release.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace lay::cuda {

// Names of the emitted file, none twice and none a word of C++ or CUDA.
class Names {
 public:
  std::string add(std::string_view name);
  // The name may be given again.
  void release(const std::string& given) { taken_.erase(given); }

 private:
  std::set<std::string> taken_;
};

// The emitted function's name: "lay_" and the kernel's name, made of the same characters; a name
// that had to be changed carries a hash of what it was.
std::string function_name(std::string_view kernel);

// The text as a part of one line of comment: printable ASCII; other bytes, backslashes and question
// marks (which could continue the line or begin a trigraph) as %HH; cut at 200 characters.
std::string comment_text(std::string_view text);

}  // namespace lay::cuda
