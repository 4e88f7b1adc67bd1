#include "frontend/algebra/support/trace.h"

namespace lay::trace {
namespace {

constexpr size_t kMostSteps = 4096, kLongest = 1000;

}  // namespace

Item::Item(std::string words) : text(std::move(words)) {
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
}

// Ends are kept however many steps there are: every Begin has its End.
void Derivation::add(Step step) {
  const bool begins = std::holds_alternative<Begin>(step), ends = std::holds_alternative<End>(step);
  if (entries.size() < kMostSteps && !cut) {
    entries.push_back(std::move(step));
    return;
  }
  cut = true;
  if (begins) ++skipped_;
  if (!ends) return;
  if (skipped_ > 0)
    --skipped_;
  else
    entries.push_back(std::move(step));
}

void Derivation::append(Derivation other) {
  for (Step& step : other.entries) add(std::move(step));
  cut |= other.cut;
}

}  // namespace lay::trace
