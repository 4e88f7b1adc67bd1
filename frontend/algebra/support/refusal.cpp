#include "frontend/algebra/support/refusal.h"

namespace lay {

std::vector<std::pair<std::string, std::string>> Refusal::notes() const {
  std::vector<std::pair<std::string, std::string>> notes;
  if (!sizes.empty()) {
    std::string text;
    for (size_t i = 0; i < sizes.size(); ++i) {
      text += (i ? ", " : "") + sizes[i].first + " = " + std::to_string(sizes[i].second);
    }
    notes.emplace_back("at", text);
  }
  if (witness) {
    std::string at = std::to_string(witness->index);
    if (!witness->coordinate.empty()) at += ", coordinate " + witness->coordinate;
    at += ": ";
    if (!witness->middle.empty()) {
      at += "the right side gives " + witness->middle + ", which the left side maps to " +
            witness->expected + ", but " + witness->claimed + " would give " + witness->got;
    } else {
      at += "expected " + witness->expected + ", got " + witness->got;
      if (!witness->claimed.empty()) at += " from " + witness->claimed;
    }
    notes.emplace_back("at", at);
  }
  for (const std::string& repair : works) notes.emplace_back("works", repair);
  if (!help.empty()) notes.emplace_back("help", help);
  return notes;
}

Refusal refusal(std::string code, std::string message, std::string help) {
  Refusal r;
  r.code = std::move(code);
  r.message = std::move(message);
  r.help = std::move(help);
  return r;
}

}  // namespace lay
