#include "runtime/commands/report.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "frontend/source/text.h"
#include "runtime/repl/terminal.h"

namespace lay::runtime {
namespace {

std::string reason(const std::string& origin, const Sizes& breaks) {
  std::string text = origin;
  if (!breaks.empty()) {
    if (!text.empty()) text += "; ";
    text += "smallest break: " + sizes_text(breaks);
  }
  return text.empty() ? "" : "   (" + text + ")";
}

// Returns true if the script asks for the verdict.
bool is_asked(const sema::Finding& finding) {
  return finding.origin == "prove" || finding.origin == "assert";
}

}  // namespace

void log_to_stderr(const std::string& line) {
  std::cout.flush();
  std::cerr << line << "\n";
}

Colour error_colour() {
  return colour_wanted(STDERR_FILENO) ? Colour::always : Colour::never;
}

void report(const Sources& sources, const Diagnostics& diagnostics) {
  if (diagnostics.list().empty()) return;
  std::cout.flush();
  std::cerr << render(sources, diagnostics, error_colour());
}

void report(const Sources& sources, const Diagnostic& diagnostic) {
  std::cout.flush();
  std::cerr << render(sources, diagnostic, error_colour());
}

void report(const Sources& sources, const std::vector<sema::Outcome>& outcomes) {
  Diagnostics all;
  for (const auto& outcome : outcomes) all.add(outcome.diagnostics);
  report(sources, all);
}

ExitCode exit_code_of(const std::vector<sema::Outcome>& outcomes) {
  const auto is_ok = [](const sema::Outcome& outcome) { return outcome.ok(); };
  return std::all_of(outcomes.begin(), outcomes.end(), is_ok) ? exit_ok : exit_program;
}

std::string_view verdict_word(const sema::Finding& finding) {
  switch (finding.verdict) {
    case Verdict::proved:
      return "proved";
    case Verdict::refuted:
      return "refuted";
    case Verdict::undecided:
      return finding.guarded ? "guarded" : "undecided";
  }
  return "";
}

std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes)
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  return text;
}

Diagnostic poisoned(const sema::Outcome& outcome) {
  return Diagnostic{"poisoned", "this needs a name whose own statement failed", outcome.where};
}

std::string finding_line(const Sources& sources, const sema::Finding& finding) {
  std::string place;
  if (finding.where.known()) {
    const Position at = sources.position(finding.where);
    place = sources[finding.where.file].name + ":" + std::to_string(at.line) + ":" +
            std::to_string(at.column) + ": ";
  }
  return place + verdict_text(sources, finding);
}

std::string finding_claim(const Sources& sources, const sema::Finding& finding) {
  const bool decided = finding.claim == "true" || finding.claim == "false";
  std::string claim = decided ? escaped(sources.text(finding.where)) : finding.claim;
  if (decided && is_asked(finding) && claim.starts_with(finding.origin + " "))
    claim.erase(0, finding.origin.size() + 1);
  return claim;
}

std::string verdict_text(const Sources& sources, const sema::Finding& finding) {
  std::string word(verdict_word(finding));
  word.resize(10, ' ');
  std::string line = word + finding_claim(sources, finding) +
                     reason(is_asked(finding) ? "" : finding.origin, finding.breaks);
  for (std::size_t i = 0; i < finding.decided_by.size(); ++i) {
    line += (i == 0 ? "   (decided by: " : ", ") + finding.decided_by[i];
  }
  return line + (finding.decided_by.empty() ? "" : ")");
}

std::string guard_text(const Guard& guard) {
  return guard.to_string() + reason(guard.origin, guard.breaks);
}

}  // namespace lay::runtime
