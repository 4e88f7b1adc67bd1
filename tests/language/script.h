// Runs a script in a fresh session: what it printed, and the codes of its errors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/reference.h"

namespace lay::sema::test {

struct Script {
  explicit Script(const std::string& text, Mode mode = Mode::run,
                  std::map<std::string, std::string> used = {},
                  std::map<std::string, Array> given = {})
      : files(std::move(used)), arrays(std::move(given)), evaluator(sources, host(), {mode, {}}) {
    outcomes = evaluator.run("script.lay", text);
    for (const Outcome& outcome : outcomes) {
      for (const Diagnostic& d : outcome.diagnostics.list()) {
        if (d.severity != Severity::error) continue;
        if (!errors.empty()) errors += " ";
        errors += d.code;
        messages += render(sources, d);
      }
    }
  }

  Host host() {
    Host h;
    h.print = [this](const std::string& line) { printed += line + "\n"; };
    h.load = [this](const std::string& path) {
      auto at = arrays.find(path);
      if (at == arrays.end()) throw refusal("file", "there is no " + path);
      return at->second;
    };
    h.save = [this](const std::string& path, const Array& array) { arrays[path] = array; };
    h.call = [](const KernelCall& call) { return run_reference(call); };
    h.read = [this](const std::string& path) {
      auto at = files.find(path);
      if (at == files.end()) throw refusal("file", "there is no " + path);
      return at->second;
    };
    return h;
  }

  Sources sources;
  std::map<std::string, std::string> files;
  std::map<std::string, Array> arrays;
  std::string printed, errors, messages;
  Evaluator evaluator;
  std::vector<Outcome> outcomes;
};

// Returns what the script prints, and its error messages after that.
inline std::string run(const std::string& text) {
  Script script(text);
  return script.printed + script.messages;
}

inline std::string errors(const std::string& text) {
  return Script(text).errors;
}

}  // namespace lay::sema::test
