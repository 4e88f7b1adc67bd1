#include "runtime/commands/check_json.h"

#include <vector>

#include "runtime/commands/report.h"
#include "runtime/io/json.h"
#include "runtime/io/value_json.h"

namespace lay::runtime {
namespace {

void add_place(JsonObject& object, const Sources& sources, const Span& where) {
  if (!where.known()) return;
  const Position begin = sources.position(where), end = sources.position(where.file, where.end);
  object.string("file", sources[where.file].name)
      .integer("line", begin.line)
      .integer("column", begin.column);
  object.integer("end_line", end.line).integer("end_column", end.column);
}

std::string_view severity_word(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

}  // namespace

std::string diagnostic_json(const Sources& sources, const Diagnostic& diagnostic) {
  JsonObject object, witness;
  object.string("kind", severity_word(diagnostic.severity));
  object.string("code", diagnostic.code).string("message", diagnostic.message);
  add_place(object, sources, diagnostic.primary);
  std::vector<std::string> labels, notes;
  for (const Label& label : diagnostic.labels) {
    JsonObject one;
    one.string("text", label.text);
    add_place(one, sources, label.span);
    labels.push_back(one.text());
  }
  for (const Note& note : diagnostic.notes) {
    notes.push_back(JsonObject().string("kind", note.kind).string("text", note.text).text());
  }
  for (const auto& [name, json] : diagnostic.witness) witness.raw(name, json);
  return object.raw("labels", json_array(labels))
      .raw("notes", json_array(notes))
      .raw("witness", witness.text())
      .text();
}

std::string finding_json(const Sources& sources, const sema::Finding& finding) {
  JsonObject object;
  object.string("kind", "verdict").string("verdict", verdict_word(finding));
  object.string("claim", finding_claim(sources, finding)).string("origin", finding.origin);
  add_place(object, sources, finding.where);
  return object.raw("witness", to_json(finding.breaks))
      .raw("decided_by", json_strings(finding.decided_by))
      .text();
}

std::string guard_json(const std::string& kernel, const Guard& guard) {
  JsonObject object;
  object.string("kind", "guard").string("kernel", kernel).string("claim", guard.to_string());
  return object.string("origin", guard.origin).raw("witness", to_json(guard.breaks)).text();
}

}  // namespace lay::runtime
