// A context and a program of the C library for a test.
#pragma once

#include <lay/lay.h>

#include <string>

namespace lay::test {

// The C functions as a test calls them; everything is freed with the session.
class Session {
 public:
  explicit Session(lay_options options = usual());
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Kernels run on the host.
  static lay_options usual();

  lay_context* context() const { return context_; }
  lay_program* program() const { return program_; }

  lay_result run(const std::string& text) const;
  // The value's text; the codes of the diagnostics, in brackets, where there is none.
  std::string evaluated(const std::string& expression) const;
  // "no-kernel misuse": of the last call.
  std::string codes() const;

 private:
  lay_context* context_ = nullptr;
  lay_program* program_ = nullptr;
};

}  // namespace lay::test
