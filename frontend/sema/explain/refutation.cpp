#include "frontend/sema/explain/refutation.h"

#include "frontend/sema/session.h"

namespace lay::sema {

std::vector<Note> counterexample(const Conclusion& refuted) {
  std::vector<Note> notes;
  std::string values;
  for (const auto& [name, value] : refuted.sizes) {
    values += (values.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  }
  if (!values.empty()) notes.push_back({"at", values});
  const std::string& sentence = refuted.failure.sentence;
  const bool at = sentence.starts_with("at ");
  if (!sentence.empty()) notes.push_back({at ? "at" : "", sentence.substr(at ? 3 : 0)});
  return notes;
}

std::vector<std::pair<std::string, std::string>> witness(const Conclusion& refuted) {
  std::vector<std::pair<std::string, std::string>> facts;
  const Failure& failure = refuted.failure;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) facts.emplace_back(name, fact_json(text));
  };
  for (const auto& [name, value] : refuted.sizes) facts.emplace_back(name, std::to_string(value));
  if (failure.index) facts.emplace_back("index", std::to_string(*failure.index));
  add("coordinate", failure.coordinate);
  if (failure.other) facts.emplace_back("other_index", std::to_string(*failure.other));
  add("other_coordinate", failure.other_coordinate);
  add("value", failure.value);
  add("expected", failure.expected);
  return facts;
}

}  // namespace lay::sema
