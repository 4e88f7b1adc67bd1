#include "frontend/source/diagnostic.h"

namespace lay {

void Diagnostics::add(Diagnostic d) {
  if (d.severity == Severity::error) {
    ++errors_;
    if (kept_ >= cap_) return;
    ++kept_;
  } else if (list_.size() - kept_ >= cap_) {
    return;
  }
  list_.push_back(std::move(d));
}

void Diagnostics::add(const Diagnostics& others) {
  for (const Diagnostic& d : others.list_) add(d);
  errors_ += others.dropped();
}

}  // namespace lay
