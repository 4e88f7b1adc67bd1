#pragma once
// A problem in the user's text, as data. Facts first, words second: the code names the kind of
// error, the message says it with the actual values in one lower-case sentence, the primary span is
// underlined with ^, each label underlines the place where another part of the reason comes from,
// and the notes carry the smallest counterexample and what works.
//
//   error[composition-carry]: this composition is not a layout
//     --> tiles.lay:4:9
//      |
//    4 | let r = (6,2):(1,7) o (3,2):(2,3)
//      |         ^^^^^^^^^^^   ----------- mode 1 steps by 3 and carries out of mode 0
//      |
//      = at 5, coordinate (2,1): the right side gives 7, which the left side maps to 8, but
//        (3,2):(2,3) would give 7
//      = works: the left side as 12:1, or the right side as (3,2):(2,6)
//
// A mistake of the user is a Diagnostic, thrown as DiagnosticError where the work cannot go on. A
// mistake of ours is an assertion or std::logic_error and never a Diagnostic.

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/source/source.h"
#include "frontend/source/span.h"

namespace lay {

enum class Severity { error, warning, note };

struct Label {
  Span span;
  std::string text;
};

struct Note {
  // "at" prints `= at TEXT`, "" prints `= TEXT`, any other ("works", "help") prints `= KIND: TEXT`
  std::string kind;
  std::string text;
};

struct Diagnostic {
  std::string code;  // kebab-case: "composition-carry"
  // One lower-case sentence without a full stop.
  std::string message;
  Span primary{};
  std::vector<Label> labels{};
  std::vector<Note> notes{};
  // Name and JSON text of each fact, for tools.
  std::vector<std::pair<std::string, std::string>> witness{};
  Severity severity = Severity::error;
};

// Carries one diagnostic out of a computation that cannot go on.
class DiagnosticError : public std::exception {
 public:
  explicit DiagnosticError(Diagnostic d) : diagnostic(std::move(d)) {}
  DiagnosticError(std::string code, std::string message, Span where = {})
      : DiagnosticError(Diagnostic{std::move(code), std::move(message), where}) {}
  const char* what() const noexcept override { return diagnostic.message.c_str(); }

  Diagnostic diagnostic;
};

// The diagnostics of one run, in the order found. Beyond `cap` errors are counted, not kept.
class Diagnostics {
 public:
  explicit Diagnostics(std::size_t cap = 50) : cap_(cap) {}

  void add(Diagnostic d);
  void add(const Diagnostics& others);

  bool ok() const { return errors_ == 0; }
  bool full() const { return errors_ >= cap_; }
  std::size_t errors() const { return errors_; }                 // all of them, kept or not
  std::size_t dropped() const { return errors_ - kept_; }        // those beyond the cap
  const std::vector<Diagnostic>& list() const { return list_; }  // as found

 private:
  std::size_t cap_;
  std::size_t errors_ = 0;
  std::size_t kept_ = 0;
  std::vector<Diagnostic> list_;
};

enum class Colour { never, always };

// The text above, with a final newline. Source lines are clipped to a window around what is
// underlined, and every control and bidirectional character, in source or message, is escaped.
std::string render(const Sources& sources, const Diagnostic& diagnostic,
                   Colour colour = Colour::never);

// All of them with an empty line between, then a line that counts what was dropped.
std::string render(const Sources& sources, const Diagnostics& diagnostics,
                   Colour colour = Colour::never);

}  // namespace lay
