// The pages of `lay help NAME` and `?NAME`. They are the sections of five files, embedded in the
// binary:
//
//   docs/operations.md   builtins and defs of the library      coalesce
//   docs/keywords.md     statements and signs                  let, //
//   docs/schedules.md    entries of schedules                  tile, swap_ab
//   docs/terms.md        terms of GPU programming              wgmma, bank conflict
//   docs/errors.md       error codes, with a program that fails and its cure
//
// A heading names the page: `## coalesce`. It may have several names: `## / // %`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/sema/evaluator.h"

namespace lay::runtime {

struct HelpSection {
  std::string group;  // the heading `# ...` above it
  // The heading `## ...`: one name, or several with blanks between them.
  std::string name;
  std::string text;
};
// Returns the sections of a text in order.
std::vector<HelpSection> help_sections(std::string_view text);
// Returns the names in the heading of a section.
std::vector<std::string> names_of(const HelpSection& section);

// Returns the page of an error code; nothing if it has none.
std::optional<std::string> error_page(const std::string& code);
// Returns signature, law and examples of a builtin, a def or a name of the session; nothing if no
// value has that name.
std::optional<std::string> operation_page(const std::string& name,
                                          const sema::Evaluator& evaluator);
// Returns everything that is known of a topic: all pages that have its name, one below the other.
// Case, `_`, `-`, `.` and blanks make no difference between names, nor does a plural's s: "Bank
// conflicts" finds `bank-conflict`. Throws the error `unknown-name` with the nearest name.
std::string help_page(const std::string& topic, const sema::Evaluator& evaluator);

// Returns the names of all pages, by file and group.
std::string help_index();
// Returns the names of all pages, for completion.
std::vector<std::string> help_topics();

// Returns prose filled to lines of at most `columns`. Blank lines separate paragraphs, and `* `
// begins an item of a list.
std::string filled(std::string_view text, std::size_t columns, const std::string& indent);

}  // namespace lay::runtime
